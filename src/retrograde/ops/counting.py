"""Distinct elements, positions in sorted sequences, counts: operations on values without derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, device_in, is_floating, is_half, numpy_dtype
from ..core.aval import Aval
from .grouping import add, count_numbers, reduce_by_number
from .kernels import elements, in_single, scalar
from .rules import batch_loop, infer_unknown, nondifferentiable
from .samples import distinct, sample, uniform
from .shapes import demand, matching

# ------------------------------------------------------------------------------------------ distinct elements


def _distinct(xp: Any, x: Any) -> Any:
    """The sorted distinct elements, which of them each is, and how often each occurs. The standard's `unique_all` is more than
    PyTorch has."""
    flat = xp.reshape(x, (-1,))
    order = xp.argsort(flat, stable=True)
    values, run, counts = _consecutive_kernel(xp, xp.take(flat, order, axis=0), axis=None)
    return values, xp.reshape(xp.take(run, xp.argsort(order), axis=0), x.shape), counts


def _unique_kernel(xp: Any, x: Any, *, axis: int | None) -> Any:
    if axis is None:
        values, inverse, counts = _distinct(xp, astype(xp, x, np.float32) if is_half(x) else x)
        return astype(xp, values, x.dtype), inverse, counts
    rows = xp.moveaxis(x, axis, 0)
    n = rows.shape[0]
    if not elements(x):
        _refuse_empty(rows)
        nothing = xp.zeros((0,), dtype=xp.int64, device=device_in(x))
        return x, nothing, nothing
    rows = xp.reshape(rows, (n, elements(x) // n))
    rank = xp.zeros((n,), dtype=xp.int64, device=device_in(x))
    for i in range(rows.shape[1]):  # the order of the rows by the columns so far
        rank = _distinct(xp, rank * n + _distinct(xp, rows[:, i])[1])[1]
    _, inverse, counts = _distinct(xp, rank)
    first = xp.take(xp.argsort(inverse, stable=True), xp.cumulative_sum(counts) - counts, axis=0)
    return xp.take(x, first, axis=axis), inverse, counts


def _refuse_empty(rows: Any) -> None:
    if rows.shape[0]:
        raise ValueError("there are slices along the axis, but without an element to compare")


def _unique_numpy(x: Any, *, axis: int | None) -> Any:
    if axis is None:
        values, inverse, counts = np.unique(in_single(x), return_inverse=True, return_counts=True, equal_nan=False)
        return values.astype(x.dtype, copy=False), inverse.reshape(x.shape), counts
    rows = np.moveaxis(in_single(x), axis, 0)
    if not rows.size:
        _refuse_empty(rows)
        return x, np.zeros(0, np.int64), np.zeros(0, np.int64)
    values, inverse, counts = np.unique(
        rows.reshape(rows.shape[0], -1), axis=0, return_inverse=True, return_counts=True
    )
    values = np.moveaxis(values.reshape(-1, *rows.shape[1:]), 0, axis)
    return values.astype(x.dtype, copy=False), inverse.reshape(-1), counts


def _consecutive_kernel(xp: Any, x: Any, *, axis: int | None) -> Any:
    rows = xp.reshape(x, (-1,)) if axis is None else xp.moveaxis(x, axis, 0)
    n = rows.shape[0]
    if not elements(rows):
        _refuse_empty(rows)
        nothing = xp.zeros((0,), dtype=xp.int64, device=device_in(x))
        return (rows if axis is None else x), (xp.reshape(nothing, x.shape) if axis is None else nothing), nothing
    differs = xp.any(xp.reshape(rows[1:, ...] != rows[: n - 1, ...], (n - 1, elements(rows) // n)), axis=1)
    new = xp.concat([xp.ones((1,), dtype=xp.bool, device=device_in(x)), differs])
    (starts,) = xp.nonzero(new)
    inverse = xp.cumulative_sum(astype(xp, new, np.int64)) - 1
    ends = xp.concat([starts[1:], xp.full((1,), n, dtype=starts.dtype, device=device_in(x))])
    values = xp.take(rows, starts, axis=0)
    if axis is None:
        return values, xp.reshape(inverse, x.shape), ends - starts
    return xp.moveaxis(values, 0, axis), inverse, ends - starts


def _consecutive_numpy(x: Any, *, axis: int | None) -> Any:
    rows = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    n = rows.shape[0]
    if rows.size == 0 and n:
        raise ValueError("there are slices along the axis, but without an element to compare")
    if not n:
        return (rows if axis is None else x), np.zeros(x.shape if axis is None else 0, np.int64), np.zeros(0, np.int64)
    new = np.ones(n, bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=tuple(range(1, rows.ndim)))
    starts = np.flatnonzero(new)
    inverse = np.cumsum(new) - 1
    values = rows[starts]
    if axis is not None:
        values = np.moveaxis(values, 0, axis)
    return values, inverse.reshape(x.shape) if axis is None else inverse, np.diff(starts, append=n)


def _unique_samples() -> Any:
    yield sample(np.zeros((2, 2)), axis=None)
    yield sample(np.zeros((3, 2)), axis=0)


# The sorted distinct elements (slices along an axis, if given), for each element which it is, and how often each
# occurs.
unique = nondifferentiable(
    "unique", kernel=_unique_kernel, numpy=_unique_numpy, multi=True, batch=batch_loop, infer=infer_unknown("unique"),
    kind="data_dependent", samples=_unique_samples,
)  # fmt: skip
# The same for runs of equal elements.
unique_consecutive = nondifferentiable(
    "unique_consecutive", kernel=_consecutive_kernel, numpy=_consecutive_numpy, multi=True, batch=batch_loop,
    infer=infer_unknown("unique_consecutive"), kind="data_dependent", samples=_unique_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sorted sequences


def _searchsorted_kernel(xp: Any, sequence: Any, values: Any, *, right: bool) -> Any:
    common = np.result_type(numpy_dtype(sequence.dtype), numpy_dtype(values.dtype))
    common = np.dtype(np.float32) if is_half(common) else common
    sequence, values = astype(xp, sequence, common), astype(xp, values, common)
    if sequence.ndim == 1:
        found = xp.searchsorted(sequence, xp.reshape(values, (-1,)), side="right" if right else "left")
        return astype(xp, xp.reshape(found, values.shape), np.int64)
    # How many come before, which is where: nan is the largest of all.
    row, wanted = sequence[..., None, :], values[..., :, None]
    before = row <= wanted if right else row < wanted
    if is_floating(values):
        before = before | (xp.isnan(wanted) if right else xp.isnan(wanted) & ~xp.isnan(row))
    return xp.sum(astype(xp, before, np.int64), axis=-1)


def _searchsorted_numpy(sequence: Any, values: Any, *, right: bool) -> Any:
    side = "right" if right else "left"
    common = np.result_type(sequence.dtype, values.dtype) if sequence.dtype != values.dtype else sequence.dtype
    sequence, values = in_single(sequence.astype(common, copy=False)), in_single(values.astype(common, copy=False))
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side=side)
    count = math.prod(sequence.shape[:-1])
    rows = sequence.reshape(count, sequence.shape[-1])
    wanted = values.reshape(count, values.shape[-1])
    found = [np.searchsorted(row, v, side=side) for row, v in zip(rows, wanted)]
    return np.asarray(found, dtype=np.int64).reshape(values.shape)


def _infer_searchsorted(avals: Any, p: dict[str, Any]) -> Aval:
    sequence, values = avals
    if len(sequence.shape) != 1:
        matching("the values for rows of a sequence", values.shape[:-1], sequence.shape[:-1])
    return Aval(values.shape, np.dtype(np.int64))


# Where each value would be inserted in a sorted sequence: in one for all, or in the row of the same leading axes.
searchsorted = nondifferentiable(
    "searchsorted", kernel=_searchsorted_kernel, numpy=_searchsorted_numpy, batch=batch_loop,
    infer=_infer_searchsorted,
    samples=lambda: [sample(np.array([1.0, 2.0, 3.0]), np.array([[2.0, 0.5], [2.5, 9.0]]), right=False),
                     sample(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[2.0], [3.0]]), right=True)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ counts


def _totals(xp: Any, numbers: Any, weights: Any, count: int) -> Any:
    """How often each number below `count` occurs in a vector, or the sums of their weights in double precision."""
    if weights is None:
        return count_numbers(xp, numbers, count)
    return reduce_by_number(xp, add, astype(xp, weights, np.float64), numbers, count, 0)


def _bincount_kernel(xp: Any, x: Any, weights: Any, *, minlength: int) -> Any:
    if elements(x) and int(xp.min(x)) < 0:
        raise ValueError("the numbers that are counted must not be negative")
    out = _totals(xp, x, weights, max(int(xp.max(x)) + 1 if elements(x) else 0, minlength))
    return astype(xp, out, np.float32) if weights is not None and numpy_dtype(weights.dtype) == np.float32 else out


def _bincount_numpy(x: Any, weights: Any, *, minlength: int) -> Any:
    if weights is None:
        return np.bincount(x, minlength=minlength)
    out = np.bincount(x, weights.astype(np.float64), minlength=minlength)
    return out.astype(np.float32) if weights.dtype == np.float32 else out


# How often each number occurs in a vector of non-negative ones, or the sums of their weights.
bincount = nondifferentiable(
    "bincount", kernel=_bincount_kernel, numpy=_bincount_numpy, operands=("x", "weights"), batch=batch_loop,
    infer=infer_unknown("bincount"), kind="data_dependent",
    samples=lambda: [sample(np.array([0, 0]), None, minlength=3),
                     sample(np.array([0, 0]), np.array([0.5, 1.5]), minlength=2)],
)  # fmt: skip


def _histogram_kernel(xp: Any, x: Any, weights: Any, edges: Any) -> Any:
    flat = xp.reshape(astype(xp, x, edges.dtype), (-1,))
    n = edges.shape[0] - 1
    bins = xp.searchsorted(edges, flat, side="right") - 1
    bins = xp.where(flat == edges[n], n - 1, bins)
    bins = xp.where(xp.isnan(flat) if is_floating(flat) else flat != flat, n, bins)
    return astype(xp, _totals(xp, bins, None if weights is None else xp.reshape(weights, (-1,)), n), edges.dtype)


def _histogram_numpy(x: Any, weights: Any, edges: Any) -> Any:
    """Bins are half open but for the last; elements outside count for nothing."""
    flat = in_single(x).reshape(-1)
    n = edges.shape[0] - 1
    bins = np.searchsorted(edges, flat, side="right") - 1
    bins[flat == edges[-1]] = n - 1
    inside = (bins >= 0) & (bins < n) & (flat == flat)
    given = None if weights is None else weights.reshape(-1)[inside].astype(np.float64)
    return np.bincount(bins[inside], given, minlength=n).astype(edges.dtype)


def _infer_histogram(avals: Any, p: dict[str, Any]) -> Aval:
    x, weights, edges = avals
    demand(len(edges.shape) == 1 and edges.shape[0] > 0, f"the edges are a vector, got the shape {tuple(edges.shape)}")
    if weights is not None:
        demand(math.prod(weights.shape) == math.prod(x.shape), f"{x.shape} elements have weights of shape {weights.shape}")
    return Aval((edges.shape[0] - 1,), edges.dtype)


# How many elements (or the sum of the weights of those that) fall between each edge and the next.
histogram = nondifferentiable(
    "histogram", kernel=_histogram_kernel, numpy=_histogram_numpy, operands=("x", "weights", "edges"), batch=batch_loop,
    infer=_infer_histogram,
    samples=lambda: [sample(uniform(0, 3, 2, 4), None, np.array([0.0, 1.0, 2.0, 3.0])),
                     sample(uniform(0, 3, 4), uniform(0, 1, 4), np.array([0.5, 1.5, 2.0]))],
)  # fmt: skip


def _histc_kernel(xp: Any, x: Any, *, bins: int, low: float, high: float) -> Any:
    """By position, computed in the elements' precision, as equal bins allow."""
    flat = xp.reshape(x, (-1,))
    low, high = _bin_range(low, high, (float(xp.min(flat)), float(xp.max(flat))) if elements(x) else (0.0, 0.0))
    inside = (flat >= low) & (flat <= high)
    place = (xp.where(inside, flat, 0) - scalar(low, x)) * scalar(bins, x) / scalar(high - low, x)
    place = astype(xp, place, np.int64)
    place = xp.where(inside, xp.where(place >= bins, bins - 1, place), bins)
    return astype(xp, count_numbers(xp, place, bins), x.dtype)


