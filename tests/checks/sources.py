"""Common code of the checks: our files, the number of commits, the output of findings."""

import os
import shutil
import subprocess
import sys

TOP_FOLDERS = ("src", "include", "examples", "tests", "docs", "chapters")
CODE = (".hpp", ".cpp")


def files(root, suffixes, folders=TOP_FOLDERS):
    """The files below the folders with one of the endings, as sorted paths relative to root."""
    found = []
    for folder in folders:
        for path, _, names in os.walk(os.path.join(root, folder)):
            found += [os.path.relpath(os.path.join(path, n), root) for n in names
                      if n.endswith(suffixes)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", newline="") as file:
        return file.read()


def commits(root):
    """The number of commits, by which a test chooses its cases; 0 without git or a repository."""
    if not shutil.which("git"):
        return 0
    done = subprocess.run(["git", "-C", root, "rev-list", "--count", "HEAD"], text=True,
                          capture_output=True)
    return int(done.stdout) if done.returncode == 0 else 0


def report(name, findings, summary):
    """Prints the findings, `file:line: rule`, and exits with 1 when there are any."""
    for finding in findings:
        print(finding)
    print(f"{name}: {len(findings)} finding(s), {summary}")
    sys.exit(1 if findings else 0)
