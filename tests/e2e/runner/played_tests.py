"""Tests that worker_test.py runs on a worker. Each ends in a different way."""

import os
import time
import unittest


class Played(unittest.TestCase):
    def test_passes(self):
        pass

    def test_fails(self):
        self.assertEqual(1, 2, "one is not two")

    def test_is_skipped(self):
        self.skipTest("there is nothing to do")

    def test_skips_a_part(self):
        with self.subTest("a part"):
            self.skipTest("that part is not here")

    def test_prints(self):
        print("a line that is no answer")

    def test_ends_the_worker(self):
        os._exit(7)

    def test_never_ends(self):
        while True:
            time.sleep(1)
