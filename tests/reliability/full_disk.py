#!/usr/bin/env python3
"""Writes model folders by `export` onto disks of every size, from one page to enough, and checks
that a full disk is one line with exit code 5 and leaves no folder that looks whole.

usage: full_disk.py PROGRAM FOLDER...

Each FOLDER is a model folder of Transformers, written as it is and without its first head. The
disks are real file systems in memory, which are mounted in a namespace of this process: where a
user may have none, the test is skipped (exit code 77).
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import runs

PAGE = 4  # kB
SKIPPED = 77
INSIDE = "HEADROOM_FULL_DISK_INSIDE"
REASON = "No space left on device"


def in_own_namespace():
    """Starts this program again where it may mount file systems."""
    command = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    able = subprocess.run([*command, "true"], capture_output=True, check=False) \
        if shutil.which("unshare") else None
    if able is None or able.returncode != 0:
        print("skipped: no file system can be mounted here")
        return SKIPPED
    return subprocess.run([*command, sys.executable, *sys.argv], check=False,
                          env=os.environ | {INSIDE: "1"}).returncode


def mounted(folder, pages):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={pages * PAGE}k", "disk", folder],
                          capture_output=True, check=False).returncode == 0


def source_of(folder, scratch):
    """A copy of a model folder with files that go along, before and after the weights by name."""
    source = pathlib.Path(scratch) / "source"
    shutil.copytree(folder, source)
    (source / "expected.safetensors").unlink(missing_ok=True)
    for name, size in (("LICENSE", 9000), ("vocab.txt", 5000), ("onnx/notes.txt", 100)):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text("x" * size)
    return source


def is_model(program, folder):
    return subprocess.run([program, "inspect", "--model", folder], capture_output=True,
                          check=False).returncode == 0


def fault_of(program, command, disk, expected):
    """What is wrong, and whether the disk was large enough."""
    done = subprocess.run([program, *command, "--out", f"{disk}/out"], capture_output=True,
                          text=True, check=False)
    out = pathlib.Path(disk) / "out"
    if done.returncode == 0:
        return ", ".join(runs.differences(runs.files_in(out), expected)), True
    if done.returncode != 5 or done.stderr.count("\n") != 1 or REASON not in done.stderr:
        return f"exit code {done.returncode}, {done.stderr.strip() or 'nothing on stderr'}", False
    whole = (out / "config.json").exists() or is_model(program, out)
    return "a folder that looks whole is left" if whole else "", False


def faults(program, command, scratch):
    """The faults on disks of all sizes, and how many disks were too small."""
    plain = pathlib.Path(scratch) / "plain"
    subprocess.run([program, *command, "--out", plain], capture_output=True, check=True)
    expected, found, pages, large_enough = runs.files_in(plain), [], 0, False
    disk = pathlib.Path(scratch) / "disk"
    disk.mkdir()
    while not large_enough and pages < 1000:
        pages += 1
        if not mounted(disk, pages):
            print("skipped: no file system can be mounted here")
            sys.exit(SKIPPED)
        try:
            fault, large_enough = fault_of(program, command, disk, expected)
        finally:
            subprocess.run(["umount", disk], check=True)
        if fault:
            found.append(f"a disk of {pages * PAGE} kB: {fault}")
    return found, pages - 1


def main():
    if INSIDE not in os.environ:
        return in_own_namespace()
    program, wrong = os.path.abspath(sys.argv[1]), 0
    for folder in sys.argv[2:]:
        kind = "decoder" if "gpt2" in pathlib.Path(folder).name else "encoder"
        for more in ([], ["--remove", f"{kind} 0.0"]):
            with tempfile.TemporaryDirectory() as scratch:
                source = source_of(folder, scratch)
                command = ["export", "--model", str(source), "--form", "dense", *more]
                found, too_small = faults(program, command, scratch)
            print(f"{pathlib.Path(folder).name} {' '.join(more)}: {too_small} disks too small")
            print("".join(f"  {fault}\n" for fault in found), end="")
            wrong += len(found) + (too_small < 5)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
