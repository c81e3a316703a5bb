import numpy as np
import torch


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        s = torch.sigmoid(beta * x)
        ctx.save_for_backward(x, s)
        ctx.beta = beta
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * (s + ctx.beta * x * s * (1 - s)), None


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.round(x * 8) / 8

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * (x.abs() <= 1).to(g.dtype)


rng = np.random.default_rng(6)
w = torch.tensor(rng.standard_normal((5, 7)) * 0.6, dtype=torch.float32, requires_grad=True)
v = torch.tensor(rng.standard_normal((7, 2)), dtype=torch.float32, requires_grad=True)
x = torch.tensor(rng.standard_normal((8, 5)), dtype=torch.float32)
y = torch.tensor(rng.standard_normal((8, 2)), dtype=torch.float32)
for _step in range(2):
    h = Swish.apply(x @ Quantise.apply(w), 1.5)
    out = h @ Quantise.apply(v)
    loss = torch.nn.functional.smooth_l1_loss(out, y)
    loss.backward()
    with torch.no_grad():
        for p in (w, v):
            p -= 0.1 * p.grad
            p.grad = None
    print(loss.item())
