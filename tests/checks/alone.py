#!/usr/bin/env python3
"""Every source file compiles alone: it includes what it uses. In a unity build, and with
precompiled headers, a file also sees what others include.

usage: alone.py ROOT COMMANDS [sample]

COMMANDS is the compile_commands.json of a build of ROOT without both. Nothing but the syntax is
checked, with the options of that build. All files take many minutes.

  sample: a part of the files that takes less than a minute, another part with every commit
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sources import commits, report

PARTS = 30


def finding_of(root, entry):
    words = shlex.split(entry["command"])
    words[words.index("-o"):words.index("-o") + 2] = ["-fsyntax-only"]
    done = subprocess.run(words, cwd=entry["directory"], text=True, capture_output=True)
    if done.returncode == 0:
        return None
    first = next((l for l in done.stderr.split("\n") if "error:" in l), done.stderr[-300:])
    return f"{os.path.relpath(entry['file'], root)}: does not compile alone: {first.strip()}"


def main():
    root, commands = map(os.path.abspath, sys.argv[1:3])
    with open(commands, encoding="utf-8") as file:
        # The options of one target are enough. Generated files are not below src, tests, ...
        entries = {entry["file"]: entry for entry in json.load(file)}
    build = os.path.dirname(commands)
    paths = sorted(path for path in entries if not path.startswith(build))
    if sys.argv[3:] == ["sample"]:
        paths = paths[commits(root) % PARTS::PARTS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda path: finding_of(root, entries[path]), paths)
        findings = [finding for finding in found if finding]
    report("alone", findings, f"{len(paths)} files")


main()
