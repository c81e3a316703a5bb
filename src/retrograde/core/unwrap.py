"""Values out of their wrapping: the three ways, and when which.

- `content(x)`: one level out, history kept. What an array of a transform, or a tape of a higher level, holds of a value.
- `bare(x)`: history and tangents off at every level, batches kept. What a constant (`constant`) computes with.
- `concrete(op, x)`: the elements themselves, as NumPy's array. For Python's control flow, printing, files; refused where a
  value stands for one of many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import ElementsError
from .._state import OBSERVERS
from ..backend import backend_of
from .batched import BatchedArray
from .dual import DualArray
from .value import LevelArray, V, Value, content, error_type, make

__all__ = ["bare", "concrete", "constant", "content"]


def bare(x: Any) -> Any:
    """The array of an array or value without history and tangents, at every level; only batches stay."""
    if isinstance(x, Value):
        return bare(x._a)
    if type(x) is DualArray:
        return bare(x.primal)
    if type(x) is BatchedArray:
        return BatchedArray(bare(x.content), x.dim, x._level)
    return x


def constant(x: V) -> V:
    """The same values, of which every derivative is zero: no history, no tangents, at no level."""
    for observer in OBSERVERS:
        observer.detached(x)
    array = bare(x._a)
    level = getattr(array, "_level", 0)
    found: V = make(type(x)._result, array, None, level)
    return found


def concrete(op: str, x: Any) -> np.ndarray:
    """The elements of an array or value as a NumPy array (shared where they are in NumPy's).

    Raises ElementsError (as the type that the value's dialect documents) inside vmap, where they differ from entry to entry.
    """
    array = bare(x)
    if type(array) is np.ndarray:
        return array
    if isinstance(array, LevelArray):
        cls = type(x)._result if isinstance(x, Value) else Value
        raise error_type(cls, ElementsError)(
            f"{op}: inside vmap a tensor stands for one of many, so its elements cannot become Python objects; choose with "
            "where(), or take this step outside vmap"
        )
    return backend_of(array).to_host(array)
