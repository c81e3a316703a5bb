"""What NumPy's functions that are no ufuncs do with Tensors, with NumPy's own parameters and defaults.

Reductions, scans, comparisons of whole arrays, sorting and choosing; numpy_shapes.py has shapes and joining,
numpy_algebra.py linear algebra and transforms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, shape_of
from ..ops import comparison as cmp
from ..ops import indexing as ix
from ..ops import reduction as red
from ..ops import selection as sel
from ..ops import structural as st
from ..tape import inplace
from . import conversion, dtypes, elementwise, indexing, manipulation, reductions, searching, sets
from ._values import axes_of, axis_of, new, rank
from .conversion import operand, value
from .numpy_protocol import implements, unsupported
from .operators import promoted_all
from .promotion import double, floating

# ------------------------------------------------------------------------------------------ reductions


def _masked(a: Any, where: Any, neutral: Any) -> Any:
    """The operand of a reduction with what `where=` leaves out replaced by the neutral element."""
    return a if where is True else elementwise.where(where, a, neutral)


@implements("sum")
def sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = 0,
        where: Any = True) -> Any:  # fmt: skip
    total = reductions.sum(_masked(a, where, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    return total if type(initial) is int and initial == 0 else total + initial


@implements("prod")
def prod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = 1,
         where: Any = True) -> Any:  # fmt: skip
    total = reductions.prod(_masked(a, where, 1), axis=axis, dtype=dtype, keepdims=keepdims)
    return total if type(initial) is int and initial == 1 else total * initial


@implements("max", "amax")
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    if initial is None:
        return reductions.max(_unmasked("max", a, where), axis=axis, keepdims=keepdims)
    found = reductions.max(_masked(a, where, initial), axis=axis, keepdims=keepdims)
    return elementwise.maximum(found, initial)


@implements("min", "amin")
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    if initial is None:
        return reductions.min(_unmasked("min", a, where), axis=axis, keepdims=keepdims)
    found = reductions.min(_masked(a, where, initial), axis=axis, keepdims=keepdims)
    return elementwise.minimum(found, initial)


def _unmasked(name: str, a: Any, where: Any) -> Any:
    if where is not True:
        raise ValueError(f"np.{name}: where= needs initial= as well, for rows of which it leaves nothing")
    return a


@implements("ptp")
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return reductions.max(a, axis=axis, keepdims=keepdims) - reductions.min(a, axis=axis, keepdims=keepdims)


def _count(a: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    """How many elements `where=` leaves in each row."""
    kept = manipulation.broadcast_to(value(where), tuple(shape_of(a)))
    return reductions.sum(kept, axis=axis, keepdims=keepdims)


@implements("mean")
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, where: Any = True
) -> Any:
    a = value(a) if dtype is None else conversion.astype(value(a), dtype, copy=False)
    if where is True:
        return reductions.mean(a, axis=axis, keepdims=keepdims)
    a = double(a)
    total = reductions.sum(_masked(a, where, 0), axis=axis, keepdims=keepdims)
    return total / conversion.astype(_count(a, axis, keepdims, where), dtype_of(st.real(total)))


@implements("var")
def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
        correction: Any = None) -> Any:  # fmt: skip
    a = value(a) if dtype is None else conversion.astype(value(a), dtype, copy=False)
    return reductions.var(a, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims)


@implements("std")
def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
        correction: Any = None) -> Any:  # fmt: skip
    a = value(a) if dtype is None else conversion.astype(value(a), dtype, copy=False)
    return reductions.std(a, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims)


@implements("average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    a = double(value(a))
    if weights is None:
        found = reductions.mean(a, axis=axis, keepdims=keepdims)
        count = red.reduced_count(a, axes_of("average", axis, rank(a)))
        scale = manipulation.broadcast_to(new(np.asarray(float(count))), tuple(shape_of(found)))
    else:
        w = double(value(weights))
        if tuple(shape_of(w)) != tuple(shape_of(a)):
            (i,) = axes_of("average", axis, rank(a))
            w = st.reshape(w, shape=tuple(n if j == i else 1 for j, n in enumerate(shape_of(a))))
            w = manipulation.broadcast_to(w, tuple(shape_of(a)))
        scale = reductions.sum(w, axis=axis, keepdims=keepdims)
        found = reductions.sum(a * w, axis=axis, keepdims=keepdims) / scale
    return (found, scale) if returned else found


@implements("all")
def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    return reductions.all(_masked(a, where, True), axis=axis, keepdims=keepdims)


@implements("any")
def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    return reductions.any(_masked(a, where, False), axis=axis, keepdims=keepdims)


@implements("argmax")
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return searching.argmax(a, axis=axis, keepdims=keepdims)


@implements("argmin")
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return searching.argmin(a, axis=axis, keepdims=keepdims)


@implements("count_nonzero")
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return searching.count_nonzero(a, axis=axis, keepdims=keepdims)


@implements("cumsum")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    a = value(a) if axis is not None else manipulation.flatten(a)
    return reductions.cumulative_sum(a, axis=0 if axis is None else axis, dtype=dtype)


@implements("cumprod")
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    a = value(a) if axis is not None else manipulation.flatten(a)
    return reductions.cumulative_prod(a, axis=0 if axis is None else axis, dtype=dtype)


@implements("cumulative_sum")
def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    return reductions.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


@implements("cumulative_prod")
def cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    return reductions.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


# ------------------------------------------------------------------------------------------ reductions without nan


def _numbers(a: Any) -> Any:
    return elementwise.logical_not(elementwise.isnan(a))


@implements("nansum")
def nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return reductions.sum(elementwise.where(_numbers(a), a, 0), axis=axis, dtype=dtype, keepdims=keepdims)


@implements("nanprod")
def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return reductions.prod(elementwise.where(_numbers(a), a, 1), axis=axis, dtype=dtype, keepdims=keepdims)


@implements("nanmean")
def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=_numbers(a))


@implements("nanvar")
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False
) -> Any:
    a = double(value(a) if dtype is None else conversion.astype(value(a), dtype, copy=False))
    kept = _numbers(a)
    d = elementwise.where(kept, a - mean(a, axis=axis, keepdims=True, where=kept), 0)
    squares = reductions.sum(st.real(d * st.conj(d)), axis=axis, keepdims=keepdims)
    return squares / conversion.astype(_count(a, axis, keepdims, kept) - ddof, dtype_of(squares))


@implements("nanstd")
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False
) -> Any:
    return elementwise.sqrt(nanvar(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims))


def _nan_extreme(name: str, a: Any, axis: Any, keepdims: bool) -> Any:
    a = value(a)
    worst = -math.inf if name == "max" else math.inf
    kept = _numbers(a)
    found = getattr(reductions, name)(elementwise.where(kept, a, worst), axis=axis, keepdims=keepdims)
    return elementwise.where(reductions.any(kept, axis=axis, keepdims=keepdims), found, math.nan)


@implements("nanmax")
def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return _nan_extreme("max", a, axis, keepdims)


@implements("nanmin")
def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return _nan_extreme("min", a, axis, keepdims)


# ------------------------------------------------------------------------------------------ order


@implements("sort")
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    if order is not None:
        raise unsupported("np.sort(order=...)")
    return searching.sort(manipulation.flatten(a) if axis is None else a, axis=-1 if axis is None else axis)


@implements("argsort")
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    if order is not None:
        raise unsupported("np.argsort(order=...)")
    return searching.argsort(manipulation.flatten(a) if axis is None else a, axis=-1 if axis is None else axis)


@implements("partition")
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    return sort(a, axis, order=order)  # sorted altogether, which is partitioned anywhere


@implements("searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return searching.searchsorted(a, v, side=side, sorter=sorter)


def _at_end(a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """The operand with the axes to be reduced as one at its end, and these axes."""
    a = double(value(a))
    axes = axes_of("quantile", axis, rank(a))
    rest = [i for i in range(rank(a)) if i not in axes]
    moved = st.transpose(a, axes=(*rest, *axes))
    shape = tuple(shape_of(a))
    return st.reshape(moved, shape=(*(shape[i] for i in rest), math.prod(shape[i] for i in axes))), axes


@implements("quantile")
def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
             keepdims: bool = False) -> Any:  # fmt: skip
    if method not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise unsupported(f"np.quantile(method={method!r})")
    kept = tuple(shape_of(a))
    rows, axes = _at_end(a, axis)
    n = shape_of(rows)[-1]
    q = value(q)
    if rank(q) > 1:
        raise ValueError(f"np.quantile: wanted a number or a vector of quantiles, got shape {tuple(shape_of(q))}")
    ordered = searching.sort(rows)
    # A nan in a row sorts to its end and is the quantile, as in NumPy.
    last = st.getitem(ordered, index=(Ellipsis, -1))
    place = double(q) * (n - 1)
    plain = concrete("np.quantile", place)
    low = np.clip(np.floor(plain), 0, n - 1).astype(np.intp)
    high = np.clip(np.ceil(plain), 0, n - 1).astype(np.intp)
    axis_last = rank(ordered) - 1
    below, above = ix.take(ordered, low, axis=axis_last), ix.take(ordered, high, axis=axis_last)
    if method == "linear":
        found = below + (above - below) * (place - low)
    elif method == "midpoint":
        found = (below + above) / 2
    elif method == "nearest":
        found = ix.take(ordered, np.rint(plain).astype(np.intp), axis=axis_last)
    else:
        found = below if method == "lower" else above
    if rank(q):
        found = st.transpose(found, axes=(axis_last, *range(axis_last)))
    found = elementwise.where(elementwise.isnan(last), last, found)
    if keepdims:
        shape = tuple(1 if i in axes else m for i, m in enumerate(kept))
        found = st.reshape(found, shape=(*tuple(shape_of(q)), *shape))
    return found


@implements("percentile")
def percentile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
               keepdims: bool = False) -> Any:  # fmt: skip
    return quantile(a, double(value(q)) / 100, axis=axis, method=method, keepdims=keepdims)


@implements("median")
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return quantile(a, 0.5, axis=axis, keepdims=keepdims)


# ------------------------------------------------------------------------------------------ elementwise


@implements("where")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return searching.nonzero(condition)
    return elementwise.where(condition, x, y)


@implements("select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"np.select: {len(condlist)} conditions for {len(choicelist)} choices")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        found = elementwise.where(condition, choice, found)
    return found


@implements("clip")
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    return elementwise.clip(a, a_min if min is None else min, a_max if max is None else max)


@implements("round", "around")
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return elementwise.round(a, decimals)


@implements("fix")
def fix(x: Any, out: Any = None) -> Any:
    return elementwise.trunc(x)


@implements("real")
def real(val: Any) -> Any:
    return elementwise.real(val)


@implements("imag")
def imag(val: Any) -> Any:
    return elementwise.imag(val)


@implements("angle")
def angle(z: Any, deg: bool = False) -> Any:
    found = elementwise.angle(z)
    return found * (180 / math.pi) if deg else found


@implements("nan_to_num")
def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return sel.nan_to_num(floating(value(x)), nan=nan, posinf=posinf, neginf=neginf)


@implements("sinc")
def sinc(x: Any) -> Any:
    from ..ops.special import sinc as op

    return op(floating(value(x)))


@implements("i0")
def i0(x: Any) -> Any:
    from ..ops.special import i0 as op

    return op(floating(value(x)))


@implements("isposinf")
def isposinf(x: Any, out: Any = None) -> Any:
    return cmp.isposinf(value(x))


@implements("isneginf")
def isneginf(x: Any, out: Any = None) -> Any:
    return cmp.isneginf(value(x))


@implements("isreal")
def isreal(x: Any) -> Any:
    return cmp.isreal(value(x))


@implements("iscomplex")
def iscomplex(x: Any) -> Any:
    return cmp.logical_not(cmp.isreal(value(x)))


@implements("isclose")
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    return elementwise.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


@implements("interp")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None:
        raise unsupported("np.interp(period=...)")
    x, xp, fp = (double(value(v)) for v in (x, xp, fp))
    x, xp = promoted_all(x, xp)
    n = shape_of(xp)[0]
    if n < 2:
        raise unsupported("np.interp with fewer than two points")
    after = searching.searchsorted(xp, x, side="right")
    i = elementwise.clip(after, 1, n - 1)
    x0, x1, f0, f1 = (
        ix.take(xp, i - 1, axis=0),
        ix.take(xp, i, axis=0),
        ix.take(fp, i - 1, axis=0),
        ix.take(fp, i, axis=0),
    )
    found = f0 + (f1 - f0) * ((x - x0) / (x1 - x0))
    ends = indexing.get(fp, 0) if left is None else left, indexing.get(fp, -1) if right is None else right
    found = elementwise.where(x < indexing.get(xp, 0), ends[0], found)
    return elementwise.where(x > indexing.get(xp, -1), ends[1], found)


# ------------------------------------------------------------------------------------------ whole arrays, questions


@implements("allclose")
def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return elementwise.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


@implements("array_equal")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    return np.array_equal(
        concrete("np.array_equal", value(a1)), concrete("np.array_equal", value(a2)), equal_nan=equal_nan
    )


@implements("array_equiv")
def array_equiv(a1: Any, a2: Any) -> bool:
    return np.array_equiv(concrete("np.array_equiv", value(a1)), concrete("np.array_equiv", value(a2)))


@implements("ndim")
def ndim(a: Any) -> int:
    return rank(a)


@implements("shape")
def shape(a: Any) -> tuple[int, ...]:
    return tuple(shape_of(a))


@implements("size")
def size(a: Any, axis: Any = None) -> int:
    return math.prod(shape_of(a)[i] for i in axes_of("size", axis, rank(a)))


@implements("iscomplexobj")
def iscomplexobj(x: Any) -> bool:
    return dtype_of(x).kind == "c"


@implements("isrealobj")
def isrealobj(x: Any) -> bool:
    return dtype_of(x).kind != "c"


@implements("result_type")
def result_type(*arrays_and_dtypes: Any) -> Any:
    return dtypes.result_type(*arrays_and_dtypes)


@implements("can_cast")
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    return bool(np.can_cast(dtype_of(from_), to, casting))  # type: ignore[arg-type]


@implements("may_share_memory", "shares_memory")
def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return np.may_share_memory(*(x._a if isinstance(x, Value) else x for x in (a, b)))


@implements("array_repr", "array_str")
def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    return repr(arr)


# ------------------------------------------------------------------------------------------ elements at positions


@implements("nonzero")
def nonzero(a: Any) -> Any:
    return searching.nonzero(a)


@implements("flatnonzero")
def flatnonzero(a: Any) -> Any:
    return searching.nonzero(manipulation.flatten(a))[0]


@implements("argwhere")
def argwhere(a: Any) -> Any:
    return new(np.argwhere(concrete("np.argwhere", value(a))))


@implements("take")
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    a, indices = value(a), value(indices)
    if axis is None:
        a, axis = manipulation.flatten(a), 0
    n = shape_of(a)[axis_of("take", axis, rank(a))]
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = elementwise.clip(indices, 0, n - 1)
    return searching.take(a, indices, axis=axis)


@implements("take_along_axis")
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        arr, axis = manipulation.flatten(arr), 0
    return searching.take_along_axis(arr, indices, axis=axis)


@implements("compress")
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    positions = np.flatnonzero(concrete("np.compress", value(condition)))
    if axis is None:
        a, axis = manipulation.flatten(a), 0
    return searching.take(a, positions, axis=axis)


@implements("extract")
def extract(condition: Any, arr: Any) -> Any:
    return compress(manipulation.flatten(condition), manipulation.flatten(arr))


@implements("unique")
def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: Any = None, *, equal_nan: bool = True) -> Any:  # fmt: skip
    if axis is not None:
        raise unsupported("np.unique(axis=...)")
    flat = manipulation.flatten(ar)
    _, first, inverse, counts = np.unique(
        concrete("np.unique", flat), return_index=True, return_inverse=True, return_counts=True, equal_nan=equal_nan
    )
    found = [ix.take(flat, first, axis=0)]
    shown = ((return_index, first), (return_inverse, inverse.reshape(tuple(shape_of(ar)))), (return_counts, counts))
    found += [new(x) for wanted, x in shown if wanted]
    return found[0] if len(found) == 1 else tuple(found)


for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    implements(_name)(getattr(sets, _name))


@implements("copyto")
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, Value):
        raise unsupported("np.copyto into a NumPy array", " since an array holds no history")
    if where is True:
        indexing.set(dst, Ellipsis, src)
    else:
        inplace.update("copyto", dst, lambda: elementwise.where(where, operand("copyto", src), dst))


@implements("copy")
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return elementwise.positive(a)
