#!/usr/bin/env python3
"""Trains random model folders by 20 steps of AdamW, with headroom and with Transformers, and
compares all parameters afterwards.

usage: trained_steps.py PROGRAM        (headroom in double)

A step takes all examples for training, so that their order has no part in it. Dropout and clipping
are off. Each model also learns with half the rate for one part, another part frozen, and
accumulation over 3 parts of each batch. `keep` begins without two heads: at the model of the folder
its gradient is 0. `masked` is left out: its masks are draws of headroom's own.
Key biases are left out: their exact gradient is 0, and Adam makes steps of the noise.
Exits with 77, "skipped", where Python has no torch and transformers 4.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import torch
    import transformers
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if not transformers.__version__.startswith("4."):
    print("skipped: transformers is not version 4")
    sys.exit(77)

transformers.logging.set_verbosity_error()
STEPS, RATE, DECAY = 20, 1e-3, 0.1
WORDS = "heads layer model river old small bright deep cold token mask value query key tape".split()
ROUNDING = 1e-9
torch.set_default_dtype(torch.float64)


def texts(count, seed):
    draw = random.Random(seed)
    lines = set()
    while len(lines) < count:
        lines.add(" ".join(draw.choices(WORDS, k=draw.randint(2, 7))))
    return sorted(lines)


def randomize(model, seed):
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            scale = 0.3 if parameter.ndim > 1 else 0.1
            parameter.copy_(torch.randn_like(parameter) * scale + (parameter.ndim == 1))
    return model


def saved(model, folder, files):
    folder.mkdir()
    model.save_pretrained(folder)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def word_piece():
    return {"vocab.txt": "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]) + "\n"}


def bert(cls, vocabulary, **more):
    return randomize(cls(transformers.BertConfig(
        vocab_size=vocabulary, hidden_size=24, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=40, max_position_embeddings=32, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, **more)), 1)


def words_as_ids(lines):
    number = {word: 5 + i for i, word in enumerate(WORDS)}
    rows = [[2, *(number[word] for word in line.split()), 3] for line in lines]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])


def classify(place):
    model = bert(transformers.BertForSequenceClassification, 5 + len(WORDS),
                 id2label={0: "low", 1: "high", 2: "none"},
                 label2id={"low": 0, "high": 1, "none": 2})
    folder = saved(model, place / "model", word_piece())
    lines = texts(36, 2)
    names = ["low", "high", "none"]
    labels = [(len(line) * 7) % 3 for line in lines]
    rows = [f"{line}\t{names[label]}" for line, label in zip(lines, labels)]
    ids, mask = words_as_ids(lines[:24])
    targets = torch.tensor(labels[:24])
    data = {"data": rows[:24], "validation_data": rows[24:30], "test_data": rows[30:]}

    def loss(trained):
        return torch.nn.functional.cross_entropy(
            trained(input_ids=ids, attention_mask=mask).logits, targets)
    return folder, model, data, ["text\tlabel"], 24, loss, ("classifier", "word_embeddings"), []


def keep(place):
    model = bert(transformers.BertModel, 5 + len(WORDS))
    folder = saved(model, place / "model", word_piece())
    lines = texts(36, 3)
    data = {"data": lines[:24], "validation_data": lines[24:30], "test_data": lines[30:]}
    ids, mask = words_as_ids(lines[:24])

    def embeddings(of):
        hidden = of(input_ids=ids, attention_mask=mask).last_hidden_state
        total = (hidden * mask[:, :, None]).sum(1)
        return total / total.norm(dim=1, keepdim=True)
    with torch.no_grad():
        former = embeddings(model)
    model.prune_heads({0: [1], 1: [2]})

    def loss(trained):
        return (1 - (embeddings(trained) * former).sum(1)).mean()
    return (folder, model, data, ["text"], 24, loss, ("intermediate", "position_embeddings"),
            ["--without", "encoder 0.1,encoder 1.2"])


def text(place):
    # A byte-level vocabulary of the 256 bytes and <|endoftext|>, without merges.
    letters = list(transformers.models.gpt2.tokenization_gpt2.bytes_to_unicode().values())
    vocabulary = {letter: i for i, letter in enumerate([*letters, "<|endoftext|>"])}
    model = randomize(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=257, n_positions=32, n_embd=24, n_layer=2, n_head=4, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0)), 4)
    folder = saved(model, place / "model",
                   {"vocab.json": json.dumps(vocabulary), "merges.txt": "#version: 0.2\n"})
    lines = texts(40, 5)
    content = "\n".join(lines) + "\n"
    tokenizer = transformers.GPT2TokenizerFast.from_pretrained(folder)
    ids = tokenizer(content)["input_ids"]
    windows = [ids[first:first + 17] for first in range(0, len(ids) - 1, 16)]
    train = windows[:90 * len(windows) // 100]
    batch = torch.tensor(train)

    def loss(trained):
        logits = trained(input_ids=batch[:, :-1]).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    return (folder, model, {"data": lines}, [], len(train), loss, ("ln_f", "wpe"),
            ["--length", "16"])


def trained_by_torch(model, loss, fast, frozen, keys):
    groups = []
    for name, parameter in model.named_parameters():
        if frozen and frozen in name:
            parameter.requires_grad_(False)
            continue
        groups.append({"params": [parameter], "lr": RATE * (0.5 if fast and fast in name else 1),
                       "weight_decay": DECAY if parameter.ndim > 1 else 0.0})
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-8)
    model.train()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()
    return {name: model.state_dict()[name] for name in keys}


def compare(program, case):
    worst = 0.0
    for rules in (False, True):
        with tempfile.TemporaryDirectory() as name:
            place = pathlib.Path(name)
            folder, model, data, header, count, loss, (fast, frozen), more = case(place)
            options = []
            for option, rows in data.items():
                file = place / f"{option}.{'tsv' if header else 'txt'}"
                file.write_text("\n".join([*header, *rows]) + "\n")
                options += ["--" + option.replace("_", "-"), str(file)]
            batch = ["--batch", str(-(-count // 3)), "--accumulate", "3"] if rules else [
                "--batch", str(count)]
            if rules:
                options += ["--freeze", frozen, "--part-rates", f"{fast}=0.5"]
            run = [program, "train", "--from", folder, "--task", case.__name__, *options, *batch,
                   "--steps", STEPS, "--learning-rate", RATE, "--schedule", "constant", "--warmup",
                   0, "--weight-decay", DECAY, "--clip", 0, "--evaluate-every", STEPS,
                   "--telemetry", 0, "--no-page", "--out", place / "run", *more]
            subprocess.run(list(map(str, run)), check=True, capture_output=True, text=True)
            form = "compact" if case is keep else "dense"
            subprocess.run([program, "export", "--model", str(place / "run"), "--form", form,
                            "--out", str(place / "out")], check=True, capture_output=True)
            ours = load_file(place / "out/model.safetensors")
            theirs = trained_by_torch(model, loss, fast if rules else "",
                                      frozen if rules else "", list(ours))
            before = load_file(folder / "model.safetensors")
            moved = 0
            for key, value in ours.items():
                width = value.shape[0] // 3
                if key.endswith("key.bias"):
                    continue
                expected, found = theirs[key], value
                if key.endswith("c_attn.bias"):  # query, key and value
                    expected, found = (torch.cat([x[:width], x[2 * width:]])
                                       for x in (expected, found))
                difference = float((expected - found).abs().max())
                if difference > ROUNDING:
                    sys.exit(f"{case.__name__}: {key} differs by {difference:.1e}")
                worst = max(worst, difference)
                if before[key].shape == value.shape and not torch.equal(before[key], value):
                    moved += 1
                if rules and frozen in key and not torch.equal(before[key], value):
                    sys.exit(f"{case.__name__}: {key} moved, although it is frozen")
            if moved < 5:
                sys.exit(f"{case.__name__}: only {moved} parameters moved")
    print(f"{case.__name__}: {STEPS} steps, all parameters agree within {worst:.1e}", flush=True)


def new_classifier(program):
    """A classifier on a BERT without one: Transformers opens it, no parameter is missing, and the
    classes are those of the data."""
    for cls in (transformers.BertModel, transformers.BertForMaskedLM):
        with tempfile.TemporaryDirectory() as name:
            place = pathlib.Path(name)
            folder = saved(bert(cls, 5 + len(WORDS)), place / "model", word_piece())
            rows = [f"{line}\t{'odd' if len(line) % 2 else 'even'}" for line in texts(60, 7)]
            table = place / "data.tsv"
            table.write_text("\n".join(["text\tlabel", *rows]) + "\n")
            for command in (
                    ["train", "--from", folder, "--task", "classify", "--data", table, "--steps", 2,
                     "--evaluate-every", 2, "--no-page", "--out", place / "run"],
                    ["export", "--model", place / "run", "--form", "dense",
                     "--out", place / "out"]):
                subprocess.run([program, *map(str, command)], check=True, capture_output=True)
            model, info = transformers.BertForSequenceClassification.from_pretrained(
                place / "out", dtype=torch.float64, output_loading_info=True)
            problems = [key for what in ("missing_keys", "unexpected_keys", "mismatched_keys")
                        for key in info[what]]
            if problems or model.config.id2label != {0: "even", 1: "odd"}:
                sys.exit(f"new classifier on {cls.__name__}: {problems} {model.config.id2label}")
    print("a new classifier opens in Transformers, on BertModel and on BertForMaskedLM", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for case in (classify, keep, text):
        compare(sys.argv[1], case)
    new_classifier(sys.argv[1])


if __name__ == "__main__":
    main()
