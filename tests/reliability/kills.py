#!/usr/bin/env python3
"""Kills training runs at random moments, N times, and compares what they leave.

usage: kills.py PROGRAM LIBRARY N [--results FILE]

The runs remove heads by different recipes and save at every step. Each is killed again and again,
at a random time or at a random call that writes, and resumed, until it is complete. Then its files
must have the bytes of an undisturbed run. With --results an interrupted test continues.
"""
import argparse
import collections
import random
import subprocess
import sys
import time

import runs

STEPS = "--steps 12 --evaluate-every 4 --snapshots 5".split()
RECIPES = {
    "gradual, by sensitivity": "--prune 2 --prune-from 3 --prune-to 9",
    "one_shot, compensated": "--prune 2 --prune-schedule one_shot --prune-from 5 --compensate mean",
    "iterative, with regrowth": "--prune 2 --prune-schedule iterative --prune-rounds 2 "
                                "--prune-from 2 --prune-to 7 --regrow 0.5 --regrow-every 2",
    "learned gates, lamb": "--prune 2 --gates hard_concrete --prune-from 2 --prune-to 8 "
                           "--optimizer lamb --granularity head --drop-head 0.2",
    "fresh heads, muon": "--prune 2 --prune-from 2 --prune-to 7 --regrow 0.5 --regrow-every 3 "
                         "--regrow-with fresh --optimizer muon",
    "running scores, sgd": "--prune 2 --prune-from 2 --prune-to 9 --rescore running "
                           "--optimizer sgd --layout separate",
}


class Run:
    """One recipe: its arguments, and the files, the seconds and the calls of an undisturbed run."""

    def __init__(self, program, recipe):
        self.arguments = runs.TINY + STEPS + recipe.split()
        with runs.scratch_folder() as folder:
            began = time.monotonic()
            self.calls = program.must(folder, self.arguments).calls
            self.seconds = time.monotonic() - began
            self.expected = runs.files_in(folder)


def killed_at_time(program, folder, arguments, seconds):
    """True if the process was killed; else it had ended."""
    with runs.scratch_folder() as scratch:
        process = subprocess.Popen([program.program, *arguments], cwd=folder,
                                   env=program.environment(folder, scratch),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return process.returncode == -9


def kill_one_run(program, run, rng, most):
    """Returns the number of kills by time and by call, and what is wrong with the run's files."""
    kills = collections.Counter()
    with runs.scratch_folder() as folder:
        while kills.total() < most:
            arguments = runs.RESUME if runs.begun(folder) else run.arguments
            if rng.random() < 0.5:
                if not killed_at_time(program, folder, arguments, rng.uniform(0, run.seconds)):
                    break
                kills["time"] += 1
            else:
                call = rng.choice(["open", "write", "fsync", "rename", "close"])
                number = rng.randint(1, run.calls[call])
                done = program.run(folder, arguments, fail=f"{call} {number} KILL")
                if done.code != -9:
                    if done.code != 0:
                        return kills, done.text()
                    break
                kills["call"] += 1
        why = runs.goes_on(program, folder, run.arguments)
        return kills, why or ", ".join(runs.differences(runs.files_in(folder), run.expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("kills", type=int)
    parser.add_argument("--results", help="file of verdicts, in which a test continues")
    options = parser.parse_args()
    program = runs.Program(options.program, options.library)
    recipes = dict(list(RECIPES.items())[:max(1, options.kills // 10)])
    undisturbed = {name: Run(program, recipe) for name, recipe in recipes.items()}
    results = runs.Results(options.results, options.program)
    total, number, wrong = 0, 0, []
    table = collections.defaultdict(collections.Counter)
    while total < options.kills:
        name = list(recipes)[number % len(recipes)]
        case = f"run {number}: {name}"
        if case not in results.verdicts:
            kills, why = kill_one_run(program, undisturbed[name], random.Random(number),
                                      min(25, options.kills - total))
            results.add(case, [dict(kills), why])
        kills, why = results.verdicts[case]
        total += sum(kills.values())
        table[name].update({**kills, "runs": 1, "different": bool(why)})
        if why:
            wrong.append(f"{case}: {why}")
        number += 1
    print(f"{'recipe':26} {'runs':>5} {'killed at times':>16} {'at calls':>9} {'different':>10}")
    for name, row in table.items():
        print(f"{name:26} {row['runs']:5} {row['time']:16} {row['call']:9} {row['different']:10}")
    for text in wrong[:20]:
        print(text)
    print(f"{total} kills, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
