"""Reductions over axes. `axis` is a tuple of non-negative axes; an empty one reduces nothing.

Sums of float32 are as accurate as pairwise ones along every axis; half precision accumulates in single.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, dtype_in, is_boolean, is_complex, is_inexact, real_of
from ..backend.jit import reductions, rows, scans, threads
from ..backend.jit.halves import converted, single
from ..backend.jit.operands import FLOAT32, FLOAT64, LEAST
from ..core.aval import Aval
from ..core.expression import Expr
from ..core.large import computed, loop_of, summed
from ..core.primitive import primitive
from ..core.value import Value, detached, dtype_of, ndim_of, shape_of
from .elementwise import exp
from .kernels import all_finite, in_c_order, in_single, no_zeros, scalar, widened, widened_numpy, zero_of
from .rules import (
    batch_axes,
    batch_elementwise,
    batch_size,
    checked_axes,
    conj,
    elementwise,
    linear,
    materialise_batch,
    nondifferentiable,
    sum_tangents,
)
from .samples import Sample, binary, complex_normal, distinct, normal, sample
from .scan import others_array, product_of_others
from .structural import broadcast_to, inverse, real, reshape, spread, transpose

_ndarray = np.ndarray

# ------------------------------------------------------------------------------------------ shapes


def reduced_shape(shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape that is left when `axis` is reduced."""
    if len(axis) == 1:
        (a,) = axis
        return (*shape[:a], 1, *shape[a + 1 :]) if keepdims else (*shape[:a], *shape[a + 1 :])
    if keepdims:
        return tuple([1 if i in axis else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in axis])


def reduced_count(x: Any, axis: tuple[int, ...]) -> int:
    """How many elements go into each result."""
    shape = shape_of(x)
    if len(axis) == 1:
        return shape[axis[0]]
    return math.prod(shape if len(axis) == len(shape) else [shape[a] for a in axis])


