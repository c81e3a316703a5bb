"""The memory behind values, for whoever watches a program: the array at the bottom of a value, and who owns an array's memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.batched import BatchedArray
from ..core.dual import DualArray
from ..core.value import Value

_ndarray = np.ndarray


def inside(x: Any) -> tuple[Any, bool]:
    """The NumPy array at the bottom of a value of any level, and whether a value of a lower level lies between."""
    a = x._a if isinstance(x, Value) else x
    below = False
    while type(a) is not _ndarray:
        if isinstance(a, Value):
            a, below = a._a, True
        elif type(a) is BatchedArray:
            a = a.content
        elif type(a) is DualArray:
            a = a.primal
        else:
            return np.asarray(a), below
    return a, below


def owner_of(a: Any) -> Any:
    """The array that owns memory; unlike the tape's notion of it, the same for a tensor and its `.data`."""
    base = a.base
    while base is not None:
        base = base.obj if type(base) is memoryview else base
        if not isinstance(base, _ndarray):
            base = getattr(base, "base", None)
            if not isinstance(base, _ndarray):
                break
        a, base = base, base.base
    return a
