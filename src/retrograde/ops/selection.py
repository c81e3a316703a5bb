"""Choosing between elements: where, masks, clipping, maxima and minima of two, and rounding to whole numbers.

What happens at ties and at bounds differs between frameworks; static parameters say it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, dtype_in, is_boolean, is_complex, is_floating, is_inexact, numpy_dtype
from ..core.aval import Aval
from ..core.primitive import Ufunc, primitive
from .comparison import equal, greater, greater_equal, isfinite, isnan, less, less_equal, logical_and, logical_or
from .kernels import BITS, LARGE, NUMPY, complex_from, on_numpy, scalar, widened, widened_numpy, zero_of
from .rules import batch_elementwise, elementwise, infer_same, linear, nondifferentiable, sum_tangents
from .samples import binary, distinct, sample, uniform
from .structural import broadcast_like, zeros_like

# ------------------------------------------------------------------------------------------ masks


def _infer_masked(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(np.broadcast_shapes(*(a.shape for a in avals)), avals[0].dtype)


def _mask_samples() -> Any:
    yield sample(uniform(-2, 2, 3), np.array([True, False, True]))
    yield sample(uniform(-2, 2, 2, 1), np.array([True, False, True]))
    yield sample(uniform(-2, 2), np.array(True))


def _keep_kernel(xp: Any, x: Any, mask: Any) -> Any:
    return xp.where(mask, x, zero_of(x))


def _drop_kernel(xp: Any, x: Any, mask: Any) -> Any:
    return xp.where(mask, zero_of(x), x)


# The elements of x where the mask is set, 0 elsewhere: also where x is inf or nan, unlike a product with the mask.
keep = linear(
    "keep", kernel=_keep_kernel, numpy=on_numpy(_keep_kernel),
    transpose=lambda g, _x, mask: keep(g, mask), others=1, batch=batch_elementwise, infer=_infer_masked,
    samples=_mask_samples,
)  # fmt: skip

drop = linear(
    "drop", kernel=_drop_kernel, numpy=on_numpy(_drop_kernel), transpose=lambda g, _x, mask: drop(g, mask),
    others=1, batch=batch_elementwise, infer=_infer_masked, samples=_mask_samples,
)  # fmt: skip


def _where_tangent(tangents: Any, out: Any, condition: Any, x: Any, y: Any) -> Any:
    parts = [None if t is None else choose(t, condition) for t, choose in zip(tangents[1:], (keep, drop))]
    return broadcast_like(sum_tangents(parts), out)


def _where_samples() -> Any:
    mask = np.array([True, False, True])
    yield sample(mask, uniform(-2, 2, 3), uniform(-2, 2, 3, seed=1))
    yield sample(mask, uniform(-2, 2, 2, 1), uniform(-2, 2, seed=1))
    yield sample(np.array(False), uniform(-2, 2, 2), uniform(-2, 2, seed=1))


where = elementwise(
    "where", kernel=Ufunc("where"), numpy=NUMPY.where, operands=("condition", "x", "y"),
    vjps=[None, lambda g, _out, condition, _x, _y: keep(g, condition),
          lambda g, _out, condition, _x, _y: drop(g, condition)],
    jvp=_where_tangent, samples=_where_samples,
    infer=lambda avals, params: Aval(
        np.broadcast_shapes(*(a.shape for a in avals)), np.result_type(avals[1].dtype, avals[2].dtype)),
)  # fmt: skip


def _chosen(xp: Any, g: Any, mask: Any, where: bool) -> Any:
    return xp.where(mask, g, zero_of(g)) if where else xp.where(mask, zero_of(g), g)


def _beyond(xp: Any, g: Any, x: Any, low: float, high: float, closed: bool, inside: bool, of_nan: bool) -> Any:
    """`between` for an interval with one end."""
    above = low != -np.inf
    bound = scalar(low if above else high, x) if (low if above else high) else zero_of(x)
    if inside != of_nan:
        compare = (xp.greater_equal if above else xp.less_equal) if closed else (xp.greater if above else xp.less)
        return _chosen(xp, g, compare(x, bound), inside)
    compare = (xp.less if above else xp.greater) if closed else (xp.less_equal if above else xp.greater_equal)
    return _chosen(xp, g, compare(x, bound), not inside)


def _between_kernel(
    xp: Any, g: Any, x: Any, *, low: float, high: float, closed: bool, inside: bool, of_nan: bool
) -> Any:
    # Written so that a comparison with nan falls to the side that of_nan asks for. One comparison where one is enough.
    if low == -np.inf or high == np.inf:
        return _beyond(xp, g, x, low, high, closed, inside, of_nan)
    low, high = scalar(low, x), scalar(high, x)
    if inside != of_nan:
        mask = (x >= low) & (x <= high) if closed else (x > low) & (x < high)
        return _chosen(xp, g, mask, inside)
    mask = (x < low) | (x > high) if closed else (x <= low) | (x >= high)
    return _chosen(xp, g, mask, not inside)


def _between_samples() -> Any:
    for flags in ((True, True, False), (False, True, True), (True, False, True), (False, False, False)):
        given = dict(zip(("closed", "inside", "of_nan"), flags))
        yield sample(uniform(-2, 2, 2, 3), uniform(-2, 2, 3), low=-1.0, high=0.7, **given)
    yield sample(uniform(-2, 2), uniform(-2, 2), low=0.0, high=np.inf, closed=False, inside=True, of_nan=True)


# g where x lies between two numbers, 0 elsewhere (or, with inside=False, the reverse). `closed`: the interval has its
# ends. `of_nan`: whether g stays where x is nan. The derivative of most functions made of straight pieces; their second
# derivative is 0 and not absent.
between = elementwise(
    "between", kernel=_between_kernel, numpy=on_numpy(_between_kernel),
    vjps=[lambda h, _out, _g, x, *, low, high, closed, inside, of_nan: between(
              h, x, low=low, high=high, closed=closed, inside=inside, of_nan=of_nan),
          lambda h, _out, _g, x_, *, low, high, closed, inside, of_nan: zeros_like(x_, h)],
    jvp=lambda tangents, out, g, x, *, low, high, closed, inside, of_nan: None if tangents[0] is None else between(
        tangents[0], x, low=low, high=high, closed=closed, inside=inside, of_nan=of_nan),
    infer=_infer_masked, samples=_between_samples,
)  # fmt: skip

def _keep_nonzero_numpy(g: Any, x: Any) -> Any:
    """Large arrays by bits, of which those of |x| are reduced to 0 or 1: 64x256 float32 take 6.4 µs, by a mask 8.9."""
    bits = BITS.get(x.dtype.itemsize) if x.size >= LARGE and x.shape == g.shape else None
    if bits is None or x.dtype.kind == "c":
        return np.where(x != zero_of(x), g, zero_of(g))
    words = np.abs(x).view(bits)
    np.sign(words, words)
    words *= g.view(bits)
    return words.view(g.dtype)


def _of_nonzero(name: str, kernel: Any, numpy: Any) -> Any:
    def rule(g: Any, x: Any) -> Any:
        return op(g, x)

    op = elementwise(
        name, kernel=kernel, numpy=numpy, infer=_infer_masked,
        vjps=[lambda h, _out, _g, x: rule(h, x), lambda h, _out, _g, x_: zeros_like(x_, h)],
        jvp=lambda tangents, out, g, x: None if tangents[0] is None else rule(tangents[0], x),
        samples=lambda: [sample(uniform(-2, 2, 2, 3), distinct(2, 3)), sample(uniform(-2, 2), uniform(1, 2)),
                         sample(uniform(-2, 2, 3), uniform(1, 2, 2, 1))],
    )  # fmt: skip
    return op


# g where x is not 0, 0 elsewhere: the derivative of what is 0 or passes its operand on, from its result.
keep_nonzero = _of_nonzero("keep_nonzero", lambda xp, g, x: xp.where(x != zero_of(x), g, zero_of(g)), _keep_nonzero_numpy)
# The same as a product with a mask, so that an infinite g gives nan where x is 0.
times_nonzero = _of_nonzero(
    "times_nonzero", lambda xp, g, x: g * astype(xp, x != zero_of(x), g.dtype), lambda g, x: np.multiply(g, x != 0, dtype=g.dtype)
)


def _fill_kernel(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(xp.zeros_like(x, dtype=dtype_in(xp, np.bool)), x, astype(xp, y, x.dtype))


def _fill_numpy(x: Any, y: Any) -> Any:
    if not y.ndim:  # 0.5 µs instead of 8
        out = np.empty(x.shape, x.dtype)
        out[...] = y
        return out
    return np.asarray(np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)), copy=True, dtype=x.dtype)


# The value `y` (a 0-d array) in the shape and dtype of x.
fill = elementwise(
    "fill", kernel=_fill_kernel, numpy=_fill_numpy, infer=_infer_masked,
    vjps=[lambda g, _out, _x, _y: zeros_like(g), lambda g, _out, _x, _y: g],
    jvp=lambda tangents, out, x, y: broadcast_like(tangents[1], out),
    samples=lambda: [sample(uniform(-2, 2, 2, 3), uniform(-2, 2)), sample(uniform(-2, 2), uniform(-2, 2))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ clipping


def _clip_kernel(xp: Any, x: Any, *, low: Any, high: Any) -> Any:
    if low is not None:
        x = xp.maximum(scalar(low, x), x)
    return x if high is None else xp.minimum(scalar(high, x), x)


def _within_kernel(xp: Any, x: Any, *, low: Any, high: Any) -> Any:
    if low is None:
        return x <= scalar(high, x)
    return x >= scalar(low, x) if high is None else (x >= scalar(low, x)) & (x <= scalar(high, x))


within = nondifferentiable(
    "within", kernel=_within_kernel,
    samples=lambda: [sample(distinct(2, 3), low=-0.9, high=1.3), sample(distinct(4), low=None, high=0.5)],
)  # fmt: skip


# Bounds are numbers, or None for none; where they cross, the upper one holds. At a bound the gradient passes.
clip = elementwise(
    "clip", kernel=_clip_kernel, vjps=[lambda g, _out, x, *, low, high: keep(g, within(x, low=low, high=high))],
    jvp=lambda tangents, out, x, *, low, high: keep(tangents[0], within(x, low=low, high=high)), infer=infer_same,
    samples=lambda: [sample(distinct(2, 3), low=-0.9, high=1.3), sample(distinct(4), low=None, high=0.5),
                     sample(uniform(1, 2), low=0.0, high=None)],
)  # fmt: skip


def _clip_by_kernel(xp: Any, x: Any, low: Any, high: Any) -> Any:
    if low is not None:
        x = xp.maximum(x, low)
    return x if high is None else xp.minimum(x, high)


def _clip_by_parts(x: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Where the result is x, the lower bound, the upper bound."""
    if high is None:
        return greater_equal(x, low), less(x, low), None
    if low is None:
        return less_equal(x, high), None, greater(x, high)
    return (
        logical_and(greater_equal(x, low), less_equal(x, high)),
        logical_and(less(low, high), less(x, low)),
        logical_or(greater(x, high), less(high, low)),
    )


