#!/usr/bin/env python3
"""Lets every system call of a command fail once, and checks what the command says and leaves.

usage: failing_calls.py PROGRAM LIBRARY [--sample N] [--only COMMAND] [--call CALL] [--results FILE]

The k-th open, read, write, fsync, rename, close, mkdir or flock on the files of a command fails,
for k = 1, 2, ... until none is left, and so does the k-th request for memory: of the pool, and by
operator new, of which there are so many that later ones are tried more rarely. After EINTR, a short
read or write, and a close() that fails, the command must end as if nothing had happened. After EIO,
ENOSPC, no locks or no memory it must print one line that says so and exit with 5 (1 without
memory), every file must be an old or a new one, whole, and the command must go on afterwards and
leave the bytes of an undisturbed one. The same holds when the process is killed at that call.

Prints a table of calls, failures and verdicts. With --results an interrupted test continues.
"""
import argparse
import collections
import contextlib
import json
import pathlib
import random
import re
import shutil
import sys

import disk
import runs

ERRORS = {"open": ["EIO", "ENOSPC", "ENOSPC+", "EINTR", "KILL"],
          "read": ["EIO", "EINTR", "short"],
          "write": ["EIO", "ENOSPC", "ENOSPC+", "EINTR", "short", "KILL"],
          "fsync": ["EIO", "ENOSPC", "ENOSPC+", "EINTR", "KILL"],
          "rename": ["EIO", "ENOSPC", "KILL"],
          "close": ["EIO", "ENOSPC", "EINTR", "KILL"],
          "mkdir": ["EIO", "ENOSPC", "KILL"],
          "flock": ["ENOLCK+", "EOPNOTSUPP+", "KILL"],
          "mmap": ["ENOMEM"],
          "malloc": ["ENOMEM"],
          "new": ["ENOMEM", "ENOMEM+"]}
REASONS = {"EIO": "Input/output error", "ENOSPC": "No space left on device",
           "ENOLCK": "No locks available", "EOPNOTSUPP": "Operation not supported",
           "ENOMEM": "not enough memory"}


