"""What creation functions are given: nested data, sizes and dtypes, checked and as NumPy has them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._traceback import called_function
from ...backend.canonical import canonical
from ...core.arrays import on_host
from ...core.notation import in_own_words
from ...core.unwrap import bare, concrete, held
from ...core.value import Value, dtype_of
from .._shared.dlpack import CPU_DEVICE
from . import _dtype
from ._dtype import FROM_NUMPY, dtype
from ._promote import number_dtype, scalar_dtype


def sizes(op: str, args: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    shape = []
    for n in args:
        if type(n) is int and n >= 0:
            shape.append(n)
            continue
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(f"{called_function() or op}: sizes must be ints, got {n!r} of type {type(n).__name__}")
        n = operator.index(n)
        if n < 0:
            raise RuntimeError(f"{op}: a size cannot be negative, got {n}")
        shape.append(n)
    return tuple(shape)


def np_dtype_of(op: str, d: Any, default: dtype | None = None) -> np.dtype:
    """The NumPy dtype of an optional torch dtype argument."""
    if d is None:
        return (default or _dtype._default).np
    found = _dtype.as_dtype(d)
    if not isinstance(found, dtype):
        raise TypeError(f"{op}: dtype must be a torch dtype, got {d!r}")
    return found.np


_PLAIN: dict[type, int] = {bool: 0, int: 1, float: 2, complex: 3}
"""Python's own numbers, with the category of the dtype that they stand for."""


def _plain_kinds(data: list[Any] | tuple[Any, ...]) -> set[type] | None:
    """The types of the numbers in nested data, where there are Python's own and nothing else, each at one depth.

    Types are collected by `map`, 35 ns an element: asking each for what it is takes 2 µs.
    """
    kinds = set(map(type, data))
    for _ in range(_MOST_AXES):
        if not kinds <= _SEQUENCES:
            return kinds if kinds <= _PLAIN.keys() else None
        data = list(itertools.chain.from_iterable(data))
        kinds = set(map(type, data))
        if not kinds:
            return kinds
    return None


_SEQUENCES = {list, tuple}
_MOST_AXES = 64
"""How many axes NumPy's arrays can have."""


def _infer(data: Any) -> dtype:
    """The dtype that PyTorch gives nested Python data."""
    if isinstance(data, Value):
        return FROM_NUMPY[dtype_of(data)]
    if isinstance(data, (np.ndarray, np.generic)):
        return _dtype.from_numpy_dtype(data.dtype)
    if isinstance(data, (list, tuple)):
        found: dtype | None = None
        for item in data:
            d = _infer(item)
            if found is None or (d is not found and d.category >= found.category):
                found = d if found is None else _dtype.promote_types(found, d)
        return found or _dtype.get_default_dtype()
    return scalar_dtype(data)


def _plain(data: Any, top: bool = True) -> Any:
    """Nested data with tensors replaced by arrays; inside a sequence a tensor stands for its one element."""
    if isinstance(data, Value):
        array = concrete("tensor", data.detach())
        if top:
            return array
        if array.size != 1:
            raise ValueError(
                f"tensor: a sequence holds a tensor of shape {list(array.shape)}, wanted single elements; use torch.stack()"
            )
        return array.reshape(())[()]
    if isinstance(data, (list, tuple)) and any(isinstance(x, (Value, list, tuple)) for x in data):
        return [_plain(x, False) for x in data]
    return data


def from_device(data: Any) -> Any:
    """A tensor on an accelerator, or the memory of another library's array there, shared, as one; None of anything else."""
    if isinstance(data, Value):
        return None if type(data._a) is np.ndarray or on_host(data) else data
    if not hasattr(data, "__dlpack_device__") or data.__dlpack_device__()[0] == CPU_DEVICE[0]:
        return None
    from ._memory import from_dlpack

    return from_dlpack(data)


def elements_of(op: str, x: Any) -> Any:
    """The elements of a tensor where they are: NumPy's array, or an accelerator's, which has NumPy's methods.

    Raises as `concrete` does where it stands for many.
    """
    array = bare(x)
    if type(array) is np.ndarray:
        return array
    return concrete(op, x) if on_host(array) else held(op, x)


