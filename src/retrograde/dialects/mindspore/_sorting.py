"""Order and counts: sort, topk, median, quantiles, unique, searching sorted sequences, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import counting
from ...ops import indexing as ix
from ...ops import reduction as rd
from ...ops import structural as st
from ...ops.sorting import argkth, argmedian, argtopk, pick
from ...ops.sorting import argsort as arg_order
from ...tensor import manipulation as nm
from ...tensor import quantiles
from .._shared.axes import axis_of, integer
from ._api import api, row
from ._dtype import as_dtype, float32, int32, int64
from ._gather import positions
from ._promote import FLOATING, single, tensor_argument, to_dtype
from ._tensor import from_array


def _sorted(op: str, x: Any, axis: Any, descending: bool) -> tuple[Any, Any]:
    x = single(op, x, "...x")
    if not shape_of(x):
        return st.copy(x), from_array(np.zeros((), np.int32))
    i = axis_of(op, axis, len(shape_of(x)))
    at = arg_order(x, axis=i, descending=bool(descending), ties="stable")
    return pick(x, at, axis=i, of="sort"), to_dtype(at, int32)


@api("sort", method=False)
def sort(input_x: Any, axis: int = -1, descending: bool = False) -> tuple[Any, Any]:
    """The elements in order along an axis, and where they come from."""
    return _sorted("sort", input_x, axis, descending)


sort_method = row("sort", lambda self, axis=None, descending=False, *, dim=None, stable=False:
    _sorted("sort", self, dim if dim is not None else -1 if axis is None else axis, descending),
    "The elements in order along an axis, and where they come from.", function=False)  # fmt: skip


@api("argsort", method=False)
def argsort(input: Any, axis: int = -1, descending: bool = False) -> Any:
    """The positions that sort along an axis."""
    return _sorted("argsort", input, axis, descending)[1]


argsort_method = row("argsort", lambda self, axis=None, descending=False, *, dim=None:
    argsort(self, dim if dim is not None else -1 if axis is None else axis, descending),
    "The positions that sort along an axis.", function=False)  # fmt: skip


api("msort")(lambda input: _sorted("msort", input, 0, False)[0])


@api("topk")
def topk(input: Any, k: int, dim: Any = None, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    """The k greatest (or smallest) elements along an axis, and where they come from."""
    x = single("topk", input, "x..x")
    i = axis_of("topk", -1 if dim is None else dim, len(shape_of(x)), "dim")
    n = shape_of(x)[i] if shape_of(x) else 1
    if not 1 <= integer("topk", "k", k) <= n:
        raise ValueError(f"topk: k must lie between 1 and {n}, got {k}")
    if not shape_of(x):
        return st.copy(x), from_array(np.zeros((), np.int32))
    at = argtopk(x, axis=i, k=k, largest=bool(largest), ties="stable")
    return pick(x, at, axis=i, of="topk"), to_dtype(at, int32)


@api("top_k")
def top_k(input_x: Any, k: int, sorted: bool = True) -> tuple[Any, Any]:
    """The k greatest elements along the last axis, and where they come from."""
    return topk(input_x, k, -1, True, sorted)


@api("kthvalue", function=False)
def kthvalue(self: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """The k-th smallest element along an axis, and where it comes from."""
    i = axis_of("kthvalue", dim, tensor_argument("kthvalue", self).ndim, "dim")
    at = argkth(self, axis=i, k=integer("kthvalue", "k", k), ties="stable")
    values = pick(self, at, axis=i, of="kthvalue")
    if keepdim:
        return nm.expand_dims(values, i), to_dtype(nm.expand_dims(at, i), int64)
    return values, to_dtype(at, int64)


@api("unique", method=False)
def unique(input: Any) -> tuple[Any, Any]:
    """The different elements in order of appearance, and for each element which one it is."""
    x = single("unique", input, "...x")
    flat = np.asarray(x._concrete("unique")).reshape(-1)
    found, first, which = np.unique(flat, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    index_dtype = np.int64 if flat.dtype == np.int64 else np.int32
    return from_array(found[order]), from_array(place[which.reshape(-1)].astype(index_dtype).reshape(x.shape))


@api("unique_consecutive")
def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    """Without the elements (slices along an axis) that equal the one before them."""
    x = tensor_argument("unique_consecutive", input)
    i = None if dim is None else axis_of("unique_consecutive", dim, x.ndim, "dim")
    values, inverse, counts = counting.unique_consecutive(x, axis=i)
    extra = ([to_dtype(inverse, int64)] if return_inverse else []) + ([to_dtype(counts, int64)] if return_counts else [])
    return (values, *extra) if extra else values


@api("unique_with_pad")
def unique_with_pad(x: Any, pad_num: Any) -> tuple[Any, Any]:
    """The different elements, padded with a number to the length of the tensor, and which one each element is."""
    values, which = unique(x)
    missing = x.size - values.size
    padding = np.full(missing, pad_num._concrete("pad") if isinstance(pad_num, Value) else pad_num, dtype_of(values))
    return from_array(np.concatenate([values._concrete("unique_with_pad"), padding])), which


@api(method=False)
def searchsorted(sorted_sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: Any = None,
                 sorter: Any = None) -> Any:  # fmt: skip
    """Where each value would be inserted into a sorted sequence: before equal elements, or ("right") behind them."""
    sequence = tensor_argument("searchsorted", sorted_sequence, "sorted_sequence")
    if side not in (None, "left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    if not isinstance(values, Value):
        values = from_array(np.asarray(values, dtype_of(sequence)))
    if sorter is not None:
        sequence = ix.take_along_axis(sequence, sorter, axis=sequence.ndim - 1)
    out = counting.searchsorted(sequence, values, right=right or side == "right")
    return to_dtype(out, int32 if out_int32 else int64)


searchsorted_method = row("searchsorted", lambda self, v, side="left", sorter=None:
    to_dtype(searchsorted(self, v, side=side, sorter=sorter), int32),
    "Where each value would be inserted into this sorted tensor.", function=False)  # fmt: skip


@api(method=False)
def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Any:
    """In which of the intervals between boundaries each element lies."""
    x = tensor_argument("bucketize", input)
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucketize: boundaries must be a list, got {type(boundaries).__name__}")
    edges = from_array(np.asarray(boundaries, np.float32))
    return to_dtype(counting.searchsorted(edges, to_dtype(x, as_dtype("float32")), right=bool(right)), int32)


@api(method=False)
def intopk(x1: Any, x2: Any, k: int) -> Any:
    """Whether the element at each row's position is among the k greatest of the row."""
    x, at = tensor_argument("intopk", x1, "x1"), positions("intopk", x2, "x2")
    array, places = x._concrete("intopk"), at._concrete("intopk")
    chosen = np.take_along_axis(array, places.astype(np.int64)[:, None], axis=1)
    return from_array((array > chosen).sum(axis=1) < k)


