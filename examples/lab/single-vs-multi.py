# Compares one head of 512 features with 8 heads of 64.
import torch

def sines(*shape):  # the same numbers as in headroom
    i = torch.arange(torch.Size(shape).numel())
    return torch.sin((i * i).double()).view(shape)

def attention(x, weights, h):  # h heads side by side
    q, k, v = (p.view(10, h, -1).transpose(0, 1) for p in x @ weights)
    p = torch.softmax(q @ k.transpose(1, 2) / (512 / h)**0.5, dim=-1)
    return (p @ v).transpose(0, 1).reshape(10, 512)

def difference(x, weights):
    one, eight = attention(x, weights, 1), attention(x, weights, 8)
    return (one - eight).abs().max()

x, weights = sines(10, 512), sines(3, 512, 512)
hidden = difference(x.abs(), weights.abs())
off = difference(x, weights / 16)
print(f"difference {hidden:.3f} (positive weights), "
      f"{off:.3f} (both signs)")
