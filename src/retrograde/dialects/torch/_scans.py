"""Scans along a dimension: cumulative sums, products and extremes, differences, the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import scan
from ...ops.comparison import not_equal
from ...ops.elementwise import add, multiply, subtract
from ...ops.reduction import sum as reduce_sum
from ...ops.sorting import argcum, pick
from ...ops.structural import cast, concatenate, getitem, reshape
from ...ops.structural import copy as st_copy
from ._api import api
from ._axes import axis_of, integer, numpy_names
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, show_as
from ._promote import floated, pair
from ._reductions import in_dtype, real_only, vector_of, widest, without_axis
from ._return_types import return_type

_ndarray = np.ndarray

NAMES.update(cumsum="CumsumBackward0", cumprod="CumprodBackward0", logcumsumexp="LogcumsumexpBackward0")


def _scanned(op: str, input: Any, dim: Any, dtype: Any, run: Any) -> Any:
    if dtype is None and type(dim) is int and isinstance(input, Value):  # the everyday call
        a = input._a
        if type(a) is _ndarray and a.dtype.kind == "f" and -a.ndim <= dim < a.ndim:
            return run(input, axis=dim % a.ndim, reverse=False)
    x = in_dtype(op, tensor_argument(op, input), dtype)
    if dtype is None and dtype_of(x).kind in "iub" and dtype_of(x) != np.int64:
        x = cast(x, dtype=np.dtype(np.int64))
    shape = tuple(shape_of(x))
    axis = axis_of(op, dim, len(shape))
    out = run(vector_of(x), axis=axis, reverse=False)
    return out if shape else without_axis(out)


@api(in_place=True, out=True)
@numpy_names
def cumsum(input: Any, dim: Any, *, dtype: Any = None) -> Any:
    """The sums of the elements so far along a dimension; of integers and booleans in int64."""
    return _scanned("cumsum", input, dim, dtype, scan.cumsum)


@api(in_place=True, out=True)
@numpy_names
def cumprod(input: Any, dim: Any, *, dtype: Any = None) -> Any:
    """The products of the elements so far along a dimension; of integers and booleans in int64."""
    return _scanned("cumprod", input, dim, dtype, scan.cumprod)


@api(out=True)
@numpy_names
def logcumsumexp(input: Any, dim: Any) -> Any:
    """The logarithms of the sums of the exponentials so far along a dimension."""
    x = tensor_argument("logcumsumexp", input)
    if dtype_of(x).kind in "iub":
        raise NotImplementedError("logcumsumexp: only defined for floating and complex tensors; convert it first")
    return _scanned("logcumsumexp", x, dim, None, scan.logcumsumexp)


def _extremes(op: str, input: Any, dim: Any, largest: bool) -> Any:
    x = tensor_argument(op, input)
    real_only(op, x, NotImplementedError)
    shape = tuple(shape_of(x))
    axis = axis_of(op, dim, len(shape))
    x = vector_of(x)
    indices = argcum(x, axis=axis, largest=largest)
    values = pick(x, indices, axis=axis, of=op)
    if not shape:
        values, indices = without_axis(values), without_axis(indices)
    return return_type(op, "values", "indices")((values, indices))


@api(out=True)
@numpy_names
def cummax(input: Any, dim: Any) -> Any:
    """The largest elements so far along a dimension, and their positions (the last of several)."""
    return _extremes("cummax", input, dim, True)


@api(out=True)
@numpy_names
def cummin(input: Any, dim: Any) -> Any:
    """The smallest elements so far along a dimension, and their positions (the last of several)."""
    return _extremes("cummin", input, dim, False)


# ------------------------------------------------------------------------------------------ differences


def part(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    """The elements of `x` from `start` to before `stop` along an axis."""
    return getitem(x, index=(slice(None),) * axis + (slice(start, stop),))


@api(out=True)
@numpy_names
def diff(input: Any, n: int = 1, dim: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along a dimension, taken n times, with tensors put before and behind first."""
    x = tensor_argument("diff", input)
    if not shape_of(x):
        raise RuntimeError("diff: the input must have at least one dimension")
    axis = axis_of("diff", dim, len(shape_of(x)))
    n = integer("diff", "n", n)
    if n < 0:
        raise RuntimeError(f"diff: n must not be negative, got {n}")
    if n == 0:
        return st_copy(x)
    parts = [p for p in (prepend, x, append) if p is not None]
    if len(parts) > 1:
        x = concatenate(*_joined(parts, len(shape_of(x))), axis=axis)
    boolean = dtype_of(x).kind == "b"
    for _ in range(min(n, shape_of(x)[axis])):
        after, before = part(x, axis, 1, None), part(x, axis, None, -1)
        x = not_equal(after, before) if boolean else subtract(after, before)
    return x


