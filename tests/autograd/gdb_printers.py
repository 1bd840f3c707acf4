#!/usr/bin/env python3
"""Checks what src/headroom-gdb.py shows in gdb. Exit code 77 where gdb is missing, or may not run
programs.

usage: gdb_printers.py PRINTERS PROGRAM
"""

import shutil
import subprocess
import sys

EXPECTED = {
    "array": "Array [2, 3]\n[[1 2 3]\n [4 5 -6.5]]",
    "ids": "Array [3]\n[7 8 -9]",
    "tensor": "Tensor [2]\n[0.25 0.5]",
    "shape": "[2, 3]",
    "large": "Array [500, 3]\n[[1 1 1]\n [1 1 1]\n [1 1 1]\n ...\n [1 1 1]\n [1 1 1]\n [1 1 1]]",
    "none": "Array undefined",
    "undefined": "Tensor undefined",
}


def main(printers, program):
    if shutil.which("gdb") is None:
        print("skipped: gdb is missing")
        return 77
    commands = ["set confirm off", "set width 0", f"source {printers}", "break stop_here", "run"]
    for name in EXPECTED:
        commands += ["up"] if name == "none" else []
        commands += [f"echo <{name}>\\n", f"print {name}", f"echo </{name}>\\n"]
    run = subprocess.run(
        ["gdb", "-nx", "-batch", *(part for c in commands for part in ("-ex", c)), program],
        capture_output=True, text=True, timeout=300, check=False)
    if "ptrace" in run.stderr or "ASLR" in run.stderr and "Breakpoint 1," not in run.stdout:
        print("skipped: gdb may not run programs here\n" + run.stderr)
        return 77
    wrong = 0
    for name, expected in EXPECTED.items():
        _, _, rest = run.stdout.partition(f"<{name}>\n")
        shown = rest.partition(f"</{name}>")[0].partition(" = ")[2].strip()
        if shown.startswith("("):  # (const Array &) @0x7ffe270: Array ...
            shown = shown.partition(": ")[2]
        if shown != expected:
            wrong += 1
            print(f"{name}: expected\n{expected}\nbut gdb shows\n{shown}")
    if wrong:
        print(run.stdout, run.stderr)
    else:
        print(f"gdb shows {len(EXPECTED)} of {len(EXPECTED)} values as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
