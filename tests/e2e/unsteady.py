"""Reads tests/e2e/unsteady.txt: the tests that are known to be unsteady, a line each, with the cause.

A change may shorten the list and not lengthen it: tests/only_shorter.py.
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
            raise ValueError(f"unsteady.txt:{number}: {test} stands there twice")
        causes[test] = cause.strip()
    return causes


def read(path=LIST):
    return parse(pathlib.Path(path).read_text())
