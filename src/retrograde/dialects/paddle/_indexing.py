"""Indexing: `x[...]` for reading and writing, with NumPy's meaning, and iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import structural as st
from ...tensor import indexing
from ._api import api
from ._tensor import Tensor

_PLAIN = (int, slice, type(None), type(Ellipsis))


def _check_kinds(key: Any) -> None:
    """Raise ValueError for a key with two Ellipses, or with parts that are no integers, slices, None, ... and arrays of
    integers or booleans."""
    parts = key if type(key) is tuple else (key,)
    if sum(part is Ellipsis for part in parts) > 1:
        raise ValueError("an index has one Ellipsis ('...') at most")
    for part in parts:
        if type(part) in _PLAIN or isinstance(part, (bool, list, tuple, range)):
            continue
        if isinstance(part, (Value, np.ndarray, np.generic)):
            if dtype_of(part).kind in "iub":
                continue
            raise ValueError(f"an index holds integers or booleans, not dtype {dtype_of(part)}")
        if not hasattr(part, "__index__"):
            raise ValueError(
                "an index is made of integers, slices, None, ... and lists or Tensors of integers or booleans, not "
                f"{type(part).__name__}"
            )


@api("__getitem__", function=False)
def getitem(self: Tensor, key: Any) -> Any:
    """`x[key]`: a view for integers and slices, the picked elements for lists and tensors.

    Raises IndexError where the key does not fit, ValueError for what is no index and for an index of a 0-d tensor.
    """
    if type(key) not in _PLAIN:
        _check_kinds(key)
    try:
        return indexing.get(self, key)
    except IndexError as error:
        if shape_of(self) or isinstance(key, int) or (isinstance(key, Value) and not shape_of(key)):
            raise
        raise ValueError(str(error)) from None  # a 0-d tensor has no axis to index


@api("__setitem__", function=False)
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """`x[key] = value`, converted to the dtype of `x`.

    Raises IndexError where the key does not fit, ValueError for a value that does not broadcast, is no tensor, array or
    number, or a tensor that is a leaf which wants a gradient.
    """
    if type(key) not in _PLAIN:
        _check_kinds(key)
    dtype = dtype_of(self)
    if isinstance(value, Value):
        if dtype_of(value) != dtype:
            value = st.cast(value, dtype=dtype)
    elif isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        if isinstance(value, complex) and dtype.kind != "c":
            raise ValueError(f"setitem: a complex number does not fit a Tensor of dtype {self.dtype}")
        value = np.asarray(value).astype(dtype)
    else:
        raise ValueError(f"setitem: the value must be a Tensor, a NumPy array or a number, got {type(value).__name__}")
    indexing.set(self, key, value)


@api("__len__", function=False)
def length(self: Tensor) -> int:
    """The size of the first axis; raises AssertionError for a 0-d tensor."""
    shape = shape_of(self)
    if not shape:
        raise AssertionError("len() of a 0-d Tensor: it has no axis")
    return shape[0]


@api("__iter__", function=False)
def iterate(self: Tensor) -> Iterator[Any]:
    """The tensors along the first axis; none of a 0-d tensor."""
    return (indexing.get(self, i) for i in range(*shape_of(self)[:1] or (0,)))
