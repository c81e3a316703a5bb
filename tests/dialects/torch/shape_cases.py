"""Calls of indexing, shape, product, spectral and layer functions, as expressions whose results are recorded.

data/shapes.json maps areas to expressions to what PyTorch gave: shape, dtype, strides, node and the first elements of
each tensor, or the exception's type. Statements stand before the last semicolon of an expression.
"""

import json
import re
import warnings
from pathlib import Path

import numpy as np

PATH = Path(__file__).parent / "data" / "shapes.json"

# Run before each expression of an area.
SETUPS = {
    "indexing": "x = torch.arange(24.).reshape(2, 3, 4).requires_grad_() * 1; m = x.detach() > 5; i = torch.tensor([0, 1])",
    "shapes": "x = torch.arange(24.).reshape(2, 3, 4).requires_grad_() * 1",
    "products": (
        "x = (torch.arange(24.).reshape(2, 3, 4) * .1).requires_grad_() * 1; i = torch.arange(6).reshape(2, 3); "
        "c = torch.complex(x[0], x[1]); d = x.detach().double()"
    ),
    "spectral": (
        "x = (torch.arange(24.).reshape(2, 3, 4) * .37).sin().requires_grad_() * 1; c = torch.complex(x, x.cos()); "
        "v = (torch.arange(12.) * .37).sin().requires_grad_() * 1"
    ),
    "layers": (
        "F = torch.nn.functional; x = torch.arange(24.).reshape(2, 3, 4).requires_grad_() * 1; b = torch.arange(5.); "
        "w = (torch.arange(20.).reshape(5, 4) * .1).requires_grad_(); e = torch.tensor([[0, 2], [4, 2]]); "
        "im = torch.arange(32.).reshape(1, 2, 4, 4).requires_grad_() * 1"
    ),
    "transforms": (
        "F = torch.nn.functional; vmap = torch.func.vmap; grad = torch.func.grad; jvp = torch.func.jvp; "
        "jacrev = torch.func.jacrev; hessian = torch.func.hessian; jacfwd = torch.func.jacfwd; "
        "x = (torch.arange(24.) * .3).sin().reshape(2, 3, 4); i = torch.tensor([1, 0]); b = torch.arange(5.); "
        "w = (torch.arange(20.) * .2).cos().reshape(5, 4); W = (torch.arange(40.) * .2).cos().reshape(2, 5, 4); m = x > 0"
    ),
    "in_place": """
vmap, grad, jvp, jacrev, jacfwd = (getattr(torch.func, name) for name in ("vmap", "grad", "jvp", "jacrev", "jacfwd"))
x = (torch.arange(12.) * .3).sin().reshape(3, 4)
def f1(t): y = torch.zeros(4); y[0] = t[1] * 2; y[1:3] = t[2:]; return y
def f2(t): y = t.clone(); y[torch.tensor([0, 2])] = t[1]; y[0] *= 3; return y
def f3(t): y = t * 1; y.reshape(2, 2)[0].mul_(2); y[y > 0] = 0.; return y
def f4(t):
    y = torch.zeros(4)
    for k in range(4): y[k] = t[:k + 1].sum()
    return y
def f5(t): y = torch.zeros(2, 4); y[0] = t; y[1] = y[0] ** 2; return y
def f6(t): y = t.clone(); v = y[1:]; v += 1; return y * v.sum()
def f7(t):
    y = t.clone(); y.scatter_(0, torch.tensor([0, 1]), t[2:]); y.index_add_(0, torch.tensor([0]), t[:1])
    y.masked_fill_(y > 10, 0.); return y
def f8(t): y = torch.empty_like(t); y.copy_(t * 2); y.add_(1); y.zero_(); y[...] = t; y.t_(); return y
def f9(t): y = t.new_zeros(4); y[:] = t; y[::2] = 0; return y
""",
}  # fmt: skip
# Derivatives go through the products of whatever BLAS there is, so their last digits are not compared. The layout in memory
# is, where it is no accident of how a transform is computed.
DIGITS = {"transforms": 3, "in_place": 3}
LAYOUT = ("indexing", "shapes", "products", "layers")


def load():
    """The recorded results."""
    return json.loads(PATH.read_text())


def described(torch, result, digits, layout):
    """A result as JSON: what a user can see of it."""
    if isinstance(result, torch.Tensor):
        flat = result.detach().flatten().tolist()[:12]
        if result.is_complex():
            values = [[round(z.real, digits) + 0.0, round(z.imag, digits) + 0.0] for z in flat]
        else:
            values = [z if z != z or isinstance(z, (bool, int)) else round(z, digits) + 0.0 for z in flat]
        strides = list(result.stride()) if layout and 0 not in result.shape else None
        node = None if result.grad_fn is None else type(result.grad_fn).__name__
        return [list(result.shape), str(result.dtype), strides, node, str(values)]
    if isinstance(result, (tuple, list)):
        return [described(torch, entry, digits, layout) for entry in result]
    if isinstance(result, np.ndarray):
        return [str(result.dtype), result.tolist()]
    return re.sub(r"0x[0-9a-f]+", "0x", repr(result))


def evaluate(torch, cases):
    """Areas of expressions with their results on `torch`."""
    found = {}
    for area, expressions in cases.items():
        found[area] = {}
        for expression in expressions:
            scope = {"torch": torch, "np": np}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    exec(SETUPS[area], scope)
                    *statements, last = expression.split(";")
                    for statement in statements:
                        exec(statement.strip(), scope)
                    result = described(torch, eval(last.strip(), scope), DIGITS.get(area, 4), area in LAYOUT)
                except Exception as error:
                    result = type(error).__name__
            found[area][expression] = result
    return found
