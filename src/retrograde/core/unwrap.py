"""Values out of their wrapping: the five ways, and when which.

- `content(x)`: one level out, history kept. What an array of a transform, or a tape of a higher level, holds of a value.
- `bare(x)`: history and tangents off at every level, batches kept. What a constant (`constant`) computes with.
- `concrete(op, x)`: the elements themselves, as NumPy's array. For Python's control flow, printing, files; refused where a
  value stands for one of many.
- `held(op, x)`: the elements where they are, in the array of the library that holds them; refused likewise.
- `unrecorded(xs)`: the arrays of several values, to compute with instead of them. Where nothing is recorded anyway.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._errors import ElementsError
from .._state import OBSERVERS, state
from ..backend import backend_of
from . import value as values
from .arrays import of_library
from .batched import BatchedArray
from .dual import DualArray
from .record import PRIMITIVES
from .value import LevelArray, V, Value, content, error_type, make

__all__ = ["bare", "concrete", "constant", "content", "elsewhere", "held", "unrecorded"]


def bare(x: Any) -> Any:
    """The array of an array or value without history and tangents, at every level; only batches stay."""
    if isinstance(x, Value):
        return bare(x._a)
    if type(x) is DualArray:
        return bare(x.primal)
    if type(x) is BatchedArray:
        inner = bare(x.content)
        if isinstance(inner, LevelArray):  # of the vmap around this one: a value tells a lower level's operands of it
            inner = make(values.core_class, inner, None, inner._level)
        return BatchedArray(inner, x.dim, x._level)
    return x


def constant(x: V) -> V:
    """The same values, of which every derivative is zero: no history, no tangents, at no level."""
    for observer in OBSERVERS:
        observer.detached(x)
    array = _cut(bare(x._a))
    level = getattr(array, "_level", 0)
    found: V = make(type(x)._result, array, None, level)
    if not level and type(array) is not np.ndarray and array is x._a:
        share(found, x)
        if x._node is not None:  # a trace has to tell the two apart, since their derivatives differ
            found._a = PRIMITIVES["stop_gradient"].op(array)
    return found


def _cut(array: Any) -> Any:
    """An array of a transform that others are taken around, such as the body of a loop, has to say itself that it is constant."""
    if type(array) is BatchedArray:
        inner = array.content
        below = _cut(inner._a if isinstance(inner, Value) else inner)
        if below is (inner._a if isinstance(inner, Value) else inner):
            return array
        return BatchedArray(make(values.core_class, below, None, below._level), array.dim, array._level)
    cut = getattr(array, "cut", None) if isinstance(array, LevelArray) else None
    return array if cut is None else cut()


def share(x: Value, of: Value) -> None:
    """Let `x`, whose array cannot be written, share the memory of another value: what is written into one is seen in both."""
    root, steps = of._memory or (of if of._base is None else of._base, () if of._base is None else of._view_steps)
    x._memory = root, steps
    root._sharers = [reference for reference in root._sharers or () if reference() is not None] + [weakref.ref(x)]


def concrete(op: str, x: Any) -> np.ndarray:
    """The elements of an array or value as a NumPy array (shared where they are in NumPy's).

    Raises ElementsError (as the type that the value's dialect documents) inside vmap, where they differ from entry to entry.
    """
    array = bare(x)
    if type(array) is np.ndarray:
        return array
    _refuse_many(op, x, array)
    library = backend_of(array)
    found: np.ndarray = library.asked_for_number(array) if op == "item" else library.to_host(array)
    return found


def held(op: str, x: Any) -> Any:
    """The array of a library in which the elements are, as `concrete` has them."""
    array = bare(x)
    _refuse_many(op, x, array)
    return backend_of(array).unwrap(array)


def elsewhere(x: Any) -> Any:
    """The array of a value, without history, if a library other than NumPy holds the elements (and it is no transform's)."""
    array = bare(x)
    return None if type(array) is np.ndarray or isinstance(array, LevelArray) else of_library(array)


def _refuse_many(op: str, x: Any, array: Any) -> None:
    """Raise where the bare array of `x` is a transform's, which stands for many."""
    if isinstance(array, LevelArray):
        if (refuse := getattr(array, "refuse", None)) is not None:
            refuse(op)
        cls = type(x)._result if isinstance(x, Value) else Value
        raise error_type(cls, ElementsError)(
            f"{op}: inside vmap a tensor stands for one of many, so its elements cannot become Python objects; choose with "
            "where(), or take this step outside vmap"
        )


def unrecorded(xs: Iterable[Any]) -> list[Any] | None:
    """The NumPy arrays of values (None for None) where nothing that is computed with them is recorded, and nobody looks.

    Then the same operations on the arrays give the same array, in half the time where they are small. None otherwise.
    """
    if OBSERVERS:
        return None
    recording, arrays = state.mode, list[Any]()
    for x in xs:
        if x is None:
            arrays.append(None)
            continue
        array = x._a
        if type(array) is not np.ndarray or x._level or (recording and x._node is not None):
            return None
        arrays.append(array)
    return arrays
