#!/usr/bin/env python3
"""Every public header compiles alone, all together in float too; only the bridge needs xtensor.

usage: headers.py ROOT COMPILER [sample]
  sample: only the headers that include all others, and the bridge
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sources import files, report

BRIDGE = "include/headroom/xtensor.hpp"
# Include all others but the bridge.
TOGETHER = tuple(f"include/{name}/{name}.hpp" for name in (
    "headroom", "headroom_foreign", "headroom_measure", "headroom_runs", "headroom_lab"))
PRECISIONS = {"f32": ["-DHEADROOM_PRECISION=f32"],
              "f64": ["-DHEADROOM_PRECISION=f64", "-DHEADROOM_DOUBLE"]}
WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror".split()
# The gcc and clang option -H lists the headers that were opened, one a line, dots for depth.
OPENED = re.compile(r"^\.+ (.*)$", re.M)


def findings_of(root, compiler, header, precision):
    name = header[len("include/"):]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-H", *WARNINGS, *PRECISIONS[precision],
               "-I", os.path.join(root, "include"), "-x", "c++", "-"]
    done = subprocess.run(command, input=f'#include "{name}"\n', text=True, capture_output=True)
    if done.returncode != 0:
        first = next((l for l in done.stderr.split("\n") if "error:" in l), done.stderr)
        return [f"{header}: does not compile alone in {precision}: {first.strip()}"]
    xtensor = [path for path in OPENED.findall(done.stderr)
               if re.search(r"/(xtensor|xtl|xsimd)/", path)]
    if xtensor and header != BRIDGE:
        return [f"{header}: needs xtensor ({xtensor[0]})"]
    return []


def main():
    root, compiler = sys.argv[1:3]
    sample = sys.argv[3:] == ["sample"]
    jobs = [(root, compiler, header, precision)
            for header in files(root, (".hpp",), ("include",)) for precision in PRECISIONS
            if header in (BRIDGE, *TOGETHER) or (precision == "f64" and not sample)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda job: findings_of(*job), jobs)
        findings = [finding for some in found for finding in some]
    report("headers", findings, f"{len(jobs)} compilations")


main()
