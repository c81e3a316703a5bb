"""Distances: of two arrays, of all pairs of two sets of points, of all pairs within one; and norms held below a bound.

The order of a norm is as in norms.py: 2 is the Euclidean one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, device_in, is_half, real_of
from ..core.arrays import from_host, full
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from .comparison import greater
from .contraction import matmul
from .elementwise import absolute, sgn
from .indexing import take, take_add
from .kernels import constant, elements, in_c_order, in_single, scalar, widened, widened_numpy, zero_of
from .norms import norm_pull, vector_norm
from .reduction import divide_or_zero, sum, sum_array, tie_weights
from .rules import batch_leading, batch_loop, conj, infer_same, nondifferentiable, sum_tangents
from .samples import complex_normal, normal, sample
from .selection import keep, sign, where
from .shapes import at_least, demand, matching, meeting
from .structural import real, reshape, transpose

_NORM = vector_norm.prim  # type: ignore[attr-defined]


def _norm(x: Any, ord: float, axis: tuple[int, ...], keepdims: bool = False) -> Any:
    """The norms of NumPy's arrays."""
    return _NORM.numpy_kernel(x, ord=ord, axis=axis, keepdims=keepdims)


def _standard_norm(xp: Any, x: Any, ord: float, axis: tuple[int, ...], keepdims: bool = False) -> Any:
    return _NORM.kernel(xp, x, ord=ord, axis=axis, keepdims=keepdims)


def _every(x: Any) -> tuple[int, ...]:
    return tuple(range(ndim_of(x)))


# ------------------------------------------------------------------------------------------ of two arrays


def _dist_pull(g: Any, out: Any, x: Any, y: Any, ord: float) -> Any:
    d = x - y
    return norm_pull(g, out, d, ord, _every(d), False)


def _dist_jvp(tangents: Any, out: Any, x: Any, y: Any, *, ord: float) -> Any:
    dx, dy = tangents
    t = sum_tangents([dx, None if dy is None else -dy])
    field = _dist_pull(full((), 1, dtype_of(out), out), out, x, y, ord)
    d = field * t if dtype_of(field).kind != "c" else real(conj(field) * t)
    return sum(d, axis=_every(d), keepdims=False)


def _infer_dist(avals: Any, p: dict[str, Any]) -> Aval:
    np.broadcast_shapes(*(a.shape for a in avals))
    return Aval((), real_of(avals[0].dtype))


