#!/usr/bin/env python3
"""Computes the logits of a model of headroom in PyTorch, from its checkpoint alone; docs/files.md
describes the file. The layouts fused and separate, one sequence without padding.

usage: load_in_pytorch.py CHECKPOINT SOURCE_IDS [TARGET_IDS]      (ids: 5,3,8)
"""

import json
import math
import sys

import torch
from torch.nn import functional as F

TYPES = {"F64": torch.float64, "F32": torch.float32, "I64": torch.int64, "I32": torch.int32,
         "U8": torch.uint8}


def read_safetensors(path):
    """(tensors by name, texts by name)"""
    data = bytearray(open(path, "rb").read())
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    texts = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = torch.empty(0, dtype=TYPES[entry["dtype"]]) if begin == end else torch.frombuffer(
            data[start + begin:start + end], dtype=TYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors, texts


class Model:
    def __init__(self, path):
        tensors, texts = read_safetensors(path)
        self.config = json.loads(texts["model.config"])
        self.w = {name.removeprefix("model."): tensor for name, tensor in tensors.items()
                  if name.startswith("model.")}  # the rest is the optimizer's

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, name, x):
        if self.config["norm"] == "rms":
            return F.rms_norm(x, x.shape[-1:], self.w[name + ".weight"], self.config["epsilon"])
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"],
                            self.config["epsilon"])

    def projections(self, name):
        """(weight, bias) of queries, keys and values; only the heads that were not removed."""
        w = self.w
        if self.config["layout"] == "fused":
            biases = w[name + ".in_proj_bias"].chunk(3) if self.config["bias"] else [None] * 3
            return zip(w[name + ".in_proj_weight"].chunk(3), biases)
        result = []
        for part in ("query", "key", "value"):
            heads = sorted(int(n.split(".")[-2]) for n in w
                           if n.startswith(f"{name}.{part}.") and n.endswith(".weight"))
            join = lambda end: torch.cat([w[f"{name}.{part}.{h}.{end}"] for h in heads])
            result.append((join("weight"), join("bias") if self.config["bias"] else None))
        return result

    def attention(self, name, x, memory, mask=None):
        out = name + (".out_proj" if self.config["layout"] == "fused" else ".out")
        width = self.config["head_dim"] or self.config["width"] // self.config["heads"]
        if self.w[out + ".weight"].shape[1] == 0:  # all heads were removed
            return self.linear(out, x[:, :0])
        heads = [F.linear(source, *p).unflatten(-1, (-1, width)).transpose(0, 1)
                 for source, p in zip((x, memory, memory), self.projections(name))]
        y = F.scaled_dot_product_attention(*heads, attn_mask=mask).transpose(0, 1).flatten(1)
        return self.linear(out, y)

    def stack(self, name, x, mask=None, memory=None):
        activation = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "tanh": torch.tanh}
        act = activation[self.config["activation"]]

        def residual(norm, x, f):
            if self.config["norm_first"]:
                return x + f(self.norm(norm, x))
            return self.norm(norm, x + f(x))

        for i in range(self.config["layers"]):
            at = f"{name}.layers.{i}."
            x = residual(at + "norm1", x, lambda v: self.attention(at + "self_attn", v, v, mask))
            if memory is not None:
                x = residual(at + "norm2", x,
                             lambda v: self.attention(at + "multihead_attn", v, memory))
            x = residual(at + ("norm2" if memory is None else "norm3"), x,
                         lambda v: self.linear(at + "linear2", act(self.linear(at + "linear1", v))))
        return self.norm(name + ".norm", x) if self.config["norm_first"] else x

    def embed(self, part, ids):
        x = self.w[part + "embedding.weight"][torch.as_tensor(ids)]
        time, width = x.shape
        if self.config["positions"] == "learned":
            return x + self.w[part + "positions.weight"][:time]
        if self.config["positions"] == "none":
            return x
        pair = torch.arange(width).double() // 2 * 2
        angle = torch.arange(time)[:, None] / 10000 ** (pair / width)
        sinusoids = torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos()).float()
        return x * math.sqrt(width) + sinusoids.to(x.dtype)  # embeddings times sqrt(width)

    def logits(self, source, target=None):
        """[T, V]; of a classifier [classes]"""
        causal = lambda ids: torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
        if self.config["kind"] == "seq2seq":
            memory = self.stack("encoder", self.embed("source_", source))
            x = self.stack("decoder", self.embed("target_", target), causal(target), memory)
        elif self.config["kind"] == "language_model":
            new = any(name.startswith("decoder.") for name in self.w)  # not in old files
            x = self.stack("decoder" if new else "encoder", self.embed("", source), causal(source))
        else:
            x = self.stack("encoder", self.embed("", source)).mean(0)
        tied = ("target_" if target is not None else "") + "embedding"
        return F.linear(x, self.w[tied + ".weight"]) if self.config["tied_output"] else \
            self.linear("output", x)


if __name__ == "__main__":
    torch.set_printoptions(precision=6, linewidth=120)
    print(Model(sys.argv[1]).logits(*([int(i) for i in ids.split(",")] for ids in sys.argv[2:])))
