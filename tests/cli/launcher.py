#!/usr/bin/env python3
"""Checks when the launcher prints a stored help text, and when it starts the program for it. The
launcher runs in a copy of its folder, with a script in place of the program.

usage: launcher.py
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = '#!/bin/sh\necho "started by $HEADROOM_LAUNCHER: $*"\n'
HELP = {"": "overview", "--help": "help", "lab": "lab_list", "lab list": "lab_list",
        "lab --help": "lab", "train --help": "train", "graph -h": "graph"}

wrong = []


def expect(folder, when, words, started):
    """Compares what `./headroom WORDS` prints with the program's output or the stored text."""
    done = subprocess.run([folder / "headroom", *words.split()], text=True, capture_output=True)
    stored = ROOT / "docs/help" / (HELP.get(words, words.split()[0] if words else "") + ".txt")
    wanted = f"started by ./headroom: {words}\n" if started else stored.read_text()
    if done.returncode != 0 or done.stdout != wanted:
        wrong.append(f"{when}: ./headroom {words} prints {done.stdout[:60]!r} {done.stderr!r}")
    elif ("Printed from docs/help" in done.stderr) == started:
        wrong.append(f"{when}: ./headroom {words} prints on stderr {done.stderr!r}")


def copy_launcher(folder):
    """The launcher with its texts, sources as old as 1970, and a program without a stamp."""
    shutil.copy(ROOT / "headroom", folder)
    shutil.copytree(ROOT / "docs/help", folder / "docs/help")
    for name in ["CMakeLists.txt", "CMakePresets.json", "src/a.cpp", "include/a.hpp"]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    for path in [folder / "headroom", *folder.iterdir(), *folder.glob("src/**/*"),
                 *folder.glob("include/**/*")]:
        os.utime(path, (0, 0))
    program = folder / "build/release/bin/headroom"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        copy_launcher(folder)
        release = folder / "build/release"
        for words in HELP:
            expect(folder, "not built", words, started=False)
        for command in ["program", "lab", "learn", "graph"]:
            stamp = release / f"{command}.stamp"
            stamp.write_text(f"{folder}\n")
            for words in HELP:
                expect(folder, f"built by {command}", words, started=True)
            expect(folder, f"built by {command}", "parity --help", started=False)
            (folder / "src/a.cpp").touch()
            os.utime(stamp, (1, 1))
            for words in HELP:
                expect(folder, f"{command} is old", words, started=False)
            os.utime(folder / "src/a.cpp", (0, 0))
            stamp.write_text("/another/folder\n")
            expect(folder, f"{command} is of another folder", "lab list", started=False)
            stamp.unlink()
    if wrong:
        sys.exit("\n".join(wrong))
    print("the launcher starts a program that is up to date, and prints stored texts otherwise")


main()
