#!/usr/bin/env python3
"""Measures headroom's tokenizers beside the Python package tokenizers, on one thread each.

usage: tokenizer_speed.py TOKENIZE_LINES FOLDER [--megabytes N] [--rounds N]

TOKENIZE_LINES and FOLDER are those of tests/tokenizers/tokenizers_agree.py, which fetches the
vocabularies. HEADROOM_TORCH_PYTHON names the Python with the package. Both encode the same lines,
in turns, with neither special tokens nor truncation; the package returns no offsets
(encode_batch_fast). Prints the median of the seconds and the smallest and largest of the ratios.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from torch_python import python_with  # noqa: E402

THEIRS = """
import sys, time, tokenizers
fast = tokenizers.Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
fast.no_truncation()
fast.no_padding()
fast.encode_special_tokens = True
lines = open(sys.argv[2], encoding="utf-8", newline="\\n").read().split("\\n")
for _ in sys.stdin:
    begin = time.perf_counter()
    encoded = fast.encode_batch_fast(lines, add_special_tokens=False)
    seconds = time.perf_counter() - begin
    print(seconds, sum(len(one.ids) for one in encoded), flush=True)
"""

ENVIRONMENT = os.environ | {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false",
                            "OMP_NUM_THREADS": "1"}


def english(size):
    """The documents and chapters of headroom, as often as needed."""
    text = "".join(path.read_text(encoding="utf-8") for path in
                   sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("chapters/*/README.md")]))
    return (text * (size // len(text) + 1))[:size]


def mixed(size):
    """Random words of many alphabets, few of which come back."""
    draw = random.Random(3)
    alphabets = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJ", "0123456789", ".,;:!?'\"-()",
                 "\u00e9\u00e0\u00fc\u00df\u00f1\u00c5", "\u0430\u0431\u0432\u0433\u0414\u0415",
                 "\u4e2d\u6587\u5b57\u7b26", "\u3042\u30ab\uac00\ud55c", "\U0001f600\U0001f468"]
    words, length = [], 0
    while length < size:
        word = "".join(draw.choices(draw.choice(alphabets), k=draw.randint(1, 9)))
        words.append(word + draw.choice(["\n", *" " * 9]))
        length += len(words[-1].encode())
    return "".join(words)


class Side:
    def __init__(self, *command):
        self.child = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)

    def seconds(self):
        """The seconds of one round, and the number of tokens."""
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        seconds, tokens = self.child.stdout.readline().split()
        return float(seconds), int(tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--megabytes", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    python = python_with("tokenizers")
    size = int(options.megabytes * 1e6)
    with tempfile.TemporaryDirectory() as folder:
        for text_name, text in (("English", english(size)), ("mixed", mixed(size))):
            file = pathlib.Path(folder) / text_name
            file.write_text(text, encoding="utf-8", newline="\n")
            for name in ("minilm", "gpt2-json"):
                ours = Side(options.program, options.folder / name, "time", file)
                theirs = Side(python, "-c", THEIRS, options.folder / name, file)
                ours.seconds(), theirs.seconds()  # the first round fills the caches
                pairs = [(ours.seconds(), theirs.seconds()) for _ in range(options.rounds)]
                same = len({tokens for pair in pairs for _, tokens in pair}) == 1
                a, b = (statistics.median(pair[i][0] for pair in pairs) for i in (0, 1))
                ratios = sorted(pair[1][0] / pair[0][0] for pair in pairs)
                megabytes = file.stat().st_size / 1e6
                print(f"{name}, {text_name}: {megabytes:.1f} MB, headroom {a:.3f} s, "
                      f"tokenizers {b:.3f} s: {b / a:.2f} times as fast "
                      f"({ratios[0]:.2f} to {ratios[-1]:.2f}), same number of tokens: {same}")
                for side in (ours, theirs):
                    side.child.stdin.close()
                    side.child.wait()


main()
