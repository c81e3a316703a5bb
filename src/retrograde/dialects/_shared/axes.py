"""Axes and shapes as PaddlePaddle and MindSpore take them: TypeError for no integer, ValueError out of range."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of

ALL_AXES = tuple(tuple(range(n)) for n in range(65))
"""All axes of a tensor, by their number, which is 64 at most."""


def integer(op: str, name: str, n: Any) -> int:
    """An integer argument (a 0-d tensor counts as one); raises TypeError for anything else."""
    if type(n) is int:
        return n
    if isinstance(n, (bool, float, str)) or n is None:
        raise TypeError(f"{op}: {name} must be an int, got {n!r} of type {type(n).__name__}")
    if isinstance(n, Value):
        n = concrete(op, n).reshape(()) if dtype_of(n).kind in "iu" and shape_of(n) in ((), (1,)) else n
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"{op}: {name} must be an int, got {type(n).__name__}") from None


def count(op: str, name: str, n: Any) -> int:
    """An integer that says how often something is done or made; raises OverflowError for one that would not end."""
    found = integer(op, name, n)
    if found >= 2**31:
        raise OverflowError(f"{op}: {name} must be less than 2**31, got {found}")
    return found


def integers(op: str, name: str, sizes: Any) -> tuple[int, ...]:
    """Integers given as an int, a tuple, a list or an integer tensor; raises TypeError for anything else."""
    if isinstance(sizes, (Value, np.ndarray)):
        sizes = concrete(op, sizes).tolist()
    if isinstance(sizes, (tuple, list)):
        return tuple(integer(op, name, n) for n in sizes)
    return (integer(op, name, sizes),)


def axis_of(op: str, axis: Any, ndim: int, name: str = "axis", error: type[Exception] = ValueError) -> int:
    """An axis as a non-negative int, which for a tensor without axes may be 0 or -1; raises `error` outside."""
    i = integer(op, name, axis)
    n = ndim or 1
    if not -n <= i < n:
        raise error(f"{op}: {name} {i} is out of range for a tensor with {ndim} axes")
    return i + n if i < 0 else i


def length_of(op: str, shape: Sequence[int], axis: int, error: type[Exception] = ValueError) -> int:
    """The length of an axis; a 0-d tensor, whose -1 and 0 pass for axes elsewhere, has none to take apart."""
    if not shape:
        raise error(f"{op}: wanted a tensor with at least one axis, got a 0-d one")
    return shape[axis]


def axes_of(op: str, axis: Any, ndim: int, name: str = "axis") -> tuple[int, ...]:
    """Axes as a sorted tuple of non-negative ints: all of them for None and for an empty sequence."""
    if axis is None:
        return ALL_AXES[ndim]
    found = [axis_of(op, a, ndim, name) for a in integers(op, name, axis)]
    if len(set(found)) != len(found):
        raise ValueError(f"{op}: {name} {axis} names an axis twice")
    if not found or not ndim:
        return tuple(range(ndim))
    return tuple(sorted(found))


def spread(op: str, arguments: Sequence[Any], name: str) -> tuple[int, ...]:
    """Integers given one by one or as one sequence: `f(2, 3)`, `f((2, 3))`."""
    return integers(op, name, arguments[0] if len(arguments) == 1 else tuple(arguments))