def _clip_by_vjp(needs: Any, g: Any, _out: Any, x: Any, low: Any, high: Any) -> Any:
    masks = _clip_by_parts(x, low, high)
    return tuple(keep(g, mask) if need and mask is not None else None for need, mask in zip(needs, masks))


def _clip_by_tangent(tangents: Any, out: Any, x: Any, low: Any, high: Any) -> Any:
    masks = _clip_by_parts(x, low, high)
    parts = [None if t is None else keep(t, mask) for t, mask in zip(tangents, masks)]
    return broadcast_like(sum_tangents(parts), out)


# The same with arrays as bounds, one of which may be None; they get the gradient where they hold.
clip_by = primitive(
    "clip_by", kernel=_clip_by_kernel, vjp=_clip_by_vjp, jvp=_clip_by_tangent,
    kind="elementwise", batch=batch_elementwise,
    infer=lambda avals, params: Aval(
        np.broadcast_shapes(*(a.shape for a in avals if a is not None)), avals[0].dtype),
    samples=lambda: [sample(distinct(2, 3), np.array([-0.9, 1.0, 0.3]), np.array([0.5, 1.1, 2.0])),
                     sample(distinct(3), np.array(0.05), None),
                     sample(distinct(2, 3), None, distinct(3, seed=1) + 0.05),
                     sample(distinct(2), np.array([1.0, 1.5]), np.array(0.7))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ maxima and minima of two

SHARES = {
    "half": (0.5, 0.5), "half_ordered": (0.5, 0.5), "first": (1.0, 0.0), "second": (0.0, 1.0), "both": (1.0, 1.0),
}  # fmt: skip
"""What the first and the second operand get of the gradient where they are equal. Beside a nan both get all of it, but none
where they are "half_ordered"."""



def _order_kernel(xp: Any, x: Any, y: Any) -> Any:
    differs = astype(xp, x != y, np.int8)
    return xp.where(x < y, scalar(-1, differs), differs)


# -1 where x is the smaller, 0 where both are equal, 1 where it is the greater or either is nan.
_order = nondifferentiable(
    "order", kernel=_order_kernel, samples=binary(-2, 2),
    infer=lambda avals, params: Aval(np.broadcast_shapes(avals[0].shape, avals[1].shape), np.dtype(np.int8)),
)  # fmt: skip


def _share_kernel(xp: Any, g: Any, order: Any, *, tie: float) -> Any:
    if tie == 1:
        return xp.where(order < 0, zero_of(g), g)
    part = xp.where(order > 0, g, zero_of(g))
    return xp.where(order == 0, g * scalar(tie, g), part) if tie else part


# g where the order is 1, 0 where it is -1, and the part `tie` of g where it is 0.
_ordered_share = linear(
    "ordered_share", kernel=_share_kernel, numpy=on_numpy(_share_kernel),
    transpose=lambda g, _g, order, *, tie: _ordered_share(g, order, tie=tie),
    others=1, batch=batch_elementwise, infer=_infer_masked,
    samples=lambda: [sample(uniform(-2, 2, 2, 3), np.array([-1, 0, 1], np.int8), tie=0.5),
                     sample(uniform(-2, 2), np.array(1, np.int8), tie=1.0)],
)  # fmt: skip


def _share(g: Any, x: Any, y: Any, ties: str, place: int) -> Any:
    """What the greater of two, the operand at `place`, gets of g."""
    tie, ordered = SHARES[ties][place], ties == "half_ordered"
    if type(g) is type(x) is type(y) is np.ndarray and g.dtype is x.dtype is y.dtype and g.dtype.kind == "f":
        less, zero = ~np.greater_equal(x, y) if ordered else np.less(x, y), zero_of(g)
        if tie == 1:
            return np.where(less, zero, g)
        even = np.equal(x, y)
        if not tie or not np.count_nonzero(even):
            return np.where(np.logical_or(less, even), zero, g)
    return _ordered_share(g, -_order(y, x) if ordered else _order(x, y), tie=tie)


def _extremum(name: str, smaller: bool) -> Any:
    def first(g: Any, x: Any, y: Any, ties: str) -> Any:
        return _share(g, y, x, ties, 0) if smaller else _share(g, x, y, ties, 0)

    def second(g: Any, x: Any, y: Any, ties: str) -> Any:
        return _share(g, x, y, ties, 1) if smaller else _share(g, y, x, ties, 1)

    def tangent(tangents: Any, out: Any, x: Any, y: Any, *, ties: str) -> Any:
        parts = [None if t is None else part(t, x, y, ties) for t, part in zip(tangents, (first, second))]
        return broadcast_like(sum_tangents(parts), out)

    def samples() -> Any:
        for s in binary(-2, 2)():
            for ties in ("half", "half_ordered"):
                yield sample(*s.operands, ties=ties)

    ufunc = np.minimum if smaller else np.maximum
    return elementwise(
        name, kernel=lambda xp, x, y, *, ties: getattr(xp, name)(x, y), numpy=lambda x, y, *, ties: ufunc(x, y),
        vjps=[lambda g, _out, x, y, *, ties: first(g, x, y, ties),
              lambda g, _out, x, y, *, ties: second(g, x, y, ties)],
        jvp=tangent, samples=samples,
    )  # fmt: skip


maximum = _extremum("maximum", False)
minimum = _extremum("minimum", True)


def _fextremum(name: str, best: str, wins: Any) -> Any:
    """A maximum or minimum for which a nan loses against a number; the first operand gets the gradient of a tie."""

    def first(x: Any, y: Any) -> Any:
        return logical_or(wins(x, y), isnan(y))

    def tangent(tangents: Any, out: Any, x: Any, y: Any) -> Any:
        mask = first(x, y)
        parts = [None if t is None else choose(t, mask) for t, choose in zip(tangents, (keep, drop))]
        return broadcast_like(sum_tangents(parts), out)

    def kernel(xp: Any, x: Any, y: Any) -> Any:
        return xp.where(xp.isnan(x), y, xp.where(xp.isnan(y), x, getattr(xp, best)(x, y)))

    return elementwise(
        name, kernel=kernel, numpy=getattr(np, name), samples=binary(-2, 2), jvp=tangent,
        vjps=[lambda g, _out, x, y: keep(g, first(x, y)), lambda g, _out, x, y: drop(g, first(x, y))],
    )  # fmt: skip


fmax = _fextremum("fmax", "maximum", greater_equal)
fmin = _fextremum("fmin", "minimum", less_equal)

# ------------------------------------------------------------------------------------------ rounding: derivative 0


def _flat(name: str, kernel: Any, samples: Any, operands: Any = None, numpy: Any = None) -> Any:
    """An elementwise operation of one operand that is constant between its jumps."""
    return elementwise(
        name, kernel=kernel, vjps=[lambda g, _out, _x: zeros_like(g)], jvp=lambda tangents, out, x: None,
        samples=samples, infer=infer_same, operands=operands, numpy=numpy,
    )  # fmt: skip


def _rounding_samples() -> Any:
    yield sample(distinct(2, 3) + 0.013)
    yield sample(uniform(0.1, 0.4))


floor = _flat("floor", Ufunc("floor"), _rounding_samples)
ceil = _flat("ceil", Ufunc("ceil"), _rounding_samples)
trunc = _flat("trunc", Ufunc("trunc"), _rounding_samples)
# To the nearest whole number, halves to the even one.
rint = _flat("rint", Ufunc("round"), _rounding_samples, numpy=np.rint, operands=("x",))


@widened
def _round_kernel(xp: Any, x: Any, *, decimals: int) -> Any:
    power = scalar(10.0 ** abs(decimals), x)
    return xp.round(x * power) / power if decimals > 0 else xp.round(x / power) * power


# To a number of decimals, which may be negative; halves to the even digit.
round_to = elementwise(
    "round_to", kernel=_round_kernel, vjps=[lambda g, _out, _x, *, decimals: zeros_like(g)],
    jvp=lambda tangents, out, x, *, decimals: None, infer=infer_same,
    samples=lambda: [sample(distinct(2, 3) + 0.0013, decimals=1), sample(distinct(3) * 30 + 1.7, decimals=-1)],
)  # fmt: skip

frac = elementwise(
    "frac", kernel=widened(lambda xp, x: x - xp.trunc(x)), vjps=[lambda g, _out, _x: g],
    jvp=lambda tangents, out, x: tangents[0], samples=_rounding_samples, infer=infer_same,
)  # fmt: skip


def _sign_kernel(xp: Any, x: Any, *, nan_to_zero: bool) -> Any:
    if is_boolean(x):
        return xp.logical_or(x, x)
    if not nan_to_zero or not is_floating(x):
        return xp.sign(x)
    above, below = astype(xp, x > zero_of(x), np.int8), astype(xp, x < zero_of(x), np.int8)
    return astype(xp, above - below, x.dtype)


def _sign_numpy(x: Any, *, nan_to_zero: bool) -> Any:
    kind = x.dtype.kind
    if kind == "b":
        return np.asarray(x, copy=True)
    if not nan_to_zero or kind not in "fV":
        return np.sign(x)
    zero = zero_of(x)
    return (np.greater(x, zero).astype(np.int8) - np.less(x, zero).astype(np.int8)).astype(x.dtype)


# -1, 0 or 1. The sign of nan is nan, or 0 with nan_to_zero.
sign = elementwise(
    "sign", kernel=_sign_kernel, numpy=_sign_numpy, vjps=[lambda g, _out, _x, *, nan_to_zero: zeros_like(g)],
    jvp=lambda tangents, out, x, *, nan_to_zero: None, infer=infer_same,
    samples=lambda: [sample(uniform(-2, 2, 2, 3), nan_to_zero=True), sample(uniform(1, 2), nan_to_zero=False)],
)  # fmt: skip

def _heaviside_kernel(xp: Any, x: Any, values: Any) -> Any:
    step = xp.where(x > zero_of(x), scalar(1, x), x * zero_of(x))  # nan at nan
    return xp.where(x == zero_of(x), values, xp.where(x < zero_of(x), zero_of(x), step))


# 0 below 0, 1 above, and `values` at 0.
heaviside = elementwise(
    "heaviside", kernel=_heaviside_kernel, numpy=np.heaviside, samples=binary(-2, 2),
    vjps=[lambda g, _out, _x, _values: zeros_like(g), lambda g, _out, x, _values: keep(g, equal(x, 0))],
    jvp=lambda tangents, out, x, values: None if tangents[1] is None else keep(tangents[1], equal(x, 0)),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ replacing nan and infinity


@widened
def _nan_to_num_kernel(xp: Any, x: Any, *, nan: float, posinf: float | None, neginf: float | None) -> Any:
    if not is_inexact(x):
        return xp.positive(x)
    if is_complex(x):
        real, imag = (
            _nan_to_num_kernel(xp, part, nan=nan, posinf=posinf, neginf=neginf) for part in (xp.real(x), xp.imag(x))
        )
        return complex_from(xp, real, imag)
    largest = float(np.finfo(numpy_dtype(x.dtype)).max)
    high, low = scalar(largest if posinf is None else posinf, x), scalar(-largest if neginf is None else neginf, x)
    out = xp.where(xp.isnan(x), scalar(nan, x), x)
    return xp.where(x == math.inf, high, xp.where(x == -math.inf, low, out))


def _nan_to_num_part(x: Any, nan: float, posinf: float | None, neginf: float | None) -> Any:
    if x.dtype.kind == "c":
        out = np.empty(x.shape, dtype=x.dtype)
        out.real, out.imag = (_nan_to_num_part(part, nan, posinf, neginf) for part in (x.real, x.imag))
        return out
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@widened_numpy
def _nan_to_num_numpy(x: Any, *, nan: float, posinf: float | None, neginf: float | None) -> Any:
    return _nan_to_num_part(x, nan, posinf, neginf)


# nan and the infinities become numbers: the largest ones where None.
nan_to_num = elementwise(
    "nan_to_num", kernel=_nan_to_num_kernel, numpy=_nan_to_num_numpy, infer=infer_same,
    vjps=[lambda g, _out, x, *, nan, posinf, neginf: keep(g, isfinite(x))],
    jvp=lambda tangents, out, x, *, nan, posinf, neginf: keep(tangents[0], isfinite(x)),
    samples=lambda: [sample(uniform(-2, 2, 2, 3), nan=0.0, posinf=None, neginf=None),
                     sample(uniform(-2, 2), nan=1.0, posinf=2.0, neginf=-2.0)],
)  # fmt: skip
