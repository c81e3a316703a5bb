"""What the namespace's functions share: operands as values, axes and shapes checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import value as values
from ..core.level import innermost
from ..core.value import make, shape_of


def new(array: Any) -> Any:
    """A Tensor around an array that a creation function has made."""
    tensor = make(values.core_class, array)
    level = innermost()
    if level:
        tensor._born = level
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


def shape_tuple(shape: Any) -> tuple[int, ...]:
    """A shape given as an int or a sequence of ints."""
    if isinstance(shape, Sequence) or not hasattr(shape, "__index__"):
        return tuple(operator.index(n) for n in shape)
    return (operator.index(shape),)


def check_device(op: str, device: Any) -> None:
    """Raise ValueError for a device that is not the one creation functions have."""
    if device is not None and device != "cpu":
        raise ValueError(
            f"{op}: there is no device {device!r}; tensors are created on 'cpu' (or wrap another library's)"
        )


def rank(x: Any) -> int:
    """The number of axes."""
    return len(shape_of(x))
