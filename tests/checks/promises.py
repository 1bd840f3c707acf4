#!/usr/bin/env python3
"""The promises of docs/reliability.md name test programs that have the cases.

usage: promises.py ROOT

A row of its tables ends in | `test_NAME_f64` | `case` |: one of the sources that headroom_test(NAME
...) in tests/CMakeLists.txt lists has a TEST_CASE of that name.
"""

import re
import sys

from sources import read, report

PAGE = "docs/reliability.md"
ROW = re.compile(r"\| `test_(\w+)_f64` \| `([^`]+)` \|$", re.M)
FEWEST = 25


def cases_of(root):
    """The names of the cases of each test program."""
    found, lists = {}, read(root, "tests/CMakeLists.txt")
    for name, sources in re.findall(r"headroom_test\((\w+)([^)]*)\)", lists):
        for source in re.findall(r"\S+\.cpp", sources):
            for parts in re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)',
                                    read(root, "tests/" + source)):
                text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', parts))
                found.setdefault(name, set()).add(text)
    return found


def main():
    root = sys.argv[1]
    cases, rows = cases_of(root), ROW.findall(read(root, PAGE))
    findings = [f"{PAGE}: test_{program}_f64 has no case \"{case}\"" for program, case in rows
                if case not in cases.get(program, ())]
    if len(rows) < FEWEST:
        findings.append(f"{PAGE}: {len(rows)} promises with a case; there were {FEWEST} or more")
    return report("promises", findings, f"{len(rows)} promises have their cases")


if __name__ == "__main__":
    sys.exit(main())
