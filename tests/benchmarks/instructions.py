#!/usr/bin/env python3
"""Guards the kernels' instruction counts: times are noisy, counts are not.

usage: instructions.py PROGRAM COMPILER [--update]

Runs kernel_work under callgrind and compares each kernel with instructions.json beside this file,
which holds the counts per compiler (GNU-12) for -march=x86-64-v3. More than 10 % more instructions
is a failure; with 10 % less, the file should be updated (--update writes the counts of COMPILER).
Counts of an unknown compiler are printed and not compared. With any compiler, causal attention
must do half the work of full attention, in at most 0.55 of its instructions.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = pathlib.Path(__file__).resolve().parent / "instructions.json"
LINE = re.compile(r"^\s*([\d,]+) .*?measured_(\w+)")


def count(program):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"}
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
             "--toggle-collect=measured_*", program], env=environment, capture_output=True,
            text=True)
        if done.returncode != 0:
            sys.exit(f"error: {program} under callgrind: {done.stderr[-2000:]}")
        report = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                                capture_output=True, text=True, check=True).stdout
    found = {}
    for line in report.splitlines():
        match = LINE.match(line)
        if match:
            instructions = int(match[1].replace(",", ""))
            found[match[2]] = max(found.get(match[2], 0), instructions)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="kernel_work of a build")
    parser.add_argument("compiler", help="name and major version of its compiler, such as GNU-12")
    parser.add_argument("--update", action="store_true", help="expect these counts from now on")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("skipped: no valgrind (apt-get install valgrind)")
        return
    found = count(options.program)
    known = json.loads(EXPECTED.read_text())
    if options.update:
        known[options.compiler] = found
        EXPECTED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
        return
    if options.compiler not in known:
        print(f"no counts of {options.compiler} are known (only {', '.join(sorted(known))}): "
              "nothing to compare with; --update writes them")
    expected = known.get(options.compiler, found)
    if found.keys() != expected.keys():
        sys.exit(f"error: counted {sorted(found)}, expected {sorted(expected)}; --update?")
    slower = False
    for name in sorted(found):
        ratio = found[name] / expected[name]
        word = "TOO MANY" if ratio > 1.1 else "fewer: --update" if ratio < 0.9 else ""
        print(f"{name:24} {found[name]:>12,} {ratio:6.3f}  {word}".rstrip())
        slower = slower or ratio > 1.1
    causal = found["attention"] / found["full_attention"]
    print(f"causal over full attention {causal:.3f}")
    if causal > 0.55:
        sys.exit("error: causal attention computes more than half of the square")
    if slower:
        sys.exit("error: a kernel needs more instructions than it did; if that is meant, --update")


main()
