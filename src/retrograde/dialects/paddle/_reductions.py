"""Reductions over axes: sums, means, products, extremes, moments, logic, counts, norms of what is not a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import elementwise as ew
from ...ops import reduction as red
from ...ops import structural as st
from ...ops.comparison import isnan
from ...ops.selection import where
from ...tensor import numpy_functions as npf
from ...tensor import searching
from .._shared.axes import ALL_AXES, axes_of, axis_of
from .._shared.registry import defined
from ._api import api, write_out
from ._arguments import function
from ._dtype import FROM_NUMPY, as_dtype, bool_, int32, int64
from ._promote import FLOATED, single, to_dtype
from ._tensor import from_array

_ndarray = np.ndarray
_sum = red.sum.prim.bind  # type: ignore[attr-defined]
_mean = red.mean.prim.bind  # type: ignore[attr-defined]


def reduced(op: str, x: Any, axis: Any) -> tuple[int, ...]:
    """The axes that an argument `axis` names: all of them for None and for an empty list."""
    return axes_of(op, axis, len(shape_of(x)))


def in_dtype(op: str, x: Any, dtype: Any) -> Any:
    """The tensor in the dtype that an argument `dtype` names, unless that is None."""
    return x if dtype is None else to_dtype(x, as_dtype(op, dtype))


def ordered(op: str, x: Any) -> Any:
    """A tensor whose elements can be compared; raises RuntimeError for a complex one."""
    x = single(op, x)
    if dtype_of(x).kind == "c":
        raise RuntimeError(f"{op}: complex numbers are not ordered")
    return x


def kept(shape: Sequence[int], axes: tuple[int, ...], keepdim: Any) -> tuple[int, ...]:
    """The shape that a reduction over axes leaves."""
    return tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdim or i not in axes)


def index_dtype(op: str, dtype: Any) -> Any:
    """The dtype that positions are asked for in; raises ValueError for another than int32 and int64."""
    d = as_dtype(op, dtype)
    if d not in (int32, int64):
        raise ValueError(f"{op}: dtype must be int32 or int64, got {d}")
    return d


# ------------------------------------------------------------------------------------------ sums, means, products


@api(out=True)
def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: Any = None) -> Any:
    """The sum over axes (all, if none is given); booleans and int32 are added in int64."""
    if axis is None and dtype is None and isinstance(x, Value):
        a = x._a
        if type(a) is _ndarray and a.dtype.kind == "f":
            return _sum(x, axis=ALL_AXES[a.ndim], keepdims=keepdim)
    x = single("sum", x)
    if type(dtype) is bool:  # sum(x, axis, keepdim), as other reductions have it
        dtype, keepdim = None, dtype
    if dtype is not None:
        x = in_dtype("sum", x, dtype)
    elif FROM_NUMPY[dtype_of(x)] in (bool_, int32):
        x = to_dtype(x, int64)
    return red.sum(x, axis=reduced("sum", x, axis), keepdims=bool(keepdim))


@api(out=True)
def mean(x: Any, axis: Any = None, keepdim: bool = False, name: Any = None, *, dtype: Any = None) -> Any:
    """The mean over axes (all, if none is given); of integers and booleans it is cut to their dtype."""
    if axis is None and dtype is None and isinstance(x, Value):
        a = x._a
        if type(a) is _ndarray and a.dtype.kind == "f":
            return _mean(x, axis=ALL_AXES[a.ndim], keepdims=keepdim)
    x = in_dtype("mean", single("mean", x), dtype)
    axes, d = reduced("mean", x, axis), dtype_of(x)
    if d.kind in "iub":
        return st.cast(red.mean(st.cast(x, dtype=np.dtype(float)), axis=axes, keepdims=bool(keepdim)), dtype=d)
    return red.mean(x, axis=axes, keepdims=bool(keepdim))


@api()
def prod(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None, out: Any = None, name: Any = None) -> Any:
    """The product over axes (all, if none is given)."""
    x = in_dtype("prod", single("prod", x), dtype)
    result = red.prod(x, axis=reduced("prod", x, axis), keepdims=bool(keepdim))
    return result if out is None else write_out("prod", result, out)


@api()
def nansum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: Any = None) -> Any:
    """The sum over axes of what is not nan."""
    x = in_dtype("nansum", single("nansum", x), dtype)
    if dtype_of(x).kind in "iub":
        return sum(x, axis, dtype, keepdim)
    return red.nansum(x, axis=reduced("nansum", x, axis), keepdims=bool(keepdim))


nanmean = function("nanmean", "x: Floated, axis: Axes = None, keepdim: Keep = False", npf.nanmean,
    "The mean over axes of what is not nan; nan where nothing is.")  # fmt: skip
logsumexp = function("logsumexp", "x: Floated, axis: Axes = None, keepdim: Keep = False", red.logsumexp,
    "log(sum(exp(x))) over axes, without overflow.", out=True)  # fmt: skip


# ------------------------------------------------------------------------------------------ extremes


def _extreme(op: str, primitive: Any, x: Any, axis: Any, keepdim: Any) -> Any:
    x = ordered(op, x)
    axes = reduced(op, x, axis)
    shape = shape_of(x)
    if math.prod(shape[a] for a in axes) == 0 and math.prod(n for i, n in enumerate(shape) if i not in axes):
        raise ValueError(f"{op}: no elements to choose from, the shape is {list(shape)}")
    if 0 in shape:
        return st.reshape(x, shape=kept(shape, axes, keepdim))
    return primitive(x, axis=axes, keepdims=bool(keepdim), ties="even")


def _extremes(name: str, primitive: Any, out: bool = False) -> Any:
    def f(x: Any, axis: Any = None, keepdim: bool = False, name: Any = None) -> Any:
        """The extreme over axes (all, if none is given); equal ones share the gradient evenly."""
        return _extreme(f.__name__, primitive, x, axis, keepdim)

    return api(name, out=out)(defined(name, f))


max, min = _extremes("max", red.amax), _extremes("min", red.amin)
amax, amin = _extremes("amax", red.amax, out=True), _extremes("amin", red.amin, out=True)

# ------------------------------------------------------------------------------------------ moments


def _variance(op: str, x: Any, axis: Any, keepdim: Any, correction: float) -> Any:
    """The variance, of integers in float32: PaddlePaddle cuts the mean to an integer on the way."""
    x = single(op, x, FLOATED)
    return red.var(x, axis=reduced(op, x, axis), correction=correction, keepdims=bool(keepdim))


@api()
def std(x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: Any = None) -> Any:
    """The standard deviation over axes, of a sample (divided by n - 1) if `unbiased`."""
    # Where all elements are equal, the gradient is nan, as the root's is infinite there.
    return ew.sqrt(_variance("std", x, axis, keepdim, 1 if unbiased else 0))


@api(out=True)
def var(x: Any, axis: Any = None, unbiased: bool | None = None, keepdim: bool = False, name: Any = None, *,
        correction: float = 1) -> Any:  # fmt: skip
    """The variance over axes: the sum of squared deviations divided by n - correction (1 or 0 as `unbiased` says), in x's
    dtype."""
    if unbiased is not None:
        correction = 1 if unbiased else 0
    found = _variance("var", x, axis, keepdim, correction)
    return found if dtype_of(x).kind not in "iu" else to_dtype(found, FROM_NUMPY[dtype_of(x)])


# ------------------------------------------------------------------------------------------ logic, counts, positions


all = function("all", "x: Tensor, axis: Axes = None, keepdim: Keep = False", red.all,
    "Whether all of the elements over axes are true, that is not zero.", out=True)  # fmt: skip
any = function("any", "x: Tensor, axis: Axes = None, keepdim: Keep = False", red.any,
    "Whether any of the elements over axes is true, that is not zero.", out=True)  # fmt: skip


count_nonzero = function("count_nonzero", "x: Tensor, axis: Axes = None, keepdim: Keep = False", red.count_nonzero,
    "How many elements over axes are not zero.")  # fmt: skip


def _position(name: str, search: Any) -> Any:
    def f(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: Any = None) -> Any:
        """The position of the first extreme along an axis, or in the flattened tensor."""
        op = f.__name__
        x, d = single(op, x), index_dtype(op, dtype)
        if dtype_of(x).kind in "fV":  # nan is no extreme
            worst = np.asarray(-np.inf if op == "argmax" else np.inf, dtype_of(x))
            x = where(isnan(x), worst, x)
        i = None if axis is None else axis_of(op, axis, len(shape_of(x)))
        if 0 in shape_of(x):
            raise ValueError(f"{op}: no elements to choose from, the shape is {list(shape_of(x))}")
        if not shape_of(x):
            return from_array(np.zeros((), d.np))
        return to_dtype(search(x, axis=i, keepdims=bool(keepdim)), d)

    return api(name)(defined(name, f))


argmax, argmin = _position("argmax", searching.argmax), _position("argmin", searching.argmin)


@api()
def reduce_as(x: Any, target: Any, name: Any = None) -> Any:
    """The sum over the axes that broadcasting to x would add to or stretch in the shape of `target`."""
    x = single("reduce_as", x)
    shape, want = shape_of(x), shape_of(single("reduce_as", target))
    if np.broadcast_shapes(tuple(shape), tuple(want)) != tuple(shape):
        raise ValueError(f"reduce_as: a tensor of shape {list(shape)} cannot be summed to {list(want)}")
    return st.sum_to_shape(x, tuple(want))


