"""Scans along an axis: cumulative sums, products and extremes, differences, the trapezoidal rule."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.value import dtype_of, shape_of
from ...ops import scan, sorting
from ...ops import structural as st
from ...ops.reduction import sum as sum_op
from ...tape import inplace
from ...tensor import manipulation
from .._shared.axes import axis_of, integer
from ._api import FUNCTIONS, METHODS, api, in_place, take_over
from ._data import number
from ._dtype import int64
from ._integers import carry
from ._promote import FLOATED, single, to_dtype
from ._reductions import in_dtype, index_dtype, ordered
from ._tensor import from_array


def _flat(op: str, x: Any, axis: Any) -> tuple[Any, int | None]:
    """The tensor and the axis along which to go on; without one, the flattened tensor."""
    if axis is None:
        return st.reshape(x, shape=(math.prod(shape_of(x)),)), 0
    n = len(shape_of(x))
    if not -max(n, 1) <= integer(op, "axis", axis) < max(n, 1):
        error = ValueError if op == "cumprod" else IndexError
        raise error(f"{op}: axis {axis} is out of range for a tensor with {n} axes")
    return x, axis_of(op, axis, n) if n else None


def _scanned(name: str, op: Any, x: Any, axis: Any) -> Any:
    x, i = _flat(name, x, axis)
    return st.copy(x) if i is None else op(x, axis=i, reverse=False)


@api(in_place=True, out=True)
def cumsum(x: Any, axis: Any = None, dtype: Any = None, name: Any = None) -> Any:
    """The sums of the first 1, 2, ... elements along an axis, or of the flattened tensor; of integers in int64."""
    x = in_dtype("cumsum", single("cumsum", x), dtype)
    if dtype is None and dtype_of(x).kind in "iub":
        x = to_dtype(x, int64)
    return _scanned("cumsum", scan.cumsum, x, axis)


@api(in_place=True, out=True)
def cumprod(x: Any, dim: Any = None, dtype: Any = None, name: Any = None) -> Any:
    """The products of the first 1, 2, ... elements along an axis, or of the flattened tensor."""
    return _scanned("cumprod", scan.cumprod, in_dtype("cumprod", single("cumprod", x), dtype), dim)


def _flattening(name: str, axis: str, f: Any) -> None:
    """Let the in-place form of a scan make the tensor a flat one where no axis is given."""
    general = in_place(f)

    def method(x: Any, *args: Any, **options: Any) -> Any:
        if (args[0] if args else options.get(axis)) is not None or len(shape_of(x)) == 1:
            return general(x, *args, **options)
        inplace.check(name + "_", x)
        take_over(x, f(x, *args, **options))
        return x

    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = general.__doc__
    METHODS[name + "_"] = FUNCTIONS[name + "_"] = method

_flattening("cumsum", "axis", cumsum)

_flattening("cumprod", "dim", cumprod)


@api()
def logcumsumexp(x: Any, axis: Any = None, dtype: Any = None, name: Any = None) -> Any:
    """The logarithms of the cumulative sums of exponentials along an axis, or of the flattened tensor."""
    x = in_dtype("logcumsumexp", single("logcumsumexp", x, FLOATED), dtype)
    return _scanned("logcumsumexp", scan.logcumsumexp, x, axis)


def _extremes_so_far(name: str, largest: bool) -> None:
    @api(name)
    def f(x: Any, axis: Any = None, dtype: Any = "int64", name: Any = None) -> tuple[Any, Any]:
        """The extremes of the first 1, 2, ... elements along an axis (or flattened), and their last positions."""
        op = f.__name__
        d = index_dtype(op, dtype)
        x, i = _flat(op, ordered(op, x), axis)
        if i is None:
            return st.copy(x), from_array(np.zeros((), d.np))
        at = sorting.argcum(x, axis=i, largest=largest)
        values = sorting.pick(x, at, axis=i, of=op)
        return values, carry(to_dtype(at, d), values)

    f.__name__ = f.__qualname__ = name

_extremes_so_far("cummax", True)

_extremes_so_far("cummin", False)


@api(out=True)
def diff(x: Any, n: int = 1, axis: Any = -1, prepend: Any = None, append: Any = None, name: Any = None) -> Any:
    """The differences of neighbours along an axis, taken n times; of booleans, whether they differ."""
    x = single("diff", x)
    if n < 1:
        raise ValueError(f"diff: n must be positive, got {n}")
    if not shape_of(x):
        raise IndexError("diff: a 0-d tensor has no neighbours")
    i = axis_of("diff", axis, len(shape_of(x)), error=IndexError)
    return manipulation.diff(x, axis=i, n=n, prepend=prepend, append=append)


def _samples(op: str, y: Any, x: Any, dx: Any, axis: Any) -> tuple[Any, int, Any]:
    """The sums of neighbours along an axis, the axis, and how far they are apart."""
    y = single(op, y)
    if dtype_of(y).kind not in "fc":
        raise TypeError(f"{op}: wanted floating samples, got {y.dtype}")
    if x is not None and dx is not None:
        raise ValueError(f"{op}: give either x or dx")
    i = axis_of(op, axis, len(shape_of(y)))
    before = (slice(None),) * i
    if x is None:
        width: Any = 1.0 if dx is None else number(op, "dx", dx)
    else:
        points = single(op, x)
        if len(shape_of(points)) == 1:
            points = st.reshape(points, shape=(shape_of(points)[0], *(1,) * (len(shape_of(y)) - i - 1)))
        width = manipulation.diff(points, axis=len(shape_of(points)) - (len(shape_of(y)) - i))
    sums = st.getitem(y, index=(*before, slice(1, None))) + st.getitem(y, index=(*before, slice(None, -1)))
    return sums, i, width


@api()
def trapezoid(y: Any, x: Any = None, dx: Any = None, axis: Any = -1, name: Any = None) -> Any:
    """The integral of samples along an axis by the trapezoidal rule; at points x, or at distances dx (1)."""
    sums, i, width = _samples("trapezoid", y, x, dx, axis)
    return sum_op(sums * width, axis=(i,), keepdims=False) * 0.5


@api()
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = None, axis: Any = -1, name: Any = None) -> Any:
    """The integrals up to each sample but the first along an axis by the trapezoidal rule."""
    sums, i, width = _samples("cumulative_trapezoid", y, x, dx, axis)
    return scan.cumsum(sums * width, axis=i, reverse=False) * 0.5
