"""Lists that may only become shorter: tests/only_shorter.py."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).parents[2] / "only_shorter.py"
sys.path.insert(0, str(PROGRAM.parent))

import only_shorter  # noqa: E402

# Name, committed versions of the list, the list now, and the added entries that the check reports.
ROWS = [
    ("unchanged", ["ab"], "ab", []),
    ("shorter", ["ab"], "a", []),
    ("longer", ["a"], "ab", ["b"]),
    ("one entry is replaced by another", ["a"], "b", ["b"]),
    ("a removed entry comes back", ["ab", "a"], "ab", ["b"]),
    ("added by an earlier commit of the same change", ["a", "ab"], "ab", ["b"]),
    ("the list is new", [], "ab", []),
]


class Growth(unittest.TestCase):
    def test_rows(self):
        for name, versions, present, wanted in ROWS:
            with self.subTest(name):
                self.assertEqual(only_shorter.added(versions, present), wanted)

    def test_is_seen_in_the_history_of_a_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            listed = tree / "known.txt"

            def git(*words):
                subprocess.run(["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@example.com", *words],
                               check=True, capture_output=True)

            def check():
                done = subprocess.run([sys.executable, "-B", PROGRAM, listed], capture_output=True, text=True)
                return done.returncode, done.stdout

            listed.write_text("a_test: slow\n")
            code, output = check()
            self.assertEqual(code, 0)
            self.assertIn("no history to compare with", output)
            git("init", "--quiet")
            git("add", ".")
            git("commit", "--quiet", "--message", "begin the list")
            self.assertEqual(check()[0], 0)
            listed.write_text("# a comment\na_test: slow\nb_test: slower\n")
            code, output = check()
            self.assertEqual(code, 1)
            self.assertIn("known.txt: b_test was not on the list before", output)
            git("commit", "--quiet", "--all", "--message", "hide a failure")
            self.assertEqual(check()[0], 1, "committing it changes nothing")
            listed.write_text("")
            self.assertEqual(check()[0], 0)


if __name__ == "__main__":
    unittest.main()
