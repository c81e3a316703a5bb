"""Order: sorting, the largest, the k-th, the median, the most frequent; positions first, then what stands there.

The operations named `arg...` find positions, without derivative; `pick` takes the elements at positions and has the
derivative of them all. NaN counts as larger than any number. Ties stay in the order of the operand.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, is_boolean, is_inexact
from ..backend.jit import gathers, scans, selection
from ..backend.jit import ties as tied_rows
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import shape_of
from . import introselect
from .indexing import along_add_known, places, take_along_axis
from .kernels import constant, in_c_order, in_single, permuted
from .reduction import infer_reduced, reduced_shape, shared, shares, sum
from .rules import batch_axes, batch_size, checked_axes, linear, materialise_batch, nondifferentiable
from .samples import distinct, normal, sample
from .scan import scanned
from .shapes import demand
from .structural import inverse, reshape

# ------------------------------------------------------------------------------------------ elements at positions


def _with_axis(indices: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Positions with the axis that they were reduced along, as one of length 1."""
    if len(shape_of(indices)) == len(shape):
        return indices
    inner = (*shape[:axis], 1, *shape[axis + 1 :])
    return indices.reshape(inner) if type(indices) is np.ndarray else reshape(indices, shape=inner)


_along = take_along_axis.prim


def _pick_kernel(xp: Any, x: Any, indices: Any, *, axis: int, of: str) -> Any:
    if indices.ndim == x.ndim:
        return _along.kernel(xp, x, indices, axis=axis)
    return xp.reshape(_along.kernel(xp, x, xp.expand_dims(indices, axis=axis), axis=axis), indices.shape)


def _pick_numpy(x: Any, indices: Any, *, axis: int, of: str) -> Any:
    if indices.ndim == 0 and x.ndim:
        return x[indices]
    if of == "sort" and indices.shape == x.shape and (axes := permuted(x)):  # what is sorted stays in the operand's order
        found = _pick_numpy(x.transpose(axes), indices.transpose(axes), axis=axes.index(axis), of=of)
        return found.transpose(inverse(axes))
    at = _with_axis(indices, x.shape, axis)
    return x.reshape(-1).take(places(x.shape, at, axis)).reshape(indices.shape)


_DISTINCT = frozenset(["sort", "stable_sort", "topk"])
"""The operations whose positions name nothing twice."""


def _unpick(g: Any, x: Any, indices: Any, axis: int, of: str) -> Any:
    shape = tuple(shape_of(x))
    if type(g) is np.ndarray and type(indices) is np.ndarray:
        one = indices.ndim == len(shape) - 1  # of each line
        found = None if one or of not in _DISTINCT else gathers.along_add(g, indices, shape, axis)
        if found is not None:
            return found
        if one or of in _DISTINCT:
            out = np.zeros(shape, g.dtype)
            out.reshape(-1)[places(shape, _with_axis(indices, shape, axis) if one else indices, axis)] = g.reshape(-1)
            return out
    return along_add_known(_with_axis(g, shape, axis), _with_axis(indices, shape, axis), shape=shape, axis=axis)


def _infer_pick(avals: Any, params: dict[str, Any]) -> Aval:
    x, indices, axis = avals[0].shape, avals[1].shape, params["axis"]
    checked_axes(x, axis)
    several = len(indices) == len(x)
    demand(several or len(indices) == len(x) - 1, f"positions of shape {indices} do not belong to an operand of shape {x}")
    rest = (*indices[:axis], *indices[axis + several :])
    others = (*x[:axis], *x[axis + 1 :])
    fits = all(n <= m for n, m in zip(rest, others)) if several else rest == others
    demand(fits, f"positions of shape {indices} do not lie in an operand of shape {x}")
    return Aval(indices, avals[0].dtype)


