"""Reads tests/e2e/unsteady.txt, the list of tests that are known to be unsteady, one per line with the cause.

A change may remove lines but not add any, as tests/only_shorter.py checks.
"""

import pathlib

LIST = pathlib.Path(__file__).parent / "unsteady.txt"


def parse(text):
    """Returns the causes by test. A line is `module.Class.test: cause`; # starts a comment."""
    causes = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        test, colon, cause = line.partition(":")
        if not colon or not cause.strip() or len(test.split(".")) != 3:
            raise ValueError(f"unsteady.txt:{number}: found '{line}', expected 'module.Class.test: cause'")
        if test in causes:
            raise ValueError(f"unsteady.txt:{number}: {test} is listed twice")
        causes[test] = cause.strip()
    return causes


def read(path=LIST):
    return parse(pathlib.Path(path).read_text())
