#!/usr/bin/env python3
"""Measures the time from an edit to its result in the course, on a terminal.

usage: learn_edit.py PROGRAM [ID ...] [--edits N]

For each exercise the solution is saved N times (default 20), each time with another comment, while
the program watches the file. Printed: the median time until the verdict is on the screen, its first
and third quartile, the time until the first word, and the time in which the same compiler compiles
an empty file with the same flags. Run it on an idle machine; see docs/performance.md.
"""

import argparse
import json
import os
import pathlib
import pty
import select
import statistics
import subprocess
import tempfile
import time


def wait_for(file, wanted, patience=120):
    """Time at which the text has appeared, and everything that was read."""
    text, end = "", time.monotonic() + patience
    while wanted not in text:
        if time.monotonic() > end:
            raise SystemExit(f"\"{wanted}\" did not appear:\n{text}")
        if select.select([file], [], [], 0.5)[0]:
            text += os.read(file, 65536).decode(errors="replace")
    return time.monotonic(), text


def empty_file(folder, course):
    """Seconds in which an empty file is compiled."""
    source = pathlib.Path(folder, "empty.cpp")
    source.write_text("", encoding="utf-8")
    times = []
    for _ in range(10):
        began = time.monotonic()
        subprocess.run([course["compiler"], *course["flags"], "-c", source, "-o",
                        source.with_suffix(".o")], check=True)
        times.append(time.monotonic() - began)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--edits", type=int, default=20)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    course = json.loads((pathlib.Path(program).parents[1] / "course/course.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HEADROOM_WORKSPACE": folder, "TERM": "xterm"}

        def learn(*words):
            return subprocess.run([program, "learn", *words], env=environment, text=True,
                                  capture_output=True, check=False).stdout

        exercises = {e["id"]: e for e in json.loads(learn("list", "--json"))}
        print(f"an empty file compiles in {1000 * empty_file(folder, course):.0f} ms")
        for name in options.ids or exercises:
            learn("generate", name, folder + "/answers")
            own = pathlib.Path(exercises[name]["file"])
            solution = pathlib.Path(folder, "answers", own.stem + "_solution.cpp").read_text()
            began = time.monotonic()
            pid, file = pty.fork()
            if pid == 0:
                os.execve(program, [program, "learn", name], environment)
            first = wait_for(file, name)[0] - began
            wait_for(file, "[q] quit")
            times = []
            for edit in range(options.edits + 1):
                time.sleep(0.3)
                while select.select([file], [], [], 0)[0]:
                    os.read(file, 65536)
                copy = own.with_suffix(".tmp")
                copy.write_text(solution + f"// edit {edit}\n", encoding="utf-8")
                copy.rename(own)
                began = time.monotonic()
                end, _ = wait_for(file, "All checks pass.")
                times.append(end - began)
                wait_for(file, "[q] quit")
            os.write(file, b"q")
            os.waitpid(pid, 0)
            quartiles = [1000 * t for t in statistics.quantiles(times[1:], n=4)]
            print(f"{name}  edit -> result {quartiles[1]:.0f} ms ({quartiles[0]:.0f} to "
                  f"{quartiles[2]:.0f}), first word after {1000 * first:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
