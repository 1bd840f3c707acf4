#!/usr/bin/env python3
"""Trains a small model with removal of heads on all solutions of the course and on the library, and
compares the test losses.

usage: learn_training.py COURSE

COURSE is the folder course/ of the build; its folder all/ has the solutions as libmine_f64.so.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOLERANCE = 1e-6  # relative; the sums of solutions are in another order than the kernels'


def summary(course, folder, mine):
    environment = dict(os.environ)
    if mine:
        environment["LD_LIBRARY_PATH"] = str(course / "all")
    settings = "--task reverse --steps 24 --batch 16 --width 16 --heads 4 --layers 1 --prune 4"
    subprocess.run([course / "bin/headroom-f64", "train", *settings.split(), "--out", folder],
                   env=environment, check=True, capture_output=True, text=True)
    return json.loads(pathlib.Path(folder, "summary.json").read_text(encoding="utf-8"))


def main():
    course = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        library = summary(course, folder + "/library", False)
        answers = summary(course, folder + "/answers", True)
    losses = [result["test"]["test_loss"] for result in (library, answers)]
    heads = [result["heads_alive"] for result in (library, answers)]
    print(f"test loss: library {losses[0]}, solutions {losses[1]}; heads left: {heads}")
    if abs(losses[0] - losses[1]) > TOLERANCE * abs(losses[0]) or heads[0] != heads[1]:
        sys.exit("the solutions train to another model")


if __name__ == "__main__":
    main()
