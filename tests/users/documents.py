#!/usr/bin/env python3
"""Runs every command and code block of the documents for users, as a reader would: the commands of
a document one after the other in an empty folder, and the C++ of docs/from-pytorch.md, with which
PyTorch is compared where there is one.

usage: documents.py ROOT HEADROOM commands NAME...
       documents.py ROOT HEADROOM pytorch PROGRAM
       documents.py ROOT - code OUT
       documents.py ROOT - errors

`commands` runs the blocks ```sh and ``` of docs/NAME.md. `code` writes the program of
docs/from-pytorch.md to OUT; `pytorch` runs it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import small_minilm  # noqa: E402
from torch_python import imports, torch_name  # noqa: E402

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \|$", re.M)
SECONDS = 600
# A block with a placeholder shows a form of a command. Long trainings are run with fewer steps.
PLACEHOLDER = re.compile(r"\b(FILE|KEY|PATH|DIR|ADDRESS|NAME|RUN|PYTHON|STUDY)\b")
MODEL_PY = "from model import load"  # of an exported model, which needs PyTorch
SHORTER = [(r"--steps 1[37]\d0\b", "--steps 40"), (r"--snapshots [\d,]+", "--snapshots 10,20"),
           (r"--validation 2000", "--validation 200"),
           (r"--max-loss-increase 0.05", "--max-loss-increase 5"), (r"in 1 2 3 4 5;", "in 1;")]

PROGRAM = """// Made by documents.py from docs/from-pytorch.md.
#include <array>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

static void show(const Tensor& x) {
  for (const Real value : x.value().span()) std::printf("%.17g ", double(value));
  std::puts("");
}

int main() {
  const Tensor x = constant(Array({2, 3}, {0.5, -1, 2, 1.5, 0, -0.5}));
  const Tensor y = constant(Array({2, 3}, {1, 3, -2, 0.25, 1, 4}));
  const Tensor w = constant(Array({4, 3}, {1, 0, -1, 2, 1, 0, 0.5, 0.5, 0.5, -1, 3, 1}));
  const Tensor b = constant(Array({4}, {0.1, 0.2, 0.3, 0.4}));
  const Tensor g = constant(Array({3}, {1, 2, 0.5})), h = constant(Array({3}, {0, 0.1, -0.1}));
  const Ids t({2}, {2, 0});
ROWS
BLOCKS
  show(out);
  show(cross_entropy(model(x), t));
}
"""
PYTORCH = """
import json, sys, torch
from torch.nn import functional as F
torch.set_default_dtype(torch.float64)
x = torch.tensor([[0.5, -1, 2], [1.5, 0, -0.5]])
y = torch.tensor([[1, 3, -2], [0.25, 1, 4]])
w = torch.tensor([[1, 0, -1], [2, 1, 0], [0.5, 0.5, 0.5], [-1, 3, 1]])
b = torch.tensor([0.1, 0.2, 0.3, 0.4])
g, h, t = torch.tensor([1, 2, 0.5]), torch.tensor([0, 0.1, -0.1]), torch.tensor([2, 0])
lines, block = json.loads(sys.stdin.read())
print(json.dumps([eval(line).flatten().tolist() for line in lines]))
exec(block)
assert loss.item() < 1
"""


def blocks(path, languages):
    return [text for language, text in BLOCK.findall(path.read_text()) if language in languages]


def prepared(root, headroom, folder, name):
    """What the commands expect in their folder: the program, the examples, of which the study is a
    short one, and for Hugging Face models a small one."""
    (folder / "bin").mkdir()
    for file, program in (("headroom", headroom), ("bin/python3", shutil.which(torch_name()))):
        (folder / file).write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
        (folder / file).chmod(0o755)
    (folder / "examples/studies").mkdir(parents=True)
    for example in ("read_study.py", "run_onnx.py"):
        shutil.copy(root / "examples" / example, folder / "examples")
    study = json.loads((root / "examples/studies/brackets.json").read_text())
    study["base"] |= {"steps": 40, "validation": 100}
    study |= {"seeds": [1, 2], "trunk": {"until": 20}, "removal": {"prune": [4], "prune_from": 21}}
    (folder / "examples/studies/brackets.json").write_text(json.dumps(study))
    if name == "hugging_face":
        small_minilm.prepare(root, folder)


def run_commands(root, headroom, name):
    """The document's commands in one shell, so that a failure is that of its line."""
    has_torch = imports(torch_name(), "torch")
    script = "\n".join(block for block in blocks(root / f"docs/{name}.md", ("sh", ""))
                       if not PLACEHOLDER.search(block) and (has_torch or MODEL_PY not in block))
    for long, short in SHORTER:
        script = re.sub(long, short, script)
    commands = len(re.findall(r"\./headroom ", script))
    with tempfile.TemporaryDirectory() as folder:
        prepared(root, headroom, pathlib.Path(folder), name)
        path = f"{folder}/bin:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-exuo", "pipefail", "-c", script], cwd=folder, text=True,
                              env=os.environ | {"PATH": path}, capture_output=True,
                              timeout=SECONDS, check=False)
    if done.returncode or not commands:
        print(f"docs/{name}.md: exit code {done.returncode}\n{done.stdout[-1500:]}"
              f"{done.stderr[-3000:]}")
        return False
    print(f"docs/{name}.md: {commands} commands")
    return True


