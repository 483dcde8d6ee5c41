"""A worker process. It reads names of tests, one per line, and answers each with its outcome as a line of JSON.

The first test that needs a cluster starts it. The cluster ends with the process.
"""

import dataclasses
import io
import json
import os
import pathlib
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import harness  # noqa: E402
import scheduler  # noqa: E402

LAST_LINES = 40  # lines of a controller's log that a failure shows


class LoggingResult(unittest.TextTestResult):
    """Adds the last log lines of the controllers to a failure."""

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.add_controller_logs(test)

    def addError(self, test, err):
        super().addError(test, err)
        self.add_controller_logs(test)

    def add_controller_logs(self, test):
        for log in getattr(test, "controllers", []):
            for line in log.text().splitlines()[-LAST_LINES:]:
                self.stream.writeln(f"    {log.log.name}: {line}")


def run(test):
    suite = unittest.TestLoader().loadTestsFromName(test)
    stream = io.StringIO()
    begun = time.monotonic()
    result = unittest.TextTestRunner(stream=stream, verbosity=0, resultclass=LoggingResult).run(suite)
    passed = result.wasSuccessful() and result.testsRun == 1
    reasons = [f"    skipped: {reason}" for _, reason in result.skipped]  # skips of the test or of a subtest
    return scheduler.Outcome(passed=passed, seconds=time.monotonic() - begun,
                             text="\n".join(reasons) if passed else stream.getvalue(),
                             skipped=any(part.id() == test for part, _ in result.skipped))


def main():
    # Output of the tests goes to standard error, because standard output has the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        for line in sys.stdin:
            print(json.dumps(dataclasses.asdict(run(line.strip()))), file=answers, flush=True)
    finally:
        harness.stop_cluster()


if __name__ == "__main__":
    main()
