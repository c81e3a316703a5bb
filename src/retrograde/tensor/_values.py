"""What the namespace's functions share: operands as values, axes and shapes checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._state import OPENED
from ..backend import backend_of_device
from ..core import value as values
from ..core.level import born, innermost
from ..core.unwrap import concrete, elsewhere
from ..core.value import dtype_of, make, shape_of
from ..ops import indexing as ix


def new(array: Any) -> Any:
    """A Tensor around an array that a creation function has made."""
    tensor = make(values.core_class, array)
    if OPENED and innermost():
        born(tensor)
    return tensor


def axis_of(op: str, axis: Any, ndim: int) -> int:
    """An axis as a non-negative int; raises AxisError out of range."""
    i = operator.index(axis)
    if not -ndim <= i < ndim:
        raise np.exceptions.AxisError(f"{op}: axis {i} is out of range for {ndim} axes")
    return i + ndim if i < 0 else i


def axes_of(op: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes as a sorted tuple of non-negative ints, all of them for None; raises for one out of range or given twice."""
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        return (axis_of(op, axis, ndim),)
    found = sorted(axis_of(op, a, ndim) for a in axis)
    if len(set(found)) != len(found):
        raise ValueError(f"{op}: axis {axis} names an axis twice")
    return tuple(found)


def matrices(op: str, x: Any, kind: type[Exception] = ValueError) -> int:
    """The number of axes, of which there must be 2 at least; raises `kind` elsewhere."""
    n = rank(x)
    if n < 2:
        raise kind(f"{op}: wanted at least 2 axes, got shape {tuple(shape_of(x))}")
    return n


def in_order(op: str, x: Any) -> Any:
    """The operand of a function that asks for order; raises TypeError for complex numbers."""
    if dtype_of(x).kind == "c":
        raise TypeError(f"{op}: complex numbers are not ordered; compare their parts or abs()")
    return x


def only_axis(op: str, axis: Any, x: Any) -> int:
    """An axis that may be left out where there is one only, as a non-negative int; raises ValueError elsewhere."""
    if axis is None and rank(x) != 1:
        raise ValueError(f"{op}: axis may be left out for one axis only, this tensor has shape {tuple(shape_of(x))}")
    return axis_of(op, 0 if axis is None else axis, rank(x))


def shape_tuple(shape: Any) -> tuple[int, ...]:
    """A shape given as an int or a sequence of ints."""
    if isinstance(shape, Sequence) or not hasattr(shape, "__index__"):
        return tuple(operator.index(n) for n in shape)
    return (operator.index(shape),)


def positions(op: str, x: Any) -> Sequence[Any]:
    """Where the elements of a value or array are not zero, an array for each axis, of its library and where it is."""
    array = x if type(x) is np.ndarray else elsewhere(x)
    if array is x or array is None:
        return np.nonzero(concrete(op, x))
    rows = ix.argwhere(array)
    return [rows[:, i] for i in range(rows.shape[1])]


def check_device(op: str, device: Any) -> None:
    """Raise ValueError for a device that is neither NumPy's nor one of an array library that tensors are around."""
    if device is not None and device != "cpu" and backend_of_device(device) is None:
        raise ValueError(
            f"{op}: there is no device {device!r}; tensors are created on 'cpu', or on another tensor's x.device"
        )


def made(array: np.ndarray, device: Any) -> Any:
    """A Tensor around an array that a creation function has made, on a device that was checked."""
    library = None if device is None or device == "cpu" else backend_of_device(device)
    return new(array if library is None else library.placed(array, device))


def rank(x: Any) -> int:
    """The number of axes."""
    return len(shape_of(x))
