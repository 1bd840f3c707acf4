#!/usr/bin/env python3
"""Compares docs/help with what the program prints: the launcher prints these texts before it is
built.

usage: help_texts.py PROGRAM [--update]
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/help"


def output(program, *arguments):
    """The program's output as the launcher shows it."""
    environment = {**os.environ, "HEADROOM_LAUNCHER": "./headroom"}
    return subprocess.run([program, *arguments], env=environment, text=True, capture_output=True,
                          check=True).stdout


def texts_of(program):
    """Name and content of every file that docs/help should hold."""
    found = {"overview": output(program), "help": output(program, "--help"),
             "lab_list": output(program, "lab", "list")}
    subcommands = found["help"].split("\nSubcommands:\n")[1].split("\n\n")[0]
    for command in re.findall(r"^  (\w+)", subcommands, flags=re.M):
        found[command] = output(program, command, "--help")
    return {name + ".txt": text for name, text in found.items()}


def main():
    program = os.path.abspath(sys.argv[1])
    expected = texts_of(program)
    present = {path.name: path.read_text() for path in FOLDER.glob("*.txt")}
    if sys.argv[2:] == ["--update"]:
        for name in present.keys() - expected.keys():
            (FOLDER / name).unlink()
        FOLDER.mkdir(exist_ok=True)
        for name, text in expected.items():
            (FOLDER / name).write_text(text)
        return
    wrong = sorted(name for name in present.keys() | expected.keys()
                   if present.get(name) != expected.get(name))
    if wrong:
        here = os.path.relpath(__file__, ROOT)
        sys.exit(f"docs/help differs from the program in {', '.join(wrong)}; to renew it:\n"
                 f"  {here} {os.path.relpath(program, ROOT)} --update")
    print(f"{len(expected)} texts are those of the program")


main()
