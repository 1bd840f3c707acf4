#!/usr/bin/env python3
"""Reads the #include lines of all our files and fails on an upward or sideways one.

usage: floors.py ROOT

The libraries and floors are those of docs/architecture.md: a file may include its own folder and
the floors below it. Public headers include public headers only; a library sees those below it
through their public headers, and so do programs, examples, chapters and tests, except the tests of
the folders in LOOKS_INSIDE. Chapters may also include chapters/common, and experiments of the
course the headers of chapters and the tests' table of operations.
"""

import os
import re
import sys

from sources import CODE, files, read, report

# The floors of each library, from the lowest.
LIBRARIES = {
    "headroom": "base statistics array kernels algebra autograd ops io nn data optim train surgery",
    "headroom_foreign": "tokenizers folders learning",
    "headroom_measure": "importance pruning",
    "headroom_runs": "tables runs records use exports",
    "headroom_lab": "blocks lab study report"}
PROGRAMS = ("cli", "course")  # one floor above all libraries
LIBRARY_OF = {floor: name for name, floors in LIBRARIES.items() for floor in floors.split()}
FLOORS = {floor: number for number, floor in enumerate(LIBRARY_OF)}
FLOORS.update({program: len(LIBRARY_OF) for program in PROGRAMS})
WITHOUT_PUBLIC_HEADERS = {"kernels"}
BRIDGE = "headroom/xtensor.hpp"
# The header of each library.
TARGETS = {f"include/{name}/{name}.hpp": name for name in LIBRARIES}
MOST_FILES = 12  # in a folder of src/cli

# Tests that may include private headers: kernels are private as a whole, and map() is.
LOOKS_INSIDE = {"array", "kernels", "benchmarks", "fuzz"}
# Catch2, for the tests and, through chapters/common, for the checks of exercises.
CATCH = "tests/support/catch.hpp"
# Experiments of the course may call functions of exercises that the library does not have, and run
# the table of operations.
EXPERIMENTS = "examples/course/"
# A pack of exercises, for the tests: its files are those of a chapter.
SAMPLE_PACK = "tests/course/sample_pack/"
OPERATIONS = "tests/ops/table/operation.hpp"
# Where xtensor may be included: the private shim, the references of the kernels, the bridge.
SEES_XTENSOR = re.compile(r"^(src/headroom/array/xtensor\.hpp"
                          r"|src/headroom/kernels/.*_reference\.hpp"
                          r"|src/headroom/kernels/reference\.hpp|include/headroom/xtensor\.hpp"
                          r"|tests/(array|kernels|consumers)/.*)$")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def place(path):
    """The location of a file: (kind, folder), kind one of public, private, tests, examples, ..."""
    parts = path.split("/")
    if parts[0] == "include":
        return "public", parts[2] if len(parts) > 3 else ""
    if parts[0] == "src":
        return "private", parts[1] if parts[1] in PROGRAMS else parts[2]
    return parts[0], parts[1] if len(parts) > 2 else ""


def library_of(path):
    """The library or program that a file of include or src belongs to."""
    return path.split("/")[1]


def target_of(root, path, name):
    """The path of an #include "name" relative to root; None for headers that are not ours."""
    top = path.split("/")[0]
    candidates = ["include/" + name]
    if top == "src" and path.split("/")[1] in LIBRARIES:
        candidates.append(f"src/{library_of(path)}/{name}")
    else:
        candidates += [f"src/{name}", *(f"src/{library}/{name}" for library in LIBRARIES)]
    if top in ("tests", "examples", "chapters"):
        candidates = [f"{top}/{name}", os.path.join(os.path.dirname(path), name)] + candidates
    if top == "chapters":
        candidates.append("tests/" + name)
    if path.startswith(SAMPLE_PACK):
        candidates.append("chapters/" + name)
    if path.startswith(EXPERIMENTS):
        candidates += ["chapters/" + name, "tests/" + name]
    for candidate in candidates:
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def broken_rule(path, target):
    """The rule that `path` including `target` breaks, or None."""
    kind, folder = place(path)
    target_kind, target_folder = place(target)
    if target == "include/" + BRIDGE and kind in ("public", "private"):
        return "the library does not use the bridge to xtensor"
    if kind in ("public", "private") and path not in (*TARGETS, "include/" + BRIDGE):
        if kind == "public" and target_kind != "public":
            return "a public header includes public headers only"
        if target in TARGETS and folder not in PROGRAMS:
            return f"{os.path.basename(target)} is for users: include what is needed"
        if folder in PROGRAMS and target_kind == "private" and target_folder not in PROGRAMS:
            return "the program sees public headers only"
        mine, theirs = FLOORS[folder], FLOORS.get(target_folder, -1)
        if theirs > mine:
            return f"upward: {folder} is floor {mine}, {target_folder} floor {theirs}"
        return None
    if target_kind == "private":
        if kind == "tests" and (folder in LOOKS_INSIDE or {folder, target_folder} <= set(PROGRAMS)):
            return None
        return f"{kind}/{folder} sees the library through its public headers only"
    if kind == "tests" and target_kind == "tests":
        if target_folder not in (folder, "support", ""):
            return f"sideways: tests/{folder} uses tests/{target_folder} (share by tests/support)"
    elif kind == "chapters" and target == CATCH:
        if folder != "common":
            return "the checks of exercises include Catch2 through common/checks.hpp"
    elif kind == "chapters" and target_kind == "chapters" and target_folder == "common":
        return None
    elif path.startswith(EXPERIMENTS) and (target_kind == "chapters" or target == OPERATIONS):
        return None
    elif kind in ("examples", "chapters") and target_kind != "public":
        if (target_kind, target_folder) != (kind, folder):
            return f"sideways: {kind}/{folder} includes {target}"
    return None