def _bin_range(low: float, high: float, of_elements: tuple[float, float]) -> tuple[float, float]:
    if low == high:
        low, high = of_elements
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"the range of bins must be finite, got {low} to {high}")
    return low, high


def _histc_numpy(x: Any, *, bins: int, low: float, high: float) -> Any:
    flat = x.reshape(-1)
    low, high = _bin_range(low, high, (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0))
    flat = flat[(flat >= low) & (flat <= high)]
    kind = flat.dtype.type
    place = ((flat - kind(low)) * kind(bins) / kind(high - low)).astype(np.int64)
    return np.bincount(np.minimum(place, bins - 1), minlength=bins).astype(x.dtype)


# The number of elements in each of `bins` equal parts of a range; of the operand's range where low == high.
histc = nondifferentiable(
    "histc", kernel=_histc_kernel, numpy=_histc_numpy, batch=batch_loop,
    infer=lambda avals, p: Aval((p["bins"],), avals[0].dtype),
    samples=lambda: [sample(distinct(2, 4), bins=3, low=0.0, high=0.0),
                     sample(distinct(4), bins=2, low=-1.0, high=1.0)],
)  # fmt: skip

def _isin_kernel(xp: Any, x: Any, among: Any, *, invert: bool) -> Any:
    common = np.result_type(numpy_dtype(x.dtype), numpy_dtype(among.dtype))
    x, among = astype(xp, x, common), xp.sort(xp.reshape(astype(xp, among, common), (-1,)))
    if not elements(among):
        return xp.full(x.shape, invert, dtype=xp.bool, device=device_in(x))
    flat = xp.reshape(x, (-1,))
    at = xp.searchsorted(among, flat)
    found = xp.reshape(xp.take(among, xp.where(at == among.shape[0], 0, at)) == flat, x.shape)
    return ~found if invert else found


# For each element whether it is among others.
isin = nondifferentiable(
    "isin", kernel=_isin_kernel,
    numpy=lambda x, among, *, invert: np.isin(in_single(x), in_single(among), invert=invert),
    batch=batch_loop, infer=lambda avals, p: Aval(avals[0].shape, np.dtype(bool)),
    samples=lambda: [sample(np.array([[1.0, 2.0]]), np.array([2.0, 3.0]), invert=False)],
)  # fmt: skip
