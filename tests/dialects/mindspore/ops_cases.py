"""Expressions over the functions of `mindspore.ops`, `mindspore.numpy` and `mindspore.mint`, with what MindSpore makes of them.

`V(f, t)` and `V2(f, a, b)` give value and gradients.

`data/ops.json` maps each expression to its recorded result: dtype, shape and elements, or the type of the exception. What
the recording MindSpore had no kernel for on a CPU (RuntimeError) is left out, since the dialect goes on there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parent / "data" / "ops.json"

DIFFERENT = {
    "ops.cholesky_inverse(xs)": "the other triangle is not read here, as the name says",
    "ops.eigvals(xs)": "the order of eigenvalues is LAPACK's",
    "ops.inverse(xs*0)": "a singular matrix is an error here, not zeros",
    "ops.interpolate(im, size=(4,4), mode='bicubic')": "the cubic kernel is that of PyTorch (a = -0.75), not a = -0.5",
    "ops.dropout(x, 2.0)": "a rate beyond 1 is a ValueError here",
    "V(lambda t: ops.selu(t), u)": "MindSpore's derivative below 0 is wrong",
    "V(lambda t, op=ops.SeLU(): op(t), u)": "MindSpore's derivative below 0 is wrong",
    "V(lambda t, op=ops.ReduceProd(): op(t), u)": "MindSpore's derivative is wrong",
    "V(lambda t: ops.L2Normalize()(t), z)": "MindSpore's derivative is not that of its values",
    "V(lambda t: ops.atan2(t, t), z)": "0 instead of nan where there is no derivative",
    "V(lambda t: ops.bessel_k0(t), u)": "nan instead of inf below 0, where the function is not real",
    "V(lambda t: ops.bessel_y0(t), u)": "nan instead of inf below 0, where the function is not real",
    "V(lambda t: ops.cumprod(t, 0), z)": "MindSpore divides by the elements that are 0",
    "V(lambda t: ops.one_hot(T([0, 1]), 3, t[0, 0], t[0, 1]), m)": "MindSpore has no derivative by the values",
    "V(lambda t: ops.rfft(t[0]).abs(), m)": "the absolute value of complex numbers is real here",
    "V(lambda t: ops.xlogy(t, t), z)": "xlogy(0, 0) is 0, as its name promises",
    "xi // 0": "NumPy's integers divided by zero are 0", "xi % 0": "NumPy's integers divided by zero are 0",
}
"""Expressions that the dialect answers differently, and why."""


def load() -> dict[str, str]:
    """The recorded results by expression."""
    found: dict[str, str] = json.loads(PATH.read_text())
    return found


def text(y: Any, tensor: type) -> str:
    """A result as text: dtype, shape and elements of tensors."""
    if isinstance(y, tensor):
        a = np.asarray(y.asnumpy())
        elements = np.vectorize(lambda v: f"{complex(v):.4g}" if a.dtype.kind == "c" else f"{float(v):.6g}", otypes=[str])(a)
        return f"{y.dtype}{list(a.shape)} {' '.join(elements.reshape(-1)) if a.size else ''}"
    if isinstance(y, (tuple, list)):
        return "(" + ", ".join(text(part, tensor) for part in y) + ")"
    return repr(y)


def evaluate(ms: Any, expression: str) -> str:
    """The text of an expression's result, or the name of the exception's type."""
    tensor = ms.Tensor
    scope: dict[str, Any] = {
        "__name__": __name__, "ms": ms, "ops": ms.ops, "mnp": ms.numpy, "mint": ms.mint, "np": np, "T": tensor,
        "x": tensor([[3.0, 1.0, 2.0], [0.5, 4.0, 5.0]]), "xi": tensor([[3, 1, 2], [0, 4, 5]], ms.int32),
        "xb": tensor([[True, False, True], [True, True, True]]), "v": tensor([1.0, 2.0, 3.0]),
        "xn": tensor([[1.0, float("nan"), 2.0], [3.0, 4.0, float("nan")]]), "xs": tensor([[4.0, 1.0], [1.0, 3.0]]),
        "x3": tensor(np.arange(18, dtype=np.float32).reshape(2, 3, 3)), "x1": tensor([[[1.0], [2.0]]]),
        "x4": tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)),
        "im": tensor(np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3) / 10),
        "w2": tensor(np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2) / 10),
        "P": lambda t: ms.Parameter(t.copy(), name="p"), "V": lambda f, t: ms.value_and_grad(f)(t),
        "V2": lambda f, a, b: ms.value_and_grad(f, (0, 1))(a, b), "u": tensor([-0.5, 0.3, 0.8, 0.9]),
        "p": tensor([1.5, 2.5, 0.5]), "w": tensor([0.7, 2.0, 3.0]), "m": tensor([[3.0, 1.0, 2.0], [0.5, 4.0, 5.0]]),
        "z": tensor([0.0, 0.0]),
    }  # fmt: skip
    try:
        return text(eval(expression, scope), tensor)
    except Exception as error:
        return type(error).__name__


_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan))")


def same(wanted: str, got: str) -> bool:
    """Whether two results are equal, numbers within the rounding of float32."""
    if wanted == got:
        return True
    ours, theirs = _NUMBER.split(got), _NUMBER.split(wanted)
    if ours[::2] != theirs[::2]:
        return False
    return all(a == b or abs(float(a) - float(b)) <= 3e-5 * max(1.0, abs(float(b))) for a, b in zip(ours[1::2], theirs[1::2]))
