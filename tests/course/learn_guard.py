#!/usr/bin/env python3
"""Proves for each exercise that replaces a function of the library that the library or the program
calls the answer's function: the dynamic loader binds their reference to the answer.

usage: learn_guard.py SOURCE COURSE

COURSE is the folder course/ of the build, with the solutions as answers.
"""

import os
import pathlib
import re
import subprocess
import sys

BINDING = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']+)'")


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout
    return dict(zip(names, text.splitlines()))


def callers(program, folder, answer):
    """{function: files that call it} of the functions that are bound to the answer's library."""
    environment = {**os.environ, "LD_DEBUG": "bindings", "LD_BIND_NOW": "1",
                   "LD_LIBRARY_PATH": str(folder)}
    log = subprocess.run([program, "--help"], env=environment, capture_output=True, text=True,
                         check=False).stderr
    found = {}
    for caller, target, name in BINDING.findall(log):
        if os.path.basename(target) == answer and os.path.basename(caller) != answer:
            found.setdefault(name, set()).add(os.path.basename(caller))
    names = demangled(sorted(found))
    return {re.sub(r"\b(f32|f64)::", "", names[name]): files for name, files in found.items()}


def main():
    source, course = map(pathlib.Path, sys.argv[1:3])
    wrong = 0
    for master in sorted((source / "chapters").glob("[0-9][0-9]_*/[0-9]_*_checks.cpp")):
        master = master.with_name(master.name.replace("_checks.cpp", ".cpp"))
        replaced = re.search(r"^//! replaces: (.*)$", master.read_text(encoding="utf-8"), re.M)
        name = master.parent.name[:2] + "_" + master.name[0]
        if not replaced:
            continue
        # The answer as the checks of the exercise load it, then as the learner's program does.
        solutions = course / "solutions_f64"
        bound = callers(course / "checks_f64" / (name + "_checks"), solutions, f"lib{name}.so")
        own = course / "guard" / name
        own.mkdir(parents=True, exist_ok=True)
        mine = own / "libmine_f64.so"
        mine.unlink(missing_ok=True)
        mine.symlink_to(solutions / f"lib{name}.so")
        of_program = callers(course / "bin/headroom-f64", own, "libmine_f64.so")
        for function in replaced[1].split(", "):
            files = set()
            for found in (bound, of_program):
                for signature, callers_of in found.items():
                    if signature.split("(")[0] == function.removesuffix("()"):
                        files |= callers_of
            files = {file for file in files if file.startswith(("libheadroom", "headroom"))}
            print(f"{name}  {function}: called by {', '.join(sorted(files)) or 'nobody'}")
            wrong += not files
    # The library of all solutions, on which the library's own tests run.
    together = callers(course / "bin/headroom-f64", course / "all", "libmine_f64.so")
    print(f"all solutions together: {len(together)} functions are called")
    sys.exit(1 if wrong or not together else 0)


if __name__ == "__main__":
    main()
