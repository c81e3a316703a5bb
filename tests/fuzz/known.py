"""The known differences: where this library does otherwise on purpose, or the framework is wrong; each with its reason.

An entry has a program that shows it, in its smallest form, and a pattern that the smallest form of any other program of
the same cause matches. One whose program agrees again is reported.
"""

import re
from typing import NamedTuple

from .compare import Difference


class Known(NamedTuple):
    reason: str
    program: str
    pattern: str
    """Searched for in a minimised program."""
    kinds: tuple[str, ...]
    """Kinds of difference (see `compare.Difference`) that this explains."""

    def explains(self, program: str, found: list[Difference]) -> bool:
        return found[0].kind in self.kinds and re.search(self.pattern, program, re.DOTALL) is not None


LEAF = "v1 = torch.tensor([1.5, 0.5], dtype=torch.float64, requires_grad=True)\n"

TORCH = [
    Known(
        "a view of a leaf made without recording wants a gradient and has none of its own in PyTorch; here it is a leaf",
        LEAF + "with torch.no_grad():\n    v2 = v1[:1]\nv2.sum().backward()\n",
        r"(no_grad|set_grad_enabled\(False\))\S*\n +v\d+ = v\d+(\.|\[)",
        ("missing", "flag", "gradient", "exception"),
    ),
    Known(
        "derivatives that are constant have a history in PyTorch's forward mode, here they have none",
        "v1 = torch.tensor(1.05, dtype=torch.float64)\nv2 = torch.tensor(1.47, dtype=torch.float64, requires_grad=True)\n"
        "def f3(v4):\n    return v1 * v4\nv6 = torch.func.jacfwd(f3)(v2)\n",
        r"torch\.func\.(jacfwd|jacrev|jvp|hessian|vjp|grad)",
        ("flag",),
    ),
    Known(
        "PyTorch's linearize does not record what the function closes over",
        "v1 = torch.tensor(0.627, dtype=torch.float64)\nv2 = torch.tensor(0.74, dtype=torch.float64, requires_grad=True)\n"
        "def f3(v4):\n    return v2 * v4\nv6, f7 = torch.func.linearize(f3, v1)\nv8 = f7(v1)\nv8.backward(v8)\n",
        r"torch\.func\.linearize",
        ("missing", "flag", "value", "exception", "gradient"),
    ),
    Known(
        "PyTorch widens a float32 without axes in nested forward mode to float64",
        "v1 = torch.tensor(0.5, dtype=torch.float32)\ndef f2(v3):\n    def f4(v5):\n        return v5 + 0.013\n"
        "    v7, v8 = torch.func.jvp(f4, (v3,), (v1,))\n    return v8\nv9, v10 = torch.func.jvp(f2, (v1,), (v1,))\n",
        r"torch\.func\.(jvp|jacfwd|hessian)",
        ("dtype",),
    ),
    Known(
        "PyTorch only warns when index_fill_ and its like write memory that elements share; here it is refused",
        "v1 = torch.tensor(1.5, dtype=torch.float64).expand(3)\nv1.index_fill_(0, torch.tensor([0]), 0.5)\n",
        r"index_fill_|index_put_|masked_fill_|scatter_|index_copy_|index_add_|\] [*+-]?= ",
        ("exception",),
    ),
]
JAX: list[Known] = []
