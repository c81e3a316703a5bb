"""Scans along one axis: cumulative sums, products, extremes, and the first-order linear recurrence behind them.

`axis` is a non-negative int, except for `product_of_others`, which works along the last axis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, is_complex, numpy_dtype
from ..backend.jit import scans
from ..core.arrays import full
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from .comparison import equal, isfinite, logical_and, logical_not
from .elementwise import exp
from .kernels import in_c_order, zero_of
from .rules import batch_axes, checked_axes, conj, infer_along, linear, sum_tangents
from .samples import complex_normal, normal, sample
from .selection import drop
from .shapes import at_least, matching
from .structural import concatenate, getitem


def shift(x: Any, axis: int, by: int, fill: float) -> Any:
    """`x` moved by one place along an axis, up (by=1) or down (by=-1), with `fill` where nothing is left."""
    shape = tuple(shape_of(x))
    n = shape[axis]
    if not n:
        return x
    before = (slice(None),) * axis
    edge = full((*shape[:axis], 1, *shape[axis + 1 :]), fill, dtype_of(x), x)
    if n == 1:
        return edge
    if by > 0:
        return concatenate(edge, getitem(x, index=(*before, slice(0, n - 1))), axis=axis)
    return concatenate(getitem(x, index=(*before, slice(1, n))), edge, axis=axis)


def _accumulating(xp: Any, x: Any) -> Any:
    """An array in the precision in which scans accumulate: the next one up."""
    d = x.dtype if type(x) is np.ndarray else numpy_dtype(x.dtype)
    if d.kind in "iub" or d.itemsize >= 8 + 8 * (d.kind == "c"):
        return x
    return astype(xp, x, np.float32 if d.itemsize == 2 else np.complex128 if d.kind == "c" else np.float64)


def scanned(xp: Any, f: Any, x: Any, axis: int) -> Any:
    """An associative function accumulated along an axis, by doubling: as many steps as the length has bits."""
    n, step = x.shape[axis], 1

    def part(y: Any, start: int, stop: int) -> Any:
        return y[(*(slice(None),) * axis, slice(start, stop), Ellipsis)]

    while step < n:
        joined = f(part(x, 0, n - step), part(x, step, n))
        x = xp.concat([part(x, 0, step), joined], axis=axis)
        step *= 2
    return x


def _turned(xp: Any, kernel: Any, x: Any, axis: int, reverse: bool) -> Any:
    """A scan from either end, in the precision for it."""
    wide = _accumulating(xp, x)
    out = kernel(xp.flip(wide, axis=axis) if reverse else wide)
    return astype(xp, xp.flip(out, axis=axis) if reverse else out, x.dtype)


def _cumsum_kernel(xp: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    return _turned(xp, lambda y: xp.cumulative_sum(y, axis=axis, dtype=y.dtype), x, axis, reverse)


def _cumprod_kernel(xp: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    return _turned(xp, lambda y: xp.cumulative_prod(y, axis=axis, dtype=y.dtype), x, axis, reverse)


def _scanned_numpy(ufunc: Any, name: str) -> Any:
    """What accumulates with a NumPy function, or, in generated code, is called so."""

    def lowered(x: Any, *, axis: int, reverse: bool) -> Any:
        found = scans.cumulative(name, x, axis, reverse)
        if found is not None:
            return found
        wide = _accumulating(np, x)
        turned = (*(slice(None),) * axis, slice(None, None, -1))
        out = ufunc.accumulate(wide[turned] if reverse else in_c_order(wide), axis, wide.dtype)
        if reverse:
            out = out[turned]
        return out.astype(x.dtype, copy=False)

    return lowered


def _sum_samples() -> Any:
    for reverse in (False, True):
        yield sample(normal(4), axis=0, reverse=reverse)
        yield sample(normal(2, 3), axis=1, reverse=reverse)
    yield sample(complex_normal(3, 2), axis=0, reverse=False)


# Float32 accumulates in float64, half precision in float32: the rounding errors of a long scan would add up.
cumsum = linear(
    "cumsum", kernel=_cumsum_kernel, numpy=_scanned_numpy(np.add, "cumsum"), kind="scan",
    transpose=lambda g, _x, *, axis, reverse: cumsum(g, axis=axis, reverse=not reverse),
    batch=batch_axes("axis"), infer=infer_along("axis"), samples=_sum_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ linear recurrence


_SHORT = 32
"""Lines of so many elements go one slice after the other."""


def _passed(xp: Any, a: Any, s: Any) -> Any:
    """a s, and 0 where a is: nothing gets through it, infinite or not."""
    return a * xp.where(a == zero_of(a), zero_of(s), s)


def _recurrence_kernel(xp: Any, a: Any, b: Any, *, axis: int, reverse: bool) -> Any:
    """By doubling: pairs (a, b) compose associatively."""
    if reverse:
        a, b = xp.flip(a, axis=axis), xp.flip(b, axis=axis)
    n, step = b.shape[axis], 1

    def part(y: Any, start: int, stop: int) -> Any:
        return y[(*(slice(None),) * axis, slice(start, stop), Ellipsis)]

    while step < n:
        tail = part(a, step, n)
        b = xp.concat([part(b, 0, step), part(b, step, n) + _passed(xp, tail, part(b, 0, n - step))], axis=axis)
        a = xp.concat([part(a, 0, step), tail * part(a, 0, n - step)], axis=axis)
        step *= 2
    return xp.flip(b, axis=axis) if reverse else b


def _recurrence_numpy(a: Any, b: Any, *, axis: int, reverse: bool) -> Any:
    """Slice by slice where slices are long, else by doubling: pairs (a, b) compose associatively.

    Along 10^4 scalars doubling takes 0.2 ms, one slice after the other 12.
    """
    found = scans.recurrence(a, b, axis, reverse)
    if found is not None:
        return found
    n = b.shape[axis]
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    if reverse:
        a, b = a[::-1], b[::-1]
    out = np.asarray(b, copy=True)
    if n <= _SHORT or b.size >= 512 * n:
        for i in range(1, n):
            out[i] += _passed(np, a[i], out[i - 1])
    else:
        a = np.asarray(a, copy=True)
        step = 1
        while step < n:
            out[step:] += _passed(np, a[step:], out[:-step])
            a[step:] = a[step:] * a[:-step]
            step *= 2
    return np.moveaxis(out[::-1] if reverse else out, 0, axis)


def _recurrence_vjp(needs: Any, g: Any, out: Any, a: Any, axis: int, reverse: bool) -> tuple[Any, Any]:
    back = -1 if reverse else 1
    adjoint = linear_recurrence(conj(shift(a, axis, -back, 0)), g, axis=axis, reverse=not reverse)
    return (adjoint * conj(shift(out, axis, back, 0)) if needs[0] else None), (adjoint if needs[1] else None)


def _recurrence_jvp(tangents: Any, out: Any, a: Any, b: Any, *, axis: int, reverse: bool) -> Any:
    da, db = tangents
    source = sum_tangents([None if da is None else da * shift(out, axis, -1 if reverse else 1, 0), db])
    return linear_recurrence(a, source, axis=axis, reverse=reverse)


def _infer_recurrence(avals: Any, params: dict[str, Any]) -> Aval:
    a, b = avals
    matching("linear_recurrence", a.shape, b.shape)
    checked_axes(b.shape, params["axis"])
    return Aval(b.shape, b.dtype)


# s_i = a_i s_(i-1) + b_i along an axis (from the end, if `reverse`), with nothing before the first element and nothing, be it
# infinite, that gets through an a_i of 0.
linear_recurrence = primitive(
    "linear_recurrence", kernel=_recurrence_kernel, numpy=_recurrence_numpy, kind="scan",
    vjp=lambda needs, g, out, a, _b, *, axis, reverse: _recurrence_vjp(needs, g, out, a, axis, reverse),
    jvp=_recurrence_jvp, batch=batch_axes("axis"), infer=_infer_recurrence,
    samples=lambda: [sample(normal(4), normal(4, seed=1), axis=0, reverse=False),
                     sample(normal(2, 3), normal(2, 3, seed=1), axis=1, reverse=True),
                     sample(normal(2, 40), normal(2, 40, seed=1), axis=1, reverse=False),
                     sample(complex_normal(3), complex_normal(3, seed=1), axis=0, reverse=False)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ products


def _cumprod_pull_numpy(g: Any, out: Any, x: Any, axis: int, reverse: bool) -> Any:
    """What the rule below says, along short lines: s_i = g_i + x_(i+1) s_(i+1), times the product of those before."""
    found = np.array(g)
    s, out, x = (a.swapaxes(axis, 0)[:: -1 if reverse else 1] for a in (found, out, x))
    for i in range(len(s) - 2, -1, -1):
        s[i] += _passed(np, x[i + 1], s[i + 1])
    s[1:] = _passed(np, out[:-1], s[1:])
    return found


def _cumprod_vjp(g: Any, out: Any, x: Any, axis: int, reverse: bool) -> Any:
    if type(g) is np.ndarray and type(out) is np.ndarray and type(x) is np.ndarray:
        found = scans.cumprod_pull(g, out, x, axis, reverse)
        if found is None and x.shape[axis] <= _SHORT and g.dtype == x.dtype == out.dtype and x.dtype.kind == "f":
            found = _cumprod_pull_numpy(g, out, x, axis, reverse)
        if found is not None:
            return found
    back = -1 if reverse else 1
    adjoint = linear_recurrence(conj(shift(x, axis, -back, 0)), g, axis=axis, reverse=not reverse)
    before = conj(shift(out, axis, back, 1))
    # A product of 0 hides an infinite cotangent; of a finite one the second derivative has to be left.
    return drop(adjoint * before, logical_and(equal(before, 0), logical_not(isfinite(adjoint))))


def _product_samples() -> Any:
    yield from _sum_samples()
    yield sample([2.0, 0.0, 3.0, 0.0, -1.0], axis=0, reverse=False)


# Its derivative never divides, so zeros need no care.
cumprod = primitive(
    "cumprod", kernel=_cumprod_kernel, numpy=_scanned_numpy(np.multiply, "cumprod"), kind="scan",
    vjps=[lambda g, out, x, *, axis, reverse: _cumprod_vjp(g, out, x, axis, reverse)],
    jvp=lambda tangents, out, x, *, axis, reverse: linear_recurrence(
        x, tangents[0] * shift(out, axis, -1 if reverse else 1, 1), axis=axis, reverse=reverse),
    batch=batch_axes("axis"), infer=infer_along("axis"), samples=_product_samples,
)  # fmt: skip


def _others_kernel(xp: Any, x: Any) -> Any:
    wide, axis = _accumulating(xp, x), x.ndim - 1
    one = xp.ones_like(wide[..., :1])

    def before(y: Any) -> Any:
        return xp.cumulative_prod(xp.concat([one, y[..., :-1]], axis=axis), axis=axis, dtype=y.dtype)

    return astype(xp, before(wide) * xp.flip(before(xp.flip(wide, axis=axis)), axis=axis), x.dtype)


def others_array(x: Any) -> Any:
    """The kernel of `product_of_others` for NumPy's arrays."""
    found = scans.product_of_others(x)
    if found is not None:
        return found
    wide = _accumulating(np, x)
    before, behind = np.ones(wide.shape, wide.dtype), np.ones(wide.shape, wide.dtype)
    if wide.shape[-1] > 1:
        np.multiply.accumulate(wide[..., :-1], axis=-1, out=before[..., 1:])
        np.multiply.accumulate(wide[..., :0:-1], axis=-1, out=behind[..., -2::-1])
    before *= behind
    return before.astype(x.dtype, copy=False)


