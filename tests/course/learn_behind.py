#!/usr/bin/env python3
"""Checks the work that no verdict waits for: the learner's functions for programs, their times, and
the mistakes of this exercise and of the next one.

usage: learn_behind.py PROGRAM COURSE_FOLDER
"""

import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from terminal import Terminal

wrong = 0


def expect(condition, text):
    global wrong
    if not condition:
        wrong += 1
        print(f"WRONG: {text}")


class Learner:
    """A workspace, and the runner in it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.environment = {**os.environ, "HEADROOM_WORKSPACE": folder,
                            "OMP_WAIT_POLICY": "passive"}
        self.build = self.folder / ".build"

    def run(self, *words):
        return subprocess.run([self.program, "learn", *words], env=self.environment, text=True,
                              capture_output=True, check=False)

    def answer(self, exercise, more=""):
        """Writes the solution, with another line at its end, and checks it."""
        made = self.run("generate", exercise, str(self.folder / "answers")).stdout.splitlines()
        solution = pathlib.Path(next(line for line in made if line.endswith("_solution.cpp")))
        listed = json.loads(self.run("list", "--json").stdout)
        own = pathlib.Path(next(e["file"] for e in listed if e["id"] == exercise))
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(solution.read_text() + more)
        return self.run("check", exercise)

    def compiled(self, exercise):
        """Whether the kept answer is compiled in double and in float, and when both libraries were
        linked."""
        code = self.build / f"passed_f64/{exercise}.cpp"
        times = {file: file.stat().st_mtime_ns if file.exists() else 0
                 for file in [code, *(self.build / f"passed{p}/{exercise}.o" for p in ("_f64", "")),
                              *(self.build / f"mine/libmine{p}.so" for p in ("_f64", ""))]}
        kept, *objects, in_double, in_float = times.values()
        return [kept <= time for time in objects], min(in_double, in_float)


def check_programs(learner):
    """A verdict compiles nothing for programs; `behind` and `run` do so with each new answer."""
    done = learner.answer("04/1")
    expect(done.returncode == 0, f"the solution does not pass: {done.stdout}")
    expect(learner.compiled("04_1") == ([False, False], 0), "the verdict waited")
    done = learner.run("behind", "04/1")
    expect(done.returncode == 0, f"behind: {done.stderr}")
    compiled, linked = learner.compiled("04_1")
    expect(compiled == [True, True] and linked > 0, f"behind compiles {compiled}")
    factor = json.loads((learner.build / "times/04_1.json").read_text())
    expect(0.2 < factor < 20, f"a step takes {factor} times as long")
    learner.answer("04/1")
    expect(learner.compiled("04_1") == ([True, True], linked), "the same answer is kept again")
    learner.answer("04/1", "// another one\n")
    expect(learner.compiled("04_1")[0] == [False, False], "the verdict waited again")
    done = learner.run("run", "doctor")
    expect(done.returncode == 0 and "1 function is yours: softmax" in done.stdout,
           f"run: {done.stdout}{done.stderr}")
    expect("compiling 1 of your answers for programs" in done.stderr, f"run says {done.stderr}")
    compiled, again = learner.compiled("04_1")
    expect(compiled == [True, True] and again > linked, "run does not renew the libraries")
    expect("compiling" not in learner.run("run", "doctor").stderr, "run compiles what is there")


def check_mistakes(learner, course):
    """The mistakes of the exercise and of the next one are known; a killed process is no harm."""
    files = course / "mistakes_f64"
    for exercise in ("06_1", "06_2"):
        for file in (files / exercise).glob("*.txt"):
            file.unlink()
    behind = subprocess.Popen([learner.program, "learn", "behind", "06/1"],
                              env=learner.environment)
    time.sleep(0.4)
    behind.send_signal(signal.SIGKILL)
    behind.wait()
    known = len(list((files / "06_1").glob("*.txt")))
    learner.run("behind", "06/1")
    now = len(list((files / "06_1").glob("*.txt")))
    expect(now > known and list((files / "06_2").glob("*.txt")),
           f"{now} mistakes are known, {known} before the kill")


def check_prompt(learner):
    """The keys are back while the work goes on, and [q] does not wait for it."""
    learner.answer("06/3")
    watch = Terminal([learner.program, "learn", "--no-editor", "06/3"], learner.environment)
    watch.wait_for("All checks pass.")
    watch.wait_for("being compiled for programs")
    watch.wait_for("[q] quit")
    began = time.monotonic()
    watch.press("q")
    expect(watch.exit_code() == 0 and time.monotonic() - began < 2, "[q] waits")


def check_lock(learner, course):
    """An experiment that is there runs although another build goes on."""
    learner.run("run", "first_light", "--all")
    with open(course.parents[1] / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = learner.run("run", "first_light", "--all")
    expect(done.returncode == 0 and "step" in done.stdout, f"locked: {done.stderr}")


def main():
    program, course = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        learner = Learner(program, folder)
        check_programs(learner)
        check_mistakes(learner, course)
        check_prompt(learner)
        check_lock(learner, course)
    print(f"behind: {wrong} finding(s)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
