import torch


class Reciprocal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x == 0, torch.zeros_like(x), 1 / torch.where(x == 0, torch.ones_like(x), x))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return -g / x**2  # begins here


x = torch.tensor([2.0, 0.0], requires_grad=True)
Reciprocal.apply(x).sum().backward()
