#!/usr/bin/env python3
"""Opens with Transformers what `headroom export` writes of model folders without some heads.

usage: transformers_opens.py PROGRAM FOLDERS        (FOLDERS: tests/parity/folders)

Per folder of BERT and GPT-2 with heads to spare, with the program in double:
* dense: the outputs are those of the model whose heads Transformers 4 pruned itself;
* dense: after 20 steps of AdamW with weight decay and dropout the removed heads are exactly 0, and
  with W_O = 0 alone they are not; saved then, headroom knows them as removed;
* compact, under Transformers 4: each weight is the bits that its prune_heads() leaves, the outputs
  are the same, and what it saves again is read by headroom and written back with the same numbers.
Under Transformers 5, which has no prune_heads(), only that dense folders open with the outputs of
their source under a mask of W_O. Exits with 77, "skipped", where Python has no torch and
transformers.
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
    from safetensors import safe_open
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
FOUR = int(transformers.__version__.split(".")[0]) == 4
KIND = {"bert": "encoder", "gpt2": "decoder"}


def opened(folder, dtype=torch.float64):
    config = json.loads(pathlib.Path(folder, "config.json").read_text())
    cls = getattr(transformers, config["architectures"][0])
    more = {}
    if cls is transformers.BertModel:  # without a pooler in the files, it would be random numbers
        more["add_pooling_layer"] = any("pooler" in name for name in names_in(folder))
    return cls.from_pretrained(folder, dtype=dtype, attn_implementation="eager", **more).eval()


def names_in(folder):
    for file in pathlib.Path(folder).glob("model*.safetensors"):
        with safe_open(file, "pt") as tensors:
            yield from tensors.keys()


def outputs(model):
    ids = torch.tensor([[1, 5, 2, 7, 3], [3, 9, 4, 8, 6]]) % model.config.vocab_size
    return model(input_ids=ids)[0]


def heads_of(config):
    """All live heads (layer, head), and those to remove: at least one stays in each layer."""
    layers = config.num_hidden_layers
    gone = {int(k): set(v) for k, v in (getattr(config, "pruned_heads", None) or {}).items()}
    draw, removed = random.Random(7), {}
    for layer in range(layers):
        alive = [h for h in range(config.num_attention_heads) if h not in gone.get(layer, ())]
        if len(alive) > 1:
            removed[layer] = sorted(draw.sample(alive, draw.randint(1, len(alive) - 1)))
    return removed


def export(program, folder, form, out, removed, kind):
    heads = ",".join(f"{kind} {layer}.{head}" for layer, all in removed.items() for head in all)
    words = [program, "export", "--model", folder, "--form", form, "--out", out]
    subprocess.run(words + (["--remove", heads] if heads else []), check=True, capture_output=True)


def removed_by(program, folder):
    """The heads that headroom takes for removed, after their weights were looked at."""
    export(program, folder, "compact", f"{folder}-compact", {}, "")
    shown = subprocess.run([program, "inspect", "--model", folder, "--json"], check=True,
                           capture_output=True)
    return sorted(json.loads(shown.stdout)["removed"])


def parts_of_heads(model, removed, only_output=False):
    """W_V, b_V and the part of W_O of the removed heads, as views."""
    size = model.config.hidden_size // model.config.num_attention_heads
    for layer, heads in removed.items():
        for head in heads:
            rows = slice(head * size, (head + 1) * size)
            if model.config.model_type == "bert":
                attention = model.base_model.encoder.layer[layer].attention
                value, out = attention.self.value, attention.output.dense
                parts = [value.weight[rows], value.bias[rows], out.weight[:, rows]]
            else:
                attention = model.base_model.h[layer].attn
                width = model.config.hidden_size
                columns = slice(2 * width + rows.start, 2 * width + rows.stop)
                parts = [attention.c_attn.weight[:, columns], attention.c_attn.bias[columns],
                         attention.c_proj.weight[rows]]
            yield from parts[2:] if only_output else parts


def after_training(model, removed, only_output=False):
    """The largest number of the removed heads after 20 steps."""
    torch.manual_seed(1)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
    for _ in range(20):
        optimizer.zero_grad()
        (outputs(model) ** 2).sum().backward()
        optimizer.step()
    return max(part.detach().abs().max().item()
               for part in parts_of_heads(model, removed, only_output))


def check(program, folder, work):
    faults = []
    source = opened(folder)
    kind = KIND[source.config.model_type]
    if getattr(source.config, "pruned_heads", None):  # version 4 alone opens it
        export(program, folder, "dense", work / "rescued", {}, kind)
        difference = (outputs(opened(work / "rescued")) - outputs(source)).abs().max().item()
        return [] if difference < 1e-10 else [f"rescued: outputs differ by {difference}"]
    removed = heads_of(source.config)
    if not removed:
        return None
    export(program, folder, "dense", work / "dense", removed, kind)
    export(program, folder, "compact", work / "compact", removed, kind)
    dense = opened(work / "dense")
    pruned = opened(folder)
    if FOUR:
        pruned.prune_heads(removed)
    else:
        with torch.no_grad():
            for part in parts_of_heads(pruned, removed):
                part.zero_()
    difference = (outputs(dense) - outputs(pruned)).abs().max().item()
    if difference > 1e-10:
        faults.append(f"dense: outputs differ by {difference}")
    if (left := after_training(dense, removed)) != 0:
        faults.append(f"dense: a removed head is {left} after training")
    dense.save_pretrained(work / "trained")
    listed = removed_by(program, work / "trained")
    if listed != sorted(f"{kind} {layer}.{head}" for layer, all in removed.items() for head in all):
        faults.append(f"dense: trained and saved, headroom takes {listed} for removed")
    regrown = opened(folder)
    with torch.no_grad():
        for part in parts_of_heads(regrown, removed, only_output=True):
            part.zero_()
    if after_training(regrown, removed, only_output=True) == 0:
        faults.append("with W_O = 0 alone the head did not grow again; the check shows nothing")
    if FOUR:
        compact = opened(work / "compact")
        ours, theirs = compact.state_dict(), pruned.state_dict()
        if ours.keys() != theirs.keys():
            faults.append("compact: other names than prune_heads()")
        faults += [f"compact: {name} differs" for name in ours.keys() & theirs.keys()
                   if not torch.equal(ours[name], theirs[name])]
        if (outputs(compact) - outputs(pruned)).abs().max().item() > 1e-10:
            faults.append("compact: outputs differ")
        compact.save_pretrained(work / "saved")
        export(program, work / "saved", "compact", work / "again", {}, kind)
        again = opened(work / "again").state_dict()
        faults += [f"saved again: {name} differs" for name in ours
                   if not torch.equal(ours[name], again[name])]
    return faults


def main():
    program, folders = sys.argv[1:]
    torch.set_default_dtype(torch.float64)  # prune_heads() makes layers of the default type
    print(f"Transformers {transformers.__version__}, torch {torch.__version__}")
    counts = {"ok": 0, "skipped": 0, "failed": 0}
    for folder in sorted(pathlib.Path(folders).iterdir()):
        config = json.loads((folder / "config.json").read_text())
        if config["model_type"] not in KIND or (not FOUR and config.get("pruned_heads")):
            counts["skipped"] += 1
            continue
        if config["architectures"] == ["BertForPreTraining"]:
            counts["skipped"] += 1
            continue
        with tempfile.TemporaryDirectory() as work:
            faults = check(program, folder, pathlib.Path(work))
        if faults is None:
            counts["skipped"] += 1
            continue
        counts["failed" if faults else "ok"] += 1
        for fault in faults:
            print(f"{folder.name}: {fault}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    sys.exit(1 if counts["failed"] or not counts["ok"] else 0)


main()
