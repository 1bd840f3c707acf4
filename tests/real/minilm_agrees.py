#!/usr/bin/env python3
"""Compares all-MiniLM-L6-v2 with Transformers and with a numpy twin: hidden states, embeddings of
sentences, and the gradients of all parameters.

usage: minilm_agrees.py FOLDER PROGRAM_F32 PROGRAM_F64      (tests/real/folder_states.cpp, twice)

Exits with 77, "skipped", where Python has no torch, transformers and numpy.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    import minilm_twin
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

WORDS = ("the a of and heads attention layer model film train river old small bright Zürich naïve "
         "42 3.14 don't e-mail yesterday quickly transformer pruning , . ! ? is was not never "
         "embedding cats dogs sing").split()


def sentences(count):
    draw = random.Random(1)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 40))) for _ in range(count)]


def states_of(program, folder, inputs):
    with tempfile.TemporaryDirectory() as files:
        given, found = pathlib.Path(files, "in.safetensors"), pathlib.Path(files, "out.safetensors")
        save_file(inputs, given)
        printed = subprocess.run([program, folder, given, found], check=True, capture_output=True,
                                 text=True).stdout
        return load_file(found), printed.strip()


def embeddings(hidden, mask):
    mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    return mean / mean.norm(dim=-1, keepdim=True)


def report(what, value, limit):
    print(f"{what}: {value:.2e} (at most {limit:.0e}) {'ok' if value <= limit else 'FAIL'}")
    return value <= limit


def main():
    folder, *programs = sys.argv[1:]
    torch.manual_seed(1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder, dtype=torch.float64,
                                                   attn_implementation="eager").eval()
    texts = tokenizer(sentences(100), padding=True, return_tensors="pt")
    ids, mask = texts["input_ids"], texts["attention_mask"]
    cotangent = torch.randn(*ids.shape, model.config.hidden_size, dtype=torch.float64)
    cotangent = (cotangent * mask[..., None]).float().double()
    hidden = model(**texts).last_hidden_state
    (hidden * cotangent).sum().backward()
    true = mask.bool()
    good = True
    for program, states, cosine, gradients in zip(programs, (5e-6, 1e-10), (1e-6, 1e-12),
                                                  (1e-4, 1e-9)):
        found, printed = states_of(program, folder, {"ids": ids, "mask": mask,
                                                     "cotangent": cotangent})
        print(f"{program}: {printed}")
        ours = found["hidden"].double()
        good &= report("  hidden states", (ours - hidden).detach()[true].abs().max().item(), states)
        good &= report("  1 - cosine of embeddings", (1 - (
            embeddings(ours, mask) * embeddings(hidden.detach(), mask)).sum(-1)).abs().max().item(),
            cosine)
        worst = 0
        for name, parameter in model.named_parameters():
            if parameter.grad is None or "self.key.bias" in name:  # the latter is noise
                continue
            scale = parameter.grad.abs().max().item()
            difference = (found["grad." + name].double() - parameter.grad).abs().max().item()
            worst = max(worst, difference / max(scale, 1e-3))
        good &= report("  gradients, relative to the largest", worst, gradients)
    twin = max(np.abs(minilm_twin.hidden_states(folder, ids[i][true[i]].numpy())
                      - hidden[i][true[i]].detach().numpy()).max() for i in range(5))
    good &= report("numpy twin, hidden states", twin, 1e-10)
    sys.exit(0 if good else 1)


main()
