"""The factor of deadlines on a slow machine."""

import unittest

import speed


def machine(*write_s):
    """Returns a machine whose writes take these times, one after the other."""
    times = [0.0]
    for seconds in write_s:
        times += [times[-1], times[-1] + seconds]
    return speed.Machine(clock=iter(times[1:]).__next__)


# Name, seconds of each write, and the expected factor.
ROWS = [("as fast as a quiet machine", 0.12, 1.0), ("a fast machine shortens no deadline", 0.01, 1.0),
        ("twice as slow", 0.24, 2.0), ("the factor has a maximum", 10.0, speed.FACTOR_MAX)]


class Factor(unittest.TestCase):
    def test_rows(self):
        for name, write_s, wanted in ROWS:
            with self.subTest(name):
                one = machine(*[write_s] * speed.WRITES)
                one.measure(lambda name: None)
                self.assertAlmostEqual(one.factor, wanted)

    def test_one_slow_write_of_many_changes_nothing(self):
        one = machine(5.0, *[0.12] * (speed.WRITES - 1))
        one.measure(lambda name: None)
        self.assertAlmostEqual(one.factor, 1.0)

    def test_a_test_with_a_slow_start_has_more_time_but_the_next_does_not(self):
        one = machine(*[0.12] * speed.WRITES, 0.36, 0.12)
        one.measure(lambda name: None)
        with one.timed():
            pass
        self.assertAlmostEqual(one.factor, 3.0)
        with one.timed():
            pass
        self.assertAlmostEqual(one.factor, 1.0)


if __name__ == "__main__":
    unittest.main()
