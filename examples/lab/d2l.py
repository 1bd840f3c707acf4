# The weights of d2l's exercise: 5 heads, 4 queries, 6 keys, 3 valid.
import torch

def sines(*shape):  # the same numbers as in headroom
    i = torch.arange(torch.Size(shape).numel())
    return torch.sin((i * i).double()).view(shape)

attention = torch.nn.MultiheadAttention(10, 5, bias=False, batch_first=True)
attention.in_proj_weight.data = sines(30, 10)
attention.out_proj.weight.data = sines(10, 10)
beyond = torch.arange(6)[None] >= torch.tensor([3])[:, None]  # valid_lens

def weights(X, Y):  # of head 0, for the first query
    _, w = attention(X, Y, Y, beyond, average_attn_weights=False)
    return " ".join(f"{p:.3f}" for p in w[0, 0, 0])

one = torch.ones(1, 6, 10).double()
print("inputs of ones:", weights(one[:, :4], one), end="; ")
print("other inputs:", weights(sines(1, 4, 10), sines(1, 6, 10)))
