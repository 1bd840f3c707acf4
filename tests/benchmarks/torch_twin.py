"""The PyTorch side of the comparison: the same models, the same work, a JSON line per case.

    torch_twin.py step|generate|encode|memory [--case NAME] [--threads N] [--batch N] [--steps N]

The models are those of `headroom bench`: a pre-norm decoder with GELU, learned positions and an
output tied to the embedding, no dropout; for encode PyTorch's own nn.TransformerEncoder.
"""
import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

CASES = {  # layers, heads, width, length, batch, vocabulary size
    "nano": (4, 4, 128, 64, 12, 65),
    "small": (6, 8, 256, 128, 8, 256),
    "medium": (6, 8, 512, 256, 4, 512),
    "base": (4, 12, 768, 128, 4, 1024),
}
PROMPT = 16


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.packed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x, cache, at):
        batch, length, width = x.shape
        split = (batch, length, self.heads, width // self.heads)
        query, key, value = (
            part.view(split).transpose(1, 2) for part in self.packed(x).split(width, dim=-1)
        )
        if cache is not None:
            keys, values = cache
            keys[:, :, at : at + length] = key
            values[:, :, at : at + length] = value
            key, value = keys[:, :, : at + length], values[:, :, : at + length]
        y = F.scaled_dot_product_attention(query, key, value, is_causal=length > 1)
        return self.out(y.transpose(1, 2).reshape(x.shape))

    def forward(self, x, cache=None, at=0):
        x = x + self.attend(self.norm1(x), cache, at)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class LanguageModel(nn.Module):
    def __init__(self, layers, heads, width, length, batch, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, caches=None, at=0):
        x = self.tokens(ids) + self.positions(torch.arange(at, at + ids.shape[1]))
        for i, layer in enumerate(self.layers):
            x = layer(x, None if caches is None else caches[i], at)
        if caches is not None:
            x = x[:, -1:]
        return F.linear(self.norm(x), self.tokens.weight)


def training_step(case):
    _, _, _, length, batch, vocabulary = case
    model = LanguageModel(*case)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    ids = torch.randint(vocabulary, (batch, length))
    targets = torch.randint(vocabulary, (batch, length))

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(ids).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()

    return model, step


def times_of(work, warm_up, repetitions):
    """Milliseconds: the median and the least, after at least 0.2 s of warm-up."""
    warm = time.perf_counter() + 0.2
    while warm_up > 0 or time.perf_counter() < warm:
        work()
        warm_up -= 1
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - begin))
    return {"ms": statistics.median(times), "min_ms": min(times)}


def step(case, options):
    _, work = training_step(case)
    return times_of(work, 3, options.steps or 20)


def generate(case, options):
    layers, heads, width, length, _, vocabulary = case
    batch = options.batch or 1
    model = LanguageModel(*case).eval()
    prompt = torch.randint(vocabulary, (batch, PROMPT))
    shape = (batch, heads, length, width // heads)

    def work():
        caches = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(layers)]
        ids, at = prompt, 0
        for _ in range(length - PROMPT):
            logits = model(ids, caches, at)
            at += ids.shape[1]
            ids = logits[:, -1].argmax(-1, keepdim=True)

    with torch.inference_mode():
        result = times_of(work, 1, options.steps or 6)
    return {"tok_s": batch * (length - PROMPT) / result["ms"] * 1e3, **result}


def encode(case, options):
    layers, heads, width, length, _, _ = case
    layer = nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True
    )
    model = nn.TransformerEncoder(layer, layers).eval()
    x = torch.randn(options.batch or 1, length, width)
    with torch.inference_mode():
        return times_of(lambda: model(x), 2, options.steps or 10)


def resident(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))


def memory(case, options):
    """Memory of four steps without weights, gradients and moments, as in `bench memory`."""
    _, tiny = training_step((1, 1, 8, 4, 1, 4))
    tiny()
    before = resident("VmRSS")
    model, work = training_step(case)
    for _ in range(4):
        work()
    parameters = sum(p.numel() for p in model.parameters())
    return {"working_bytes": resident("VmHWM") - before - 4 * 4 * parameters}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["step", "generate", "encode", "memory"])
    parser.add_argument("--case", choices=list(CASES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    work = {"step": step, "generate": generate, "encode": encode, "memory": memory}[options.what]
    for name in [options.case] if options.case else CASES:
        line = {"case": name, "threads": options.threads, "torch": torch.__version__}
        print(json.dumps({**line, **work(CASES[name], options)}), flush=True)


if __name__ == "__main__":
    main()