def numbers(call, last):
    """Those of the calls 1 to `last` that are tried."""
    k = 1
    while k <= last:
        yield k
        k += max(1, k // 30) if call == "new" else 1


class Command:
    """A command, the files that it begins with, and those that it leaves."""

    def __init__(self, program, name, base, arguments, again):
        self.program, self.name, self.base = program, name, base
        self.arguments, self.again = arguments, again
        folder = runs.emptied(program.folder)
        with runs.scratch_folder() as scratch:
            runs.write_files(folder, base)
            record = pathlib.Path(scratch) / "record"
            self.calls = program.must(folder, arguments, record).calls
            self.expected = runs.files_in(folder)
            calls = disk.operations(record.read_bytes())
            self.versions = {name: [content for _, content in found] for name, found
                             in disk.versions(folder, base, calls).items()}

    def cases(self):
        for call, errors in ERRORS.items():
            for error in errors:
                for k in numbers(call, self.calls[call] + 1):
                    yield f"{self.name}: {call} {k} {error}"

    def verdict(self, call, k, error):
        """A word that says how the command took it, or "WRONG: ..."."""
        folder = runs.emptied(self.program.folder)
        runs.write_files(folder, self.base)
        rule = f"{call} {k}{'+' if error.endswith('+') else ' '}{error.rstrip('+')}"
        done = self.program.run(folder, self.arguments, fail=rule)
        if not done.failed:
            same = done.code == 0 and not runs.differences(runs.files_in(folder), self.expected)
            return "no such call" if same else f"WRONG: nothing failed, {done.text()}"
        wrong = self.wrong_end(call, error, done, folder) or self.not_whole(folder)
        if wrong:
            return f"WRONG: {wrong} ({done.failed}, {done.text()})"
        ended = ("survived" if done.code == 0 else
                 "killed" if done.code < 0 else f"exit {done.code}")
        wrong = self.again(folder)
        if not wrong:
            left = {name: content for name, content in runs.files_in(folder).items()
                    if name in self.expected or not runs.temporary(name)}
            wrong = ", ".join(runs.differences(left, self.expected))
        return f"WRONG: afterwards: {wrong} ({done.failed}, {done.text()})" if wrong else ended

    def wrong_end(self, call, error, done, folder):
        if error == "KILL":
            return "" if done.code == -9 else "not killed"
        lines = [line for line in done.err.splitlines()
                 if not re.match(r"Learning +step | *step \d+: ", line)]  # progress
        if done.code == 0:
            found = runs.files_in(folder)
            without_page = len(lines) == 1 and lines[0].startswith("the page was not written: ")
            if lines and not without_page:
                return "exit code 0 with a message"
            lost = call in ("write", "fsync", "rename") and error.rstrip("+") in ("EIO", "ENOSPC")
            if lost and not without_page:
                return "an error of the disk was ignored"
            if without_page:
                found["run/report.html"] = self.expected["run/report.html"]
            return ", ".join(runs.differences(found, self.expected))
        if call == "close" or error in ("EINTR", "short"):
            return "it must be survived"
        if done.code != (1 if error.startswith("ENOMEM") else 5):
            return "wrong exit code"
        if len(lines) != 1 or not lines[0].startswith("error: "):
            return "not one line"
        return "" if REASONS[error.rstrip("+")] in lines[0] else "the line has no reason"

    def not_whole(self, folder):
        for name, content in runs.files_in(folder).items():
            if content is None or runs.temporary(name) or name.endswith("metrics.jsonl"):
                continue
            if name.endswith("records.json"):
                with contextlib.suppress(ValueError):
                    json.loads(content)
                    continue
            elif name.endswith("run/report.html"):
                if content.rstrip().endswith(b"</html>"):
                    continue
            elif content in self.versions.get(name, []):
                continue
            return f"{name} is not whole"
        return ""


def commands(program, only):
    """Every command whose name begins with `only`."""
    folder = runs.emptied(program.folder)
    program.must(folder, runs.TRAIN)
    trained = runs.files_in(folder)
    killed = runs.killed_while_saving(program)

    def over(arguments):
        """The command again, over what it left."""
        def again(folder):
            done = program.run(folder, arguments)
            return "" if done.code == 0 else done.text()
        return again

    cut = "prune --model run --keep 1 --examples 8 --out cut --threads 1".split()
    page = ["attend", "--model", "run", "--input", "(())", "--out", "page", "--threads", "1"]
    report = "report --model run --out page.html --force".split()
    resume = lambda folder: runs.goes_on(program, folder, runs.TRAIN)  # noqa: E731
    listed = [("train", {}, runs.TRAIN, resume),
              ("resume", killed, runs.RESUME, resume),
              ("prune", trained, cut, over(cut + ["--force"])),
              ("report", {**trained, "page.html": b"old"}, report, over(report)),
              ("export", trained, page, over(page + ["--force"]))]
    return {name: Command(program, name, base, arguments, again)
            for name, base, arguments, again in listed if name.startswith(only)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--sample", type=int, help="so many cases, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", default="", help="train, resume, prune, report or export")
    parser.add_argument("--call", help="only this kind of call")
    parser.add_argument("--results", help="file of verdicts, in which a test continues")
    options = parser.parse_args()
    program = runs.Program(options.program, options.library)
    found = commands(program, options.only)
    cases = [case for command in found.values() for case in command.cases()
             if options.call in (None, case.split()[1])]
    total = len(cases)
    if options.sample:
        # Failures of each command and kind are drawn equally often: there are most writes.
        kinds = collections.defaultdict(list)
        for case in cases:
            kinds[re.sub(r" \d+ ", " ", case)].append(case)
        rng = random.Random(options.seed)
        drawn = rng.sample(sorted(kinds), min(options.sample, len(kinds)))
        chosen = [rng.choice(kinds[kind]) for kind in drawn]
        others = sorted(set(cases) - set(chosen))
        cases = chosen + rng.sample(others, min(options.sample - len(chosen), len(others)))
    results = runs.Results(options.results, options.program)
    for case in cases:
        if case not in results.verdicts:
            command, call, k, error = re.match(r"(\w+): (\w+) (\d+) (\S+)", case).groups()
            results.add(case, found[command].verdict(call, int(k), error))
            if results.verdicts[case].startswith("WRONG"):
                print(f"{case}: {results.verdicts[case]}", flush=True)
    table = collections.defaultdict(collections.Counter)
    for case in cases:
        command, call, _, error = case.replace(":", "").split(" ")
        table[command, call, error][results.verdicts[case].split(":")[0]] += 1
    print(f"{'command':8} {'call':7} {'failure':8} {'cases':>6}  verdicts")
    for (command, call, error), verdicts in table.items():
        words = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
        print(f"{command:8} {call:7} {error:8} {sum(verdicts.values()):6}  {words}")
    wrong = sum(verdicts["WRONG"] for verdicts in table.values())
    print(f"{len(cases)} of {total} failures, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
