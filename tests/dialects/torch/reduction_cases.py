"""Calls of reductions, scans, sorting, statistics and losses, as expressions whose printed results are recorded.

data/reductions.json maps areas to expressions to what PyTorch printed (the exception's type where it raised).
"""

import json
import math
import re
import warnings
from pathlib import Path

PATH = Path(__file__).parent / "data" / "reductions.json"


def names(torch):
    """What the expressions refer to."""
    F = torch.nn.functional
    func = torch.func
    torch.manual_seed(0)
    X = torch.randn(5, 4, dtype=torch.float64)
    T = torch.tensor([0, 1, 3, 2, 2])
    Y = torch.rand(5, 4, dtype=torch.float64)
    W = torch.tensor([0.5, 1, 2, 1], dtype=torch.float64)
    X3, T3 = torch.randn(5, 3, 4, dtype=torch.float64), torch.randint(0, 4, (5, 3))
    S = torch.randn(3, 4)
    x, i = torch.tensor([1.0, 2, 4, 8]), torch.arange(4)
    m = torch.tensor([[True, False, True], [False, False, False]])

    def kinks(f, values, second=False):
        """The value, gradient and second derivative at a point."""
        z = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        out = f(z)
        out = out[0] if isinstance(out, tuple) else out
        if not out.requires_grad:
            return out, None
        (g,) = torch.autograd.grad(out.sum(), z, create_graph=second)
        if not second or not g.requires_grad:
            return out.detach(), g.detach()
        (h,) = torch.autograd.grad((g * g).sum(), z, allow_unused=True)
        return out.detach(), g.detach(), None if h is None else h.detach()

    def backward(f, t):
        """The value and the gradient of the sum of its sizes."""
        t = t.clone().requires_grad_()
        y = f(t)
        y = y[0] if isinstance(y, tuple) else y
        (y.abs().sum() if y.is_complex() else y.float().sum()).backward()
        return y.detach(), t.grad

    def push(f, x=X):
        """The value and the derivative along ones times 0.3."""
        return func.jvp(f, (x,), (torch.ones_like(x) * 0.3,))

    return {
        "torch": torch, "F": F, "tm": torch.masked, "nan": math.nan, "inf": math.inf, "vmap": func.vmap, "grad": func.grad,
        "hessian": func.hessian, "jacfwd": func.jacfwd, "jacrev": func.jacrev, "X": X, "T": T, "Y": Y, "W": W, "X3": X3,
        "T3": T3, "S": S, "H": S.half(), "B": S.bfloat16(), "Z": torch.complex(S, S.flip(0)), "x": x, "i": i, "b": x > 2,
        "I": torch.arange(12).view(3, 4) - 5, "M": S > 0, "one": torch.tensor(1.5), "z": torch.zeros(0, 3),
        "t": torch.tensor([0, 1, 2]), "P": torch.tensor([[1.0, 2, 3], [4, 5, 6]], requires_grad=True), "m": m,
        "kinks": kinks, "backward": backward, "push": push,
    }  # fmt: skip


def printed(torch, expression, scope):
    """What an expression prints, or the type of the exception that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.sub(r" at 0x[0-9a-f]+", "", repr(eval(expression, scope)))
        except Exception as error:
            return type(error).__name__


def evaluate(torch, record):
    """The record with everything printed anew."""
    return {
        area: {expression: printed(torch, expression, names(torch)) for expression in found}
        for area, found in record.items()
    }


def load():
    """The record."""
    return json.loads(PATH.read_text())
