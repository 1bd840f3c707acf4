#!/usr/bin/env python3
"""Cuts the power of a simulated disk while a run trains, and resumes the run.

usage: power_cuts.py PROGRAM LIBRARY [--points N]

Records all calls of a training run, and of one that resumes, that change files. At N points (all
without --points) it makes the files that a disk may hold after a power cut: with nothing of what
was not synced, with the names only, with the data only, with everything, and with a random part of
the names and of the pages of data. The run must then resume and leave the bytes of an undisturbed
one. If nothing was saved yet, --resume must say so and the run must start afresh. A file must be
there in its latest version from the moment at which the program writes another one.
"""
import argparse
import collections
import pathlib
import random
import sys

import disk
import runs


def saved_before(calls, versions, end):
    """{relative path: index of the call that named its promised version} before the call `end`."""
    promised = {}
    for name, found in versions.items():
        if name.endswith("metrics.jsonl") or runs.temporary(name):
            continue  # the log grows in place; a run resumes only if it is whole
        for index, _ in found:
            # After it the program only syncs the folder, until it goes on to another file.
            after = index + 1
            while after < end and calls[after][0] == "sync_folder":
                after += 1
            if index < 0 or after < end:
                promised[name] = index
    return promised


def cut_runs(program, name, base, arguments, points, table):
    """Returns the texts of what went wrong."""
    wrong = []
    folder = runs.emptied(program.folder)
    with runs.scratch_folder() as scratch:
        runs.write_files(folder, base)
        record = pathlib.Path(scratch) / "record"
        program.must(folder, arguments, record)
        calls = disk.operations(record.read_bytes())
    expected = runs.files_in(folder)
    versions = disk.versions(folder, base, calls)
    ends = range(1, len(calls) + 1)
    if points and points < len(ends):
        ends = sorted({1 + (i * (len(ends) - 1)) // (points - 1) for i in range(points)})
    print(f"{name}: {len(calls)} calls that change files, power cuts after {len(ends)} of them")
    simulated, done = disk.Disk(folder, base), 0
    for end in ends:
        for call in calls[done:end]:
            simulated.apply(call)
        done = end
        promised = saved_before(calls, versions, end)
        for cut in disk.CUTS:
            files = simulated.after(cut, random.Random(f"{name} {end}"))
            why = broken_promise(files, versions, promised, end)
            if not why:
                runs.write_files(runs.emptied(folder), files)
                why = runs.goes_on(program, folder, runs.TRAIN)
            if not why:
                left = {name: content for name, content in runs.files_in(folder).items()
                        if name in expected or not runs.temporary(name)}
                why = ", ".join(runs.differences(left, expected))
            table[name, cut]["wrong" if why else
                             "resumed" if "run/checkpoint.safetensors" in files else
                             "started"] += 1
            if why:
                where = " ".join(str(part)[-60:] for part in calls[end - 1][:3])
                wrong.append(f"{name}: call {end} ({where}), {cut} on the disk: {why}")
    return wrong


def broken_promise(files, versions, promised, end):
    for name, index in promised.items():
        allowed = [content for at, content in versions[name] if index <= at < end]
        if files.get(name) not in allowed:
            return f"{name} was saved and is {'another' if name in files else 'lost'}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--points", type=int, help="cut points of each run (default: all)")
    options = parser.parse_args()
    program = runs.Program(options.program, options.library)
    killed = runs.killed_while_saving(program)
    table = collections.defaultdict(collections.Counter)
    wrong = cut_runs(program, "train", {}, runs.TRAIN, options.points, table)
    wrong += cut_runs(program, "resume", killed, runs.RESUME, options.points, table)
    print(f"{'run':7} {'on the disk':11} {'cuts':>5}  then")
    for (name, cut), counts in table.items():
        words = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        print(f"{name:7} {cut:11} {sum(counts.values()):5}  {words}")
    for text in wrong[:20]:
        print(text)
    cuts = sum(sum(counts.values()) for counts in table.values())
    print(f"{cuts} power cuts, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
