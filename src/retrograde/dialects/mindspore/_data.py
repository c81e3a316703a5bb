"""What `Tensor(data)` is given, as an array: Python numbers and sequences of them, NumPy arrays, other tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.canonical import canonical
from ...core.value import Value
from ._dtype import FROM_NUMPY, Number

_OWN = {np.dtype(np.float64): np.dtype(np.float32), np.dtype(np.int32): np.dtype(np.int64)}
"""The dtype of numbers, and of sequences of numbers and NumPy arrays, where NumPy would make it another one."""


def data_array(data: Any, np_dtype: np.dtype | None, op: str = "Tensor") -> np.ndarray:
    """A new array of numbers or (nested) sequences; Python floats are float32 and so are float64 in a sequence, while a
    NumPy array keeps its dtype; where `np_dtype` is given they go into it directly.

    Raises TypeError for what cannot be the content of a tensor.
    """
    if isinstance(data, (np.ndarray, np.generic)):
        found = np.array(data)
    elif isinstance(data, (bool, int, float, complex)):
        found = np.asarray(data) if np_dtype is not None else _own(np.asarray(data))
    elif isinstance(data, (list, tuple)):
        found, typed = _sequence(data, op)
        found = found if typed or np_dtype is not None else _own(found)
    else:
        raise TypeError(
            f"{op}: the content must be a number, a list or tuple of numbers, a NumPy array or a Tensor, "
            f"got {type(data).__name__}"
        )
    if found.dtype not in FROM_NUMPY:
        raise TypeError(f"{op}: a tensor holds numbers or booleans, not elements of NumPy's dtype {found.dtype}")
    return canonical(found) if np_dtype is None or found.dtype == np_dtype else found.astype(np_dtype)


def is_own(array: np.ndarray) -> bool:
    """Whether an array has its memory for itself, in the usual order: what two tensors may share as a whole."""
    flags = array.flags
    return bool(flags.owndata and flags.writeable and flags.c_contiguous)


def _own(array: np.ndarray) -> np.ndarray:
    wanted = _OWN.get(array.dtype)
    return array if wanted is None else array.astype(wanted)


def _sequence(data: Any, op: str) -> tuple[np.ndarray, bool]:
    plain, typed = _plain(data, op)
    try:
        return np.array(plain), typed
    except ValueError:
        raise TypeError(f"{op}: the rows of a nested sequence must have the same length") from None


def _plain(data: Any, op: str) -> tuple[Any, bool]:
    """Nested sequences with tensors as arrays, and whether only such, which keep their dtype, are in them."""
    out, typed = [], bool(data)
    for x in data:
        if isinstance(x, (list, tuple)):
            x, own = _plain(x, op)
        elif isinstance(x, Value):
            x, own = np.asarray(x), True
        else:
            own = False
        out.append(x)
        typed = typed and own
    return out, typed


def number_argument(d: Any, op: str) -> Number:
    """`dtype=` of a constructor, which takes dtypes of MindSpore only; raises TypeError."""
    if isinstance(d, Number):
        return d
    raise TypeError(f"{op}: dtype must be one of mindspore's (mindspore.float32, ...), got {d!r}")


class Unknown:
    """What stands for the elements of `Tensor(shape=(None, 2), dtype=...)`, which says what a tensor may be and is none;
    axes of any length have the length -1."""

    __slots__ = ("shape", "dtype", "ndim")
    size = 0

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape, self.dtype, self.ndim = shape, dtype, len(shape)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise ValueError(f"a tensor of the open shape {self.shape} has no elements; it describes what others may be")