def _partial_products(x: Any) -> tuple[Any, Any]:
    """For each element the product of those before it, and of those behind it."""
    axis = ndim_of(x) - 1
    return (cumprod(shift(x, axis, 1, 1), axis=axis, reverse=False),
            cumprod(shift(x, axis, -1, 1), axis=axis, reverse=True))  # fmt: skip


def _others_vjp(g: Any, x: Any) -> Any:
    """The output is `before * behind`; each of them is a recurrence in x, whose adjoint runs the other way."""
    axis = ndim_of(x) - 1
    before, behind = _partial_products(x)
    towards_end = linear_recurrence(conj(x), g * conj(before), axis=axis, reverse=False)
    towards_start = linear_recurrence(conj(x), g * conj(behind), axis=axis, reverse=True)
    return shift(towards_start, axis, -1, 0) * conj(before) + shift(towards_end, axis, 1, 0) * conj(behind)


def _others_jvp(tangents: Any, out: Any, x: Any) -> Any:
    axis = ndim_of(x) - 1
    t = tangents[0]
    before, behind = _partial_products(x)
    d_before = shift(linear_recurrence(x, t * before, axis=axis, reverse=False), axis, 1, 0)
    d_behind = shift(linear_recurrence(x, t * behind, axis=axis, reverse=True), axis, -1, 0)
    return d_before * behind + before * d_behind


