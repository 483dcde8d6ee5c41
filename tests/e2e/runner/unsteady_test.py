"""Tests of the reader of the list of unsteady tests."""

import unittest

import unsteady

A, B = "a_test.A.test_a: its cause", "b_test.B.test_b: another"


class List(unittest.TestCase):
    def test_is_read_by_line(self):
        self.assertEqual(unsteady.parse(f"# a comment\n\n{A}\n{B}\n"),
                         {"a_test.A.test_a": "its cause", "b_test.B.test_b": "another"})

    def test_rejects_a_missing_cause_or_a_duplicate(self):
        for text, message in (("a_test.A.test_a", "expected 'module.Class.test: cause'"),
                              ("a_test.A.test_a:  ", "expected 'module.Class.test: cause'"),
                              ("test_a: slow", "expected 'module.Class.test: cause'"),
                              (f"{A}\n{A}", "unsteady.txt:2: a_test.A.test_a is listed twice")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, message):
                unsteady.parse(text)

    def test_the_list_of_this_tree_is_valid(self):
        unsteady.read()


if __name__ == "__main__":
    unittest.main()
