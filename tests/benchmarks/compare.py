#!/usr/bin/env python3
"""Measures headroom beside PyTorch and writes the tables of docs/performance.md.

    tests/benchmarks/compare.py [--rounds 5] [--threads 2 1] [--cases nano small medium base]
                                [--only step|inference|memory] [--python PYTHON] [--program PATH]
                                [--blas LIBRARY] [--out FILE]

Every round runs each side once, in turn, each in a separate process; a table shows the median of
the rounds' medians and the least time of all. PYTHON is an interpreter that has PyTorch (default:
the first of this one and python3 that does); without one, the columns of PyTorch stay empty. The
columns "products" are the time of the matrix products alone (matrix_products.cpp beside this file,
compiled here against OpenBLAS). LIBRARY replaces OpenBLAS in our program and in the products, for
example MKL's libmkl_rt.so.2.
"""
import argparse
import json
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CASES = ["nano", "small", "medium", "base"]


def run(command):
    """The JSON lines that a command prints."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def find_torch(wanted):
    for python in [wanted] if wanted else [sys.executable, "python3"]:
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    print("PyTorch not found: its columns stay empty (give an interpreter with --python)",
          file=sys.stderr)
    return None


def build_products(folder):
    if shutil.which("g++") is None:
        print("g++ not found: the columns of the matrix products alone stay empty", file=sys.stderr)
        return None
    program = pathlib.Path(folder) / "matrix_products"
    subprocess.run(["g++", "-O3", "-march=native", "-fopenmp", HERE / "matrix_products.cpp", "-o",
                    program, "-lopenblas"], check=True)
    return program


class Bench:
    def __init__(self, options, products_program):
        self.options, self.torch = options, find_torch(options.python)
        self.products_program = products_program

    def measure(self, sides, key="ms", least="min_ms"):
        """sides: name -> command or None. Name -> (median of the rounds, least) or None."""
        found = {name: [] for name, command in sides.items() if command}
        for _ in range(self.options.rounds):
            for name, command in sides.items():
                if command:
                    found[name].append(run(command)[0])
        return {name: (statistics.median(line[key] for line in lines),
                       min(line.get(least, line[key]) for line in lines))
                for name, lines in found.items()}

    def ours(self, what, case, *more):
        return ["env", *self.blas(), self.options.program, "bench", what, "--case", case, "--json",
                *more]

    def blas(self):
        return [f"LD_PRELOAD={self.options.blas}"] if self.options.blas else []

    def twin(self, what, case, *more):
        return self.torch and [self.torch, HERE / "torch_twin.py", what, "--case", case, *more]

    def products(self, case, threads, *more):
        program = self.products_program
        return program and ["env", *self.blas(), program, threads, "--case", case, *more]


def cell(times, digits=1):
    return "" if times is None else f"{times[0]:.{digits}f} ({times[1]:.{digits}f})"


def ratio(above, below):
    return "" if above is None or below is None else f"{above[0] / below[0]:.2f}"


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def steps(bench):
    rows = []
    for threads in bench.options.threads:
        for case in bench.options.cases:
            count = {"nano": 40, "small": 15, "medium": 6, "base": 6}[case]
            more = ["--threads", threads, "--steps", count]
            found = bench.measure({
                "fused": bench.ours("step", case, *more),
                "torch": bench.twin("step", case, *more),
                "separate": bench.ours("step", case, *more, "--layout", "separate"),
                "products": bench.products(case, threads)})
            fused, torch = found["fused"], found.get("torch")
            products, separate = found.get("products"), found["separate"]
            rows.append([case, threads, cell(fused), cell(torch), ratio(torch, fused),
                         cell(products), ratio(fused, products), cell(separate),
                         ratio(separate, fused)])
            print("step", rows[-1], file=sys.stderr, flush=True)
    return "## Training step\n\n" + table(
        ["case", "threads", "headroom, ms", "PyTorch, ms", "PyTorch / headroom", "products, ms",
         "headroom / products", "separate layout, ms", "separate / fused"], rows)


def inference(bench):
    rows = []
    for batch in (1, 16):
        for case in bench.options.cases:
            more = ["--threads", 2, "--batch", batch]
            words = bench.measure({"ours": bench.ours("generate", case, *more),
                                   "torch": bench.twin("generate", case, *more)}, "tok_s", "tok_s")
            encode = bench.measure({"ours": bench.ours("encode", case, *more),
                                    "torch": bench.twin("encode", case, *more),
                                    "products": batch == 1 and
                                                bench.products(case, 2, "--forward") or None})
            fast, slow = words["ours"], words.get("torch")
            rows.append([case, batch, f"{fast[0]:.0f}", "" if slow is None else f"{slow[0]:.0f}",
                         ratio(fast, slow), cell(encode["ours"], 2), cell(encode.get("torch"), 2),
                         ratio(encode.get("torch"), encode["ours"]),
                         ratio(encode["ours"], encode.get("products"))])
            print("inference", rows[-1], file=sys.stderr, flush=True)
    return "## Inference, 2 threads\n\n" + table(
        ["case", "batch", "headroom, tokens/s", "PyTorch, tokens/s", "headroom / PyTorch",
         "encoder, ms", "PyTorch, ms", "PyTorch / headroom", "headroom / products"], rows)


def memory(bench):
    rows = []
    for case in bench.options.cases:
        more = ["--threads", 2]
        found = bench.measure({"ours": bench.ours("memory", case, *more),
                               "torch": bench.twin("memory", case, *more)}, "working_bytes")
        ours, torch = found["ours"], found.get("torch")
        rows.append([case, f"{ours[0] / 1e6:.0f}", "" if torch is None else f"{torch[0] / 1e6:.0f}",
                     ratio(ours, torch)])
    return "## Memory beside weights, gradients and moments\n\n" + table(
        ["case", "headroom, MB", "PyTorch, MB", "headroom / PyTorch"], rows)


def circumstances(bench):
    facts = run(["env", *bench.blas(), bench.options.program, "doctor", "--json"])[0]
    version = [bench.torch, "-c", "import torch; print(torch.__version__)"]
    torch = bench.torch and subprocess.run(version, capture_output=True, text=True).stdout.strip()
    return (f"{facts['processor']}, {facts['cores']} cores; {facts['blas']}; "
            f"PyTorch {torch or 'not found'}; {platform.system()} {platform.release()}; medians of "
            f"{bench.options.rounds} interleaved rounds, the least time in brackets.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1], help="of training steps")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--only", choices=["step", "inference", "memory"])
    parser.add_argument("--python")
    parser.add_argument("--program", default=ROOT / "build/release/bin/headroom")
    parser.add_argument("--blas")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if not pathlib.Path(options.program).exists():
        sys.exit(f"error: {options.program} does not exist; build it with ./headroom doctor")
    parts = {"step": steps, "inference": inference, "memory": memory}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, build_products(folder))
        text = circumstances(bench) + "\n" + "\n".join(
            part(bench) for name, part in parts.items() if options.only in (None, name))
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