def _joined(parts: list[Any], ndim: int) -> list[Any]:
    for p in parts:
        if not isinstance(p, Value) or len(shape_of(p)) != ndim:
            raise RuntimeError(f"diff: prepend and append must be tensors of {ndim} dimensions, as the input")
    first, *rest = parts
    for i, p in enumerate(rest):
        first, rest[i] = pair("diff", first, p)
    return [first, *(p if dtype_of(p) == dtype_of(first) else cast(p, dtype=dtype_of(first)) for p in rest)]


# ------------------------------------------------------------------------------------------ the trapezoidal rule


def _spacing(op: str, y: Any, x: Any, dx: Any) -> Any:
    if x is not None and dx is not None:
        raise TypeError(f"{op}: give either x or dx")
    if x is None and dx is None:
        return 1
    return x if x is not None else dx


def _widths(op: str, x: Value, y: Any, axis: int) -> Any:
    """The distances of sample points, with the axes that y has."""
    sx, sy = tuple(shape_of(x)), tuple(shape_of(y))
    if not sx:
        raise IndexError(f"{op}: the sample points must have at least one dimension")
    n = len(sy)
    if len(sx) == 1:
        if sx[0] != sy[axis]:
            raise RuntimeError(f"{op}: there are {sx[0]} sample points along dim {axis} for {sy[axis]} values")
        widths = subtract(part(x, 0, 1, None), part(x, 0, None, -1))
        return reshape(widths, shape=(*(1,) * axis, sx[0] - 1, *(1,) * (n - axis - 1)))
    if len(sx) < n:
        x = reshape(x, shape=(*(1,) * (n - len(sx)), *sx))
    axis += len(shape_of(x)) - n
    return subtract(part(x, axis, 1, None), part(x, axis, None, -1))


def _number(dx: Any) -> Any:
    return dx.item() if isinstance(dx, Value) else dx


def _checked(op: str, y: Any, x: Any) -> Any:
    """The samples, if they and the points are no booleans and have a dimension."""
    y = tensor_argument(op, y)
    if dtype_of(y).kind == "b" or (isinstance(x, Value) and dtype_of(x).kind == "b"):
        raise RuntimeError(f"{op}: not defined for boolean tensors")
    if not shape_of(y):
        raise IndexError(f"{op}: the samples must have at least one dimension")
    return y


def _scaled(x: Any, factor: float) -> Any:
    """`x` times a number, integers in the default dtype."""
    x = floated(x)
    return multiply(x, np.asarray(factor, dtype=dtype_of(x)))


@api("trapezoid", "trapz", method=False, seconds={"axis": "dim"})
def trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: Any = -1) -> Any:
    """The integral of samples along a dimension by the trapezoidal rule; at points x, or at distances dx (1)."""
    op = "trapezoid"
    spacing = _spacing(op, y, x, dx)
    y = _checked(op, y, spacing)
    axis = axis_of(op, dim, len(shape_of(y)))
    if x is not None:
        areas = multiply(*pair(op, add(part(y, axis, 1, None), part(y, axis, None, -1)), _widths(op, x, y, axis)))
        total = reduce_sum(widest(areas), axis=(axis,), keepdims=False)
        return show_as(_scaled(total, 0.5), "DivBackward1")
    if shape_of(y)[axis] == 0:
        return reduce_sum(floated(y), axis=(axis,), keepdims=False)
    ends = _scaled(add(_end(y, axis, 0), _end(y, axis, -1)), 0.5)
    total = reduce_sum(widest(y), axis=(axis,), keepdims=False)
    return show_as(_scaled(subtract(*pair(op, total, ends)), _number(spacing)), "MulBackward1")


def _end(y: Any, axis: int, index: int) -> Any:
    return getitem(y, index=(slice(None),) * axis + (index,))


@api(method=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = None, dim: Any = -1) -> Any:
    """The integrals up to each sample but the first along a dimension by the trapezoidal rule."""
    op = "cumulative_trapezoid"
    spacing = _spacing(op, y, x, dx)
    y = _checked(op, y, spacing)
    axis = axis_of(op, dim, len(shape_of(y)))
    heights = add(part(y, axis, 1, None), part(y, axis, None, -1))
    if x is not None:
        areas = multiply(*pair(op, heights, _widths(op, x, y, axis)))
        return show_as(_scaled(scan.cumsum(widest(areas), axis=axis, reverse=False), 0.5), "DivBackward1")
    return scan.cumsum(_scaled(heights, _number(spacing) / 2), axis=axis, reverse=False)
