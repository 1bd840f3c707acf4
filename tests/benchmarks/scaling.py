#!/usr/bin/env python3
"""How a training step's time and memory grow with each size, with the exponents.

    tests/benchmarks/scaling.py [--program build/release/bin/headroom] [--rounds 3] [--svg FILE]

Prints the tables of docs/performance.md; --svg draws them (needs matplotlib). An exponent is the
slope in log-log of the largest three sizes of a sweep. Memory is the pool's peak: weights,
gradients, moments and the arrays that the step keeps.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SWEEPS = {  # the varied size: its values, and the other sizes
    "length": ([64, 128, 256, 512, 1024, 2048], dict(width=128, heads=4, layers=2, batch=1)),
    "width": ([64, 128, 256, 512, 1024], dict(length=128, heads=4, layers=2, batch=4)),
    "layers": ([1, 2, 4, 8, 16], dict(length=128, width=128, heads=4, batch=4)),
    "heads": ([1, 2, 4, 8, 16, 32], dict(length=128, width=256, layers=2, batch=4)),
    "batch": ([1, 2, 4, 8, 16, 32, 64], dict(length=64, width=128, heads=4, layers=2)),
}


def run_once(program, sizes):
    command = [str(program), "bench", "step", "--case", "nano", "--json", "--steps", "10"]
    for name, size in sizes.items():
        command += [f"--{name}", str(size)]
    line = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return line["ms"], line["peak_bytes"]


def measure(program, name, sizes, others, rounds):
    """For each size, (median of the rounds' times, peak). Sizes are measured in turn, so
    that other load on the machine affects all of them."""
    found = [[run_once(program, {**others, name: size}) for size in sizes] for _ in range(rounds)]
    return [(statistics.median(ms for ms, _ in points), points[0][1]) for points in zip(*found)]


def exponent(sizes, values):
    """The slope of log(value) over log(size) at the last three sizes."""
    x, y = ([math.log(v) for v in series[-3:]] for series in (sizes, values))
    mean_x, mean_y = statistics.mean(x), statistics.mean(y)
    return (sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) /
            sum((a - mean_x) ** 2 for a in x))


def draw(results, file):
    """A panel for each sweep, log-log, with the exponents in the legend."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot, ticker
    matplotlib.rcParams.update({"svg.hashsalt": "headroom", "font.size": 9})
    figure, axes = pyplot.subplots(1, len(results), figsize=(2.6 * len(results), 2.8))
    for axis, (name, (sizes, points)) in zip(axes, results.items()):
        for unit, color, mark, values in (("ms", "#2a6fbb", "o-", [p[0] for p in points]),
                                          ("MB", "#c2601d", "s--", [p[1] / 1e6 for p in points])):
            axis.loglog(sizes, values, mark, color=color, markersize=4,
                        label=f"{unit}, exponent {exponent(sizes, values):.2f}")
        axis.set_title(name)
        axis.set_xticks(sizes, [str(size) for size in sizes], rotation=45)
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build/release/bin/headroom")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg")
    options = parser.parse_args()
    results = {}
    for name, (sizes, others) in SWEEPS.items():
        points = measure(options.program, name, sizes, others, options.rounds)
        results[name] = (sizes, points)
        at = ", ".join(f"{key} {value}" for key, value in others.items())
        print(f"| {name} ({at}) | " + " | ".join(map(str, sizes)) + " | exponent |")
        print("|" + "---|" * (len(sizes) + 2))
        for title, values, text in (("ms", [p[0] for p in points], "{:.1f}"),
                                    ("MB", [p[1] / 1e6 for p in points], "{:.1f}")):
            cells = " | ".join(text.format(value) for value in values)
            print(f"| {title} | {cells} | {exponent(sizes, values):.2f} |")
        print(flush=True)
    if options.svg:
        draw(results, options.svg)


if __name__ == "__main__":
    sys.exit(main())
