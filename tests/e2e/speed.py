"""Measures how much slower this machine is than an idle one, for longer deadlines."""

import contextlib
import statistics
import time

QUIET_WRITE_S = 0.12  # one write by kubectl on two idle cores, including its start
FACTOR_MAX = 4
WRITES = 9


class Machine:
    """The factor of deadlines, at least 1. Several writes at the start of a run measure it. A test whose first write is
    slower gets a higher factor."""

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._start = 1.0
        self.factor = 1.0

    def measure(self, write):
        """Measures the factor. `write(name)` writes one small object through kubectl."""
        seconds = []
        for number in range(WRITES):
            begun = self._clock()
            write(f"speed-{number}")
            seconds.append(self._clock() - begun)
        self._start = self.factor = bounded(statistics.median(seconds))
        print(f"  a write takes {statistics.median(seconds):.2f} s, so deadlines are times {self.factor:.1f}")

    @contextlib.contextmanager
    def timed(self):
        """Measures the first write of a test."""
        begun = self._clock()
        yield
        self.factor = max(self._start, bounded(self._clock() - begun))


def bounded(write_s):
    return min(max(write_s / QUIET_WRITE_S, 1.0), FACTOR_MAX)