def _batch_pick(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    size = batch_size(arrays, dims)
    x, indices = (materialise_batch(a, d, size) for a, d in zip(arrays, dims))
    return op(x, indices, axis=params["axis"] + 1, of=params["of"]), 0


# The elements at positions along an axis: of x's rank for several of them, without the axis for one. `of` names the
# operation that found the positions, for those who show graphs.
pick = linear(
    "pick", kernel=_pick_kernel, numpy=_pick_numpy, kind="structural", others=1,
    transpose=lambda g, x_, indices, *, axis, of: _unpick(g, x_, indices, axis, of),
    batch=_batch_pick, infer=_infer_pick,
    samples=lambda: [sample(normal(3, 2), np.array([[2, 0]]), axis=0, of="max"),
                     sample(normal(3, 2), np.array([1, 0, 1]), axis=1, of="max"),
                     sample(normal(3), np.array(2), axis=0, of="max"),
                     sample(normal(2, 3, 2), np.array([[2, 0], [1, 1]]), axis=1, of="sort")],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ positions


def _order(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """The positions that sort `x` along an axis, ties in order; NaN at the large end."""
    x = astype(xp, x, np.uint8) if is_boolean(x) else in_single(x)
    if not descending:
        return astype(xp, xp.argsort(x, axis=axis, stable=True), np.int64)
    order = xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=True)
    return astype(xp, x.shape[axis] - 1 - xp.flip(order, axis=axis), np.int64)


def _order_numpy(x: Any, axis: int, descending: bool) -> Any:
    x = in_single(x)
    found = selection.order(x, axis, descending)
    if found is not None:
        return found
    if not descending:
        return x.argsort(axis, kind="stable")
    backwards = _backwards(axis)
    return x.shape[axis] - 1 - x[backwards].argsort(axis, kind="stable")[backwards]


@functools.cache
def _backwards(axis: int) -> Any:
    """The index that turns an axis around: np.flip takes 1.5 µs."""
    return (slice(None),) * axis + (slice(None, None, -1),)


def _retied(x: Any, order: Any, axis: int, what: str, k: int) -> Any:
    """`order` with the rows that have ties as C++'s algorithms leave them: "sort", the first k ("top"), or the "kth"."""
    if order.size == 0 or x.size > introselect.MOST:
        return order
    x, last = in_single(x), axis == x.ndim - 1
    if not last:
        x, order = x.swapaxes(axis, -1), order.swapaxes(axis, -1)
    n = x.shape[-1]
    rows, found = x.reshape(-1, n), order.reshape(-1, n)
    ordered = rows.reshape(-1).take(places(rows.shape, found, 1))
    missing = x.dtype.kind == "f" and np.count_nonzero(ordered != ordered) > 1
    if not missing and not np.count_nonzero(ordered[1:] == ordered[:-1]):  # as a rule; rows are not told apart
        return order if last else order.swapaxes(axis, -1)
    ordered = ordered.reshape(found.shape)
    before, behind = ordered[:, :-1], ordered[:, 1:]
    tied = behind == before
    if missing:
        tied |= (behind != behind) & (before != before)
    within = tied[:, :k] if what == "top" else tied
    which = np.flatnonzero(within.any(axis=1)) if np.count_nonzero(tied) else ()
    if len(which):
        part = slice(n) if what == "sort" else slice(k) if what == "top" else slice(k - 1, k)
        found[which, part] = _arranged(tied[which], found[which], what, k)[:, part]
    found = found.reshape(order.shape)
    return found if last else found.swapaxes(axis, -1)


def _arranged(tied: Any, order: Any, what: str, k: int) -> Any:
    """The positions of rows as C++'s algorithms leave them, from their order and where it has ties."""
    n, rows = order.shape[1], np.arange(len(order))[:, None]
    words = np.empty(order.shape, np.int64)  # rank and position
    words[rows, order] = np.concatenate([np.zeros((len(order), 1), np.int64), np.cumsum(~tied, axis=1)], axis=1)
    if tied_rows.ordered(words := words << 32 | np.arange(n), what, k - 1 if what == "kth" else k):
        return words & 0xFFFFFFFF
    return np.array([introselect.arranged(row, what, k) for row in (words >> 32).tolist()])


def _positions(xp: Any, x: Any, *, axis: int, descending: bool, ties: str) -> Any:
    """In the standard ties stay in order, also where NumPy's arrays have them as C++'s algorithms leave them."""
    return _order(xp, x, axis, descending)


def _positions_numpy(x: Any, *, axis: int, descending: bool, ties: str) -> Any:
    if axes := permuted(x):
        found = _positions_numpy(x.transpose(axes), axis=axes.index(axis), descending=descending, ties=ties)
        return found.transpose(inverse(axes))
    order = _order_numpy(x, axis, descending)
    n = x.shape[axis]
    if ties == "stable" or n <= introselect.SHORT:  # short rows are sorted by insertion, which is stable
        return order
    return _retied(x, order, axis, "sort", n)


def _infer_positions(avals: Any, params: dict[str, Any]) -> Aval:
    checked_axes(avals[0].shape, params["axis"])
    return Aval(avals[0].shape, np.dtype(np.int64))


def _order_samples(**params: Any) -> Any:
    def make() -> Any:
        yield sample(distinct(4), axis=0, **params)
        yield sample(distinct(2, 3), axis=1, **params)
        yield sample(distinct(3, 2, 2), axis=0, **params)

    return make


# ties="stable" here and below: equal elements stay in order; "introsort": as C++'s algorithms leave them.
argsort = nondifferentiable(
    "argsort", kernel=_positions, numpy=_positions_numpy, kind="scan",
    batch=batch_axes("axis"), infer=_infer_positions,
    samples=_order_samples(descending=True, ties="stable"),
)  # fmt: skip


def _infer_topk(avals: Any, params: dict[str, Any]) -> Aval:
    shape, axis, k = avals[0].shape, params["axis"], params["k"]
    checked_axes(shape, axis)
    return Aval((*shape[:axis], min(k, shape[axis]), *shape[axis + 1 :]), np.dtype(np.int64))


def _topk_kernel(xp: Any, x: Any, *, axis: int, k: int, largest: bool, ties: str) -> Any:
    return _order(xp, x, axis, largest)[(*(slice(None),) * axis, slice(k), Ellipsis)]


def _topk_numpy(x: Any, *, axis: int, k: int, largest: bool, ties: str) -> Any:
    n = x.shape[axis]
    if ties == "stable" or x.size > introselect.MOST:
        found = selection.first(in_single(x), axis, k, largest)
        if found is not None:
            return found
    exact = ties != "stable" and n > introselect.SELECTED and x.size <= introselect.MOST
    found = None if n < 1024 or k > n // 8 or not k else _topk_partial(in_single(x), axis, k + exact, largest, exact)
    if found is None:
        found = _order_numpy(x, axis, largest)
        if exact:
            found = _retied(x, found, axis, "top", k)
    if k < n:
        found = found[(slice(None),) * axis + (slice(k),)]
    return np.ascontiguousarray(found)  # a view would keep all positions, which a derivative remembers


def _topk_partial(x: Any, axis: int, k: int, largest: bool, distinct: bool) -> Any:
    """The first k in order, only they are sorted: of 10^6 elements in 12 ms where a full sort takes 80. None where they are to be
    distinct and are not."""
    found, n = None, x.shape[axis]
    if k <= n // 64 and x.dtype.kind == "f":
        behind = x.swapaxes(axis, -1)
        found = _few_of_many(behind.reshape(-1, n), k, largest)
        if found is not None:
            found = found.reshape(*behind.shape[:-1], k).swapaxes(axis, -1)
    if found is None:
        found = _partitioned(x, axis, k, largest)
    if distinct:
        values = np.take_along_axis(x, found, axis).swapaxes(axis, -1)
        before, behind = values[..., :-1], values[..., 1:]
        if ((before == behind) | ((before != before) & (behind != behind))).any():
            return None
    return found


def _partitioned(x: Any, axis: int, k: int, largest: bool) -> Any:
    """The positions of the first k in order, by NumPy's partition."""
    n = x.shape[axis]
    chosen = np.argpartition(x, n - k if largest else k - 1, axis=axis)
    chosen = chosen[(slice(None),) * axis + (slice(n - k, None) if largest else slice(k),)]
    chosen = np.sort(chosen, axis=axis)
    order = _order_numpy(np.take_along_axis(x, chosen, axis), axis, largest)
    return np.take_along_axis(chosen, order, axis)


def _few_of_many(rows: Any, k: int, largest: bool) -> Any:
    """The positions of the k first of each row in order, where only few come into question; else None.

    The best of 16 k groups are k elements, so none that is worse than the k-th of them is among the first: 40 µs for 5 of
    5,000 in 8 rows, where partitioning takes 360.
    """
    count, n = rows.shape
    groups = 16 * k
    size = n // groups
    best, cut = (np.max, groups - k) if largest else (np.min, k - 1)
    bound = np.partition(best(rows[:, : size * groups].reshape(count, size, groups), axis=1), cut, axis=1)[:, cut, None]
    at = np.flatnonzero(rows >= bound if largest else rows <= bound)
    # nan compares with nothing: with one in a row fewer are found, or the bound is nan.
    if at.size > 4 * groups * count or not (rows == rows).all():
        return None
    values = rows.reshape(-1)[at]
    row = at // n
    order = np.lexsort((-values if largest else values, row))  # stable: equal ones stay in order
    starts = np.searchsorted(row, np.arange(count))
    return at[order[starts[:, None] + np.arange(k)]] % n


argtopk = nondifferentiable(
    "argtopk", kernel=_topk_kernel, numpy=_topk_numpy, kind="scan",
    batch=batch_axes("axis"),
    infer=_infer_topk,
    samples=_order_samples(k=2, largest=True, ties="stable"),
)  # fmt: skip


def _infer_position(avals: Any, params: dict[str, Any]) -> Aval:
    checked_axes(avals[0].shape, params["axis"])
    demand(avals[0].shape[params["axis"]] >= params.get("k", 1), "there are fewer elements along the axis than are asked for")
    return Aval(reduced_shape(avals[0].shape, (params["axis"],), False), np.dtype(np.int64))


def _kth_numpy(x: Any, *, axis: int, k: int, ties: str) -> Any:
    if ties == "stable" or x.size > introselect.MOST:
        found = selection.kth(in_single(x), axis, k - 1)
        if found is not None:
            return found
    return np.take(_kth_order(x, axis, k, ties), k - 1, axis=axis)


def _kth_order(x: Any, axis: int, k: int, ties: str) -> Any:
    order = _order_numpy(x, axis, False)
    if ties == "stable":
        return order
    return _retied(x, order, axis, "kth", k)


# The position of the k-th smallest element, k counted from 1.
argkth = nondifferentiable(
    "argkth",
    kernel=lambda xp, x, *, axis, k, ties: _order(xp, x, axis, False)[(*(slice(None),) * axis, k - 1, Ellipsis)],
    numpy=_kth_numpy, kind="reduction",
    batch=batch_axes("axis"), infer=_infer_position, samples=_order_samples(k=2, ties="stable"),
)  # fmt: skip


def _argmedian_kernel(xp: Any, x: Any, *, axis: int, ignore_nan: bool) -> Any:
    order, n = _order(xp, x, axis, False), x.shape[axis]
    middle = (n - 1) // 2
    if not is_inexact(x):
        return order[(*(slice(None),) * axis, middle, Ellipsis)]
    missing = xp.sum(astype(xp, xp.isnan(x), np.int64), axis=axis, keepdims=True)
    numbers = n - missing
    if ignore_nan:
        at = xp.maximum(numbers - 1, 0) // 2
    else:
        at = xp.where(missing > 0, xp.minimum(numbers, n - 1), middle)
    return xp.squeeze(xp.take_along_axis(order, at, axis=axis), axis=axis)


def _argmedian_numpy(x: Any, *, axis: int, ignore_nan: bool) -> Any:
    found = selection.median(in_single(x), axis, ignore_nan)
    if found is not None:
        return found
    order = _order_numpy(x, axis, False)
    n = x.shape[axis]
    if x.dtype.kind in "iub" or not np.count_nonzero(missing := np.isnan(x)):
        return order[(slice(None),) * axis + ((n - 1) // 2,)].copy()
    numbers = n - missing.sum(axis=axis)
    if ignore_nan:
        middle = np.maximum(numbers - 1, 0) // 2
    else:
        middle = np.where(numbers < n, np.minimum(numbers, n - 1), (n - 1) // 2)
    return np.squeeze(np.take_along_axis(order, np.expand_dims(middle, axis), axis), axis)


# The position of the median, of an even number of elements the lower one; of the first NaN, unless they are ignored.
argmedian = nondifferentiable(
    "argmedian", kernel=_argmedian_kernel, numpy=_argmedian_numpy, kind="reduction",
    batch=batch_axes("axis"), infer=_infer_position,
    samples=_order_samples(ignore_nan=True),
)  # fmt: skip


def _argmode_kernel(xp: Any, x: Any, *, axis: int, ties: str) -> Any:
    x = xp.moveaxis(x, axis, -1)
    last, n = x.ndim - 1, x.shape[axis]
    order = _order(xp, x, last, False)
    ordered = xp.take_along_axis(x, order, axis=-1)
    place = order * 0 + constant(xp, np.arange(n), x)
    same = ordered[..., 1:] == ordered[..., :-1]
    starts = xp.concat([place[..., :1], xp.where(same, 0, place[..., 1:])], axis=-1)
    run = place - scanned(xp, xp.maximum, starts, last)  # how many equal ones came before
    longest = xp.argmax(run, axis=-1, keepdims=True)
    return xp.squeeze(xp.take_along_axis(order, longest, axis=-1), axis=-1)


def _argmode_numpy(x: Any, *, axis: int, ties: str) -> Any:
    x = np.moveaxis(in_single(x), axis, -1)
    order = _positions_numpy(x, axis=x.ndim - 1, descending=False, ties=ties)
    ordered = np.take_along_axis(x, order, axis=-1)
    place = np.arange(x.shape[-1])
    starts = np.ones(x.shape, bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    run = place - np.maximum.accumulate(np.where(starts, place, 0), axis=-1)  # how many equal ones came before
    return np.take_along_axis(order, run.argmax(axis=-1)[..., None], axis=-1)[..., 0]


# The position of the most frequent element, of several the smallest: the last one in the order that sorts them.
argmode = nondifferentiable(
    "argmode", kernel=_argmode_kernel, numpy=_argmode_numpy, kind="reduction",
    batch=batch_axes("axis"), infer=_infer_position,
    samples=lambda: [sample(np.array([[2.0, 1.0, 2.0], [3.0, 1.0, 2.0]]), axis=1, ties="stable"),
                     sample(distinct(4), axis=0, ties="introsort")],
)  # fmt: skip


def _argcum_kernel(xp: Any, x: Any, *, axis: int, largest: bool) -> Any:
    extremes = scanned(xp, xp.maximum if largest else xp.minimum, x, axis)
    attained = x == extremes
    if is_inexact(x):
        attained = attained | (x != x)
    place = constant(xp, np.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - 1 - axis)), x)
    return scanned(xp, xp.maximum, xp.where(attained, place, 0), axis)


def _argcum_numpy(x: Any, *, axis: int, largest: bool) -> Any:
    found = scans.last_extreme(x, axis, largest)
    if found is not None:
        return found
    extremes = (np.maximum if largest else np.minimum).accumulate(x, axis=axis)
    place = np.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    attained = x == extremes
    if x.dtype.kind not in "iub":
        attained |= x != x
    return in_c_order(np.maximum.accumulate(np.where(attained, place, 0), axis=axis))


# For each element the last position of the extreme so far.
argcum = nondifferentiable(
    "argcum", kernel=_argcum_kernel, numpy=_argcum_numpy, kind="scan",
    batch=batch_axes("axis"), infer=_infer_positions,
    samples=_order_samples(largest=True),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ the median


def _median_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool, ignore_nan: bool) -> Any:
    shape = x.shape
    others = tuple(i for i in range(x.ndim) if i not in axis)
    rows = xp.permute_dims(x, (*others, *axis))
    rows = xp.reshape(rows, (*(shape[i] for i in others), math.prod(shape[a] for a in axis)))
    if not rows.shape[-1]:
        return xp.full(reduced_shape(shape, axis, keepdims), math.nan, dtype=x.dtype)
    at = _argmedian_kernel(xp, rows, axis=rows.ndim - 1, ignore_nan=ignore_nan)
    out = xp.take_along_axis(rows, xp.expand_dims(at, axis=-1), axis=-1)
    return xp.reshape(out, reduced_shape(shape, axis, keepdims))


def _median_numpy(x: Any, *, axis: tuple[int, ...], keepdims: bool, ignore_nan: bool) -> Any:
    shape = x.shape
    others = tuple(i for i in range(x.ndim) if i not in axis)
    rows = x.transpose(*others, *axis).reshape(*(shape[i] for i in others), math.prod(shape[a] for a in axis))
    if not rows.shape[-1]:
        return np.full(reduced_shape(shape, axis, keepdims), math.nan, x.dtype)
    at = _argmedian_numpy(rows, axis=rows.ndim - 1, ignore_nan=ignore_nan)
    return _pick_numpy(rows, at, axis=rows.ndim - 1, of="median").reshape(reduced_shape(shape, axis, keepdims))


# The median, of an even number of elements the lower one; elements equal to it share its gradient evenly.
median = primitive(
    "median", kernel=_median_kernel, numpy=_median_numpy,
    kind="reduction",
    vjps=[lambda g, out, x, *, axis, keepdims, ignore_nan:
          shared(g, out, x, axis, keepdims, "even")],
    jvp=lambda tangents, out, x, *, axis, keepdims, ignore_nan: sum(
        tangents[0] * shares(out, x, axis, keepdims, "even"), axis=axis, keepdims=keepdims),
    batch=batch_axes("axis"), infer=infer_reduced,
    samples=lambda: [sample(distinct(2, 3), axis=(0, 1), keepdims=False, ignore_nan=False),
                     sample(distinct(2, 3), axis=(1,), keepdims=True, ignore_nan=True),
                     sample(distinct(), axis=(), keepdims=False, ignore_nan=False)],
)  # fmt: skip