def kept(g: Any, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """A reduced array with the reduced axes as axes of length 1, so that it broadcasts against `x`."""
    if keepdims or not axis:
        return g
    shape = tuple(shape_of(x))
    if len(axis) == len(shape):
        return g
    inner = reduced_shape(shape, axis, True)
    return g.reshape(inner) if type(g) is _ndarray else reshape(g, shape=inner)


def expand_reduced(g: Any, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """A reduced array spread over the axes again, in the shape of `x`."""
    shape = tuple(shape_of(x))
    array = isinstance(g, (_ndarray, np.generic))
    if not keepdims and len(axis) != len(shape):
        inner = reduced_shape(shape, axis, True)
        if len(inner) != ndim_of(g):
            g = g.reshape(inner) if array else reshape(g, shape=inner)
    return spread(g, shape) if array else broadcast_to(g, shape=shape)


def infer_reduced(avals: Any, params: dict[str, Any]) -> Aval:
    """The reduced shape in the operand's dtype."""
    checked_axes(avals[0].shape, *params["axis"])
    return Aval(reduced_shape(avals[0].shape, params["axis"], params["keepdims"]), avals[0].dtype)


def infer_reduced_real(avals: Any, params: dict[str, Any]) -> Aval:
    """The reduced shape in the real dtype of the operand's precision."""
    checked_axes(avals[0].shape, *params["axis"])
    d = avals[0].dtype
    return Aval(
        reduced_shape(avals[0].shape, params["axis"], params["keepdims"]),
        real_of(d),
    )


def reduction_samples() -> Any:
    """Samples over one axis, several, all, none."""
    yield sample(normal(2, 3), axis=(1,), keepdims=False)
    yield sample(normal(2, 3, 2), axis=(0, 2), keepdims=True)
    yield sample(normal(3), axis=(0,), keepdims=False)
    yield sample(normal(), axis=(), keepdims=False)
    yield sample(complex_normal(2, 2), axis=(0, 1), keepdims=False)


def _real_samples(**params: Any) -> Any:
    """The real ones of `reduction_samples` on distinct numbers, with more parameters."""

    def make() -> Any:
        for axis, keepdims in (((1,), False), ((0, 2), True), ((0, 1, 2), False)):
            yield sample(distinct(2, 3, 2), axis=axis, keepdims=keepdims, **params)
        yield sample(distinct(), axis=(), keepdims=False, **params)

    return make


# ------------------------------------------------------------------------------------------ sums

_ONES: dict[tuple[int, str], np.ndarray] = {}


def ones(n: int, char: str) -> np.ndarray:
    """A vector of so many ones of a dtype; not to be written to."""
    found = _ONES.get((n, char))
    if found is None:
        found = np.ones(n, char)
        if n <= 1024 and len(_ONES) < 4096:
            _ONES[n, char] = found
    return found


_add = np.add.reduce
_BLOCK = 128  # rows added one after the other: with 512, 10^6 rows of 0.1 are off by 3e-6, with 128 by 9e-7


def sum_array(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The sum of a NumPy array of single or double precision, accurate and fast along any axis.

    NumPy adds pairwise along the innermost axis only, and row after row else: the sum of 10^6 rows of 0.1 in float32 is
    off by 1 %. Rows are added here in blocks, by a product with a vector of ones, which is also 5 to 20 times as fast
    where rows are short (64x10: 0.7 µs against 1.7; 10^6x3: 0.6 ms against 11).
    """
    shape, rank = x.shape, x.ndim
    if x.size >= reductions.LEAST:
        found = _generated("sum", x, axis)
        if found is not None:
            return found.reshape(reduced_shape(shape, axis, keepdims))
    char = x.dtype.char
    if rank < 2 or char not in "fd" or len(axis) == rank or not axis:
        return _add(x, axis, None, None, keepdims)
    count = len(axis)
    if not x.flags.c_contiguous:
        if rank == 2 and x.flags.f_contiguous:
            found = sum_array(x.T, (1 - axis[0],), keepdims)
            return found.reshape(found.shape[::-1])
        return in_c_order(_blocked(x, axis, keepdims) if count == 1 else _add(x, axis, None, None, keepdims))
    if axis[-1] == count - 1:
        if rank == 2:
            out = _sum_rows(x, shape[0], char)
            return out.reshape(1, -1) if keepdims else out
        n = math.prod(shape[:count])
        out = _sum_rows(x.reshape(n, math.prod(shape[count:])), n, char)
        return out.reshape(reduced_shape(shape, axis, keepdims))
    if count == 1:
        n = shape[-1]
        if axis[0] == rank - 1:
            if 1 < n <= _BLOCK:
                if rank == 2:
                    out = x.dot(ones(n, char))
                    return out.reshape(-1, 1) if keepdims else out
                return x.reshape(-1, n).dot(ones(n, char)).reshape(reduced_shape(shape, axis, keepdims))
        else:
            return _blocked(x, axis, keepdims)
    return _add(x, axis, None, None, keepdims)


_WIDE = 64  # columns, from where on a product with ones is no faster than adding up


def _generated(name: str, x: Any, axis: tuple[int, ...]) -> Any:
    """The "sum", "max" or "min" of a large array over all axes, the last ones or the first ones; None where NumPy computes
    it."""
    count, rank, least = len(axis), x.ndim, reductions.LEAST
    if not count or not x.flags.c_contiguous:
        return None
    if count == rank:
        exact = name != "sum"  # the same bits either way
        return None if x.size < 4 * least or (exact and threads.count() == 1) else reductions.of_all(name, x)
    if axis[0] == rank - count:
        width = math.prod(x.shape[-count:])
        if width <= (_WIDE if name == "sum" else 1):
            return None
        return reductions.along_rows(name, x.reshape(x.size // width, width))
    if axis[-1] == count - 1:
        width = math.prod(x.shape[count:])
        if x.size < least or width < (_WIDE if name == "sum" else 16) or (name == "sum" and x.size < 4 * least):
            return None
        return reductions.down_columns(name, x.reshape(x.size // width, width))
    return None


def _sum_rows(rows: Any, n: int, char: str) -> Any:
    """The sum of the n rows of a matrix, in blocks."""
    if n <= _BLOCK:
        return ones(n, char).dot(rows)
    block, m = ones(_BLOCK, char), n // _BLOCK
    full = m * _BLOCK
    if m <= 4:
        out = block.dot(rows[:_BLOCK])
        for k in range(_BLOCK, full, _BLOCK):
            out += block.dot(rows[k : k + _BLOCK])
    else:
        out = _sum_rows(block @ rows[:full].reshape(m, _BLOCK, -1), m, char)
    if full < n:
        out += ones(n - full, char).dot(rows[full:])
    return out


def _blocked(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The sum along one axis, in blocks where it is long."""
    (a,) = axis
    shape = x.shape
    n = shape[a]
    if n <= _BLOCK:
        return _add(x, a, None, None, keepdims)
    m = n // _BLOCK
    full = m * _BLOCK
    before = (slice(None),) * a
    blocks = x[(*before, slice(full))].reshape(*shape[:a], m, _BLOCK, *shape[a + 1 :])
    out = _add(_add(blocks, a + 1), a)
    if full < n:
        out = out + _add(x[(*before, slice(full, None))], a)
    return out.reshape(reduced_shape(shape, axis, True)) if keepdims else out


@widened
def _sum_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    if is_boolean(x):
        return xp.any(x, axis=axis, keepdims=keepdims)
    return xp.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _sum_numpy(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    dtype = x.dtype
    if dtype is FLOAT32 or dtype is FLOAT64:
        return sum_array(x, axis, keepdims)
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return converted(_sum_numpy(single(x), axis=axis, keepdims=keepdims), dtype)
    if dtype.kind in "iub":
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=dtype)
    return sum_array(x, axis, keepdims)


sum = linear(
    "sum", kernel=_sum_kernel, numpy=_sum_numpy, kind="reduction",
    transpose=lambda g, x_, *, axis, keepdims: expand_reduced(g, x_, axis, keepdims),
    batch=batch_axes("axis"), infer=infer_reduced, samples=reduction_samples,
)  # fmt: skip


@widened
def _mean_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    n = reduced_count(x, axis)
    total = _sum_kernel(xp, x, axis=axis, keepdims=keepdims)
    return total / n if n else total * math.nan


def _mean_numpy(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    dtype = x.dtype
    if (dtype is FLOAT32 or dtype is FLOAT64) and x.size:
        return sum_array(x, axis, keepdims) / reduced_count(x, axis)
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return converted(_mean_numpy(single(x), axis=axis, keepdims=keepdims), dtype)
    n = reduced_count(x, axis)
    total = _sum_numpy(x, axis=axis, keepdims=keepdims)
    return total / n if n else total * math.nan


mean = linear(
    "mean", kernel=_mean_kernel, numpy=_mean_numpy, kind="reduction",
    transpose=lambda g, x_, *, axis, keepdims: expand_reduced(g / max(reduced_count(x_, axis), 1), x_, axis, keepdims),
    batch=batch_axes("axis"), infer=infer_reduced, samples=reduction_samples,
)  # fmt: skip


def _nansum_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return _sum_kernel(xp, xp.where(x != x, zero_of(x), x), axis=axis, keepdims=keepdims)


def _nansum_numpy(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return _sum_numpy(np.where(x != x, zero_of(x), x), axis=axis, keepdims=keepdims)


# 1 where an element is a number and 0 where it is NaN, in the dtype of the operand.
is_number = nondifferentiable(
    "is_number", kernel=lambda xp, x: astype(xp, x == x, x.dtype), infer=lambda avals, p: avals[0],
    samples=lambda: [sample([1.0, math.nan]), sample(math.nan)],
)  # fmt: skip

nansum = primitive(
    "nansum", kernel=_nansum_kernel, numpy=_nansum_numpy, kind="reduction",
    vjps=[lambda g, _out, x, *, axis, keepdims: kept(g, x, axis, keepdims) * is_number(x)],
    jvp=lambda tangents, out, x, *, axis, keepdims: sum(tangents[0] * is_number(x), axis=axis, keepdims=keepdims),
    batch=batch_axes("axis"), infer=infer_reduced, samples=_real_samples(),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ products


@widened
def _prod_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    if is_boolean(x):
        return xp.all(x, axis=axis, keepdims=keepdims)
    return xp.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _prod_numpy(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    if x.size < LEAST and (x.dtype is FLOAT32 or x.dtype is FLOAT64):
        return in_c_order(np.multiply.reduce(x, axis, None, None, keepdims))
    if axis and axis[-1] - axis[0] == len(axis) - 1 and x.flags.c_contiguous:  # one axis, or several that are one in memory
        several = math.prod(x.shape[axis[0] : axis[-1] + 1])
        rows = x if len(axis) == 1 else x.reshape(*x.shape[: axis[0]], several, *x.shape[axis[-1] + 1 :])
        found = scans.product(rows, axis[0])
        if found is not None:
            return found.reshape(reduced_shape(x.shape, axis, keepdims))
    return in_c_order(_prod_kernel(np, x, axis=axis, keepdims=keepdims))


def _others(x: Any, axis: tuple[int, ...]) -> Any:
    """For each element the product of the others that are reduced with it: right where elements are zero."""
    rank, shape = ndim_of(x), tuple(shape_of(x))
    if not axis:
        return reshape(product_of_others(reshape(x, shape=(*shape, 1))), shape=shape)
    order = (*(i for i in range(rank) if i not in axis), *axis)
    moved = x if order == tuple(range(rank)) else transpose(x, axes=order)
    behind = tuple(shape_of(moved))
    if len(axis) > 1:
        moved = reshape(moved, shape=(*behind[: rank - len(axis)], reduced_count(x, axis)))
    out = product_of_others(moved)
    if len(axis) > 1:
        out = reshape(out, shape=behind)
    return out if moved is x else transpose(out, axes=inverse(order))


def _prod_vjp(g: Any, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    if type(g) is np.ndarray and type(x) is np.ndarray and len(axis) == 1:
        found = scans.product_pull(g, x, axis[0])
        if found is not None:
            return found
        (a,) = axis
        if a == x.ndim - 1 and x.dtype.kind == "f":
            return kept(g, x, axis, keepdims) * others_array(x)
    return kept(g, x, axis, keepdims) * conj(_others(x, axis))


def _prod_samples() -> Any:
    yield from reduction_samples()
    yield sample([2.0, 0.0, 3.0], axis=(0,), keepdims=False)
    yield sample([[0.0, 0.0, 3.0], [1.5, -2.0, 0.5]], axis=(1,), keepdims=True)


prod = primitive(
    "prod", kernel=_prod_kernel, numpy=_prod_numpy, kind="reduction",
    vjps=[lambda g, _out, x, *, axis, keepdims: _prod_vjp(g, x, axis, keepdims)],
    jvp=lambda tangents, out, x, *, axis, keepdims: sum(tangents[0] * _others(x, axis), axis=axis, keepdims=keepdims),
    batch=batch_axes("axis"), infer=infer_reduced, samples=_prod_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ moments


def _moments(xp: Any, x: Any, axis: tuple[int, ...], correction: float) -> tuple[Any, Any]:
    """The variance and the mean over `axis`, both with the axes kept, in two passes."""
    n = reduced_count(x, axis)
    center = _mean_kernel(xp, x, axis=axis, keepdims=True)
    d = x - center
    square = xp.real(d) * xp.real(d) + xp.imag(d) * xp.imag(d) if is_complex(x) else d * d
    total = _sum_kernel(xp, square, axis=axis, keepdims=True)
    freedom = n - correction
    if freedom > 0:
        return total / freedom, center
    return xp.where(total > 0, total + math.inf, total * math.nan), center


@widened
def _var_mean_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    var, center = _moments(xp, x, axis, correction)
    if not keepdims and axis:
        shape = reduced_shape(x.shape, axis, False)
        var, center = xp.reshape(var, shape), xp.reshape(center, shape)
    return var, center


def _var_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    return _var_mean_kernel(xp, x, axis=axis, correction=correction, keepdims=keepdims)[0]


@widened
def _std_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    return xp.sqrt(_var_mean_kernel(xp, x, axis=axis, correction=correction, keepdims=keepdims)[0])


def _squared_distance(xp: Any, x: Any, center: Any) -> Any:
    d = x - center
    return xp.real(d) * xp.real(d) + xp.imag(d) * xp.imag(d) if is_complex(x) else d * d


def _moments_numpy(x: Any, axis: tuple[int, ...], correction: float) -> tuple[Any, Any]:
    n = reduced_count(x, axis)
    center = _mean_numpy(x, axis=axis, keepdims=True)
    total = summed(_squared_distance, x, center) if len(axis) == x.ndim else None
    if total is None:
        total = _sum_numpy(computed(_squared_distance, x, center), axis=axis, keepdims=True)
    else:
        total = total.reshape(center.shape)
    freedom = n - correction
    if freedom > 0:
        return total / freedom, center
    return np.where(total > 0, total.dtype.type(math.inf), total.dtype.type(math.nan)), center


def _var_mean_numpy(x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    wide = in_single(x)
    var, center = _moments_numpy(wide, axis, correction)
    if not keepdims and axis:
        shape = reduced_shape(x.shape, axis, False)
        var, center = var.reshape(shape), center.reshape(shape)
    return (var, center) if wide is x else (var.astype(x.dtype), center.astype(x.dtype))


def _var_numpy(x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    if x.dtype is FLOAT32 or x.dtype is FLOAT64:
        n = reduced_count(x, axis)
        if n > correction and n:
            center = sum_array(x, axis, True) / n
            large = x.size >= LEAST and len(axis) == x.ndim
            if large and (total := summed(_squared_distance, x, center)) is not None:
                return (total.reshape(center.shape) if keepdims else total) / (n - correction)
            d = x - center
            if type(d) is _ndarray:
                np.multiply(d, d, out=d)
                return sum_array(d, axis, keepdims) / (n - correction)
    return _var_mean_numpy(x, axis=axis, correction=correction, keepdims=keepdims)[0]


@widened_numpy
def _std_numpy(x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    return np.sqrt(_var_numpy(x, axis=axis, correction=correction, keepdims=keepdims))


def _std_mean_numpy(x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    wide = in_single(x)
    spread, center = _var_mean_numpy(wide, axis=axis, correction=correction, keepdims=keepdims)
    return np.sqrt(spread).astype(spread.dtype if wide is x else x.dtype), center.astype(x.dtype)


def _deviation(x: Any, axis: tuple[int, ...], correction: float) -> Any:
    """The derivative of the variance by each element: 2 (x - mean) / (n - correction).

    Without a degree of freedom left the variance is infinite unless all elements are equal, and so is its derivative.
    """
    n = reduced_count(x, axis)
    freedom = n - correction
    if freedom > 0 and type(x) is _ndarray and (x.dtype is FLOAT32 or x.dtype is FLOAT64):
        d = x - sum_array(x, axis, True) / n
        return np.multiply(d, 2 / freedom, out=d) if type(d) is _ndarray else np.asarray(d * (2 / freedom))
    d = x - mean(x, axis=axis, keepdims=True)
    return d * (2 / freedom) if freedom > 0 else d * conj(d) * math.inf


def _scaled_distance(_xp: Any, x: Any, center: Any, scale: Any) -> Any:
    return (x - center) * scale


def _spread_pull(g: Any, x: Any, axis: tuple[int, ...], correction: float) -> Any:
    """The cotangent of x from that of its variance, which has the reduced axes."""
    freedom = reduced_count(x, axis) - correction
    if isinstance(g, np.generic) and x.size >= LEAST:  # of a variance without axes
        g = np.asarray(g)
    if type(x) is np.ndarray and type(g) is np.ndarray and x.dtype == g.dtype and x.dtype.char in "fd" and freedom > 0:
        return computed(_scaled_distance, x, _mean_numpy(x, axis=axis, keepdims=True), g * (2 / freedom))
    return g * _deviation(x, axis, correction)


def _dot(t: Any, d: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The real inner product over `axis`."""
    return sum(real(t * conj(d)) if dtype_of(t).kind == "c" else t * d, axis=axis, keepdims=keepdims)


def _divide_or_zero_numpy(x: Any, y: Any) -> Any:
    if no_zeros(y):
        return x / y
    return np.divide(x, y, where=y != 0, out=np.zeros(np.broadcast_shapes(x.shape, y.shape), x.dtype))


# x / y, and 0 where y is 0: with this as a factor, roots have the derivative 0 at 0 to any order.
divide_or_zero = elementwise(
    "divide_or_zero",
    kernel=lambda xp, x, y: xp.where(y == 0, zero_of(x), x / xp.where(y == 0, scalar(1, y), y)),
    numpy=_divide_or_zero_numpy,
    vjps=[lambda g, _out, _x, y: divide_or_zero(g, conj(y)),
          lambda g, out, _x, y: -divide_or_zero(g * conj(out), conj(y))],
    jvp=lambda tangents, out, x, y: sum_tangents([
        None if tangents[0] is None else divide_or_zero(tangents[0], y),
        None if tangents[1] is None else -divide_or_zero(out * tangents[1], y)]),
    samples=binary(-3, 3, 1, 3, complex_too=True),
)  # fmt: skip


def _moment_samples() -> Any:
    for s in reduction_samples():
        if s.params["axis"]:
            yield Sample(s.operands, {**s.params, "correction": 1})
    yield sample(normal(2, 3), axis=(0, 1), keepdims=False, correction=0)


var = primitive(
    "var", kernel=_var_kernel, numpy=_var_numpy, kind="reduction",
    vjps=[lambda g, _out, x, *, axis, correction, keepdims:
          _spread_pull(kept(g, x, axis, keepdims), x, axis, correction)],
    jvp=lambda tangents, out, x, *, axis, correction, keepdims: _dot(
        tangents[0], _deviation(x, axis, correction), axis, keepdims),
    batch=batch_axes("axis"), infer=infer_reduced_real, samples=_moment_samples,
)  # fmt: skip

def _by_twice(g: Any, out: Any) -> Any:
    """g / (2 out), and 0 where `out` is 0."""
    twice = out * 2
    plain = type(g) is _ndarray and type(out) is _ndarray and no_zeros(out)
    return g / twice if plain else divide_or_zero(g, twice)


std = primitive(
    "std", kernel=_std_kernel, numpy=_std_numpy, kind="reduction",
    vjps=[lambda g, out, x, *, axis, correction, keepdims:
          _spread_pull(kept(_by_twice(g, out), x, axis, keepdims), x, axis, correction)],
    jvp=lambda tangents, out, x, *, axis, correction, keepdims: divide_or_zero(
        _dot(tangents[0], _deviation(x, axis, correction), axis, keepdims), out * 2),
    batch=batch_axes("axis"), infer=infer_reduced_real, samples=_moment_samples,
)  # fmt: skip


def _infer_pair(avals: Any, params: dict[str, Any]) -> Any:
    return infer_reduced_real(avals, params), infer_reduced(avals, params)


def _pair_vjp(g: Any, x: Any, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    g_spread, g_mean = g
    terms = []
    if g_spread is not None:
        terms.append(_spread_pull(kept(g_spread, x, axis, keepdims), x, axis, correction))
    if g_mean is not None:
        terms.append(expand_reduced(g_mean / reduced_count(x, axis), x, axis, keepdims))
    return sum_tangents(terms)


var_mean = primitive(
    "var_mean", kernel=_var_mean_kernel, numpy=_var_mean_numpy, kind="reduction", multi=True,
    vjps=[lambda g, _out, x, *, axis, correction, keepdims: _pair_vjp(g, x, axis, correction, keepdims)],
    jvp=lambda tangents, out, x, *, axis, correction, keepdims: (
        _dot(tangents[0], _deviation(x, axis, correction), axis, keepdims),
        mean(tangents[0], axis=axis, keepdims=keepdims)),
    batch=batch_axes("axis"), infer=_infer_pair, samples=_moment_samples,
)  # fmt: skip


@widened
def _std_mean_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Any:
    spread, center = _var_mean_kernel(xp, x, axis=axis, correction=correction, keepdims=keepdims)
    return xp.sqrt(spread), astype(xp, center, x.dtype)


std_mean = primitive(
    "std_mean", kernel=_std_mean_kernel, numpy=_std_mean_numpy, kind="reduction", multi=True, used_outs=(True, False),
    vjps=[lambda g, out, x, *, axis, correction, keepdims: _pair_vjp(
        (None if g[0] is None else divide_or_zero(g[0], out[0] * 2), g[1]), x, axis, correction, keepdims)],
    jvp=lambda tangents, out, x, *, axis, correction, keepdims: (
        divide_or_zero(_dot(tangents[0], _deviation(x, axis, correction), axis, keepdims), out[0] * 2),
        mean(tangents[0], axis=axis, keepdims=keepdims)),
    batch=batch_axes("axis"), infer=_infer_pair, samples=_moment_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ extremes


def _tie_kernel(xp: Any, x: Any, extreme: Any, *, axis: tuple[int, ...], ties: str) -> Any:
    mask = x == extreme
    if ties == "even":
        mask = mask | ((x != x) & (extreme != extreme))
    if ties == "all":
        return astype(xp, mask, x.dtype)
    dtype = x.dtype if is_inexact(x) else dtype_in(xp, np.float64)
    hits = astype(xp, mask, dtype)
    count = xp.sum(hits, axis=axis, keepdims=True)
    return astype(xp, hits / (count if ties == "even_nan" else xp.maximum(count, scalar(1, count))), x.dtype)


def _tie_numpy(x: Any, extreme: Any, *, axis: tuple[int, ...], ties: str) -> Any:
    mask = x == extreme
    if ties == "even":
        mask = mask | ((x != x) & (extreme != extreme))
    if ties == "all":
        return mask.astype(x.dtype)
    count = np.sum(mask, axis=axis, keepdims=True)
    if ties == "even_nan":
        with np.errstate(invalid="ignore"):
            return (mask / count).astype(x.dtype)
    return (mask / np.maximum(count, 1)).astype(x.dtype)


def _infer_shares(avals: Any, params: dict[str, Any]) -> Aval:
    shape = np.broadcast_shapes(avals[0].shape, avals[1].shape)
    checked_axes(shape, *params["axis"])
    return Aval(shape, avals[0].dtype)


def _batch_tie(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    if dims[-2] is None:  # the operand carries the shape
        arrays, dims = list(arrays), list(dims)
        arrays[-2], dims[-2] = materialise_batch(arrays[-2], None, batch_size(arrays, dims)), 0
    return batch_elementwise(op, arrays, dims, {**params, "axis": tuple(a + 1 for a in params["axis"])})


# The share that each element has in the extreme of its row, whose axes are kept. ties="even": equal shares of those
# that attain it (NaN attains NaN); "even_nan": likewise, and NaN for all if it is NaN; "even_zero": likewise, and none
# if it is NaN; "all": 1 for each.
tie_weights = nondifferentiable(
    "tie_weights", kernel=_tie_kernel, numpy=_tie_numpy, kind="general", batch=_batch_tie, infer=_infer_shares,
    samples=lambda: [sample([1.0, 2.0, 2.0], [2.0], axis=(0,), ties="even"),
                     sample(normal(2, 3), normal(2, 1), axis=(1,), ties="even_zero")],
)  # fmt: skip


def _infer_tied(avals: Any, params: dict[str, Any]) -> Aval:
    shares = _infer_shares(avals[1:], params).shape
    return Aval(np.broadcast_shapes(avals[0].shape, shares), np.result_type(avals[0].dtype, avals[1].dtype))


def _shared_kernel(xp: Any, g: Any, x: Any, extreme: Any, *, axis: tuple[int, ...], ties: str) -> Any:
    share = _tie_kernel(xp, x, extreme, axis=axis, ties=ties)
    found = g * share
    return xp.where(share == zero_of(share), zero_of(found), found)


@functools.cache
def _tie_loops(dtype: np.dtype, nan_attains: bool) -> Any:
    """Of large arrays: where x is the extreme, as 1 and 0; and what each gets, a number there and another one elsewhere."""
    x, extreme, there, elsewhere = (Expr("operand", (k,), dtype) for k in range(4))
    hit = x == extreme
    if nan_attains:
        hit = hit | ((x != x) & (extreme != extreme))
    one, zero = (Expr(name, (x,), dtype) for name in ("ones_like", "zeros_like"))
    return loop_of([Expr("where", (hit, one, zero), dtype)]), loop_of([Expr("where", (hit, there, elsewhere), dtype)])


def _shared_large(g: Any, x: Any, extreme: Any, axis: tuple[int, ...], ties: str) -> Any:
    """`_shared_numpy` by two loops, with one pass to count between them; None where there are none for these arrays."""
    hits, chosen = _tie_loops(x.dtype, ties == "even")
    if not (hits and chosen) or g.dtype != x.dtype or extreme.dtype != x.dtype or reduced_count(x, axis) >= 1 << 24:
        return None
    there, elsewhere = g, np.zeros((), x.dtype)
    if ties != "all":
        if len(axis) == x.ndim:
            totals = hits.sums(x, extreme)
            count = None if totals is None else np.asarray(totals[0]).reshape((1,) * x.ndim)
        else:
            found = hits(x, extreme)
            count = None if found is None else sum_array(found[0], axis, True)
        if count is None:
            return None
        if ties == "even_nan":
            elsewhere = np.where(count == 0, g * math.nan, elsewhere).astype(x.dtype)
        there = g * (1 / np.maximum(count, 1)).astype(x.dtype)
    if not x.flags.c_contiguous or g.size > x.size:
        return None
    found = chosen(x, extreme, there, elsewhere)
    return None if found is None else found[0]


def _shared_numpy(g: Any, x: Any, extreme: Any, *, axis: tuple[int, ...], ties: str) -> Any:
    if x.size >= reductions.LEAST and x.dtype.char in "fd" and axis:
        large = _shared_large(g, x, extreme, axis, ties)
        if large is not None:
            return large
    if ties != "all" and x.dtype is g.dtype and (x.dtype is FLOAT32 or x.dtype is FLOAT64):
        hits = (x == extreme).astype(x.dtype)
        count = sum_array(hits, axis, True)
        if no_zeros(count):  # no extreme is nan
            each = g / count
            if all_finite(each):
                alike = type(hits) is _ndarray and each.shape == count.shape
                return np.asarray(np.multiply(hits, each, out=hits) if alike else hits * each)
    share = _tie_numpy(x, extreme, axis=axis, ties=ties)
    found = g * share
    return found if np.isfinite(g).all() else np.where(share == 0, zero_of(found), found)


# A cotangent, whose axes are kept, times those shares; 0 where there is none, also where the cotangent is inf or nan.
share_among_ties = linear(
    "share_among_ties", others=2, kernel=_shared_kernel, numpy=_shared_numpy,
    transpose=lambda h, _g, x, extreme, *, axis, ties: sum(
        h * tie_weights(x, extreme, axis=axis, ties=ties), axis=axis, keepdims=True),
    batch=_batch_tie, infer=_infer_tied,
    samples=lambda: [sample(normal(2, 1), [[1.0, 2.0, 2.0], [0.0, 1.0, 3.0]], [[2.0], [3.0]], axis=(1,), ties="even")],
)  # fmt: skip


_REDUCERS = {"max": np.maximum.reduce, "min": np.minimum.reduce}


def extreme_array(name: str, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The "max" or "min" of a NumPy array.

    NumPy takes rows of a few elements one by one; their transposed copy goes 2 to 15 times as fast (1024x10: 9 µs
    against 129).
    """
    if x.size >= LEAST:
        found = _generated(name, x, axis)
        if found is not None:
            return found.reshape(reduced_shape(x.shape, axis, keepdims))
    reduce = _REDUCERS[name]
    if len(axis) == 1 and x.size >= 256 and x.dtype.char in "fd":
        rank = x.ndim
        n = x.shape[-1]
        if axis[0] == rank - 1 and rank > 1 and 1 < n <= 64:
            columns = np.ascontiguousarray(x.reshape(-1, n).T)
            return reduce(columns, 0).reshape(reduced_shape(x.shape, axis, keepdims))
    return in_c_order(reduce(x, axis, None, None, keepdims))


def extreme_in(xp: Any, name: str, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The "max" or "min" in the standard, which orders numbers only."""
    if is_boolean(x):
        return (xp.any if name == "max" else xp.all)(x, axis=axis, keepdims=keepdims)
    return getattr(xp, name)(x, axis=axis, keepdims=keepdims)


def shared(g: Any, out: Any, x: Any, axis: tuple[int, ...], keepdims: bool, ties: str) -> Any:
    """The cotangent of an extreme, given to the elements that attain it: which ones has no history."""
    out, x = (detached(v) if isinstance(v, Value) else v for v in (out, x))
    return share_among_ties(kept(g, x, axis, keepdims), x, kept(out, x, axis, keepdims), axis=axis, ties=ties)


def shares(out: Any, x: Any, axis: tuple[int, ...], keepdims: bool, ties: str) -> Any:
    """The share that each element has in an extreme."""
    return tie_weights(x, kept(out, x, axis, keepdims), axis=axis, ties=ties)


def _extreme(name: str, function: str) -> Any:
    def kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool, ties: str) -> Any:
        return extreme_in(xp, function, x, axis, keepdims)

    return primitive(
        name, kernel=kernel, kind="reduction",
        numpy=lambda x, *, axis, keepdims, ties: extreme_array(function, x, axis, keepdims),
        vjps=[lambda g, out, x, *, axis, keepdims, ties: shared(g, out, x, axis, keepdims, ties)],
        jvp=lambda tangents, out, x, *, axis, keepdims, ties: sum(
            tangents[0] * shares(out, x, axis, keepdims, ties), axis=axis, keepdims=keepdims),
        batch=batch_axes("axis"), infer=infer_reduced, samples=_real_samples(ties="even"),
    )  # fmt: skip


amax = _extreme("amax", "max")
amin = _extreme("amin", "min")


def _aminmax_vjp(g: Any, out: Any, x: Any, axis: tuple[int, ...], keepdims: bool, ties: str) -> Any:
    return sum_tangents([
        None if gi is None else shared(gi, y, x, axis, keepdims, ties)
        for gi, y in zip(g, out)
    ])  # fmt: skip


aminmax = primitive(
    "aminmax", multi=True,
    kernel=lambda xp, x, *, axis, keepdims, ties: (
        extreme_in(xp, "min", x, axis, keepdims), extreme_in(xp, "max", x, axis, keepdims)),
    numpy=lambda x, *, axis, keepdims, ties: (
        np.min(x, axis=axis, keepdims=keepdims), np.max(x, axis=axis, keepdims=keepdims)), kind="reduction",
    vjps=[lambda g, out, x, *, axis, keepdims, ties: _aminmax_vjp(g, out, x, axis, keepdims, ties)],
    jvp=lambda tangents, out, x, *, axis, keepdims, ties: tuple(
        sum(tangents[0] * shares(y, x, axis, keepdims, ties), axis=axis, keepdims=keepdims) for y in out),
    batch=batch_axes("axis"), infer=lambda avals, p: (infer_reduced(avals, p),) * 2, samples=_real_samples(ties="even"),
)  # fmt: skip


def _position_kernel(name: str) -> Any:
    def kernel(xp: Any, x: Any, *, axis: int, keepdims: bool) -> Any:
        if is_boolean(x):
            x = astype(xp, x, np.uint8)
        return astype(xp, getattr(xp, name)(x, axis=axis, keepdims=keepdims), np.int64)

    return kernel


def _position_numpy(name: str) -> Any:
    def lowered(x: Any, *, axis: int, keepdims: bool) -> Any:
        found = scans.extreme(x, axis, name == "argmax") if x.ndim and x.size >= LEAST else None
        if found is None:
            found = np.asarray(getattr(x, name)(axis))
        return found.reshape(reduced_shape(x.shape, (axis,), True)) if keepdims else found

    return lowered


def _infer_position(avals: Any, params: dict[str, Any]) -> Aval:
    checked_axes(avals[0].shape, params["axis"])
    return Aval(reduced_shape(avals[0].shape, (params["axis"],), params["keepdims"]), np.dtype(np.int64))


# The position of the first extreme along an axis; NaN counts as extreme.
argmax, argmin = (
    nondifferentiable(
        name, kernel=_position_kernel(name), numpy=_position_numpy(name), kind="reduction",
        batch=batch_axes("axis"), infer=_infer_position,
        samples=lambda: [sample(distinct(2, 3), axis=1, keepdims=False), sample(distinct(4), axis=0, keepdims=True)],
    )
    for name in ("argmax", "argmin")
)  # fmt: skip

# ------------------------------------------------------------------------------------------ logical


def _logical(name: str, combined: np.ufunc) -> Any:
    over: Any = combined.reduce
    return nondifferentiable(
        name,
        kernel=lambda xp, x, *, axis, keepdims: getattr(xp, name)(x != zero_of(x), axis=axis, keepdims=keepdims),
        numpy=lambda x, *, axis, keepdims: over(x if x.dtype.kind == "b" else x != 0, axis, None, None, keepdims),
        kind="reduction", batch=batch_axes("axis"),
        infer=lambda avals, p: Aval(infer_reduced(avals, p).shape, np.dtype(bool)),
        samples=lambda: [
            sample([[1.0, 0.0], [2.0, 3.0]], axis=(1,), keepdims=False),
            sample(0.0, axis=(), keepdims=False),
        ],
    )


any = _logical("any", np.logical_or)
all = _logical("all", np.logical_and)

count_nonzero = nondifferentiable(
    "count_nonzero",
    kernel=lambda xp, x, *, axis, keepdims: xp.sum(
        astype(xp, x != zero_of(x), np.int64), axis=axis, keepdims=keepdims, dtype=dtype_in(xp, np.int64)),
    numpy=lambda x, *, axis, keepdims: np.asarray(
        np.count_nonzero(x, axis=axis, keepdims=keepdims) if axis else (x != 0), dtype=np.int64),
    kind="reduction",
    batch=batch_axes("axis"),
    infer=lambda avals, p: Aval(infer_reduced(avals, p).shape, np.dtype(np.int64)),
    samples=lambda: [sample([[1.0, 0.0], [2.0, 3.0]], axis=(0,), keepdims=False), sample(2.0, axis=(), keepdims=True)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ logsumexp


def _logsumexp_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    if not math.prod(x.shape):
        return xp.full(reduced_shape(x.shape, axis, keepdims), -math.inf, dtype=x.dtype)
    return _logsumexp_of_some(xp, x, axis=axis, keepdims=keepdims)


@widened
def _logsumexp_of_some(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    size = xp.real(x) if is_complex(x) else x
    top = xp.max(size, axis=axis, keepdims=True)
    top = xp.where(xp.abs(top) == math.inf, zero_of(top), top)
    out = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True, dtype=x.dtype)) + top
    return astype(xp, xp.reshape(out, reduced_shape(x.shape, axis, keepdims)), x.dtype)


def _logsumexp_numpy(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    if not x.size:
        return np.full(reduced_shape(x.shape, axis, keepdims), -math.inf, dtype=x.dtype)
    wide = in_single(x)
    found = rows.logsumexp(wide) if axis == (x.ndim - 1,) else None
    if found is not None:
        return found.reshape(reduced_shape(x.shape, axis, keepdims)).astype(x.dtype, copy=False)
    top = extreme_array("max", wide.real if wide.dtype.kind == "c" else wide, axis, True)
    if wide is x and x.ndim and all_finite(top):
        shifted = x - top
        return (np.log(_sum_numpy(np.exp(shifted, out=shifted), axis=axis, keepdims=True)) + top).reshape(
            reduced_shape(x.shape, axis, keepdims)
        )
    top = np.where(np.abs(top) == math.inf, top.dtype.type(0), top)
    with np.errstate(divide="ignore"):
        out = np.log(_sum_numpy(np.exp(wide - top), axis=axis, keepdims=True)) + top
    return np.reshape(out, reduced_shape(x.shape, axis, keepdims)).astype(x.dtype)


# g conj(exp(x - y)), the derivative of what follows: real operands in one operation.
scaled_exp = elementwise(
    "scaled_exp", kernel=widened(lambda xp, g, x, y: g * xp.exp(x - y)),
    vjps=[lambda h, _out, _g, x, y: scaled_exp(h, x, y), lambda h, _out, g, x, y: scaled_exp(h * g, x, y),
          lambda h, _out, g, x, y: -scaled_exp(h * g, x, y)],
    jvp=lambda tangents, out, g, x, y: sum_tangents([
        None if tangents[0] is None else scaled_exp(tangents[0], x, y), None if tangents[1] is None else out * tangents[1],
        None if tangents[2] is None else -out * tangents[2]]),
    samples=lambda: [sample(normal(3), normal(3, seed=1), normal(3, seed=2)),
                     sample(normal(2, 1), normal(2, 3, seed=1), normal(2, 1, seed=2))],
)  # fmt: skip


def _logsumexp_pull(g: Any, out: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    g, top = kept(g, x, axis, keepdims), kept(out, x, axis, keepdims)
    return scaled_exp(g, x, top) if dtype_of(x).kind != "c" else g * conj(exp(x - top))


logsumexp = primitive(
    "logsumexp", kernel=_logsumexp_kernel, numpy=_logsumexp_numpy, kind="composite", vjps=[_logsumexp_pull],
    jvp=lambda tangents, out, x, *, axis, keepdims: sum(
        tangents[0] * exp(x - kept(out, x, axis, keepdims)), axis=axis, keepdims=keepdims),
    batch=batch_axes("axis"), infer=infer_reduced, samples=reduction_samples,
)  # fmt: skip
