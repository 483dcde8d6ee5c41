"""The verdict on all tests of a run."""

import dataclasses

UNKNOWN_MAX = 2  # number of unsteady tests in a run that unsteady.txt does not have to list


@dataclasses.dataclass(frozen=True)
class Verdict:
    passed: int  # number of tests that passed at the first try
    skipped: int
    failed: tuple  # tests that passed at neither try
    unsteady: tuple  # tests that passed only at the second try
    known: dict  # causes by test, from unsteady.txt

    def unknown(self):
        return [test for test in self.unsteady if test not in self.known]

    def exit_code(self):
        ran = self.passed + len(self.unsteady) + len(self.failed)
        return 1 if self.failed or ran == 0 or len(self.unknown()) > UNKNOWN_MAX else 0

    def lines(self):
        """Returns the summary lines. Each starts with "e2e: "."""
        lines = [f"e2e: unsteady: {test} (known: {self.known[test]})" if test in self.known else
                 f"e2e: unsteady: {test}" for test in self.unsteady]
        lines += [f"e2e: failed twice: {test}" for test in self.failed]
        if len(self.unknown()) > UNKNOWN_MAX:
            lines.append(f"e2e: {len(self.unknown())} unsteady tests are not in tests/e2e/unsteady.txt, at most "
                         f"{UNKNOWN_MAX} may be")
        lines.append(f"e2e: {self.passed} passed, {len(self.unsteady)} unsteady, {len(self.failed)} failed" +
                     (f", {self.skipped} skipped" if self.skipped else ""))
        return lines


def judge(results, known):
    """Returns the verdict on the results of scheduler.run."""
    passed, skipped, failed, unsteady = 0, 0, [], []
    for result in results:
        if result.tries[0].skipped:
            skipped += 1
        elif result.tries[0].passed:
            passed += 1
        elif result.tries[-1].passed:
            unsteady.append(result.test)
        else:
            failed.append(result.test)
    return Verdict(passed, skipped, tuple(failed), tuple(unsteady), known)
