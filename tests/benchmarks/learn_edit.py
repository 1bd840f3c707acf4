#!/usr/bin/env python3
"""Measures the time from an edit to its result in the course, on a terminal.

usage: learn_edit.py PROGRAM [ID ...] [--edits N] [--log FILE]

For each exercise (default: all) the solution is saved N times (default 20), each time with another
comment, while the program watches the file. Printed: the median time until the verdict is on the
screen, its first and third quartile, the time until the keys are shown again, the time until the
first word, and the time in which the same compiler compiles an empty file with the same flags. At
the end: the median and the worst of the exercises' medians. Run it on an idle machine; see
docs/performance.md.

With --log, the results are appended to a file, a line of JSON for each exercise, together with the
load of the machine. Exercises that the file has are not measured again, so a stopped run continues.
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
    """Time at which the text has appeared, and everything that was read. Skips questions."""
    text, end, skipped = "", time.monotonic() + patience, 0
    while wanted not in text:
        if text.count("your answer") > skipped:
            skipped += 1
            os.write(file, b"\n")
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


def measure(program, name, own, solution, environment, edits):
    """Times of edits, in ms: median and quartiles, that of the prompt, and of the first word."""
    began = time.monotonic()
    pid, file = pty.fork()
    if pid == 0:
        os.execve(program, [program, "learn", name], environment)
    first = wait_for(file, name)[0] - began
    wait_for(file, "[q] quit")
    times, prompts = [], []
    for edit in range(edits + 1):
        time.sleep(0.3)
        while select.select([file], [], [], 0)[0]:
            os.read(file, 65536)
        copy = own.with_suffix(".tmp")
        copy.write_text(solution + f"// edit {edit}\n", encoding="utf-8")
        copy.rename(own)
        began = time.monotonic()
        end, text = wait_for(file, "All checks pass.")
        times.append(end - began)
        prompt = end if "[q] quit" in text else wait_for(file, "[q] quit")[0]
        prompts.append(prompt - began)
    os.write(file, b"q")
    os.waitpid(pid, 0)
    quartiles = [round(1000 * t) for t in statistics.quantiles(times[1:], n=4)]
    return {"median": quartiles[1], "quartiles": [quartiles[0], quartiles[2]],
            "prompt": round(1000 * statistics.median(prompts[1:])),
            "first_word": round(1000 * first)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument("--log", type=pathlib.Path)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    course = json.loads((pathlib.Path(program).parents[1] / "course/course.json").read_text())
    results = {}
    if options.log and options.log.exists():
        lines = options.log.read_text(encoding="utf-8").splitlines()
        results = {line["id"]: line for line in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HEADROOM_WORKSPACE": folder, "TERM": "xterm"}

        def learn(*words):
            return subprocess.run([program, "learn", *words], env=environment, text=True,
                                  capture_output=True, check=False).stdout

        exercises = {e["id"]: e for e in json.loads(learn("list", "--json"))}
        ids = options.ids or list(exercises)
        for name in ids:
            if name not in results:
                learn("generate", name, folder + "/answers")
                own = pathlib.Path(exercises[name]["file"])
                solution = pathlib.Path(folder, "answers", own.stem + "_solution.cpp").read_text()
                empty = round(1000 * empty_file(folder, course))
                result = {"id": name, "empty_file": empty, "load": round(os.getloadavg()[0], 1),
                          **measure(program, name, own, solution, environment, options.edits)}
                results[name] = result
                if options.log:
                    with options.log.open("a", encoding="utf-8") as log:
                        log.write(json.dumps(result) + "\n")
            result = results[name]
            print("{id}  edit -> result {median} ms ({quartiles[0]} to {quartiles[1]}), prompt "
                  "after {prompt} ms, first word after {first_word} ms; an empty file {empty_file} "
                  "ms, load {load}"
                  .format(**result), flush=True)
    medians = sorted((results[name]["median"], name) for name in ids)
    prompts = [results[name]["prompt"] for name in ids]
    print(f"{len(ids)} exercises: prompt after {statistics.median(prompts):.0f} ms in the median, "
          f"{max(prompts)} ms at most")
    print(f"{len(ids)} exercises: median {statistics.median(m for m, _ in medians):.0f} ms, worst "
          f"{medians[-1][0]} ms ({medians[-1][1]}); an empty file "
          f"{statistics.median(results[name]['empty_file'] for name in ids):.0f} ms")


if __name__ == "__main__":
    main()
