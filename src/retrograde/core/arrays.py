"""What the engine and the rules ask of arrays and values, of whatever library or transform: the backend's answers.

A rule never makes an array by naming a library. `full(..., like=g)` gives constants where `g` is, so that nothing of NumPy
appears in the middle of a graph on a GPU, on a cluster or in a trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import Backend, backend_of
from . import value as values
from .value import LevelArray, Value, dtype_of, make, shape_of

_ndarray = np.ndarray


def bottom(x: Any) -> Any:
    """The library's array at the bottom of a value or of a transform's array: what tells library and device."""
    while True:
        if isinstance(x, Value):
            x = x._a
        elif isinstance(x, LevelArray):
            x = x.under
        else:
            return x


def of_library(x: Any) -> Any:
    """The array at the bottom of a value if a library other than NumPy holds it, None otherwise (a trace's, too)."""
    array = bottom(x)
    return None if type(array) is _ndarray or not hasattr(backend_of(array), "xp") else array


def full(shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
    """An array filled with a number, of the library and on the device of `like`: a value where `like` is one.

    Never an array of a transform: nothing in it differs between the entries of a batch, and it has no tangent.
    """
    array = bottom(like)
    if type(array) is _ndarray:
        made = np.empty(shape, dtype)  # np.full takes 0.4 µs longer
        made.fill(value)
    else:
        made = backend_of(array).full(shape, value, dtype, array)
    return make(values.core_class, made) if isinstance(like, Value) else made


def zeros_for(x: Value, cls: type[Value] | None = None) -> Value:
    """A constant zero of the shape, dtype and library of a value, as users see it: of its class or of `cls`."""
    array = bottom(x)
    return make(cls or type(x)._result, full(tuple(shape_of(x)), 0, dtype_of(x), array))


def from_host(array: np.ndarray, like: Any) -> Any:
    """NumPy's array (positions that a rule computes from shapes) in the library of `like`; a value where that is one."""
    beside = bottom(like)
    made = array if type(beside) is _ndarray else backend_of(beside).from_host(array, beside)
    return make(values.core_class, made) if isinstance(like, Value) else made


def device_of(x: Any) -> Any:
    """Where an array or value is, as its library says it."""
    array = bottom(x)
    return backend_of(array).device_of(array)


def on_host(x: Any) -> bool:
    """Whether the elements of an array or value are where NumPy computes."""
    array = bottom(x)
    return backend_of(array).on_host(array)


def opened(kind: type[LevelArray], arrays: Any, beside: str) -> tuple[int, list[Any], list[Any]]:
    """The highest level at which arrays of a kind are; what is under them there, and what they have beside (None for others)."""
    level = max([x._level for x in arrays if type(x) is kind])
    under, others = [], []
    for x in arrays:
        own = type(x) is kind and x._level == level
        under.append(x.under if own else x)
        others.append(getattr(x, beside) if own else None)
    return level, under, others


class LevelBackend(Backend):
    """The protocol for arrays of transforms, which compute through a primitive's rules one level down: what is not an
    operation is asked of the array below."""

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        return bottom(full(shape, value, dtype, like))

    def device_of(self, array: Any) -> Any:
        return device_of(array)

    def from_host(self, array: np.ndarray, like: Any) -> Any:
        return bottom(from_host(array, like))
