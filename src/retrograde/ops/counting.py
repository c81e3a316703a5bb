"""Distinct elements, positions in sorted sequences, counts: operations on values without derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.aval import Aval
from .kernels import in_single
from .rules import batch_loop, infer_by_kernel, nondifferentiable
from .samples import distinct, sample, uniform

# ------------------------------------------------------------------------------------------ distinct elements


def _unique_kernel(xp: Any, x: Any, *, axis: int | None) -> Any:
    if axis is None:
        values, inverse, counts = np.unique(in_single(x), return_inverse=True, return_counts=True, equal_nan=False)
        return values.astype(x.dtype, copy=False), inverse.reshape(x.shape), counts
    rows = np.moveaxis(in_single(x), axis, 0)
    if not rows.size:
        if rows.shape[0] and not rows[0].size:
            raise ValueError("there are slices along the axis, but without an element to compare")
        return x, np.zeros(0, np.int64), np.zeros(0, np.int64)
    values, inverse, counts = np.unique(
        rows.reshape(rows.shape[0], -1), axis=0, return_inverse=True, return_counts=True
    )
    values = np.moveaxis(values.reshape(-1, *rows.shape[1:]), 0, axis)
    return values.astype(x.dtype, copy=False), inverse.reshape(-1), counts


def _consecutive_kernel(xp: Any, x: Any, *, axis: int | None) -> Any:
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
# occurs. How many they are depends on values; the shape rule is that of equal ones.
unique = nondifferentiable(
    "unique", kernel=_unique_kernel, multi=True, batch=batch_loop, infer=infer_by_kernel("unique"),
    samples=_unique_samples,
)  # fmt: skip
# The same for runs of equal elements.
unique_consecutive = nondifferentiable(
    "unique_consecutive", kernel=_consecutive_kernel, multi=True, batch=batch_loop,
    infer=infer_by_kernel("unique_consecutive"), samples=_unique_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sorted sequences


def _searchsorted_kernel(xp: Any, sequence: Any, values: Any, *, right: bool) -> Any:
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


# Where each value would be inserted in a sorted sequence: in one for all, or in the row of the same leading axes.
searchsorted = nondifferentiable(
    "searchsorted", kernel=_searchsorted_kernel, batch=batch_loop,
    infer=lambda avals, p: Aval(avals[1].shape, np.dtype(np.int64)),
    samples=lambda: [sample(np.array([1.0, 2.0, 3.0]), np.array([[2.0, 0.5], [2.5, 9.0]]), right=False),
                     sample(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[2.0], [3.0]]), right=True)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ counts


def _bincount_kernel(xp: Any, x: Any, weights: Any, *, minlength: int) -> Any:
    if weights is None:
        return np.bincount(x, minlength=minlength)
    out = np.bincount(x, weights.astype(np.float64), minlength=minlength)
    return out.astype(np.float32) if weights.dtype == np.float32 else out


# How often each number occurs in a vector of non-negative ones, or the sums of their weights.
bincount = nondifferentiable(
    "bincount", kernel=_bincount_kernel, operands=("x", "weights"), batch=batch_loop, infer=infer_by_kernel("bincount"),
    samples=lambda: [sample(np.array([0, 0]), None, minlength=3),
                     sample(np.array([0, 0]), np.array([0.5, 1.5]), minlength=2)],
)  # fmt: skip


def _histogram_kernel(xp: Any, x: Any, weights: Any, edges: Any) -> Any:
    """Bins are half open but for the last; elements outside count for nothing."""
    flat = in_single(x).reshape(-1)
    n = edges.shape[0] - 1
    bins = np.searchsorted(edges, flat, side="right") - 1
    bins[flat == edges[-1]] = n - 1
    inside = (bins >= 0) & (bins < n) & (flat == flat)
    given = None if weights is None else weights.reshape(-1)[inside].astype(np.float64)
    return np.bincount(bins[inside], given, minlength=n).astype(edges.dtype)


# How many elements (or the sum of the weights of those that) fall between each edge and the next.
histogram = nondifferentiable(
    "histogram", kernel=_histogram_kernel, operands=("x", "weights", "edges"), batch=batch_loop,
    infer=lambda avals, p: Aval((avals[2].shape[0] - 1,), avals[2].dtype),
    samples=lambda: [sample(uniform(0, 3, 2, 4), None, np.array([0.0, 1.0, 2.0, 3.0])),
                     sample(uniform(0, 3, 4), uniform(0, 1, 4), np.array([0.5, 1.5, 2.0]))],
)  # fmt: skip


def _histc_kernel(xp: Any, x: Any, *, bins: int, low: float, high: float) -> Any:
    """By position, computed in the elements' precision, as equal bins allow."""
    flat = x.reshape(-1)
    if low == high:
        low, high = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0)
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"the range of bins must be finite, got {low} to {high}")
    flat = flat[(flat >= low) & (flat <= high)]
    kind = flat.dtype.type
    place = ((flat - kind(low)) * kind(bins) / kind(high - low)).astype(np.int64)
    return np.bincount(np.minimum(place, bins - 1), minlength=bins).astype(x.dtype)


# The number of elements in each of `bins` equal parts of a range; of the operand's range where low == high.
histc = nondifferentiable(
    "histc", kernel=_histc_kernel, batch=batch_loop, infer=lambda avals, p: Aval((p["bins"],), avals[0].dtype),
    samples=lambda: [sample(distinct(2, 4), bins=3, low=0.0, high=0.0),
                     sample(distinct(4), bins=2, low=-1.0, high=1.0)],
)  # fmt: skip

# For each element whether it is among others.
isin = nondifferentiable(
    "isin", kernel=lambda xp, x, among, *, invert: np.isin(in_single(x), in_single(among), invert=invert),
    batch=batch_loop, infer=lambda avals, p: Aval(avals[0].shape, np.dtype(bool)),
    samples=lambda: [sample(np.array([[1.0, 2.0]]), np.array([2.0, 3.0]), invert=False)],
)  # fmt: skip
