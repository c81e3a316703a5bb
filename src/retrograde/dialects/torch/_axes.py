"""Dimension arguments: normalised to non-negative axes, with PyTorch's exception types. Called by all topic files."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, TypeVar

from ...core.value import Value

F = TypeVar("F", bound=Callable[..., Any])


def integer(op: str, name: str, x: Any) -> int:
    """An int argument (or an integer tensor of one element); raises TypeError for anything else."""
    if type(x) is int:
        return x
    if isinstance(x, bool) or not hasattr(x, "__index__"):
        raise TypeError(f"{op}: {name} must be an int, got {x!r} of type {type(x).__name__}")
    return operator.index(x)


def axis_of(op: str, dim: Any, ndim: int) -> int:
    """The axis that `dim` names among `ndim`; a 0-d tensor counts as having one. Raises IndexError out of range."""
    if type(dim) is not int:
        dim = integer(op, "dim", dim)
    n = ndim or 1
    if -n <= dim < n:
        return dim + n if dim < 0 else dim
    raise IndexError(f"{op}: dim {dim} is out of range for {ndim} dimensions; it must lie in [{-n}, {n - 1}]")


def axes_of(op: str, dims: Any, ndim: int, *, unique: bool = True) -> tuple[int, ...]:
    """The axes that an int or a sequence of ints names; raises RuntimeError where one is named twice."""
    if isinstance(dims, (int, Value)) or not hasattr(dims, "__iter__"):
        return (axis_of(op, dims, ndim),)
    axes = tuple([axis_of(op, d, ndim) for d in dims])
    if unique and len(set(axes)) != len(axes):
        raise RuntimeError(f"{op}: a dimension is named twice in {tuple(dims)}")
    return axes


def varargs(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments given one by one or as one sequence; raises TypeError where there are none."""
    if not args:
        raise TypeError(f"{op}: give the sizes or dimensions, one by one or as a sequence")
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        return tuple(args[0])
    return args


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def numpy_names(f: F) -> F:
    """Take `axis` for `dim`, `keepdims` for `keepdim` and NumPy's names of operands, as PyTorch's functions do."""

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return f(*args)
        if not _NUMPY_NAMES.keys().isdisjoint(kwargs):
            renamed = {_NUMPY_NAMES.get(k, k): v for k, v in kwargs.items()}
            if len(renamed) != len(kwargs):
                raise TypeError(f"{f.__name__}: an argument is given under both its names, in {', '.join(kwargs)}")
            kwargs = renamed
        return f(*args, **kwargs)

    return function  # type: ignore[return-value]
