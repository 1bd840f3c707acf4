"""A model of headroom in PyTorch: model, config = load("FOLDER"). model.safetensors is its state
dict; model.json has its sizes ("model"), the heads that were not removed and the vocabularies."""
import json
import math
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "tanh": torch.tanh,
               "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "sigmoid": torch.sigmoid}


class Model(nn.Module):
    """Logits: model(ids, lengths) of a classifier, [B, classes]; model(ids) of a language model,
    [B, T, V]; model(source, source_lengths, target) of an encoder-decoder, [B, Tt, V]."""

    def __init__(self, config, tensors):
        super().__init__()
        self.config = config
        for name, tensor in tensors.items():  # "encoder.norm.weight": a module in a module
            *path, last = name.split(".")
            module = self
            for part in path:
                if not hasattr(module, part):
                    module.add_module(part, nn.Module())
                module = getattr(module, part)
            if path[-1].endswith("positions") and config["positions"] == "sinusoidal":
                module.register_buffer(last, tensor)  # a table that is not trained
            else:
                module.register_parameter(last, nn.Parameter(tensor))

    def embed(self, ids, of=""):
        x = getattr(self, of + "embedding").weight[ids]
        if self.config["positions"] == "none":
            return x
        factor = math.sqrt(x.shape[-1]) if self.config["positions"] == "sinusoidal" else 1
        return x * factor + getattr(self, of + "positions").weight[:ids.shape[1]]

    def norm(self, module, x):
        if self.config["norm"] == "rms":
            return F.rms_norm(x, x.shape[-1:], module.weight, self.config["epsilon"])
        return F.layer_norm(x, x.shape[-1:], module.weight, module.bias, self.config["epsilon"])

    def attention(self, module, x, memory, mask):  # of the heads that were not removed
        biases = getattr(module, "in_proj_bias", None)
        biases = [None] * 3 if biases is None else biases.chunk(3)
        weights = module.in_proj_weight.chunk(3)
        y = [F.linear(*part) for part in zip((x, memory, memory), weights, biases)]
        if y[0].shape[-1] > 0:
            q, k, v = (z.unflatten(-1, (-1, self.config["head_dim"])).transpose(1, 2) for z in y)
            y = [F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)]
        return linear(module.out_proj, y[0])

    def stack(self, module, x, mask, memory=None, memory_mask=None):
        def residual(norm, x, f):
            if self.config["norm_first"]:
                return x + f(self.norm(norm, x))
            return self.norm(norm, x + f(x))
        act = ACTIVATIONS[self.config["activation"]]
        for i in range(self.config["layers"]):
            at = getattr(module.layers, str(i))
            x = residual(at.norm1, x, lambda v: self.attention(at.self_attn, v, v, mask))
            if memory is not None:
                x = residual(at.norm2, x,
                             lambda v: self.attention(at.multihead_attn, v, memory, memory_mask))
            last = at.norm2 if memory is None else at.norm3
            x = residual(last, x, lambda v: linear(at.linear2, act(linear(at.linear1, v))))
        return self.norm(module.norm, x) if self.config["norm_first"] else x

    def forward(self, ids, lengths=None, target=None):
        kind, time = self.config["kind"], (ids if target is None else target).shape[1]
        causal = torch.ones(time, time, dtype=torch.bool, device=ids.device).tril()
        if kind == "language_model":
            x = self.stack(self.decoder, self.embed(ids), causal)
        else:
            valid = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]  # no padding
            x = self.embed(ids, "source_" if kind == "seq2seq" else "")
            x = self.stack(self.encoder, x, valid[:, None, None])
        if kind == "classifier":
            x = (x * valid[..., None]).sum(1) / lengths[:, None]
        if kind == "seq2seq":
            y = self.embed(target, "target_")
            x = self.stack(self.decoder, y, causal, x, valid[:, None, None])
        if hasattr(self, "output"):
            return linear(self.output, x)
        return linear(self.target_embedding if kind == "seq2seq" else self.embedding, x)  # tied


def linear(module, x):
    return F.linear(x, module.weight, getattr(module, "bias", None))


def load(folder):
    config = json.loads((pathlib.Path(folder) / "model.json").read_text())
    data = bytearray((pathlib.Path(folder) / "model.safetensors").read_bytes())
    start, tensors = 8 + int.from_bytes(data[:8], "little"), {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            dtype = {"F32": torch.float32, "F64": torch.float64}[entry["dtype"]]
            flat = torch.empty(0, dtype=dtype)  # of a matrix without heads
            if begin < end:
                flat = torch.frombuffer(data[start + begin:start + end], dtype=dtype)
            tensors[name] = flat.reshape(entry["shape"])
    return Model(config["model"], tensors).eval(), config
