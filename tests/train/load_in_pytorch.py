#!/usr/bin/env python3
"""Compares the logits that examples/load_in_pytorch.py computes with those of the program that
saved the checkpoints, in double.

usage: load_in_pytorch.py ROOT SAVED_LOGITS

SAVED_LOGITS is the program of saved_logits.cpp. HEADROOM_TORCH_PYTHON names the Python with
PyTorch; otherwise it is python3. Exits with 77, "skipped", if there is no PyTorch.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from torch_python import torch_python  # noqa: E402

TOLERANCE = 1e-7  # of the largest logit: each side rounds its table of sinusoids to float

COMPARE = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
from load_in_pytorch import Model
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.safetensors")):
    expected = json.loads(path.with_suffix(".json").read_text())
    ids = [expected[key] for key in ("source", "target") if key in expected]
    logits = Model(path).logits(*ids).flatten().tolist()
    assert len(logits) == len(expected["logits"]), (path.name, len(logits))
    largest = max(abs(x) for x in expected["logits"])
    print(path.stem, max(abs(a - b) for a, b in zip(logits, expected["logits"])) / largest)
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def main(root, program):
    python = torch_python()
    with tempfile.TemporaryDirectory() as folder:
        saved = run(program, folder)
        if saved.returncode:
            sys.exit(f"error: {program}: {saved.stderr}")
        done = run(python, "-B", "-c", COMPARE, str(pathlib.Path(root) / "examples"), folder)
    print(done.stdout + done.stderr, end="")
    differences = [float(line.split()[1]) for line in done.stdout.splitlines()]
    complete = len(differences) == len(saved.stdout.split()) > 0
    return 0 if done.returncode == 0 and complete and max(differences) <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
