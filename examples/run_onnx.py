#!/usr/bin/env python3
"""Predicts with a model that `headroom export --to onnx` wrote, with onnxruntime and without
headroom: a line of output for each line of standard input, as `headroom predict` prints it.

usage: run_onnx.py FOLDER [LENGTH] <INPUTS      (LENGTH: tokens by which a language model continues)
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime

PAD, BEGIN, END, UNKNOWN = range(4)  # ids of the special tokens, where a vocabulary has them


class Vocabulary:
    def __init__(self, record):
        self.words, self.bytes = record["kind"] == "words", record["kind"] == "bytes"
        self.specials = 4 if record["specials"] == "all" else 0
        self.tokens = record["tokens"]
        self.ids = {token: i + self.specials for i, token in enumerate(self.tokens)}

    def encode(self, text):
        tokens = text.split() if self.words else text
        if self.bytes:
            tokens = [chr(byte) if byte < 128 else f"\\x{byte:02X}" for byte in text.encode()]
        if not tokens:
            raise ValueError("the text is empty")
        unknown = [token for token in tokens if token not in self.ids]
        if unknown and not self.specials:
            raise ValueError(f"the model does not know {unknown[0]!r}")
        return [self.ids.get(token, UNKNOWN) for token in tokens]

    def decode(self, ids):
        tokens = [self.tokens[i - self.specials] for i in ids if i >= self.specials]
        if self.bytes:
            numbers = [ord(token) if len(token) == 1 else int(token[2:], 16) for token in tokens]
            return bytes(numbers).decode(errors="replace")
        return (" " if self.words else "").join(tokens)


class Model:
    def __init__(self, folder):
        self.parts = {path.stem: onnxruntime.InferenceSession(path)
                      for path in sorted(pathlib.Path(folder).glob("*.onnx"))}
        texts = next(iter(self.parts.values())).get_modelmeta().custom_metadata_map
        self.config = json.loads(texts["headroom.config"])
        self.task = json.loads(texts["headroom.task"])
        written = "target" if self.config["kind"] == "seq2seq" else "tokens"
        self.read = Vocabulary(self.task["source" if written == "target" else "tokens"])
        self.written = Vocabulary(self.task[written])

    def run(self, part, **inputs):
        return self.parts[part].run(None, inputs)[0]

    def ids(self, text):
        ids, most = self.read.encode(text), self.config["longest"]
        if self.config["kind"] == "language_model":
            return ids[-most:]
        if len(ids) > most:
            raise ValueError(f"{len(ids)} tokens; the model reads at most {most}")
        return ids

    def translate(self, text):
        """The most probable token at each step, until the end token."""
        source = np.array([self.ids(text)])
        lengths = np.array([source.shape[1]])
        memory = self.run("encoder", source=source, source_lengths=lengths)
        target = [BEGIN]
        while len(target) < self.config["longest"]:
            logits = self.run("decoder", target=np.array([target]), memory=memory,
                              source_lengths=lengths)
            logits[0, -1, UNKNOWN] = -np.inf  # is no output
            target.append(int(logits[0, -1].argmax()))
            if target[-1] == END:
                break
        return self.written.decode(target)

    def classify(self, text):
        """The most probable class and its probability."""
        ids = np.array([self.ids(text)])
        logits = self.run("model", ids=ids, lengths=np.array([ids.shape[1]]))[0]
        shares = np.exp(logits - logits.max())
        best = int(logits.argmax())
        return f"{self.task['classes'][best]}\t{shares[best] / shares.sum():.4f}"

    def extend(self, text, length):
        """The most probable next tokens. What the model sees of a long text slides along: when it
        is full, its older half goes."""
        ids, new = self.ids(text), []
        while len(new) < length:
            if len(ids) > self.config["longest"]:
                ids = ids[-(self.config["longest"] // 2 + 1):]
            new.append(int(self.run("model", ids=np.array([ids]))[0, -1].argmax()))
            ids.append(new[-1])
        return self.written.decode(new).replace("\n", "\\n")


def main(folder, length="100"):
    model = Model(folder)
    predict = {"seq2seq": model.translate, "classifier": model.classify,
               "language_model": lambda text: model.extend(text, int(length))}
    refused = 0
    for number, line in enumerate(sys.stdin, 1):
        try:
            print(predict[model.config["kind"]](line.rstrip("\n")), flush=True)
        except ValueError as problem:
            print(f"line {number}: {problem}", file=sys.stderr)
            print(flush=True)
            refused += 1
    return 4 if refused else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
