"""What creation functions are given: nested data, shapes and devices, checked and as NumPy has them."""

from __future__ import annotations

import operator
from numbers import Number
from typing import Any

import numpy as np

from ...backend.canonical import canonical
from ...core.notation import in_own_words
from ...core.unwrap import concrete
from ...core.value import Value
from . import _dtype
from ._dtype import FROM_NUMPY


def number(op: str, argument: str, x: Any) -> Any:
    """A Python number given as one, as a NumPy scalar or as a tensor of one element; raises TypeError for no number."""
    if isinstance(x, (Value, np.generic, np.ndarray)):
        x = x.item()
    if not isinstance(x, Number):
        raise TypeError(f"{op}: {argument} must be a number or a Tensor of one element, got {type(x).__name__}")
    return x


def sizes(op: str, shape: Any, negative: type[Exception] = ValueError) -> tuple[int, ...]:
    """A shape given as an int, a sequence of ints and 0-d tensors, or an integer tensor.

    Raises TypeError for anything else, and `negative` for a size below 0.
    """
    if isinstance(shape, Value):
        shape = concrete(op, shape).reshape(-1).tolist()
    elif isinstance(shape, np.ndarray):
        shape = shape.reshape(-1).tolist()
    elif not isinstance(shape, (list, tuple)):
        shape = (shape,)
    out = []
    for n in shape:
        if isinstance(n, bool) or not (hasattr(n, "__index__") or isinstance(n, Value)):
            raise TypeError(f"{op}: a shape is made of ints, got {n!r} of type {type(n).__name__}")
        n = operator.index(n.item() if isinstance(n, Value) else n)
        if n < 0:
            raise negative(f"{op}: a size cannot be negative, got {n}")
        out.append(n)
    return tuple(out)


def _plain(data: Any) -> Any:
    """Nested data with tensors replaced by arrays."""
    if isinstance(data, Value):
        return concrete("to_tensor", data)
    if isinstance(data, (list, tuple)):
        return [_plain(x) for x in data]
    return data


def data_array(op: str, data: Any, np_dtype: np.dtype | None = None) -> np.ndarray:
    """A new array with the elements of nested data; raises ValueError where it is ragged or of another kind than numbers,
    TypeError where it is no data."""
    if not isinstance(data, (bool, int, float, complex, list, tuple, np.ndarray, np.generic, Value)):
        if not hasattr(data, "__array__"):
            raise (ValueError if isinstance(data, (bytes, Number)) else TypeError)(
                f"{op}: wanted numbers, nested lists, an array or a tensor, got {type(data).__name__}"
            )
        data = np.asarray(data)
    try:
        array = canonical(np.array(_plain(data)))
    except ValueError as error:
        raise ValueError(f"{op}: the data is no rectangular array of numbers: {in_own_words(str(error))}") from None
    if array.dtype not in FROM_NUMPY or (np_dtype is None and array.dtype in (np.uint32, np.uint64)):
        raise ValueError(f"{op}: tensors hold no data of NumPy's dtype {array.dtype}; convert it with astype() first")
    if array.dtype == np.uint16:  # how bfloat16 is written in NumPy's arrays, which have no such dtype
        array = array.view(_dtype.bfloat16.np)
    listed = type(data) in (float, complex) or (
        isinstance(data, (list, tuple)) and not any(isinstance(x, Value) for x in data)  # tensors bring their dtype
    )
    if np_dtype is None and array.dtype.kind in "fc" and listed:  # floats without a dtype of their own
        default = _dtype.default_dtype()
        np_dtype = (default if array.dtype.kind == "f" else _dtype.complex_of(default)).np
    elif np_dtype is None and array.dtype == np.int32 and listed:
        np_dtype = _dtype.int64.np
    return array if np_dtype is None or np_dtype == array.dtype else array.astype(np_dtype)
