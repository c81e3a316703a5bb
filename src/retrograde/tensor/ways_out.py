"""Where a tensor would become a plain array or number: what is refused, since a derivative would be lost in silence.

The program's own ways out are `detach()`, `float`, `int`, `bool`, `complex`, `item`, `tolist` and printing
(docs/decisions/0009); every other door asks `refuse_recorded`.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

from .._errors import GradError
from ..core.batched import BatchedArray
from ..core.dual import DualArray
from ..core.value import Value


def recorded(x: Any) -> str:
    """What a plain array in the place of a value would lose: "gradient", "tangent", or nothing ("")."""
    while True:
        if isinstance(x, Value):
            if x._node is not None:
                return "gradient"
            x = x._a
        elif type(x) is DualArray:
            return "tangent"
        elif type(x) is BatchedArray:
            x = x.content
        else:
            return ""


def refuse_recorded(op: str, x: Any, kind: type[Exception] = GradError) -> None:
    """Raise where a value is to become a plain array and a derivative would be lost by that."""
    lost = recorded(x)
    if lost:
        raise kind(
            f"{op}: this tensor is recorded for a {lost}, which a plain array cannot carry; use functions that take tensors "
            "(np.stack or rg.asarray for np.array, rg.zeros for an array to write into), or pass detach().numpy() where "
            "it is a constant"
        )


def library_call() -> str:
    """The function of NumPy or SciPy that a program called and that now asks for a plain array, for a message."""
    frame: Any = sys._getframe(2)
    name = "a conversion to a NumPy array (np.array, np.asarray and the like)"
    while frame is not None:
        package, *rest = frame.f_globals.get("__name__", "").split(".")
        if package not in ("numpy", "scipy"):
            break
        public = itertools.takewhile(lambda part: part[0] != "_", rest)
        name = ".".join(("np" if package == "numpy" else package, *public, frame.f_code.co_qualname))
        frame = frame.f_back
    return name


def call_site(depth: int) -> tuple[Any, ...]:
    """The instruction that a caller carries out now: all that C functions do within one belongs to one call."""
    frame = sys._getframe(depth)
    return id(frame), frame.f_code, frame.f_lasti
