#!/usr/bin/env python3
"""The time of `headroom predict` in batches and one by one, for three kinds of models.

    tests/benchmarks/predict.py [--program build/release/bin/headroom] [--lines 10000] [--rounds 5]

Trains small models of made-up nouns and their plurals, of labelled sentences and of a text, which
takes half a minute, and prints a table of medians of interleaved rounds. Loading the program and
the model is included.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def nouns(count):
    """Different nouns of syllables."""
    draw, found = random.Random(1), {}
    while len(found) < count:
        syllables = range(draw.randint(1, 3))
        noun = "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in syllables)
        found[noun + draw.choice(["", "x", "s", "y", "n", "t"])] = None
    return list(found)


def plural(noun):
    return noun + "es" if noun[-1] in "sx" else noun[:-1] + "ies" if noun[-1] == "y" else noun + "s"


def sentences(count):
    draw, words = random.Random(2), "the film was a very long story with actors and felt so".split()
    for _ in range(count):
        label = draw.choice(["good", "bad"])
        sentence = draw.choices(words, k=draw.randint(3, 9)) + [label]
        draw.shuffle(sentence)
        yield " ".join(sentence), label


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build/release/bin/headroom")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    names = nouns(3000)
    files = {"pairs": [f"{noun}\t{plural(noun)}" for noun in names],
             "labels": ["\t".join(row) for row in sentences(3000)],
             "text": [" ".join(names)]}
    print("| model | lines | predict, s | --batch 1, s | times as fast |\n|---|---|---|---|---|")
    for task, rows in files.items():
        ending = "txt" if task == "text" else "tsv"
        data = folder / f"{task}.{ending}"
        data.write_text("".join(row + "\n" for row in rows))
        run = folder / f"run-{task}"
        words = ["--symbols", "words"] if task == "labels" else []
        subprocess.run([options.program, "train", "--task", task, "--data", data, "--steps", "200",
                        "--out", run, *words], check=True, capture_output=True)
        inputs = [row.split("\t")[0] for row in (names if task == "text" else rows)]
        lines = folder / f"{task}-inputs.txt"
        lines.write_text("".join(inputs[i % len(inputs)] + "\n"
                                 for i in range(options.lines)))
        times = {"512": [], "1": []}
        for _ in range(options.rounds):
            for batch, seconds in times.items():
                begin = time.perf_counter()
                subprocess.run([options.program, "predict", "--model", run, "--batch", batch,
                                "--length", "20", lines], check=True, capture_output=True)
                seconds.append(time.perf_counter() - begin)
        together, alone = (statistics.median(seconds) for seconds in times.values())
        cells = (task, f"{options.lines:,}", f"{together:.2f}", f"{alone:.2f}",
                 f"{alone / together:.1f}")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