@api("reverse_sequence")
def reverse_sequence(x: Any, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0) -> Any:
    """The first `seq_lengths[b]` elements of each entry b of a batch in reverse order."""
    x, lengths = tensor_argument("reverse_sequence", x, "x"), positions("reverse_sequence", seq_lengths, "seq_lengths")
    s, b = axis_of("reverse_sequence", seq_dim, x.ndim), axis_of("reverse_sequence", batch_dim, x.ndim)
    if s == b:
        raise ValueError(f"reverse_sequence: seq_dim and batch_dim must differ, both are {s}")
    n = shape_of(x)[s]
    counts = np.asarray(lengths._concrete("reverse_sequence"))[:, None]
    order = np.where(np.arange(n) < counts, counts - 1 - np.arange(n), np.arange(n))
    shape = [1] * x.ndim
    shape[b], shape[s] = shape_of(x)[b], n
    at = np.broadcast_to((order if b < s else order.T).reshape(shape), x.shape)
    return ix.take_along_axis(x, from_array(np.ascontiguousarray(at)), axis=s)


@api("unique", function=False)
def unique_method(self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                  dim: Any = None) -> Any:  # fmt: skip
    """The different elements in order, and for each element which one it is, and how often each occurs."""
    from .mint import unique  # type: ignore[attr-defined]

    return unique(self, sorted, return_inverse, return_counts, dim)


