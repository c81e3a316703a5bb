"""`constant`: a value that no transform and no tape sees anything behind."""

from __future__ import annotations

from typing import Any

from .._state import OBSERVERS
from ..core.batched import BatchedArray
from ..core.dual import DualArray
from ..core.value import Value, make


def bare(x: Any) -> Any:
    """An array or value without history and tangents, at every level."""
    if isinstance(x, Value):
        inner = bare(x._a)
        return inner if not x._level else make(type(x), inner, None, x._level)
    if type(x) is DualArray:
        return bare(x.primal)
    if type(x) is BatchedArray:
        return BatchedArray(bare(x.content), x.dim, x._level)
    return x


def constant(x: Value) -> Value:
    """The same values, of which every derivative is zero: no history, no tangents, at no level."""
    for observer in OBSERVERS:
        observer.detached(x)
    array = bare(x._a)
    level = getattr(array, "_level", 0)
    return make(type(x)._result, array, None, level)
