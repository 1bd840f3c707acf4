# Changes the input of head 0 except for its own slice of the features.
import torch

def sines(*shape):  # the same numbers as in headroom
    i = torch.arange(torch.Size(shape).numel())
    return torch.sin((i * i).double()).view(shape)

def head_0(weights, x):  # the weights of Q, K and V
    q, k, v = x @ weights.transpose(1, 2)
    return torch.softmax(q @ k.T / 4, dim=-1) @ v

shared = sines(3, 16, 16) / 8  # Linear(16, 16), the same for all heads
own = sines(3, 16, 64) / 8  # 16 rows of Linear(64, 64), only of head 0
x, other = sines(2, 5, 64)
other[:, :16] = x[:, :16]  # the slice of head 0 stays as it is
small = head_0(shared, x[:, :16]) - head_0(shared, other[:, :16])
large = head_0(own, x) - head_0(own, other)
print(f"head 0 changes by {small.abs().max():.3f} (shared matrix), "
      f"{large.abs().max():.3f} (its own rows)")
