"""Compares the outputs that the documentation shows with those of the program.

    guide_output_test.py PROGRAM SOURCE_DIR

A block between `<!-- output NAME -->` and `<!-- /output -->` is the output of the commands that OUTPUTS has under this
name. With CAPSTAN_WRITE_GOLDEN in the environment, as scripts/golden sets it, the blocks are written and not compared.
"""

import dataclasses
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^( *)<!-- output (\S+) -->\n(.*?)^ *<!-- /output -->\n", re.MULTILINE | re.DOTALL)
YAML = re.compile(r"^```yaml\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
MOST_SECONDS = 300


@dataclasses.dataclass
class Output:
    """The output of a command. Its folder has a link to `scenarios`, and `file`."""

    command: str
    before: tuple = ()  # commands that run first, whose output is not shown
    file: str = ""  # name under which the last YAML block above is saved
    edits: tuple = ()  # pairs of a text of this file and what replaces it
    shows_command: bool = False  # the block begins with the command
    only: str = ""  # pattern of the part of the output that is shown; empty: all of it


FIRST_FIT = 'explain "gang 1" --scenario scenarios/seven-of-eight.yaml --policy "first-fit · karpenter" --at'

OUTPUTS = {
    "lint-keda-kv-max": Output("lint scenarios/manifests/keda-kv-max.yaml", shows_command=True),
    "lint-vllm": Output("lint vllm.yaml", file="vllm.yaml", shows_command=True),
    "lint-nodepool": Output("lint nodepool.yaml --advice", file="nodepool.yaml", shows_command=True),
    "lint-nodepool-defaults": Output(
        "lint nodepool.yaml -o concise",
        file="nodepool.yaml",
        edits=(
            ('      taints:\n      - {key: nvidia.com/gpu, value: "true", effect: NoSchedule}\n', ""),
            ('  limits: {nvidia.com/gpu: "32"}\n', ""),
            ("WhenEmpty\n", "WhenEmptyOrUnderutilized\n"),
            ("consolidateAfter: 1h", "consolidateAfter: 0s"),
        ),
    ),
    "explain-gang-13m": Output(f"{FIRST_FIT} 13m"),
    "explain-gang-20m": Output(f"{FIRST_FIT} 20m"),
    "replay-other-policy": Output(
        "replay hour.rec --policy policy.yaml",
        before=('sim scenarios/azure-hour.yaml --policy "queue · gang · group" --record hour.rec',),
        file="policy.yaml",
    ),
    "top-seven-of-eight": Output("top scenarios/seven-of-eight.yaml --at 15m"),
    "sentences-bursty-exercise": Output("compare scenarios/bursty-exercise.yaml", only=r"^No policy holds.*?(?=^why )"),
}


def run(program, command, folder):
    """Returns the standard output. Exit code 2 means that the command found something."""
    done = subprocess.run(
        [program, *shlex.split(command)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=MOST_SECONDS,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
    )
    if done.returncode not in (0, 2):
        raise RuntimeError(f"capstan {command}: exit code {done.returncode}, {done.stderr}")
    return done.stdout


def saved_file(output, above):
    """Returns the last YAML block of the text, with the edits."""
    text = YAML.findall(above)[-1]
    for old, new in output.edits:
        if old not in text:
            raise RuntimeError(f"{output.file} on the page lacks {old!r}, expected the text that is replaced")
        text = text.replace(old, new)
    return text


def block_text(program, root, output, above):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scenarios").symlink_to(root / "scenarios")
        if output.file:
            (folder / output.file).write_text(saved_file(output, above), encoding="utf-8")
        for command in output.before:
            run(program, command, folder)
        text = run(program, output.command, folder)
    if output.only:
        text = re.search(output.only, text, re.MULTILINE | re.DOTALL).group()
    command = f"$ capstan {output.command}\n" if output.shows_command else ""
    return f"```\n{command}{text}```\n"


def main():
    program, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    writes = "CAPSTAN_WRITE_GOLDEN" in os.environ
    faults, shown = [], set()
    for path in sorted([root / "README.md", *root.glob("docs/**/*.md")]):
        page = path.read_text(encoding="utf-8")

        def replaced(block):
            indent, name, found = block.groups()
            if name not in OUTPUTS:
                faults.append(f"{path}: {name} is not in OUTPUTS")
                return block.group()
            shown.add(name)
            text = block_text(program, root, OUTPUTS[name], page[: block.start()])
            text = "".join((indent + line).rstrip(" \n") + "\n" for line in text.splitlines())
            if text != found and not writes:
                faults.append(f"{path}: {name}: found\n{found}\nexpected\n{text}\nif this is intended, run scripts/golden")
            return f"{indent}<!-- output {name} -->\n{text}{indent}<!-- /output -->\n"

        written = BLOCK.sub(replaced, page)
        if writes and written != page:
            path.write_text(written, encoding="utf-8")
    faults += [f"{name} is shown on no page" for name in OUTPUTS if name not in shown]
    print("\n".join(faults) or f"{len(shown)} outputs are those of the program")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