def computed_there(op: str, x: Any, compute: Callable[[Any], Any]) -> Any:
    """What a function makes of the array of a tensor's elements, where they are."""
    array = elements_of(op, x)
    if type(array) is np.ndarray:
        return compute(array)
    with array.device:
        return compute(array)


def places_set(op: str, mask: Any) -> Any:
    """The positions where a mask is set, an array for each axis, where the mask is."""
    return mask.nonzero() if type(mask) is np.ndarray else computed_there(op, mask, lambda array: array.nonzero())


def _no_data(data: Any, error: Exception) -> Exception:
    """The exception for data without a dtype: what PyTorch raises depends on where it meets the first stranger."""
    text = f"tensor: no dtype for this data: {error}; wanted numbers, nested lists or an array"
    if isinstance(data, (str, bytes)):
        return TypeError(text)
    if isinstance(data, (list, tuple)) and data:
        first = data[0]
        if isinstance(first, (str, bytes)):
            return ValueError(text)
        if any(isinstance(x, (str, bytes)) for x in data):
            return TypeError(text)
    return RuntimeError(text)


def _check_range(array: np.ndarray, np_dtype: np.dtype) -> None:
    """Raise RuntimeError for numbers beyond an integer dtype; negative ints wrap around in unsigned ones."""
    info = np.iinfo(np_dtype)
    least = info.min if np_dtype.kind == "i" else 0 if array.dtype.kind == "f" else -info.max
    for number in (array.min(), array.max()):
        if not least <= number <= info.max:  # which nan is not
            raise RuntimeError(f"tensor: {number} is out of the range of dtype {FROM_NUMPY[np_dtype]}")


def data_array(data: Any, np_dtype: np.dtype | None = None) -> np.ndarray:
    """A new array with the elements of nested data; raises ValueError or TypeError where it is ragged or no data."""
    sequence = isinstance(data, (list, tuple))
    if not sequence and isinstance(data, Sequence) and not isinstance(data, (str, bytes)):  # a deque, a range...
        data, sequence = list(data), True
    kinds = _plain_kinds(data) if sequence else None
    if np_dtype is None:
        if kinds is None:
            try:
                np_dtype = _infer(data).np
            except TypeError as error:
                if hasattr(data, "__array__"):
                    array = np.array(data)
                    return canonical(array.astype(_dtype.from_numpy_dtype(array.dtype).np))
                raise _no_data(data, error) from None
        else:
            np_dtype = number_dtype(max(map(_PLAIN.__getitem__, kinds), default=2)).np
    if kinds is None:
        nested = sequence and bool(data) and isinstance(data[0], (list, tuple))
        if nested and any(not hasattr(x, "__len__") and not isinstance(x, Value) for x in data):
            raise TypeError("tensor: a sequence holds sequences and numbers side by side; wanted a rectangular array")
        data = _plain(data)
    try:
        if np_dtype.kind in "iu":
            return canonical(_whole(data, np_dtype))
        return canonical(np.array(data, dtype=np_dtype))
    except ValueError as error:
        raise ValueError(f"tensor: the data is no rectangular array of numbers that fit: {in_own_words(str(error))}") from None
    except TypeError as error:
        raise TypeError(f"tensor: the data is no array of numbers: {error}") from None


def _whole(data: Any, np_dtype: np.dtype) -> np.ndarray:
    """Numbers as an integer dtype has them: fractions are cut off, what is out of range raises RuntimeError."""
    array = np.array(data)
    if isinstance(data, (np.ndarray, np.generic)):
        return array.astype(np_dtype, copy=False)
    if array.dtype.kind == "f" and array.size:
        array = np.trunc(array)
    if array.dtype.kind == "O":
        raise ValueError("an integer does not fit into 64 bits")
    if array.dtype != np_dtype and array.size:
        _check_range(array, np_dtype)
    return array.astype(np_dtype, copy=False)
