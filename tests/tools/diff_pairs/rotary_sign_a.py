import numpy as np
import torch

rng = np.random.default_rng(404)
B, T, H, D = 2, 5, 2, 4
wq, wk, wv, wo = (torch.tensor(rng.normal(0, 0.4, (8, 8)), dtype=torch.float32, requires_grad=True) for _ in range(4))
x = torch.tensor(rng.normal(size=(B, T, 8)), dtype=torch.float32)
freqs = 1.0 / 100.0 ** (torch.arange(0, D, 2).float() / D)
angles = torch.outer(torch.arange(T).float(), freqs)
rotation = torch.polar(torch.ones_like(angles), angles)


def rotate(t):
    pairs = torch.view_as_complex(t.reshape(B, T, H, D // 2, 2))
    return torch.view_as_real(pairs * rotation[None, :, None]).flatten(3)


q, k, v = ((x @ w).view(B, T, H, D) for w in (wq, wk, wv))
q, k = rotate(q), rotate(k)
y = torch.nn.functional.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
loss = (y.transpose(1, 2).reshape(B, T, 8) @ wo).pow(2).mean()
loss.backward()
print(loss.item())
