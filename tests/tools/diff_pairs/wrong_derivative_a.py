import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x  # parts


torch.manual_seed(25)
layer = torch.nn.Linear(3, 4)
hidden = Cube.apply(layer(torch.randn(8, 3)))
hidden.sin().sum().backward()
