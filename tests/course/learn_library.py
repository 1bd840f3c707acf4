#!/usr/bin/env python3
"""Runs the checks of each exercise that replaces a function of the library on that function: with
an empty library in place of the answer. Functions that only the exercise has are missing then, and
end the checks; no stage before that may fail. So the library's functions are right answers.

usage: learn_library.py SOURCE COURSE COMPILER

COURSE is the folder course/ of the build.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def stages(program, folder):
    """The number of stages that passed, and the message of the one that failed."""
    report = folder / "report.txt"
    report.unlink(missing_ok=True)
    subprocess.run([program, "--reporter", "learn", "--out", report], capture_output=True,
                   check=False, env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
    text = report.read_text(encoding="utf-8") if report.exists() else ""
    passed = len(re.findall(r"^passed$", text, re.M))
    failed = re.search(r"^failed$(.*)", text, re.M | re.S)
    return passed, failed[1].strip() if failed else ""


def main():
    source, course, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    wrong = tried = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        empty = folder / "empty.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c++", "/dev/null", "-o", empty],
                       check=True)
        for checks in sorted((source / "chapters").glob("[0-9][0-9]_*/[0-9]_*_checks.cpp")):
            master = checks.with_name(checks.name.replace("_checks.cpp", ".cpp"))
            if not re.search(r"^//! replaces: ", master.read_text(encoding="utf-8"), re.M):
                continue
            exercise = master.parent.name[:2] + "_" + master.name[0]
            library = folder / f"lib{exercise}.so"
            library.symlink_to(empty)
            passed, failure = stages(course / "checks_f64" / (exercise + "_checks"), folder)
            library.unlink()
            tried += 1
            print(f"{exercise}  {passed} stages passed  {failure}")
            if failure:
                wrong += 1
    print(f"{tried} exercises, {wrong} whose checks refuse the library's function")
    sys.exit(1 if wrong or tried < 20 else 0)


if __name__ == "__main__":
    main()
