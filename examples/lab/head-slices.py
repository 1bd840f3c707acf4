# Adds up BERT's heads: 64 features of Q, K and V each, and 64 columns.
import torch

def sines(*shape):  # the same numbers as in headroom
    i = torch.arange(torch.Size(shape).numel())
    return torch.sin((i * i).double()).view(shape)

bert = torch.nn.MultiheadAttention(768, 12, bias=False)
bert.in_proj_weight.data = sines(3 * 768, 768) / 16
bert.out_proj.weight.data = sines(768, 768) / 16
x = sines(10, 768)
parts = (x @ bert.in_proj_weight.T).split(64, dim=1)
columns = bert.out_proj.weight.split(64, dim=1)
total = 0
for h in range(12):
    scores = parts[h] @ parts[12 + h].T / 8
    head = torch.softmax(scores, dim=1) @ parts[24 + h]
    total = total + head @ columns[h].T
y, _ = bert(x, x, x)
off = (y - total).abs().max()
print(f"layer {y[0, 0]:.3f}, sum of 12 heads {total[0, 0]:.3f}, "
      f"difference {off:.3f}")
