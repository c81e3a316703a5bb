"""Order and counts: sort, topk, median, mode, quantiles, what is distinct, searching sorted sequences, histograms."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import counting, sorting
from ...ops import structural as st
from ...ops.comparison import equal, isnan, logical_or
from ...ops.counting import isin as isin_op
from ...ops.reduction import any as any_op
from ...ops.selection import where
from ...tensor import manipulation
from ...tensor.quantiles import INTERPOLATIONS, as_rows, interpolated
from .._shared.axes import axis_of, integer
from ._api import api, row, write_out
from ._data import number
from ._dtype import float32, float64, int32
from ._integers import carry
from ._promote import refuse, result_dtype, single, to_dtype
from ._reductions import index_dtype, kept, ordered, reduced
from ._tensor import from_array

TopKRetType = collections.namedtuple("TopKRetType", ["values", "indices"])
SortRetType = collections.namedtuple("SortRetType", ["values", "indices"])


# ------------------------------------------------------------------------------------------ sorting


def sorted_with_positions(op: str, x: Any, axis: Any, descending: Any, stable: Any) -> tuple[Any, Any]:
    """The elements in order along an axis, and where each stood; equal ones in order, or as std::sort leaves them."""
    x = ordered(op, x)
    i = axis_of(op, axis, len(shape_of(x)))
    if not shape_of(x):
        return st.copy(x), from_array(np.zeros((), np.int64))
    at = sorting.argsort(x, axis=i, descending=bool(descending), ties="stable" if stable else "introsort")
    return sorting.pick(x, at, axis=i, of="sort"), at


@api(out=True)
def sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: Any = None) -> Any:
    """The elements in order along an axis, nan as the largest; the gradient goes where each came from."""
    return sorted_with_positions("sort", x, axis, descending, stable)[0]


@api()
def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: Any = None) -> Any:
    """The positions that sort the tensor along an axis; equal elements stay in order if `stable`."""
    values, at = sorted_with_positions("argsort", x, axis, descending, stable)
    return carry(at, values)


msort = row("msort", lambda input: sort(input, 0), "The elements in order along the first axis.", out=True)


@api(out=True)
def topk(x: Any, k: Any, axis: int | None = None, largest: bool = True, sorted: bool = True, name: Any = None) -> Any:
    """The k largest (or smallest) elements along an axis (the last one), and their positions; always in order."""
    x = ordered("topk", x)
    k = integer("topk", "k", k)
    i = axis_of("topk", -1 if axis is None else axis, len(shape_of(x)))
    n = shape_of(x)[i] if shape_of(x) else 1
    if not 1 <= k <= n:
        raise ValueError(f"topk: k must lie between 1 and {n}, the elements along axis {i}, got {k}")
    if not shape_of(x):
        return TopKRetType(st.copy(x), from_array(np.zeros((), np.int64)))
    at = sorting.argtopk(x, axis=i, k=k, largest=bool(largest), ties="introsort")
    values = sorting.pick(x, at, axis=i, of="topk")
    return TopKRetType(values, carry(at, values))


def _one(x: Any, at: Any, i: int, keepdim: Any, of: str) -> tuple[Any, Any]:
    """The elements at one position along an axis, and these positions."""
    values = sorting.pick(x, at, axis=i, of=of)
    if keepdim:
        values, at = manipulation.expand_dims(values, axis=i), manipulation.expand_dims(at, axis=i)
    return values, carry(at, values)


@api()
def kthvalue(x: Any, k: int, axis: int | None = None, keepdim: bool = False, name: Any = None) -> tuple[Any, Any]:
    """The k-th smallest elements along an axis (the last one), and their positions."""
    x = ordered("kthvalue", x)
    i = axis_of("kthvalue", -1 if axis is None else axis, len(shape_of(x)))
    n = shape_of(x)[i] if shape_of(x) else 1
    if not 1 <= integer("kthvalue", "k", k) <= n:
        raise ValueError(f"kthvalue: k must lie between 1 and {n}, the elements along axis {i}, got {k}")
    if not shape_of(x):
        return st.copy(x), from_array(np.zeros((), np.int64))
    at = sorting.argtopk(x, axis=i, k=int(k), largest=False, ties="introsort")
    return _one(x, st.getitem(at, index=(slice(None),) * i + (-1,)), i, keepdim, "kthvalue")


@api()
def mode(x: Any, axis: int = -1, keepdim: bool = False, name: Any = None) -> tuple[Any, Any]:
    """The most frequent elements along an axis (of several the smallest), and their last positions."""
    x = ordered("mode", x)
    i = axis_of("mode", axis, len(shape_of(x)))
    if not shape_of(x):
        return st.copy(x), from_array(np.zeros((), np.int64))
    return _one(x, sorting.argmode(x, axis=i, ties="introsort"), i, keepdim, "mode")


# ------------------------------------------------------------------------------------------ medians, quantiles


def _median(op: str, x: Any, axis: Any, keepdim: Any, mode: str, ignore_nan: bool) -> Any:
    x = ordered(op, x)
    if mode not in ("avg", "min"):
        raise ValueError(f"{op}: mode must be 'avg' or 'min', got {mode!r}")
    if not ignore_nan and not (axis is None or isinstance(axis, int)):
        raise ValueError(f"{op}: axis must be None or an int, got {axis!r}")
    axes = reduced(op, x, axis)
    left = kept(shape_of(x), axes, keepdim)
    if not ignore_nan and mode == "avg" and dtype_of(x) != float64.np:
        x = to_dtype(x, float32)
    if 0 in shape_of(x):
        return from_array(np.full(left, np.nan, dtype_of(x)))
    rows = as_rows(x, axes) if axes else st.reshape(x, shape=(1,))
    if mode == "avg" and dtype_of(rows).kind not in "iub":
        return st.reshape(_middle(rows, ignore_nan), shape=left)
    if mode == "avg":  # integers stay integers: the mean of the middle two, cut
        n = shape_of(rows)[-1]
        row = sort(rows)
        both = [st.getitem(row, index=(Ellipsis, k)) for k in ((n - 1) // 2, n // 2)]
        return st.reshape((both[0] + both[1]) // 2, shape=left)
    last = len(shape_of(rows)) - 1
    at = sorting.argmedian(rows, axis=last, ignore_nan=ignore_nan)
    if not ignore_nan:  # where nothing is nan, the position that a partial sort finds
        chosen = _halves(rows)[0]
        missing = any_op(isnan(rows), axis=(last,), keepdims=False) if dtype_of(rows).kind == "f" else None
        at = chosen if missing is None else where(missing, at, chosen)
    values = st.reshape(sorting.pick(rows, at, axis=last, of="median"), shape=left)
    return values if axis is None else (values, st.reshape(at, shape=left))


def _halves(rows: Any) -> tuple[Any, Any]:
    """The positions of the lower and the upper median along the last axis, ties as std::nth_element leaves them."""
    last = len(shape_of(rows)) - 1
    n = shape_of(rows)[last]
    at = sorting.argtopk(rows, axis=last, k=n // 2 + 1, largest=False, ties="introsort")
    lower, upper = (st.getitem(at, index=(Ellipsis, k)) for k in ((n - 1) // 2, n // 2))
    return lower, upper


def _middle(rows: Any, ignore_nan: bool) -> Any:
    """The median along the last axis, of an even number the mean of the middle two.

    Elements equal to it share its gradient evenly; of two different ones each gets half.
    """
    last = len(shape_of(rows)) - 1
    one = sorting.median(rows, axis=(last,), keepdims=False, ignore_nan=ignore_nan)
    if ignore_nan:
        half = np.full((1,), 0.5, dtype_of(rows))
        lower, upper = (
            st.getitem(interpolated(rows, half, way, True, "stable"), index=(0,)) for way in ("lower", "higher")
        )  # fmt: skip
        mean = (lower + upper) * 0.5
    elif shape_of(rows)[last] % 2:
        return one
    else:
        lower, upper = (sorting.pick(rows, at, axis=last, of="median") for at in _halves(rows))
        mean = (lower + upper) * 0.5
    return where(logical_or(isnan(one), equal(one, mean)), one, mean)


@api(out=True)
def median(x: Any = None, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: Any = None, *,
           input: Any = None, dim: Any = None) -> Any:  # fmt: skip
    """The median over axes, nan where there is one: of an even number of elements the mean of the middle two.

    With `mode="min"`, or where `input` or `dim` is named, it is the lower one, and along an axis its position comes with it.
    """
    if input is not None or dim is not None:
        x, axis, mode = x if input is None else input, axis if dim is None else dim, "min"
    return _median("median", x, axis, keepdim, mode, False)


@api()
def nanmedian(x: Any, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: Any = None) -> Any:
    """The median over axes of what is not nan; otherwise as `median`."""
    found = _median("nanmedian", x, axis, keepdim, mode, True)
    return found[0] if isinstance(found, tuple) and not isinstance(axis, int) else found  # over several axes there is no position


def _quantile(op: str, x: Any, q: Any, axis: Any, keepdim: Any, interpolation: str, ignore_nan: bool) -> Any:
    x = ordered(op, x)
    if dtype_of(x).kind != "f":
        x = to_dtype(x, float32)
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"{op}: interpolation must be one of {', '.join(INTERPOLATIONS)}, got {interpolation!r}")
    axes = reduced(op, x, axis)
    points = np.asarray(concrete(op, q) if isinstance(q, Value) else q, dtype_of(x))
    if points.ndim > 1 or not points.size:
        raise ValueError(f"{op}: q must be a number or a list of some, got shape {list(points.shape)}")
    if not ((points >= 0) & (points <= 1)).all():
        raise ValueError(f"{op}: q must lie in [0, 1], got {points.tolist()}")
    if 0 in shape_of(x):
        raise ValueError(f"{op}: the tensor has no elements")
    rows = as_rows(x, axes) if axes else st.reshape(x, shape=(1,))
    found = interpolated(rows, points.reshape(-1), interpolation, ignore_nan, "stable")
    return st.reshape(found, shape=(*points.shape, *kept(shape_of(x), axes, keepdim)))


@api(out=True)
def quantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear",
             name: Any = None) -> Any:  # fmt: skip
    """The quantiles q (in [0, 1]) over axes, in front if q is a list; nan where there is one."""
    return _quantile("quantile", x, q, axis, keepdim, interpolation, False)


@api()
def nanquantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
    """The quantiles q (in [0, 1]) over axes of what is not nan."""
    return _quantile("nanquantile", x, q, axis, keepdim, interpolation, True)


# ------------------------------------------------------------------------------------------ distinct elements


def _distinct(op: str, x: Any, axis: Any, dtype: Any) -> tuple[Any, Any, Any, Any]:
    x = ordered(op, x)
    i = None if axis is None else axis_of(op, axis, len(shape_of(x)))
    d = index_dtype(op, dtype)
    values, inverse, counts = getattr(counting, op)(x, axis=i)
    return values, d, inverse, counts


@api()
def unique(x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: Any = None, dtype: Any = "int64", sorted: bool = True, name: Any = None) -> Any:  # fmt: skip
    """The distinct elements (slices along an axis), always in order; where each first stands, which each is, how often,
    if asked."""
    values, d, inverse, counts = _distinct("unique", x, axis, dtype)
    results = [values]
    flat = np.asarray(inverse.numpy()).reshape(-1)
    if return_index:
        results.append(from_array(np.unique(flat, return_index=True)[1].astype(d.np)))
    if return_inverse:
        results.append(from_array(flat.astype(d.np)))
    if return_counts:
        results.append(to_dtype(counts, d))
    return results[0] if len(results) == 1 else tuple(results)


@api()
def unique_consecutive(x: Any, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
                       dtype: Any = "int64", name: Any = None) -> Any:  # fmt: skip
    """The first of each run of equal elements (slices along an axis), with positions and counts if asked for."""
    values, d, inverse, counts = _distinct("unique_consecutive", x, axis, dtype)
    results = [values]
    if return_inverse:
        results.append(to_dtype(st.reshape(inverse, shape=(math.prod(shape_of(inverse)),)), d))
    if return_counts:
        results.append(to_dtype(counts, d))
    return results[0] if len(results) == 1 else tuple(results)


# ------------------------------------------------------------------------------------------ searching


@api(seconds={"input": "values"})
def searchsorted(sorted_sequence: Any, values: Any, out_int32: bool = False, right: bool = False, name: Any = None, *,
                 side: str | None = None, out: Any = None, sorter: Any = None) -> Any:  # fmt: skip
    """Where values would be inserted in sorted sequences (the last axis): before equal ones, or behind (`right`, or
    `side="right"`)."""
    sequence, values = ordered("searchsorted", sorted_sequence), ordered("searchsorted", values)
    rows = tuple(shape_of(sequence))[:-1]
    if rows and tuple(shape_of(values))[:-1] != rows:
        raise RuntimeError(
            f"searchsorted: sequences {list(shape_of(sequence))} and values {list(shape_of(values))} must agree in all "
            "axes but the last"
        )
    if sorter is not None:
        sequence = sorting.pick(sequence, sorter, axis=len(rows), of="sort")
    found = counting.searchsorted(sequence, values, right=bool(right) or side == "right")
    found = to_dtype(found, int32) if out_int32 else found
    return found if out is None else write_out("searchsorted", found, out)


@api(out=True)
def bucketize(x: Any, sorted_sequence: Any, out_int32: bool = False, right: bool = False, name: Any = None) -> Any:
    """For each element between which two of the sorted boundaries it lies."""
    if len(shape_of(single("bucketize", sorted_sequence))) != 1:
        raise ValueError(f"bucketize: the boundaries must have one axis, got {len(shape_of(sorted_sequence))}")
    return searchsorted(sorted_sequence, x, out_int32, right)


# ------------------------------------------------------------------------------------------ counts


def _limits(op: str, array: np.ndarray, low: Any, high: Any) -> tuple[float, float]:
    low, high = float(number(op, "min", low)), float(number(op, "max", high))
    if high < low:
        raise ValueError(f"{op}: max must not be less than min, got {low} and {high}")
    if low == 0 and high == 0 and array.size:
        low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{op}: the range of bins must be finite, got {low} to {high}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _bins(op: str, bins: Any) -> int:
    if integer(op, "bins", bins) < 1:
        raise ValueError(f"{op}: wanted a positive number of bins, got {bins}")
    return int(bins)


@api()
def histogram(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, weight: Any = None,
              density: bool = False, name: Any = None) -> Any:  # fmt: skip
    """How many elements (or how much weight) fall into each of equal bins between min and max, or the data's own ends.

    Whole numbers, unless there are weights or the density is asked for.
    """
    array = concrete("histogram", single("histogram", input))
    low, high = _limits("histogram", array, min, max)
    weights = None if weight is None else concrete("histogram", weight).reshape(-1)
    counts, _ = np.histogram(array.reshape(-1), _bins("histogram", bins), (low, high), bool(density), weights)
    return from_array(counts.astype(np.float32 if density or weights is not None else np.int64))


@api()
def histogram_bin_edges(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, name: Any = None) -> Any:
    """The ends of the bins that `histogram` counts in."""
    array = concrete("histogram_bin_edges", single("histogram_bin_edges", input))
    low, high = _limits("histogram_bin_edges", array, min, max)
    return from_array(np.linspace(low, high, _bins("histogram_bin_edges", bins) + 1, dtype=np.float32))


@api()
def histogramdd(x: Any, bins: Any = 10, ranges: Any = None, density: bool = False, weights: Any = None,
                name: Any = None) -> Any:  # fmt: skip
    """The histogram of points (the last axis holds coordinates) on a grid of bins, and the edges of each coordinate."""
    array = concrete("histogramdd", single("histogramdd", x))
    if array.ndim < 2:
        raise ValueError(f"histogramdd: wanted points in the last of at least 2 axes, got {array.ndim}")
    points = array.reshape(-1, array.shape[-1])
    per = [concrete("histogramdd", b) if isinstance(b, Value) else b for b in bins] if isinstance(bins, (list, tuple)) \
        else bins  # fmt: skip
    limits = None if ranges is None else list(zip(ranges[::2], ranges[1::2]))
    w = None if weights is None else concrete("histogramdd", weights).reshape(-1)
    counts, edges = np.histogramdd(points, per, limits, bool(density), w)
    return from_array(counts.astype(array.dtype)), [from_array(e.astype(array.dtype)) for e in edges]


@api()
def bincount(x: Any, weights: Any = None, minlength: int = 0, name: Any = None) -> Any:
    """How often each number occurs in a vector of non-negative ints, or the sums of their weights."""
    x = single("bincount", x)
    if dtype_of(x).kind not in "iu":
        raise TypeError(f"bincount: wanted integers, got {x.dtype}")
    least = integer("bincount", "minlength", minlength)
    if len(shape_of(x)) != 1 or least < 0 or (shape_of(x)[0] and int(concrete("bincount", x).min()) < 0):
        raise ValueError("bincount: wanted a vector without negative numbers, and minlength >= 0")
    if weights is None:
        return counting.bincount(x, None, minlength=least)
    if tuple(shape_of(weights)) != tuple(shape_of(x)):
        raise ValueError(f"bincount: {list(shape_of(weights))} weights for {list(shape_of(x))} numbers")
    found = counting.bincount(x, weights, minlength=least)
    return to_dtype(found, float64 if dtype_of(weights) == float64.np else float32)


@api()
def isin(x: Any, test_x: Any, assume_unique: bool = False, invert: bool = False, name: Any = None) -> Any:
    """Whether each element of x is among those of `test_x`."""
    if dtype_of(x) != dtype_of(test_x) and result_dtype("isin", x, test_x) is None:
        raise refuse("isin", x.dtype, test_x.dtype)
    return isin_op(x, test_x, invert=bool(invert))