# The norm of the difference, a number.
dist = primitive(
    "dist",
    kernel=lambda xp, x, y, *, ord: _standard_norm(xp, d := x - y, ord, tuple(range(d.ndim))),
    numpy=lambda x, y, *, ord: _norm(d := x - y, ord, tuple(range(d.ndim))),
    vjps=[lambda g, out, x, y, *, ord: _dist_pull(g, out, x, y, ord),
          lambda g, out, x, y, *, ord: -_dist_pull(g, out, x, y, ord)],
    jvp=_dist_jvp, batch=batch_loop,
    infer=_infer_dist,
    samples=lambda: [sample(normal(2, 3), normal(2, 3, seed=1), ord=2.0),
                     sample(normal(2, 3), normal(3, seed=1), ord=3.0),
                     sample(complex_normal(3), complex_normal(3, seed=1), ord=1.0),
                     sample(normal(3), normal(3, seed=1), ord=math.inf)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ of all pairs of two sets

_DIRECT = 1 << 14  # up to so many differences are formed at once; beyond, distances go through a matrix product
_BLOCK = 1 << 20


def _euclidean(x: Any, y: Any) -> Any:
    """By |x|^2 - 2 x.y + |y|^2 in double precision around a common centre; where that cancels, by the differences.

    1000 x 1000 points of 64 coordinates take 12 ms, by the differences 150.
    """
    dtype = x.dtype
    wide = y.astype(np.float64)
    centre = sum_array(wide, (0,), False) / len(y)
    a, b = x - centre, np.subtract(wide, centre, wide)
    size = sum_array(a * a, (1,), True) + sum_array(b * b, (1,), False)
    a *= -2
    squares = a @ b.T
    squares += size
    size *= 1e-2 if dtype == np.float64 else 1e-6
    apart = squares > size
    if np.count_nonzero(apart) == apart.size:
        return np.sqrt(squares, squares).astype(dtype, copy=False)
    rows, columns = np.nonzero(~apart)
    for start in range(0, len(rows), _BLOCK // max(x.shape[1], 1) + 1):
        part = slice(start, start + _BLOCK // max(x.shape[1], 1) + 1)
        d = x[rows[part]].astype(np.float64) - y[columns[part]]
        squares[rows[part], columns[part]] = (d * d).sum(axis=1)
    return np.sqrt(squares).astype(dtype, copy=False)


_COORDINATES = 8
"""Up to so many the differences are less work than what `_euclidean` does for each pair: of 512 points with 3 coordinates 0.7 ms
instead of 4.3."""


def _by_coordinates(x: Any, y: Any) -> Any:
    """Euclidean distances by the differences of one coordinate after the other, in double precision."""
    a, b = (np.ascontiguousarray(v.T, np.float64) for v in (x, y))
    out = np.empty((len(x), len(y)), x.dtype)
    step = max(1, (1 << 14) // max(1, len(y)))
    room = np.empty((2, min(step, len(x)), len(y)))
    for i in range(0, len(x), step):
        total, d = room[:, : min(step, len(x) - i)]
        for k, (of_x, of_y) in enumerate(zip(a, b)):
            into = d if k else total
            np.subtract(of_x[i : i + step, None], of_y, into)
            np.multiply(into, into, into)
            if k:
                total += d
        np.sqrt(total, total)
        out[i : i + step] = total
    return out


def _pairs(x: Any, y: Any, ord: float) -> Any:
    """Distances of the rows of two matrices."""
    if ord == 2 and x.shape[0] * y.shape[0] * x.shape[1] > _DIRECT:
        return _by_coordinates(x, y) if 0 < x.shape[1] <= _COORDINATES and x.dtype.kind == "f" else _euclidean(x, y)
    step = max(1, _BLOCK // max(y.size, 1))
    blocks = [
        _norm(d, ord, (2,)) if ord else np.sign(np.abs(d)).sum(axis=2)  # how many differ, nan where one is nan
        for d in (x[i : i + step, None, :] - y[None, :, :] for i in range(0, x.shape[0], step))
    ]
    if len(blocks) == 1:
        return blocks[0]
    return np.concatenate(blocks) if blocks else np.zeros((0, y.shape[0]), x.dtype)


@widened
def _cdist_kernel(xp: Any, x: Any, y: Any, *, ord: float) -> Any:
    n = x.shape[-2]
    if not x.shape[-1] or not n:
        return xp.zeros((*x.shape[:-1], y.shape[-2]), dtype=x.dtype, device=device_in(x))
    y = y[..., None, :, :]
    step = max(1, _BLOCK // max(elements(y), 1))
    blocks = [
        _standard_norm(xp, d, ord, (x.ndim,)) if ord else xp.sum(xp.sign(xp.abs(d)), axis=x.ndim)
        for d in (x[..., i : min(i + step, n), None, :] - y for i in range(0, n, step))
    ]
    return xp.concat(blocks, axis=-2)


def _cdist_numpy(x: Any, y: Any, *, ord: float) -> Any:
    if not x.shape[-1]:
        return np.zeros((*x.shape[:-1], y.shape[-2]), x.dtype)
    if is_half(x.dtype):
        return _cdist_numpy(in_single(x), in_single(y), ord=ord).astype(x.dtype)
    if x.ndim == 2:
        return _pairs(x, y, ord)
    out = np.empty((*x.shape[:-1], y.shape[-2]), x.dtype)
    for index in np.ndindex(*x.shape[:-2]):
        out[index] = _pairs(x[index], y[index], ord)
    return out


def _swapped(x: Any) -> Any:
    if type(x) is np.ndarray:
        return x.swapaxes(-1, -2)
    n = ndim_of(x)
    return transpose(x, axes=(*range(n - 2), n - 1, n - 2))


def _sum_last(x: Any) -> Any:
    if type(x) is np.ndarray:
        return sum_array(x, (x.ndim - 1,), True)
    return sum(x, axis=(ndim_of(x) - 1,), keepdims=True)


def _difference_field(out: Any, d: Any, ord: float) -> Any:
    """The derivative of each distance by its difference vector, the last axis of `d`."""
    last = (ndim_of(d) - 1,)
    if ord == 1:
        return sign(d, nan_to_zero=False)
    if math.isinf(ord):
        return sgn(d) * tie_weights(absolute(d), reshape(out, shape=(*shape_of(out), 1)), axis=last, ties="all")
    return norm_pull(full(tuple(shape_of(out)), 1, dtype_of(out), out), out, d, ord, last, False)


def _apart(x: Any, y: Any) -> Any:
    """All differences of rows of x and y."""
    sx, sy = tuple(shape_of(x)), tuple(shape_of(y))
    return reshape(x, shape=(*sx[:-1], 1, sx[-1])) - reshape(y, shape=(*sy[:-2], 1, *sy[-2:]))


def _towards(w: Any, x: Any, y: Any) -> Any:
    """The sum over the rows of y of w times the difference from each row of x."""
    return x * _sum_last(w) - matmul(w, y)


def _cdist_vjp(needs: Any, g: Any, out: Any, x: Any, y: Any, *, ord: float) -> Any:
    if ord == 2:
        w = divide_or_zero(g, out)
        return _towards(w, x, y) if needs[0] else None, _towards(_swapped(w), y, x) if needs[1] else None
    rank = ndim_of(out)
    field = _difference_field(out, _apart(x, y), ord) * reshape(g, shape=(*shape_of(g), 1))
    return (
        sum(field, axis=(rank - 1,), keepdims=False) if needs[0] else None,
        -sum(field, axis=(rank - 2,), keepdims=False) if needs[1] else None,
    )


def _cdist_push(tangents: Any, out: Any, x: Any, y: Any, *, ord: float) -> Any:
    dx, dy = tangents
    if ord != 2:
        t = _apart(dx if dx is not None else x * 0, dy if dy is not None else y * 0)
        return sum(_difference_field(out, _apart(x, y), ord) * t, axis=(ndim_of(out),), keepdims=False)
    inner = sum_tangents([
        None if dx is None else _sum_last(x * dx) - matmul(dx, _swapped(y)),
        None if dy is None else _swapped(_sum_last(y * dy)) - matmul(x, _swapped(dy)),
    ])  # fmt: skip
    return divide_or_zero(inner, out)


def _cdist_samples() -> Any:
    for ord in (2.0, 1.0, 3.0, math.inf, 0.0):
        yield sample(normal(2, 3), normal(4, 3, seed=1), ord=ord)
    yield sample(normal(2, 2, 3), normal(2, 1, 3, seed=9), ord=2.0)
    yield sample(normal(2, 2, 3), normal(2, 2, 3, seed=1), ord=1.5)


def _infer_cdist(avals: Any, p: dict[str, Any]) -> Aval:
    x, y = avals
    at_least(2, x, y)
    meeting(x, y, -1, -1)
    if len(x.shape) > 2 or len(y.shape) > 2:
        matching("the leading axes of the second set", y.shape[:-2], x.shape[:-2])
    return Aval((*x.shape[:-1], y.shape[-2]), x.dtype)


# Of the rows of x (..., P, M) and y (..., R, M): (..., P, R).
cdist = primitive(
    "cdist", kernel=_cdist_kernel, numpy=_cdist_numpy,
    vjp=_cdist_vjp, jvp=_cdist_push, batch=batch_leading,
    infer=_infer_cdist, samples=_cdist_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ of all pairs within a set


def _upper(n: int) -> tuple[Any, Any]:
    """The first and the second row of each pair of n."""
    return np.triu_indices(n, 1)


@widened
def _pdist_kernel(xp: Any, x: Any, *, ord: float) -> Any:
    rows, columns = _upper(x.shape[0])
    if not len(rows) or not x.shape[1]:
        return xp.zeros((len(rows),), dtype=x.dtype, device=device_in(x))
    step = max(1, _BLOCK // x.shape[1])
    parts = []
    for i in range(0, len(rows), step):
        first, second = (xp.take(x, constant(xp, at[i : i + step], x), axis=0) for at in (rows, columns))
        parts.append(_standard_norm(xp, first - second, ord, (1,)))
    return xp.concat(parts)


def _pdist_numpy(x: Any, *, ord: float) -> Any:
    rows, columns = _upper(x.shape[0])
    if not len(rows) or not x.shape[1]:
        return np.zeros(len(rows), x.dtype)
    step = max(1, _BLOCK // x.shape[1])
    parts = [
        _norm(x[rows[i : i + step]] - x[columns[i : i + step]], ord, (1,))
        for i in range(0, len(rows), step)
    ]
    return np.concatenate(parts)


def _pair_rows(x: Any) -> tuple[Any, Any]:
    """The same beside x, in rules."""
    rows, columns = _upper(shape_of(x)[0])
    return from_host(rows, x), from_host(columns, x)


def _pdist_field(out: Any, x: Any, ord: float) -> Any:
    rows, columns = _pair_rows(x)
    return _difference_field(out, take(x, rows, axis=0) - take(x, columns, axis=0), ord)


def _pdist_pull(g: Any, out: Any, x: Any, ord: float) -> Any:
    shape = tuple(shape_of(x))
    rows, columns = _pair_rows(x)
    field = _pdist_field(out, x, ord) * reshape(g, shape=(*shape_of(g), 1))
    return take_add(field, rows, shape=shape, axis=0) - take_add(field, columns, shape=shape, axis=0)


def _pdist_push(tangents: Any, out: Any, x: Any, *, ord: float) -> Any:
    t = tangents[0]
    rows, columns = _pair_rows(x)
    return sum(
        _pdist_field(out, x, ord) * (take(t, rows, axis=0) - take(t, columns, axis=0)), axis=(1,), keepdims=False
    )


def _infer_pdist(avals: Any, p: dict[str, Any]) -> Aval:
    shape, dtype = avals[0]
    demand(len(shape) == 2, f"a matrix is wanted, got the shape {tuple(shape)}")
    return Aval((shape[0] * (shape[0] - 1) // 2,), dtype)


# Of the rows i < j of a matrix, in the order (0, 1), (0, 2)...
pdist = primitive(
    "pdist", kernel=_pdist_kernel, numpy=_pdist_numpy, vjps=[lambda g, out, x, *, ord: _pdist_pull(g, out, x, ord)],
    jvp=_pdist_push,
    batch=batch_loop,
    infer=_infer_pdist,
    samples=lambda: [sample(normal(4, 3), ord=2.0), sample(normal(3, 2), ord=1.0), sample(normal(3, 2), ord=3.0)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ norms held within bounds

# What is missing to a bound: without derivative, so that a sum with it is cut off but its gradient is not.
shortfall = nondifferentiable(
    "shortfall", kernel=lambda xp, x, *, bound: xp.maximum(scalar(bound, x) - x, zero_of(x)), infer=infer_same,
    samples=lambda: [sample(normal(3), bound=0.5)],
)  # fmt: skip

_MARGIN = 1e-7


@widened
def _renorm_kernel(xp: Any, x: Any, *, ord: float, axis: int, bound: float) -> Any:
    return _renormed(xp, x, _standard_norm(xp, x, ord, _others(x, axis), True), bound)


@widened_numpy
def _renorm_numpy(x: Any, *, ord: float, axis: int, bound: float) -> Any:
    return in_c_order(_renormed(np, x, _norm(x, ord, _others(x, axis), True), bound))


def _renormed(xp: Any, x: Any, norm: Any, bound: float) -> Any:
    scale = xp.where(norm > bound, bound / (norm + scalar(_MARGIN, norm)), scalar(1, norm))
    return astype(xp, x * scale, x.dtype)


def _others(x: Any, axis: int) -> tuple[int, ...]:
    return tuple(i for i in range(ndim_of(x)) if i != axis)


def _renorm_parts(x: Any, ord: float, axis: int, bound: float) -> tuple[Any, Any, Any]:
    norm = vector_norm(x, ord=ord, axis=_others(x, axis), keepdims=True)
    above = greater(norm, bound)
    return norm, above, where(above, bound / (norm + _MARGIN), full((), 1, dtype_of(norm), norm))


def _renorm_pull(g: Any, x: Any, ord: float, axis: int, bound: float) -> Any:
    norm, above, scale = _renorm_parts(x, ord, axis, bound)
    inner = g * conj(x)
    inner = sum(real(inner) if dtype_of(x).kind == "c" else inner, axis=_others(x, axis), keepdims=True)
    h = keep(-inner * scale / (norm + _MARGIN), above)
    return g * scale + keep(norm_pull(h, norm, x, ord, _others(x, axis), True), above)


def _renorm_push(tangents: Any, out: Any, x: Any, *, ord: float, axis: int, bound: float) -> Any:
    t = tangents[0]
    norm, above, scale = _renorm_parts(x, ord, axis, bound)
    one = full(tuple(shape_of(norm)), 1, dtype_of(norm), norm)
    d = conj(norm_pull(one, norm, x, ord, _others(x, axis), True)) * t
    d = sum(real(d) if dtype_of(x).kind == "c" else d, axis=_others(x, axis), keepdims=True)
    return t * scale - x * keep(d * scale / (norm + _MARGIN), above)


# Each slice along an axis, scaled down to norm `bound` where it exceeds it.
renorm = primitive(
    "renorm", kernel=_renorm_kernel, numpy=_renorm_numpy,
    vjps=[lambda g, _out, x, *, ord, axis, bound: _renorm_pull(g, x, ord, axis, bound)], jvp=_renorm_push,
    batch=batch_loop, infer=infer_same,
    samples=lambda: [sample(normal(3, 2, 2), ord=2.0, axis=0, bound=1.0),
                     sample(normal(2, 3), ord=1.0, axis=1, bound=1.0),
                     sample(complex_normal(2, 3), ord=2.0, axis=0, bound=1.0)],
)  # fmt: skip
