"""The worker process: outcomes, and the handling of a worker that ends or does not answer."""

import os
import pathlib
import unittest
from unittest import mock

import worker_process

HERE = str(pathlib.Path(__file__).parent)
# A test of played_tests.py: whether it passes, whether it counts as skipped, and its text.
ROWS = [
    ("test_passes", True, False, ""),
    ("test_fails", False, False, "one is not two"),
    ("test_is_skipped", True, True, "there is nothing to do"),
    ("test_skips_a_part", True, False, "that part is not here"),
    ("test_prints", True, False, ""),
    ("test_ends_the_worker", False, False, "the worker ended with 7"),
    ("test_that_is_not_there", False, False, "no attribute"),
    ("test_passes", True, False, ""),
]


class Workers(unittest.TestCase):
    def setUp(self):
        patched = mock.patch.dict(os.environ, {"PYTHONPATH": HERE})
        patched.start()
        self.addCleanup(patched.stop)
        self.worker = worker_process.WorkerProcess("runner-test")
        self.addCleanup(self.worker.close)

    def test_rows(self):
        for name, passed, skipped, text in ROWS:
            with self.subTest(name):
                outcome = self.worker.run(f"played_tests.Played.{name}")
                self.assertEqual((outcome.passed, outcome.skipped), (passed, skipped), outcome.text)
                self.assertIn(text, outcome.text)

    def test_a_worker_that_does_not_answer_is_replaced(self):
        with mock.patch.object(worker_process, "ANSWER_MAX_S", 1):
            outcome = self.worker.run("played_tests.Played.test_never_ends")
        self.assertFalse(outcome.passed)
        self.assertIn("did not answer within 1 s", outcome.text)
        self.assertTrue(self.worker.run("played_tests.Played.test_passes").passed)


if __name__ == "__main__":
    unittest.main()