def _infer_others(avals: Any, params: dict[str, Any]) -> Aval:
    at_least(1, avals[0])
    return Aval(*avals[0])


# For each element the product of the other ones along the last axis.
product_of_others = primitive(
    "product_of_others", kernel=_others_kernel, numpy=others_array, kind="scan",
    vjps=[lambda g, _out, x: _others_vjp(g, x)], jvp=_others_jvp,
    batch=batch_axes(), infer=_infer_others,
    samples=lambda: [sample(normal(4)), sample(normal(2, 3)), sample([[2.0, 0.0, 3.0], [0.0, 1.0, 0.0]]),
                     sample(complex_normal(3)), sample(normal(2, 1))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ logarithms of sums


def _log_of_sum(xp: Any, x: Any, y: Any) -> Any:
    """log(e^x + e^y). Of complex numbers the imaginary part is not brought back into (-pi, pi]."""
    if not is_complex(x):
        return xp.logaddexp(x, y)
    first = xp.real(x) >= xp.real(y)
    large, small = xp.where(first, x, y), xp.where(first, y, x)
    return xp.where(xp.real(small) == -math.inf, large, large + xp.log1p(xp.exp(small - large)))


def _logcumsumexp_kernel(xp: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    return _turned(xp, lambda y: scanned(xp, lambda a, b: _log_of_sum(xp, a, b), y, axis), x, axis, reverse)


def _logcumsumexp_numpy(x: Any, *, axis: int, reverse: bool) -> Any:
    wide = np.moveaxis(_accumulating(np, x), axis, 0)
    if reverse:
        wide = wide[::-1]
    if wide.dtype.kind != "c":
        out = np.logaddexp.accumulate(wide, axis=0)
    else:
        out = np.asarray(wide, copy=True)
        for i in range(1, len(out)):
            # The smaller one relative to the larger; the imaginary part is not brought back into (-pi, pi].
            first = out[i - 1].real >= out[i].real
            large, small = np.where(first, out[i - 1], out[i]), np.where(first, out[i], out[i - 1])
            out[i] = np.where(small.real == -np.inf, large, large + np.log1p(np.exp(small - large)))
    return in_c_order(np.moveaxis(out[::-1] if reverse else out, 0, axis).astype(x.dtype, copy=False))


def _logcumsumexp_vjp(g: Any, out: Any, x: Any, axis: int, reverse: bool) -> Any:
    """sum_(j>=i) g_j exp(x_i - out_j), as a recurrence whose factors exp(out_i - out_(i+1)) do not exceed 1."""
    decay = exp(out - shift(out, axis, 1 if reverse else -1, np.inf))
    return conj(exp(x - out)) * linear_recurrence(conj(decay), g, axis=axis, reverse=not reverse)


def _logcumsumexp_jvp(tangents: Any, out: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    decay = exp(shift(out, axis, -1 if reverse else 1, -np.inf) - out)
    return linear_recurrence(decay, tangents[0] * exp(x - out), axis=axis, reverse=reverse)


logcumsumexp = primitive(
    "logcumsumexp", kernel=_logcumsumexp_kernel, numpy=_logcumsumexp_numpy, kind="scan",
    vjps=[lambda g, out, x, *, axis, reverse: _logcumsumexp_vjp(g, out, x, axis, reverse)],
    jvp=_logcumsumexp_jvp, batch=batch_axes("axis"), infer=infer_along("axis"), samples=_sum_samples,
)  # fmt: skip
