#!/usr/bin/env python3
"""Compiles the skeleton of every exercise: a learner's file begins without a warning.

usage: learn_skeletons.py PROGRAM COURSE

PROGRAM is the headroom program in double, COURSE the folder course/ of the build.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def main():
    program, course = sys.argv[1], pathlib.Path(sys.argv[2])
    facts = json.loads((course / "course.json").read_text(encoding="utf-8"))
    source = pathlib.Path(facts["source"])
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for exercise in facts["exercises"]:
            chapter, file = exercise.split("/")
            name = f"{chapter[:2]}/{file[0]}"
            subprocess.run([program, "learn", "generate", name, folder], check=True,
                           capture_output=True)
            compiled = subprocess.run(
                [facts["compiler"], *facts["flags"], "-DHEADROOM_PRECISION=f64",
                 "-DHEADROOM_DOUBLE", f"-I{source}/include", f"-I{source}/chapters",
                 f"-I{source}/chapters/{chapter}", "-include", course / "answer_f64-O0.hpp",
                 "-fsyntax-only", f"{folder}/{file}_skeleton.cpp"],
                capture_output=True, text=True, check=False)
            if compiled.stderr or compiled.returncode != 0:
                wrong += 1
                print(f"{name}\n{compiled.stderr}")
    print(f"{len(facts['exercises'])} skeletons, {wrong} with warnings")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
