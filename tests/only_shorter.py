#!/usr/bin/env python3
"""Checks lists that a change may shorten but not lengthen.

    tests/only_shorter.py FILE...     exits with 1 if a list has an entry that an earlier version of it lacks

A line of a list is `entry: reason`; # begins a comment. The check compares with every committed version of a file, so
that the number of commits in a change does not matter.
"""

import pathlib
import subprocess
import sys


def entries(text):
    """Returns the entries of a list, without their reasons."""
    lines = (line.strip() for line in text.splitlines())
    return [line.partition(":")[0].strip() for line in lines if line and not line.startswith("#")]


def added(versions, present):
    """Returns the entries of the present list that any earlier version lacks."""
    return sorted(entry for entry in present if any(entry not in version for version in versions))


def committed(path):
    """Returns every committed version of the file that this checkout knows of."""
    def git(*words):
        return subprocess.run(["git", "-C", path.parent, *words], check=True, capture_output=True, text=True).stdout
    commits = git("log", "--format=%H", "--diff-filter=AM", "--", path.name).split()
    return [entries(git("show", f"{commit}:./{path.name}")) for commit in commits]


def check(path):
    """Prints the entries that were added to one list, and returns their number."""
    try:
        versions = committed(path)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{path.name}: there is no history to compare with: {error}")
        return 0
    present = entries(path.read_text())
    new = added(versions, present)
    for entry in new:
        print(f"{path.name}: {entry} was not on the list before, and the list may only become shorter")
    print(f"{path.name}: {len(present)} entries, compared with {len(versions)} committed versions")
    return len(new)


if __name__ == "__main__":
    sys.exit(1 if sum(check(pathlib.Path(file).resolve()) for file in sys.argv[1:]) else 0)
