# Compares one head with two of the same parameters.
import torch

def sines(*shape):  # the same numbers as in headroom
    i = torch.arange(torch.Size(shape).numel())
    return torch.sin((i * i).double()).view(shape)

x = sines(12, 512)
one, two = (torch.nn.MultiheadAttention(512, h).double() for h in (1, 2))

def difference(weights):
    for layer in (one, two):
        layer.in_proj_weight.data = weights[:1536]
        layer.out_proj.weight.data = weights[1536:]
    return (one(x, x, x)[0] - two(x, x, x)[0]).abs().max()

n, m = (sum(p.numel() for p in of.parameters()) for of in (one, two))
off = difference(sines(2048, 512) / 16)
off_ones = difference(torch.ones(2048, 512).double())
print(f"parameters {n} and {m}; difference {off:.3f}, "
      f"for weights of 1: {off_ones:.3f}")