def _median(op: str, input: Any, axis: Any, keepdims: bool, ignore_nan: bool) -> tuple[Any, Any]:
    x = single(op, input, "x..x")
    shape = tuple(shape_of(x))
    i = axis_of(op, axis, len(shape))
    if not shape:
        return st.copy(x), to_dtype(rd.argmax(st.reshape(x, shape=(1,)), axis=0, keepdims=False), int64)
    at = argmedian(x, axis=i, ignore_nan=ignore_nan)
    values = pick(x, at, axis=i, of="median")
    if keepdims:
        kept = (*shape[:i], 1, *shape[i + 1 :])
        values, at = st.reshape(values, shape=kept), st.reshape(at, shape=kept)
    return values, to_dtype(at, int64)

median = row("median", lambda input, axis=-1, keepdims=False: _median("median", input, axis, keepdims, False),
    "The median along an axis (the lower one of an even number) and its position.")  # fmt: skip

nanmedian = row("nanmedian", lambda input, axis=-1, keepdims=False: _median("nanmedian", input, axis, keepdims, True),
    "The median along an axis of the elements that are not nan, and its position.")  # fmt: skip


def _quantile(op: str, input: Any, q: Any, axis: Any, keepdims: bool) -> Any:
    x = single(op, input, FLOATING)
    axes = tuple(range(x.ndim)) if axis is None else (axis_of(op, axis, x.ndim),)
    places = np.asarray(q._concrete(op) if isinstance(q, Value) else q, dtype_of(x))
    if ((places < 0) | (places > 1)).any():
        raise ValueError(f"{op}: q must lie in [0, 1], got {places}")
    rows = quantiles.as_rows(x, axes) if x.ndim else st.reshape(x, shape=(1,))
    out = quantiles.interpolated(rows, places.reshape(-1), "linear", op == "nanquantile", ties="stable")
    lead = places.shape[:1]
    if keepdims:
        kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
        return st.reshape(out, shape=(*lead, *kept))
    return out if lead else st.reshape(out, shape=tuple(shape_of(out))[1:])

quantile = row("quantile", lambda input, q, axis=None, keepdims=False: _quantile("quantile", input, q, axis, keepdims),
    "The q-th quantiles, interpolated linearly.")  # fmt: skip


@api()
def nanquantile(input: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The q-th quantiles of the elements that are not nan, interpolated linearly."""
    return _quantile("nanquantile", input, q, axis, keepdims)


@api()
def histc(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Any:
    """How many elements lie in each of `bins` equal parts of [min, max] (of their own range, if both are equal)."""
    x = single("histc", input, "x..x")
    if integer("histc", "bins", bins) < 1:
        raise ValueError(f"histc: bins must be positive, got {bins}")
    low, high = float(min), float(max)
    array = x._concrete("histc")
    if low == high and array.size:
        low, high = float(array.min()), float(array.max())
    out = counting.histc(x, bins=bins, low=low, high=high)
    return to_dtype(out, float32) if dtype_of(x).kind == "f" and dtype_of(x) != dtype_of(out) else out


@api()
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 up occurs (or the sum of its weights), in float32."""
    x = single("bincount", input, "x.xx")
    if len(shape_of(x)) != 1:
        raise ValueError(f"bincount: wanted a vector, got shape {tuple(shape_of(x))}")
    out = counting.bincount(x, None if weights is None else tensor_argument("bincount", weights, "weights"),
                    minlength=integer("bincount", "minlength", minlength))  # fmt: skip
    return to_dtype(out, float32)
