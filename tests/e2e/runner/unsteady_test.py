"""The list of unsteady tests: how it is read, and that it may only become shorter."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import unsteady

A, B = "a_test.A.test_a: its cause", "b_test.B.test_b: another"


class List(unittest.TestCase):
    def test_is_read_by_line(self):
        self.assertEqual(unsteady.parse(f"# a comment\n\n{A}\n{B}\n"),
                         {"a_test.A.test_a": "its cause", "b_test.B.test_b": "another"})

    def test_refuses_what_has_no_cause_or_stands_there_twice(self):
        for text, said in (("a_test.A.test_a", "expected 'module.Class.test: cause'"),
                           ("a_test.A.test_a:  ", "expected 'module.Class.test: cause'"),
                           ("test_a: slow", "expected 'module.Class.test: cause'"),
                           (f"{A}\n{A}", "unsteady.txt:2: a_test.A.test_a stands there twice")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, said):
                unsteady.parse(text)

    def test_of_this_tree_can_be_read(self):
        unsteady.read()


# Committed versions, the list now, and the tests that may not be on it.
ROWS = [
    ("as it was", ["ab"], "ab", []),
    ("shorter", ["ab"], "a", []),
    ("longer", ["a"], "ab", ["b"]),
    ("one instead of another", ["a"], "b", ["b"]),
    ("one that was taken away comes back", ["ab", "a"], "ab", ["b"]),
    ("added by an earlier commit of the same change", ["a", "ab"], "ab", ["b"]),
    ("the list is new", [], "ab", []),
]


class Growth(unittest.TestCase):
    def test_rows(self):
        for teaches, versions, present, wanted in ROWS:
            with self.subTest(teaches):
                self.assertEqual(unsteady.added(versions, present), wanted)

    def test_is_seen_in_the_history_of_a_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            program, listed = tree / "unsteady.py", tree / "unsteady.txt"
            program.write_text(pathlib.Path(unsteady.__file__).read_text())

            def git(*words):
                subprocess.run(["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@example.com", *words],
                               check=True, capture_output=True)

            def check():
                done = subprocess.run([sys.executable, "-B", program], capture_output=True, text=True)
                return done.returncode, done.stdout

            listed.write_text(f"{A}\n")
            code, said = check()
            self.assertEqual(code, 0)
            self.assertIn("no history to compare with", said)
            git("init", "--quiet")
            git("add", ".")
            git("commit", "--quiet", "--message", "begin the list")
            self.assertEqual(check()[0], 0)
            listed.write_text(f"{A}\n{B}\n")
            code, said = check()
            self.assertEqual(code, 1)
            self.assertIn("b_test.B.test_b was not on the list before", said)
            git("commit", "--quiet", "--all", "--message", "hide a failure")
            self.assertEqual(check()[0], 1, "committing it changes nothing")
            listed.write_text("")
            self.assertEqual(check()[0], 0)


if __name__ == "__main__":
    unittest.main()
