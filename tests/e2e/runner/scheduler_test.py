"""Second tries of tests: which tests get one, on which worker, and the verdict. Workers are simulated."""

import io
import unittest

import scheduler
import verdict

UNKNOWN, KNOWN = "a_test.A.test_unknown", "a_test.A.test_known"


class PlayedWorker:
    """A worker with given outcomes: `tries` has the outcomes of each test, in order."""

    def __init__(self, name, tries, asked):
        self._name, self._tries, self._asked = name, tries, asked
        self.closed = False

    def run(self, test):
        self._asked.append((self._name, test))
        answer = self._tries[test].pop(0)
        return scheduler.Outcome(passed=answer in ("ok", "skip"), seconds=0.1, skipped=answer == "skip",
                                 text="" if answer == "ok" else answer)

    def close(self):
        self.closed = True


def run(tries, workers=2):
    """Returns the results, the worker and test of each run in order, the workers, and the output."""
    asked, made, out = [], [], io.StringIO()

    def make(name):
        made.append(PlayedWorker(name, tries, asked))
        return made[-1]

    results = scheduler.run(list(tries), workers, make, out)
    return results, asked, made, out.getvalue()


# Name, outcomes of the tries of each test, and the verdict: exit code, and numbers of passed, unsteady, failed tests.
ROWS = [
    ("all pass", {"t1": ["ok"], "t2": ["ok"]}, (0, 2, 0, 0)),
    ("one test passes at the second try", {"t1": ["no", "ok"], "t2": ["ok"]}, (0, 1, 1, 0)),
    ("one test fails twice", {"t1": ["no", "no"], "t2": ["ok"]}, (1, 1, 0, 1)),
    ("two unsteady tests may be unknown", {f"t{i}": ["no", "ok"] for i in range(2)}, (0, 0, 2, 0)),
    ("three unsteady tests may not be unknown", {f"t{i}": ["no", "ok"] for i in range(3)}, (1, 0, 3, 0)),
    ("known unsteady tests do not count", {"t1": ["no", "ok"], "t2": ["no", "ok"], KNOWN: ["no", "ok"]}, (0, 0, 3, 0)),
    ("a known unsteady test that fails twice counts as failed", {KNOWN: ["no", "no"]}, (1, 0, 0, 1)),
    ("nothing ran", {}, (1, 0, 0, 0)),
    ("a skipped test has not passed", {"t1": ["skip"]}, (1, 0, 0, 0)),
]


class SecondTries(unittest.TestCase):
    def test_rows(self):
        for name, tries, wanted in ROWS:
            with self.subTest(name):
                results, *_ = run({test: list(answers) for test, answers in tries.items()})
                judged = verdict.judge(results, {KNOWN: "the clock is read too late"})
                self.assertEqual((judged.exit_code(), judged.passed, len(judged.unsteady), len(judged.failed)), wanted)

    def test_a_second_try_runs_alone_on_a_new_worker_after_all_others(self):
        _, asked, made, out = run({"t1": ["no", "ok"], "t2": ["ok"], "t3": ["no", "no"]})
        self.assertEqual(asked[-2:], [("second-try", "t1"), ("second-try", "t3")])
        self.assertEqual({name for name, _ in asked[:3]} - {"worker-1", "worker-2"}, set())
        self.assertEqual(len(made), 4, "two workers, and a fresh one for each second try")
        self.assertTrue(all(worker.closed for worker in made))
        self.assertIn("a second time, alone, on a fresh cluster: t1", out)

    def test_many_failures_get_a_limited_number_of_second_tries(self):
        results, asked, *_ = run({f"t{i}": ["no", "ok"] for i in range(15)})
        self.assertEqual(len([name for name, _ in asked if name == "second-try"]), scheduler.SECOND_TRIES_MAX)
        self.assertEqual(len(verdict.judge(results, {}).failed), 5)

    def test_every_test_runs_once_with_any_number_of_workers(self):
        for workers in (1, 2, 5):
            results, asked, *_ = run({f"t{i}": ["ok"] for i in range(9)}, workers)
            self.assertEqual(sorted(test for _, test in asked), [f"t{i}" for i in range(9)])
            self.assertEqual([result.test for result in results], [f"t{i}" for i in range(9)], "in the order given")


class ClosingLines(unittest.TestCase):
    def test_name_the_unsteady_tests_and_their_causes(self):
        results, *_ = run({UNKNOWN: ["no", "ok"], KNOWN: ["no", "ok"], "t3": ["no", "no"], "t4": ["ok"]})
        self.assertEqual(verdict.judge(results, {KNOWN: "the clock is read too late"}).lines(), [
            "e2e: unsteady: a_test.A.test_unknown",
            "e2e: unsteady: a_test.A.test_known (known: the clock is read too late)",
            "e2e: failed twice: t3",
            "e2e: 1 passed, 2 unsteady, 1 failed"])

    def test_explain_a_failure_by_too_many_unsteady_tests(self):
        results, *_ = run({f"t{i}": ["no", "ok"] for i in range(3)})
        self.assertIn("e2e: 3 unsteady tests are not in tests/e2e/unsteady.txt, at most 2 may be",
                      verdict.judge(results, {}).lines())


if __name__ == "__main__":
    unittest.main()
