#!/usr/bin/env python3
"""Compares what PyTorch or onnxruntime computes from exported models with the program that
exported them, which computes in double.

usage: exports_agree.py torch|onnxruntime TEST_EXPORTS HEADROOM ROOT

TEST_EXPORTS is the test program with exported_models.cpp. HEADROOM_TORCH_PYTHON names the Python
with the package; otherwise it is python3. Exits with 77, "skipped", if it lacks it.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from torch_python import python_with  # noqa: E402

TOLERANCE = {"torch": 1e-12, "onnxruntime": 1e-5}  # of the largest logit

COMPARE = {"torch": """
import importlib.util
import torch
def logits_of(folder, inputs):
    spec = importlib.util.spec_from_file_location("model", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model, config = module.load(folder)
    assert all(p.dtype == torch.float64 for p in model.parameters())
    values = {name: torch.tensor(value) for name, value in inputs.items()}
    order = ["source", "source_lengths", "ids", "lengths", "target"]
    return model(*(values[name] for name in order if name in values)).detach().flatten().tolist()
""", "onnxruntime": """
import numpy, onnxruntime
def logits_of(folder, inputs):
    values = {name: numpy.array(value) for name, value in inputs.items()}
    part = lambda name: onnxruntime.InferenceSession(folder / (name + ".onnx"))
    if "target" not in inputs:
        return part("model").run(None, values)[0].flatten().tolist()
    target = values.pop("target")
    memory = part("encoder").run(None, values)[0]
    return part("decoder").run(None, {"target": target, "memory": memory,
        "source_lengths": values["source_lengths"]})[0].flatten().tolist()
"""}

COMMON = """
import json, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    expected = json.loads((path / "expected.json").read_text())
    logits = expected.pop("logits")
    found = logits_of(path, expected)
    assert len(logits) == len(found) > 0, path.name
    largest = max(abs(x) for x in logits)
    print(path.name, max(abs(a - b) for a, b in zip(logits, found)) / largest)
"""

MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December"]
ACCENTS = "\u00e9\u00ea\u00ef\u00f6\u4e2d"


def lines_of(task, count):
    """Inputs of a task, always the same."""
    draw = random.Random(task)
    if task == "dates":
        return [f"{draw.choice(MONTHS)} {draw.randint(1, 28)}, {draw.randint(1950, 2049)}"
                for _ in range(count)]
    if task == "bytes":
        return [f"{draw.choice(ACCENTS)}{draw.choice('abc')}" for _ in range(count)]
    symbols = {"brackets": "()", "sort": "0123456789", "text": "the and of "}[task]
    return ["".join(draw.choices(symbols, k=draw.randint(4, 12))) for _ in range(count)]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600, check=False, **options)
    if done.returncode:
        sys.exit(f"error: {command}: {done.stdout}{done.stderr}")
    return done.stdout


def same_logits(package, python, program, folder):
    run(program, "[.exported]", env=os.environ | {"HEADROOM_EXPORTED": str(folder)})
    saved = list(folder.iterdir())
    printed = run(python, "-B", "-c", COMPARE[package] + COMMON, folder)
    print(printed, end="")
    differences = [float(line.split()[1]) for line in printed.splitlines()]
    return len(differences) == len(saved) > 0 and max(differences) <= TOLERANCE[package]


def same_outputs(python, headroom, root, folder):
    """Of models of all kinds, some of which have lost heads: the lines that examples/run_onnx.py
    prints, and those of `headroom predict`."""
    runs = {"dates": root / "examples/dates-model"}
    words = random.Random("words")
    (folder / "text.txt").write_text(" ".join(
        words.choice(["the", "end", "of", "a", "food", "hat", "and"]) for _ in range(4000)))
    (folder / "bytes.tsv").write_text("".join(
        f"{accent}{letter}\t{letter}{accent}\n" for accent in ACCENTS for letter in "abc") * 4)
    # The model of text sees 16 tokens, fewer than it is asked for.
    more = {"text": ["--data", folder / "text.txt", "--length", 16],
            "bytes": ["--data", folder / "bytes.tsv", "--symbols", "bytes", "--target-symbols",
                      "bytes", "--split", "60:20:20"]}
    for task in ("sort", "brackets", "text", "bytes"):
        runs[task] = folder / task
        data = more.get(task, [])
        name = "pairs" if task == "bytes" else task
        run(headroom, "train", "--task", name, "--steps", 150, "--width", 32, "--heads", 4,
            "--layers", 2, "--out", runs[task], "--threads", 1, *data)
    run(headroom, "prune", "--model", runs["dates"], "--keep", 15, "--examples", 50, "--out",
        folder / "dates-pruned")
    run(headroom, "prune", "--model", runs["text"], "--keep", 5, "--examples", 20, "--out",
        folder / "text-pruned")
    runs |= {name: folder / name for name in ("dates-pruned", "text-pruned")}
    good = True
    for name, model in runs.items():
        lines = "\n".join(lines_of(name.removesuffix("-pruned"), 200)) + "\n"
        exported = folder / (name + "-onnx")
        run(headroom, "export", "--model", model, "--to", "onnx", "--out", exported)
        (folder / "lines.txt").write_text(lines)
        ours = run(headroom, "predict", "--model", model, "--length", 20, folder / "lines.txt")
        theirs = run(python, "-B", root / "examples/run_onnx.py", exported, 20, input=lines)
        ours, theirs = ([line.split("\t")[0] for line in text.splitlines()]
                        for text in (ours, theirs))
        same = sum(a == b for a, b in zip(ours, theirs))
        print(f"{name}: {same} of {len(ours)} outputs are the same, of {len(set(ours))} kinds")
        good = good and same == len(ours) == len(theirs) == 200 and len(set(ours)) > 1
    return good


def main(package, program, headroom, root):
    python = python_with(package)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "cases").mkdir()
        good = same_logits(package, python, program, folder / "cases")
        if package == "onnxruntime":
            good = same_outputs(python, headroom, pathlib.Path(root), folder) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
