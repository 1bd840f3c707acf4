#!/usr/bin/env python3
"""Runs the programs in PyTorch, examples/lab/*.py, and compares each output with the recorded one.

usage: pytorch_twins.py ROOT [--update]

tests/lab/programs_test.cpp compares the same records, examples/lab/*.txt, with the outputs of the
programs in headroom. HEADROOM_TORCH_PYTHON names the Python with PyTorch; otherwise it is python3.
--update writes the records. Exits with 77, "skipped", if there is no PyTorch.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from torch_python import torch_python  # noqa: E402


def run(python, *arguments):
    return subprocess.run([python, *arguments], capture_output=True, text=True, timeout=600)


def main():
    folder = pathlib.Path(sys.argv[1]) / "examples/lab"
    python = torch_python()
    programs = sorted(folder.glob("*.py"))
    wrong = 0 if programs else 1
    for program in programs:
        done = run(python, program)
        record = program.with_suffix(".txt")
        if "--update" in sys.argv[2:] and done.returncode == 0:
            record.write_text(done.stdout)
        expected = record.read_text()
        if done.returncode or done.stdout != expected:
            wrong += 1
            print(f"{program.name} prints {done.stdout!r}, recorded is {expected!r}", done.stderr)
    print(f"{len(programs)} programs in PyTorch, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
