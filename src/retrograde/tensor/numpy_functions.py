"""What NumPy's functions that are no ufuncs do with Tensors: reductions, scans, order, choices, questions.

A row names a function of the namespace that means the same; what is defined here means something else there. NumPy's
signatures say how the arguments are called (numpy_protocol.py), so a function here has the parameters that it uses only.
numpy_shapes.py has shapes and joining, numpy_algebra.py linear algebra and transforms.
"""

from __future__ import annotations

import functools
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
from . import conversion, creation, dtypes, elementwise, indexing, manipulation, quantiles, reductions, searching, sets
from ._values import axes_of, axis_of, new, rank
from .conversion import operand, value
from .numpy_protocol import implements, same, special, unsupported
from .operators import promoted_all
from .promotion import double, floating, is_number

same(elementwise, "real imag fix=trunc round around=round isclose allclose")
same(reductions, "cumulative_sum cumulative_prod")
same(searching, "argmax argmin count_nonzero searchsorted nonzero")
same(dtypes, "can_cast result_type")
same(sets, "unique_all unique_counts unique_inverse unique_values")

# ------------------------------------------------------------------------------------------ reductions


def _reduction(name: str, neutral: Any, combine: Any) -> Any:
    """A reduction of the namespace with NumPy's `where` and `initial`; without a neutral element, `where` needs the latter."""
    ours = getattr(reductions, name)

    def reduction(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None,
                  where: Any = True) -> Any:  # fmt: skip
        if where is not True:
            filling = initial if neutral is None else neutral
            if filling is None:
                raise ValueError(f"np.{name}: where= needs initial= as well, for rows of which it leaves nothing")
            a = elementwise.where(where, a, filling)
        found = ours(a, axis=axis, keepdims=keepdims, **({} if dtype is None else {"dtype": dtype}))
        return found if initial is None else combine(found, initial)

    return reduction


sum = implements("sum")(_reduction("sum", 0, elementwise.add))
prod = implements("prod")(_reduction("prod", 1, elementwise.multiply))
max = implements("max", "amax")(_reduction("max", None, elementwise.maximum))
min = implements("min", "amin")(_reduction("min", None, elementwise.minimum))
implements("all")(_reduction("all", True, elementwise.logical_and))
implements("any")(_reduction("any", False, elementwise.logical_or))


@implements("ptp")
def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reductions.max(a, axis=axis, keepdims=keepdims) - reductions.min(a, axis=axis, keepdims=keepdims)


def _in(dtype: Any, a: Any) -> Any:
    return double(value(a)) if dtype is None else conversion.astype(value(a), dtype, copy=False)


def _count(a: Any, axis: Any, keepdims: bool, where: Any, dtype: Any) -> Any:
    """How many elements `where=` leaves in each row, in a floating dtype."""
    kept = manipulation.broadcast_to(value(where), tuple(shape_of(a)))
    return conversion.astype(reductions.sum(kept, axis=axis, keepdims=keepdims), dtype)


@implements("mean")
def mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    a = _in(dtype, a)
    if where is True:
        return reductions.mean(a, axis=axis, keepdims=keepdims)
    total = sum(a, axis, keepdims=keepdims, where=where)
    return total / _count(a, axis, keepdims, where, dtype_of(st.real(total)))


def _spread(name: str, of_all: Any, power: float) -> Any:
    def spread(a: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False,
               where: Any = True) -> Any:  # fmt: skip
        a = _in(dtype, a)
        if where is True:
            return of_all(a, axis=axis, correction=ddof, keepdims=keepdims)
        # With the mean in the place of what is left out the deviations stay the same, and only their number is another.
        found = of_all(elementwise.where(where, a, mean(a, axis, keepdims=True, where=where)), axis=axis, keepdims=keepdims)
        count = red.reduced_count(a, axes_of(name, axis, rank(a)))
        return found * (count / (_count(a, axis, keepdims, where, dtype_of(found)) - ddof)) ** power

    return implements(name, correction="ddof")(spread)


var, std = _spread("var", reductions.var, 1.0), _spread("std", reductions.std, 0.5)


def _numbers(a: Any) -> Any:
    return elementwise.logical_not(elementwise.isnan(a))


def _of_numbers(f: Any) -> Any:
    """A reduction that passes over nan."""
    return lambda a, where=True, **options: f(a, where=elementwise.logical_and(_numbers(a), where), **options)


nanmean = _of_numbers(mean)
for _name, _reduced in (("sum", sum), ("prod", prod), ("mean", mean)):
    implements(f"nan{_name}")(_of_numbers(_reduced))
