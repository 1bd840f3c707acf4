#!/usr/bin/env python3
"""BERT's encoder in numpy, in double: a second opinion beside Transformers."""
import functools
import json
import math
import pathlib

import numpy as np
from safetensors.numpy import load_file

erf = np.vectorize(math.erf)


@functools.cache
def opened(folder):
    tensors = load_file(pathlib.Path(folder, "model.safetensors"))
    return (json.loads(pathlib.Path(folder, "config.json").read_text()),
            {name: x.astype(np.float64) for name, x in tensors.items() if x.dtype.kind == "f"})


def linear(x, w, name):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def norm(x, w, name, epsilon):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return x * w[name + ".weight"] + w[name + ".bias"]


def attention(x, w, name, heads):
    q, k, v = (linear(x, w, f"{name}.self.{part}").reshape(len(x), heads, -1).swapaxes(0, 1)
               for part in ("query", "key", "value"))
    scores = q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (p / p.sum(-1, keepdims=True)) @ v
    return linear(mixed.swapaxes(0, 1).reshape(len(x), -1), w, name + ".output.dense")


def hidden_states(folder, ids):
    """The hidden states [T, C] of one text of ids [T]."""
    config, w = opened(folder)
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    x = norm(w["embeddings.word_embeddings.weight"][ids]
             + w["embeddings.position_embeddings.weight"][:len(ids)]
             + w["embeddings.token_type_embeddings.weight"][0], w, "embeddings.LayerNorm", epsilon)
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        x = norm(x + attention(x, w, layer + ".attention", heads), w,
                 layer + ".attention.output.LayerNorm", epsilon)
        h = linear(x, w, layer + ".intermediate.dense")
        h = h * (1 + erf(h / math.sqrt(2))) / 2
        x = norm(x + linear(h, w, layer + ".output.dense"), w, layer + ".output.LayerNorm", epsilon)
    return x
