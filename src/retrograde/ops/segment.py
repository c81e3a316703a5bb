"""Reductions of consecutive segments of an axis, whose lengths an integer array holds.

`x` is (*B, N, *rest) and the lengths (*B, S): the result is (*B, S, *rest). Elements behind the last segment are left
out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, shape_of
from .comparison import equal, less
from .grouping import add, multiply, reduce_by_number
from .indexing import take, take_add
from .kernels import elements, widened
from .rules import batch_loop, nondifferentiable
from .samples import distinct, normal, sample
from .scan import linear_recurrence, shift
from .shapes import at_least, leading, matching
from .structural import cast, reshape


def _ids_kernel(xp: Any, lengths: Any, *, n: int) -> Any:
    count = lengths.shape[-1]
    rows = xp.reshape(astype(xp, lengths, np.int64), (math.prod(lengths.shape[:-1]), count))
    ends = xp.cumulative_sum(rows, axis=1)
    at = xp.arange(n, dtype=xp.int64, device=lengths.device)
    own = xp.sum(astype(xp, ends[:, None, :] <= at[:, None], np.int64), axis=-1)  # how many segments end before
    first = xp.arange(rows.shape[0], dtype=xp.int64, device=lengths.device)[:, None] * count
    ids = xp.where(own == count, elements(rows), own + first)
    return xp.reshape(ids, (*lengths.shape[:-1], n))


def _ids_numpy(lengths: Any, *, n: int) -> Any:
    count = lengths.shape[-1]
    rows = lengths.reshape(-1, count)
    out = np.full((len(rows), n), rows.size, np.int64)
    for i, row in enumerate(rows):
        ids = np.repeat(np.arange(i * count, (i + 1) * count), row)[:n]
        out[i, : len(ids)] = ids
    return out.reshape(*lengths.shape[:-1], n)


# For each of n elements the number of its segment, counted through all rows; behind the last one, the number of all.
segment_ids = nondifferentiable(
    "segment_ids", kernel=_ids_kernel, numpy=_ids_numpy, batch=batch_loop,
    infer=lambda avals, p: Aval((*leading((avals[0], 1)), p["n"]), np.dtype(np.int64)),
    samples=lambda: [sample(np.array([1, 0, 2]), n=4), sample(np.array([[1, 1], [0, 2]]), n=2)],
)  # fmt: skip

_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
_START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


_FUNCTIONS: dict[str, Any] = {
    "sum": lambda xp: add, "mean": lambda xp: add, "prod": lambda xp: multiply, "max": lambda xp: xp.maximum,
    "min": lambda xp: xp.minimum,
}  # fmt: skip


@widened
def _kernel(xp: Any, x: Any, lengths: Any, *, reduce: str, initial: float | None) -> Any:
    axis = lengths.ndim - 1
    rest = tuple(x.shape[axis + 1 :])
    ids = xp.reshape(_ids_kernel(xp, lengths, n=x.shape[axis]), (-1,))
    f = _FUNCTIONS[reduce](xp)
    rows = xp.reshape(x, (ids.shape[0], *rest))
    out = reduce_by_number(xp, f, rows, ids, elements(lengths), _START[reduce])
    if initial is not None:
        out = f(out, xp.asarray(initial, dtype=out.dtype, device=out.device))
    out = xp.reshape(out, (*lengths.shape, *rest))
    if reduce != "mean":
        return out
    sizes = xp.reshape(lengths, (*lengths.shape, *(1,) * len(rest)))
    empty = math.nan if initial is None else initial
    return xp.where(sizes == 0, empty, out / astype(xp, xp.where(sizes < 1, 1, sizes), out.dtype))


def _numpy_kernel(x: Any, lengths: Any, *, reduce: str, initial: float | None) -> Any:
    axis = lengths.ndim - 1
    rest = x.shape[axis + 1 :]
    ids = _ids_numpy(lengths, n=x.shape[axis]).reshape(-1)
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    out = np.full((lengths.size + 1, math.prod(rest)), _START[reduce] if initial is None else initial, wide.dtype)
    _UFUNCS[reduce].at(out, ids, wide.reshape(len(ids), -1))
    out = out[:-1].reshape(*lengths.shape, *rest)
    if reduce == "mean":
        sizes = lengths.reshape(*lengths.shape, *(1,) * len(rest))
        empty = np.nan if initial is None else initial
        out = np.where(sizes == 0, wide.dtype.type(empty), out / np.maximum(sizes, 1).astype(wide.dtype))
    return out.astype(x.dtype, copy=False)


def _rows(x: Any, axis: int) -> Any:
    """(*B, N, *rest) as (B N, rest)."""
    shape = tuple(shape_of(x))
    return reshape(x, shape=(math.prod(shape[: axis + 1]), math.prod(shape[axis + 1 :])))


def _slope(out: Any, x: Any, ids: Any, reduce: str, lengths: Any, initial: float | None) -> Any:
    """The derivative of the segment's result by each row's element; 0 for rows of no segment."""
    axis = len(shape_of(lengths)) - 1
    d = dtype_of(x)
    count = math.prod(shape_of(lengths))
    x = _rows(x, axis)
    inside = reshape(cast(less(ids, count), dtype=d), shape=(shape_of(ids)[0], 1))
    if reduce == "sum":
        return inside
    at = ids * less(ids, count)
    if reduce == "mean":
        return inside / take(reshape(cast(lengths, dtype=d), shape=(count, 1)), at, axis=0)
    if reduce == "prod":
        before = reshape(cast(equal(ids, shift(ids, 0, 1, -1)), dtype=d), shape=(shape_of(ids)[0], 1))
        behind = reshape(cast(equal(ids, shift(ids, 0, -1, -1)), dtype=d), shape=(shape_of(ids)[0], 1))
        one = x * 0 + 1
        ahead = linear_recurrence(shift(x, 0, 1, 1) * before, one * (1 - before), axis=0, reverse=False)
        after = linear_recurrence(shift(x, 0, -1, 1) * behind, one * (1 - behind), axis=0, reverse=True)
        others = ahead * after * inside
        return others if initial is None else others * initial
    attained = cast(equal(x, take(_rows(out, axis), at, axis=0)), dtype=d) * inside
    ties = take_add(attained, at, shape=(count, shape_of(x)[1]), axis=0)
    return attained / (take(ties, at, axis=0) + (1 - attained))


def _pull(g: Any, out: Any, x: Any, lengths: Any, reduce: str, initial: float | None) -> Any:
    axis = len(shape_of(lengths)) - 1
    ids = segment_ids(lengths, n=shape_of(x)[axis])
    ids = reshape(ids, shape=(math.prod(shape_of(ids)),))
    count = math.prod(shape_of(lengths))
    spread = take(_rows(g, axis), ids * less(ids, count), axis=0)
    return reshape(spread * _slope(out, x, ids, reduce, lengths, initial), shape=tuple(shape_of(x)))


def _push(tangents: Any, out: Any, x: Any, lengths: Any, *, reduce: str, initial: float | None) -> Any:
    axis = len(shape_of(lengths)) - 1
    ids = segment_ids(lengths, n=shape_of(x)[axis])
    ids = reshape(ids, shape=(math.prod(shape_of(ids)),))
    count = math.prod(shape_of(lengths))
    t = _rows(tangents[0], axis) * _slope(out, x, ids, reduce, lengths, initial)
    total = take_add(t, ids * less(ids, count), shape=(count, shape_of(t)[1]), axis=0)
    return reshape(total, shape=tuple(shape_of(out)))


def _samples() -> Any:
    for reduce in ("sum", "mean", "max", "min", "prod"):
        yield sample(distinct(5), np.array([2, 3]), reduce=reduce, initial=None)
        yield sample(distinct(4, 2), np.array([1, 2]), reduce=reduce, initial=None)
    yield sample(normal(2, 3), np.array([[1, 2], [2, 1]]), reduce="prod", initial=2.0)
    yield sample(np.array([2.0, 0.0, 3.0, 0.0]), np.array([3, 1]), reduce="prod", initial=None)


def _infer_segments(avals: Any, p: dict[str, Any]) -> Aval:
    x, lengths = avals
    axis = len(lengths.shape) - 1
    at_least(1, lengths)
    at_least(axis + 1, x)
    matching("the leading axes of the lengths", lengths.shape[:-1], x.shape[:axis])
    return Aval((*lengths.shape, *x.shape[axis + 1 :]), x.dtype)


# reduce: "sum", "mean", "max", "min" or "prod". initial: what every segment starts with, None for nothing.
segment_reduce = primitive(
    "segment_reduce", kernel=_kernel, numpy=_numpy_kernel,
    vjps=[lambda g, out, x, lengths, *, reduce, initial: _pull(g, out, x, lengths, reduce, initial), None],
    jvp=_push, batch=batch_loop,
    infer=_infer_segments,
    samples=_samples,
)  # fmt: skip
