#!/usr/bin/env python3
"""Compares docs/help with the help texts of the program and of headroom_parity. The launcher prints
these texts before the programs are built.

usage: help_texts.py PROGRAM [PARITY_PROGRAM] [--update]

Without PARITY_PROGRAM parity.txt is neither compared nor updated.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/help"


def output(program, *arguments):
    """The program's output as the launcher shows it, without the empty lines at the end that
    versions of CLI11 print differently."""
    environment = {**os.environ, "HEADROOM_LAUNCHER": "./headroom", "COLUMNS": "80"}
    text = subprocess.run([program, *arguments], env=environment, text=True, capture_output=True,
                          check=True).stdout
    return text.rstrip("\n") + "\n"


def texts_of(program, parity):
    """Name and content of every file that docs/help must contain."""
    found = {"overview": output(program), "help": output(program, "--help"),
             "lab_list": output(program, "lab", "list")}
    commands = found["help"].split("\nCommands:\n")[1].split("\n\n")[0]
    for command in re.findall(r"^  (\w+)", commands, flags=re.M):
        found[command] = output(program, command, "--help")
    found["train_all"] = output(program, "train", "--help-all")
    found["parity"] = output(parity, "--help") if parity else (FOLDER / "parity.txt").read_text()
    return {name + ".txt": text for name, text in found.items()}


def main():
    update = sys.argv[-1] == "--update"
    programs = [os.path.abspath(path) for path in sys.argv[1:len(sys.argv) - update]]
    expected = texts_of(programs[0], programs[1] if len(programs) > 1 else None)
    present = {path.name: path.read_text() for path in FOLDER.glob("*.txt")}
    if update:
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
        paths = " ".join(os.path.relpath(program, ROOT) for program in programs)
        sys.exit(f"docs/help differs from the program in {', '.join(wrong)}; to update it:\n"
                 f"  {here} {paths} --update")
    print(f"{len(expected)} texts are equal to those of the program")


main()
