#!/usr/bin/env python3
"""The reading list of docs/reading.md names files of the engine, and is short enough for a day.

usage: reading.py ROOT

Each row of its tables names one file, which exists, and says in a sentence what to look at. All
files together have at most MOST lines, those in bold (the hour's) at most MOST_IN_AN_HOUR.
"""

import os
import re
import sys

from sources import read, report

LIST = "docs/reading.md"
MOST, FEWEST = 4000, 3000
MOST_IN_AN_HOUR = 2000
ROW = re.compile(r"^\| (\**)`([^`]+)`\** \| (.+) \|$", re.M)


def main():
    root = sys.argv[1]
    findings, seen, total, hour = [], set(), 0, 0
    rows = [line for line in read(root, LIST).split("\n") if line.startswith("| ")
            and line != "| read | and look at |"]
    for line in rows:
        match = ROW.match(line)
        if not match:
            findings.append(f"{LIST}: a row is not | `file` | sentence |: {line[:60]}")
            continue
        bold, path, sentence = match.groups()
        if not path.startswith(("src/headroom/", "include/headroom/")):
            findings.append(f"{LIST}: {path} is not a file of the engine")
        if not os.path.isfile(os.path.join(root, path)):
            findings.append(f"{LIST}: there is no {path}")
            continue
        if path in seen:
            findings.append(f"{LIST}: {path} is named twice")
        if not sentence.endswith(".") or len(sentence.split()) < 3:
            findings.append(f"{LIST}: {path}: no sentence that says what to look at")
        seen.add(path)
        lines = read(root, path).count("\n")
        total += lines
        hour += lines if bold else 0
    if not FEWEST <= total <= MOST:
        findings.append(f"{LIST}: {total} lines in {len(seen)} files; from {FEWEST} to {MOST} fit "
                        "into a day")
    if not 0 < hour <= MOST_IN_AN_HOUR:
        findings.append(f"{LIST}: {hour} lines in bold; at most {MOST_IN_AN_HOUR} fit into an hour")
    report("reading", findings, f"{total} lines in {len(seen)} files, {hour} of them in an hour")


main()
