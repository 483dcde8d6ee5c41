"""Runs tests on several workers, and each failed test once more, alone, on a new worker."""

import collections
import dataclasses
import sys
import threading
import unittest

SECOND_TRIES_MAX = 10  # largest number of second tries; further failed tests get none


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one try of a test."""

    passed: bool
    seconds: float
    text: str  # after a failure its reason and the controllers' last log lines; otherwise the reasons of skips
    skipped: bool = False


@dataclasses.dataclass(frozen=True)
class Result:
    """The one or two tries of a test."""

    test: str
    tries: tuple


def flat(suite):
    """Yields the tests of nested suites."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from flat(part)
        else:
            yield part


def run(tests, workers, make_worker, out=sys.stdout):
    """Runs the tests in this order, `workers` at a time, then the second tries. Returns a Result for each test.

    `make_worker(name)` returns an object with `run(test)`, which returns an Outcome, and `close()`."""
    waiting, first, lock = collections.deque(tests), {}, threading.Lock()

    def work(name):
        worker = make_worker(name)
        try:
            while True:
                with lock:
                    if not waiting:
                        return
                    test = waiting.popleft()
                outcome = worker.run(test)
                with lock:
                    first[test] = outcome
                    print_outcome(test, outcome, out)
        finally:
            worker.close()

    threads = [threading.Thread(target=work, args=(f"worker-{number + 1}",)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    second = {}
    for test in [test for test in tests if not first[test].passed][:SECOND_TRIES_MAX]:
        print(f"e2e: a second time, alone, on a fresh cluster: {test}", file=out, flush=True)
        worker = make_worker("second-try")
        try:
            second[test] = worker.run(test)
        finally:
            worker.close()
        print_outcome(test, second[test], out)
    return [Result(test, tuple(filter(None, (first[test], second.get(test))))) for test in tests]


def print_outcome(test, outcome, out):
    word = "skipped" if outcome.skipped else "ok" if outcome.passed else "FAILED"
    print(f"  {word:7} {outcome.seconds:6.1f} s  {test}", file=out)
    if outcome.text:
        print(outcome.text.rstrip(), file=out)
    out.flush()