def check_errors(root):
    """The headings of docs/faq.md in code are messages of the program, or words in one."""
    messages = set()
    for path in root.glob("src/**/*.cpp"):
        if "src/course/" not in str(path):
            code = re.sub(r"//.*", "", path.read_text())
            messages |= set(re.findall(r'"((?:[^"\\\n]|\\.)+)"', re.sub(r'"\s*\n\s*"', "", code)))

    def is_said(words):
        return any(words in message or "{}" in message and re.fullmatch(
            r"\w{0,12}".join(map(re.escape, message.split("{}"))), words) for message in messages)

    named = re.findall(r"^## `([^`]+)`$", (root / "docs/faq.md").read_text(), re.M)
    missing = [words for words in named if not is_said(words)]
    print(f"docs/faq.md: {len(named)} messages", *missing, sep="\nno message of the program: ")
    return 0 if named and not missing else 1


def program_of(root):
    path = root / "docs/from-pytorch.md"
    rows = ROW.findall(path.read_text())
    assert len(rows) == 12, f"{len(rows)} pairs of lines"
    return (PROGRAM.replace("ROWS", "\n".join(f"  show({ours});" for _, ours in rows))
            .replace("BLOCKS", "\n".join(blocks(path, ("cpp",)))))


def compare(root, program):
    """Every line computes the same in PyTorch."""
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    numbers = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    path = root / "docs/from-pytorch.md"
    rows = ROW.findall(path.read_text())
    if len(numbers) != len(rows) + 2 or not all(numbers) or numbers[-1][0] >= 1:
        print(done.stdout)
        return 1
    print(f"docs/from-pytorch.md: {len(rows)} lines and {len(blocks(path, ('cpp',)))} blocks")
    python = torch_name()
    if not imports(python, "torch"):
        print("no PyTorch to compare them with; HEADROOM_TORCH_PYTHON can name one")
        return 0
    given = json.dumps([[theirs for theirs, _ in rows], blocks(path, ("python",))[0]])
    theirs = subprocess.run([python, "-c", PYTORCH], input=given, capture_output=True, text=True,
                            check=False)
    if theirs.returncode:
        print(theirs.stderr)
        return 1
    for (line, _), mine, other in zip(rows, numbers, json.loads(theirs.stdout), strict=False):
        if len(mine) != len(other) or max(abs(a - b) for a, b in zip(mine, other)) > 1e-12:
            print(f"{line}: {other} in PyTorch, not {mine}")
            return 1
    print("they are the same in PyTorch")
    return 0


def main(root, headroom, mode, *rest):
    root = pathlib.Path(root)
    if mode == "code":
        text = program_of(root)
        out = pathlib.Path(rest[0])
        if not out.exists() or out.read_text() != text:
            out.write_text(text)
        return 0
    if mode == "errors":
        return check_errors(root)
    if mode == "pytorch":
        return compare(root, rest[0])
    headroom = pathlib.Path(headroom).absolute()
    return 0 if all([run_commands(root, headroom, name) for name in rest]) else 1


if __name__ == "__main__":
    # The modes, and how many arguments each needs beside ROOT and HEADROOM.
    needed = {"commands": 1, "pytorch": 1, "code": 1, "errors": 0}
    mode_given = sys.argv[3] if len(sys.argv) > 3 else ""
    if len(sys.argv) - 4 < needed.get(mode_given, sys.maxsize):
        print(f"documents.py: no such mode, or too few arguments: \"{mode_given}\"; "
              f"the modes are {', '.join(needed)}\n\n{__doc__}", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
