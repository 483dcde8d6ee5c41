#!/usr/bin/env python3
"""Writes the files for `scripts/bench lint`, with the same bytes on every machine.

    bench/lint_set.py FOLDER [FILES [BYTES]]

The files form a typical repository of manifests, with ten files per folder and several documents per file. The
documents are this project's own examples, fixtures and definitions under other names. One file in five is about GPUs,
and one in ten of its documents has a defect. The other files contain definitions and workloads without GPUs.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILES_A_FOLDER = 10
NAMED = re.compile(r"((?:metadata: \{|scaleTargetRef: \{|  )name: )([a-z0-9-]+)\b")
ABOUT_GPUS = re.compile(r"kind: (ScaledObject|ScaledJob|HorizontalPodAutoscaler|NodePool|EC2NodeClass|LeaderWorkerSet)")
FENCED = re.compile(r"^## (Bad|Good)\n\n```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def documents():
    """Returns four lists of documents: correct ones, defective ones, ones without GPUs, and definitions."""
    good, bad = [], []
    for page in sorted((ROOT / "docs" / "reference" / "lint").glob("*.md")):
        for title, text in FENCED.findall(page.read_text()):
            if "apiVersion" in text:
                (good if title == "Good" else bad).append(text)
    for path in sorted((ROOT / "deploy" / "examples").glob("*.yaml")):
        good.append(path.read_text())
    for path in sorted((ROOT / "tests" / "lint" / "seeds").glob("*.yaml")):
        bad.append(path.read_text())
    plain = [text.replace("nvidia.com/", "example.com/") for text in good if not ABOUT_GPUS.search(text)]
    definitions = []
    for folder in ("deploy/crds", "tests/e2e/cluster"):
        definitions += [path.read_text() for path in sorted((ROOT / folder).glob("*.yaml"))]
    return good, bad, plain, definitions


def file_text(number, size, good, bad, plain, definitions):
    """Returns about `size` bytes of documents. The number of the file determines the documents and their names."""
    parts, bytes_so_far, step = [], 0, number
    on_gpus = number % 5 == 0
    while bytes_so_far < size:
        step = (step * 1103515245 + 12345) % 2**31
        pick = step >> 8
        definition = not on_gpus and pick % 4 == 0 and size - bytes_so_far > 4000
        source = definitions if definition else plain if not on_gpus else bad if pick % 10 == 1 else good
        text = NAMED.sub(rf"\g<1>\g<2>-{number}", source[(pick // 10) % len(source)]).strip("\n")
        parts.append(text.removeprefix("---\n"))
        bytes_so_far += len(text) + 5
    return "\n---\n".join(parts) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 1150
    left = int(sys.argv[3]) if len(sys.argv) > 3 else 8_000_000
    sources = documents()
    for number in range(files):
        place = folder / f"app-{number // FILES_A_FOLDER:05d}"
        if number % FILES_A_FOLDER == 0:
            place.mkdir(parents=True, exist_ok=True)
        text = file_text(number, left // (files - number) - 200, *sources)
        left = max(left - len(text), 0)
        (place / f"{number:06d}.yaml").write_text(text)


if __name__ == "__main__":
    main()
