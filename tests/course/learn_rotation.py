#!/usr/bin/env python3
"""Tries the answers of the course. All of them take minutes, so the ordinary tests try a third of
the exercises, another third with every commit: the wrong answers and skeletons in double, the
solutions in float, and the solutions under sanitizers. Answers without the function that they must
define are tried for every exercise, in double.

usage: learn_rotation.py PROGRAM SOURCE [--all]

PROGRAM is the headroom program in double; --all tries every exercise, also the wrong answers in
float. The solutions in double have tests of their own.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../checks"))
from sources import commits  # noqa: E402

THIRDS = 3


def main():
    program, source = sys.argv[1:3]
    if sys.argv[3:] == ["--all"]:
        trials = [[], ["--float"], ["--sanitize"]]
    else:
        count = commits(source)
        trials = [[*words, "--parts", str(THIRDS), "--part", str((count + i) % THIRDS)]
                  for i, words in enumerate([[], ["--float", "--solutions"], ["--sanitize"]])]
        trials.append(["--missing"])
    wrong = 0
    for words in trials:
        print("learn try", *words, flush=True)
        wrong += subprocess.run([program, "learn", "try", *words]).returncode != 0
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
