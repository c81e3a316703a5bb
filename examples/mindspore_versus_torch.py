"""The torch calls of the document that compares GradOperation with torch.autograd: z = x² y at x = 2, y = 3."""

import torch


def by_backward():
    """Gradients accumulated into the leaves."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    (x * x * y).backward()
    return x.grad.item(), y.grad.item()


def by_grad():
    """The gradient with respect to x alone, returned."""
    x = torch.tensor(2.0).requires_grad_()
    y = torch.tensor(3.0).requires_grad_()
    (grad_x,) = torch.autograd.grad(outputs=x * x * y, inputs=x)
    return grad_x.item()


# What the document shows.
DOCUMENTED = {"backward(): dz/dx, dz/dy": [12.0, 4.0], "grad(z, x)": 12.0}


def obtained():
    """The same figures, computed."""
    return dict(zip(DOCUMENTED, (list(by_backward()), by_grad())))


if __name__ == "__main__":
    print(obtained())