def check_includes(root):
    findings, count = [], 0
    for path in files(root, CODE):
        text = read(root, path)
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            bracket, name = match.groups()
            if bracket == "<":
                if name.split("/")[0] in LIBRARIES and not path.startswith("tests/consumers/"):
                    findings.append(f'{path}:{line}: own headers are included with "..."')
                if name.startswith(("xtensor", "xtl", "xsimd")) and not SEES_XTENSOR.match(path):
                    if not (name.startswith("xsimd") and place(path) == ("private", "kernels")):
                        findings.append(f"{path}:{line}: {name}: xtensor is included through"
                                        " array/xtensor.hpp")
                continue
            count += 1
            if ".." in name.split("/"):
                findings.append(f"{path}:{line}: {name}: no way through the parent folder")
                continue
            target = target_of(root, path, name)
            if target is None:
                if not path.startswith("tests/consumers/"):
                    findings.append(f'{path}:{line}: no file of ours is called "{name}"')
                continue
            rule = broken_rule(path, target)
            if rule:
                findings.append(f"{path}:{line}: includes {name}: {rule}")
    return findings, count


def check_folders(root):
    """The same folder names in include and src, and only those of the table; cli has small ones."""
    def folders(path):
        full = os.path.join(root, path)
        if not os.path.isdir(full):
            return set()
        return {n for n in os.listdir(full) if os.path.isdir(os.path.join(full, n))}
    findings, private = [], set()
    for name in sorted(folders("include") ^ set(LIBRARIES)):
        findings.append(f"include/{name}: is not a library, or has no public headers")
    for name in sorted(folders("src") - set(LIBRARIES) - set(PROGRAMS)):
        findings.append(f"src/{name}: neither a library nor a program")
    for library in LIBRARIES:
        floors = set(LIBRARIES[library].split())
        public, inside = folders(f"include/{library}"), folders(f"src/{library}")
        private |= inside
        for name in sorted((public | inside) - floors):
            findings.append(f"{library}/{name}: this folder is on no floor")
        for name in sorted((public ^ inside) & floors - WITHOUT_PUBLIC_HEADERS):
            findings.append(f"{library}/{name}: stands in only one of include and src")
        for name in sorted(public & WITHOUT_PUBLIC_HEADERS):
            findings.append(f"{library}/{name}: has private headers only")
    for name in sorted((private | set(PROGRAMS)) - folders("tests")):
        findings.append(f"{name}: has no tests/{name}")
    for folder, _, names in os.walk(os.path.join(root, "src/cli")):
        count = sum(name.endswith(CODE) for name in names)
        if count > MOST_FILES:
            findings.append(f"{os.path.relpath(folder, root)}: {count} files, the most is "
                            f"{MOST_FILES}")
    top = {n for n in os.listdir(root) if os.path.isdir(os.path.join(root, n)) and n[0] != "."}
    for name in sorted(top - {"src", "include", "examples", "tests", "docs", "chapters",
                              "build", "runs", "workspace"}):
        findings.append(f"{name}: a folder that does not belong at the top")
    return findings


def check_target_headers(root):
    """The libraries' headers reach every public header but the bridge, none above the library."""
    findings, reached = [], set()
    order = list(LIBRARIES)
    for header, library in TARGETS.items():
        waiting = [header]
        while waiting:
            path = waiting.pop()
            if path not in reached and os.path.isfile(os.path.join(root, path)):
                reached.add(path)
                waiting += ["include/" + name for _, name in INCLUDE.findall(read(root, path))]
                if order.index(library_of(path)) > order.index(library):
                    findings.append(f"{header}: reaches {path}, which is above {library}")
    missing = set(files(root, (".hpp",), ("include",))) - reached - {"include/" + BRIDGE}
    return findings + [f"{path}: the header of {library_of(path)} does not reach it: add it there, "
                       "or to the header of its folder" for path in sorted(missing)]


def main():
    root = sys.argv[1]
    findings, count = check_includes(root)
    findings += check_folders(root) + check_target_headers(root)
    report("floors", findings, f"{count} includes")


main()