for _name, _reduced in (("var", var), ("std", std)):
    implements(f"nan{_name}", correction="ddof")(_of_numbers(_reduced))


def _extreme_of_numbers(f: Any, worst: float) -> Any:
    def extreme(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        kept = _numbers(a)
        found = f(elementwise.where(kept, a, worst), axis, keepdims=keepdims)
        return elementwise.where(reductions.any(kept, axis=axis, keepdims=keepdims), found, math.nan)

    return extreme


def _place_of_number(f: Any, worst: float) -> Any:
    def place(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        kept = _numbers(a)
        if not reductions.all(reductions.any(kept, axis=axis)):
            raise ValueError("np.nanargmax, np.nanargmin: a row has nothing but nan")
        return f(elementwise.where(kept, a, worst), axis=axis, keepdims=keepdims)

    return place


implements("nanargmax")(_place_of_number(searching.argmax, -math.inf))
implements("nanargmin")(_place_of_number(searching.argmin, math.inf))


implements("nanmax")(_extreme_of_numbers(max, -math.inf))
implements("nanmin")(_extreme_of_numbers(min, math.inf))


@implements("average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    a = double(value(a))
    w = creation.ones_like(a) if weights is None else double(value(weights))
    if tuple(shape_of(w)) != tuple(shape_of(a)):
        (i,) = axes_of("average", axis, rank(a))
        w = st.reshape(w, shape=tuple(n if j == i else 1 for j, n in enumerate(shape_of(a))))
        w = manipulation.broadcast_to(w, tuple(shape_of(a)))
    scale = reductions.sum(w, axis=axis, keepdims=keepdims)
    found = reductions.sum(a * w, axis=axis, keepdims=keepdims) / scale
    return (found, scale) if returned else found


# ------------------------------------------------------------------------------------------ scans, order


def _in_a_row(f: Any, default: Any = None) -> Any:
    """A function along an axis (`default` if it is left out), of all elements in a row where that is None."""

    @functools.wraps(f)
    def along(a: Any, *rest: Any, axis: Any = default, **options: Any) -> Any:
        if axis is None:
            a, axis = manipulation.flatten(a), 0
        return f(a, *rest, axis=axis, **options)

    return along


implements("cumsum")(_in_a_row(reductions.cumulative_sum))


def _scan_of_numbers(f: Any, nothing: float) -> Any:
    scan = _in_a_row(f)
    return lambda a, axis=None: scan(elementwise.where(_numbers(a), a, nothing), axis=axis)


implements("nancumsum")(_scan_of_numbers(reductions.cumulative_sum, 0.0))
implements("nancumprod")(_scan_of_numbers(reductions.cumulative_prod, 1.0))
implements("cumprod")(_in_a_row(reductions.cumulative_prod))
sort = implements("sort")(_in_a_row(searching.sort, -1))
implements("partition")(lambda a, kth, axis=-1: sort(a, axis=axis))  # sorted altogether is partitioned anywhere
implements("argsort")(_in_a_row(searching.argsort, -1))


@implements("quantile")
def quantile(
    a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False, *, ignore_nan: bool = False
) -> Any:
    if method not in quantiles.INTERPOLATIONS:
        raise unsupported(f"np.quantile(method={method!r})")
    a = double(value(a))
    if is_number(q):
        q = value(np.asarray(q, dtype_of(a) if dtype_of(a).kind == "f" else None))
    a, q = promoted_all(a, double(value(q)))
    if rank(q) > 1:
        raise ValueError(f"np.quantile, np.percentile: wanted a number or a vector of them, got shape {tuple(shape_of(q))}")
    axes = axes_of("quantile", axis, rank(a))
    found = quantiles.interpolated(quantiles.as_rows(a, axes), st.reshape(q, shape=(-1,)), method, ignore_nan)
    kept = tuple(1 if i in axes else n for i, n in enumerate(shape_of(a)) if keepdims or i not in axes)
    return st.reshape(found, shape=(*shape_of(q), *kept))


@implements("percentile")
def percentile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    return quantile(a, q / 100 if is_number(q) else double(value(q)) / 100, axis, method, keepdims)


@implements("nanquantile")
def nanquantile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    if not is_number(q) and rank(value(q)) > 1:
        raise unsupported("np.nanquantile with a matrix of quantiles")
    return quantile(a, q, axis, method, keepdims, ignore_nan=True)


implements("nanmedian")(lambda a, axis=None, keepdims=False: quantile(a, 0.5, axis, keepdims=keepdims, ignore_nan=True))
implements("median")(lambda a, axis=None, keepdims=False: quantile(a, 0.5, axis, keepdims=keepdims))


# ------------------------------------------------------------------------------------------ elementwise

for _name, _op in (("isposinf", cmp.isposinf), ("isneginf", cmp.isneginf), ("isreal", cmp.isreal)):
    implements(_name)(lambda x, _op=_op: _op(value(x)))
implements("iscomplex")(lambda x: cmp.logical_not(cmp.isreal(value(x))))
implements("sinc")(special("special", "sinc", prepare=floating))
implements("i0")(special("special", "i0", prepare=floating))
implements("clip", a_min="min", a_max="max")(elementwise.clip)


@implements("where")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    return searching.nonzero(condition) if x is None and y is None else elementwise.where(condition, x, y)


@implements("select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"np.select: {len(condlist)} conditions for {len(choicelist)} choices")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        found = elementwise.where(condition, choice, found)
    return found


@implements("angle")
def angle(z: Any, deg: bool = False) -> Any:
    found = elementwise.angle(z)
    return found * (180 / math.pi) if deg else found


@implements("nan_to_num")
def nan_to_num(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return sel.nan_to_num(floating(value(x)), nan=nan, posinf=posinf, neginf=neginf)


@implements("interp")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    x, xp, fp = (double(value(v)) for v in (x, xp, fp))
    x, xp = promoted_all(x, xp)
    n = shape_of(xp)[0]
    if n < 2:
        raise unsupported("np.interp with fewer than two points")
    i = elementwise.clip(searching.searchsorted(xp, x, side="right"), 1, n - 1)
    x0, x1, f0, f1 = (ix.take(points, at, axis=0) for points in (xp, fp) for at in (i - 1, i))
    found = f0 + (f1 - f0) * ((x - x0) / (x1 - x0))
    ends = indexing.get(fp, 0) if left is None else left, indexing.get(fp, -1) if right is None else right
    found = elementwise.where(x < indexing.get(xp, 0), ends[0], found)
    return elementwise.where(x > indexing.get(xp, -1), ends[1], found)


# ------------------------------------------------------------------------------------------ whole arrays, questions


def _compared(theirs: Any) -> Any:
    name = f"np.{theirs.__name__}"
    return lambda a1, a2, **options: theirs(concrete(name, value(a1)), concrete(name, value(a2)), **options)


implements("array_equal")(_compared(np.array_equal))
implements("array_equiv")(_compared(np.array_equiv))
implements("ndim")(rank)
implements("shape")(lambda a: tuple(shape_of(a)))
implements("size")(lambda a, axis=None: math.prod(shape_of(a)[i] for i in axes_of("size", axis, rank(a))))
implements("iscomplexobj")(lambda x: dtype_of(x).kind == "c")
implements("isrealobj")(lambda x: dtype_of(x).kind != "c")
implements("array_repr", "array_str")(lambda arr, max_line_width=None, precision=None: repr(arr))


@implements("may_share_memory", "shares_memory")
def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return np.may_share_memory(*(x._a if isinstance(x, Value) else x for x in (a, b)))


# ------------------------------------------------------------------------------------------ elements at positions

implements("flatnonzero")(lambda a: searching.nonzero(manipulation.flatten(a))[0])
implements("argwhere")(lambda a: new(np.argwhere(concrete("np.argwhere", value(a)))))
implements("copy")(elementwise.positive)


@implements("take")
@_in_a_row
def take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    a, indices = value(a), value(indices)
    n = shape_of(a)[axis_of("take", axis, rank(a))]
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = elementwise.clip(indices, 0, n - 1)
    return searching.take(a, indices, axis=axis)


@implements("take_along_axis")
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    return _in_a_row(searching.take_along_axis)(arr, indices, axis=axis)


@implements("compress", "extract")
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    return take(a, np.flatnonzero(concrete("np.compress", value(condition))), axis=axis)


@implements("unique")
def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           equal_nan: bool = True) -> Any:  # fmt: skip
    distinct, *rest = sets.unique_of("np.unique", ar, equal_nan=equal_nan)
    found = [distinct, *(new(x) for wanted, x in zip((return_index, return_inverse, return_counts), rest) if wanted)]
    return found[0] if len(found) == 1 else tuple(found)


@implements("copyto")
def copyto(dst: Any, src: Any, where: Any = True) -> None:
    if not isinstance(dst, Value):
        raise unsupported("np.copyto into a NumPy array", " since an array holds no history")
    if where is True:
        indexing.set(dst, Ellipsis, src)
    else:
        inplace.update("copyto", dst, lambda: elementwise.where(where, operand("copyto", src), dst))
