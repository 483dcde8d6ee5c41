#!/usr/bin/env python3
"""The tests that are known to be unsteady: tests/e2e/unsteady.txt, a line each, its name and the cause.

    tests/e2e/unsteady.py     ends with 1 where the list names a test that it did not name before

A change may shorten the list and not lengthen it. Every committed version of the file counts, not only the parent's, so
that it does not matter how many commits land together.
"""

import pathlib
import subprocess
import sys

LIST = pathlib.Path(__file__).parent / "unsteady.txt"


def parse(text):
    """Causes by test. A line is `module.Class.test: cause`; # begins a comment."""
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


def added(versions, present):
    """The tests of the present list that any earlier version lacks."""
    return sorted(test for test in present if any(test not in version for version in versions))


def committed(path):
    """Every committed version of the file that this checkout knows of."""
    def git(*words):
        return subprocess.run(["git", "-C", path.parent, *words], check=True, capture_output=True, text=True).stdout
    commits = git("log", "--format=%H", "--diff-filter=AM", "--", path.name).split()
    return [parse(git("show", f"{commit}:./{path.name}")) for commit in commits]


def main():
    try:
        versions = committed(LIST)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"unsteady: there is no history to compare with: {error}")
        return 0
    new = added(versions, read())
    for test in new:
        print(f"unsteady: {test} was not on the list before: make the test steady instead")
    print(f"unsteady: {len(read())} tests on the list, compared with {len(versions)} committed versions of it")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
