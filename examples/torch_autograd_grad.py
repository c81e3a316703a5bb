"""The calls that the document on `torch.autograd.grad` makes, on its numbers: y = x² on x[i][j] = i + j.

First and second derivative with `create_graph=True`, weighted with ones, on a tensor filled element by element in
place.
"""

import torch

ROWS, COLUMNS = 3, 4


def derivatives():
    """y, dy/dx and d²y/dx² as the document computes them."""
    x = torch.empty(ROWS, COLUMNS, requires_grad=True).clone()
    for row in range(ROWS):
        for column in range(COLUMNS):
            x[row][column] = row + column
    y = x**2
    ones = torch.ones(y.size())
    options = {"grad_outputs": ones, "retain_graph": True, "create_graph": True, "only_inputs": True}
    (first,) = torch.autograd.grad(outputs=y, inputs=x, **options)
    (second,) = torch.autograd.grad(outputs=first, inputs=x, **options)
    return x, y, first, second


# What the document shows, as plain numbers.
DOCUMENTED = {
    "x": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]],
    "y = x²": [[0, 1, 4, 9], [1, 4, 9, 16], [4, 9, 16, 25]],
    "dy/dx = 2x": [[0, 2, 4, 6], [2, 4, 6, 8], [4, 6, 8, 10]],
    "d²y/dx² = 2": [[2, 2, 2, 2], [2, 2, 2, 2], [2, 2, 2, 2]],
}


def obtained():
    """The same figures, computed."""
    return dict(zip(DOCUMENTED, (t.tolist() for t in derivatives())))


if __name__ == "__main__":
    for tensor in derivatives():
        print(tensor)
