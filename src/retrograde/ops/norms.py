"""Norms of vectors and matrices, and what is counted or bounded by singular values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, is_complex
from ..core.arrays import full
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from .comparison import equal, greater
from .elementwise import absolute, power_by, sgn
from .kernels import no_zeros, widened
from .linalg_spectral import eigvalsh, svdvals
from .reduction import amax, amin, infer_reduced_real, kept, reduced_shape, sum_array, tie_weights
from .reduction import sum as reduce_sum
from .rules import batch_axes, conj
from .samples import complex_normal, normal, sample, uniform
from .selection import drop, maximum
from .structural import cast, real, reshape, transpose, zeros_like


@widened
def _norm_kernel(xp: Any, x: Any, *, ord: float, axis: tuple[int, ...], keepdims: bool) -> Any:
    # The square of a single element may be too large, or 0.
    if ord != 0 and (not axis or x.shape[axis[0]] == 1) and all(x.shape[k] == 1 for k in axis):
        return xp.reshape(xp.abs(x), reduced_shape(x.shape, axis, keepdims))

    def total(y: Any) -> Any:
        return xp.sum(y, axis=axis, keepdims=keepdims, dtype=y.dtype)

    if ord == 2:
        return xp.sqrt(total(xp.real(x) * xp.real(x) + xp.imag(x) * xp.imag(x) if is_complex(x) else x * x))
    size = xp.abs(x)
    if math.isinf(ord):
        return (xp.max if ord > 0 else xp.min)(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return total(astype(xp, size != 0, size.dtype))
    return total(size) if ord == 1 else xp.pow(total(xp.pow(size, ord)), 1 / ord)


def _norm_numpy(x: Any, *, ord: float, axis: tuple[int, ...], keepdims: bool) -> Any:
    dtype = x.dtype
    if dtype.itemsize <= 2:  # half precision is computed in single
        return _norm_numpy(x.astype("float32"), ord=ord, axis=axis, keepdims=keepdims).astype(dtype)
    # The square of a single element may be too large, or 0.
    if ord != 0 and (not axis or x.shape[axis[0]] == 1) and all(x.shape[k] == 1 for k in axis):
        return np.reshape(np.abs(x), tuple(1 if k in axis else n for k, n in enumerate(x.shape) if keepdims or k not in axis))
    if ord == 2:
        if not keepdims and len(axis) == x.ndim and dtype.kind == "f":
            flat = x.ravel()
            return np.sqrt(flat.dot(flat))
        squares = x * x if dtype.kind == "f" else x.real * x.real + x.imag * x.imag
        return np.sqrt(sum_array(squares, axis, keepdims))
    size = np.abs(x)
    if ord == math.inf:
        return np.max(size, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return sum_array((size != 0).astype(size.dtype), axis, keepdims)
    if ord == 1:
        return sum_array(size, axis, keepdims)
    total = sum_array(size ** size.dtype.type(ord), axis, keepdims)
    return total ** size.dtype.type(1 / ord)


def norm_pull(g: Any, out: Any, x: Any, ord: float, axis: tuple[int, ...], keepdims: bool) -> Any:
    """g times the derivative by each element; 0 where the norm has a kink at 0 (its second derivative is nan there)."""
    if ord == 0:
        return zeros_like(x)
    g = kept(g, x, axis, keepdims)
    if ord == 1:
        return sgn(x) * g
    norm = kept(out, x, axis, keepdims)
    if ord == 2:
        if type(norm) is np.ndarray and type(x) is np.ndarray and no_zeros(norm):
            return g * (x / norm)
        return g * drop(x / norm, equal(norm, 0))
    size = absolute(x)
    if math.isinf(ord):
        return sgn(x) * (g * tie_weights(size, norm, axis=axis, ties="even"))
    if ord < 1:
        return sgn(x) * drop(power_by(size, exponent=ord - 1), equal(size, 0)) * (g * power_by(norm, exponent=1 - ord))
    scale = drop(g / power_by(norm, exponent=ord - 1), equal(norm, 0))
    if ord < 2:
        return sgn(x) * power_by(size, exponent=ord - 1) * scale
    return x * power_by(size, exponent=ord - 2) * scale


def _norm_push(
    tangents: Any, out: Any, x: Any, *, ord: float, axis: tuple[int, ...], keepdims: bool
) -> Any:  # fmt: skip
    one = full(tuple(shape_of(out)), 1, dtype_of(out), out)
    d = norm_pull(one, out, x, ord, axis, keepdims) * tangents[0] if dtype_of(x).kind == "f" else real(
        conj(norm_pull(one, out, x, ord, axis, keepdims)) * tangents[0])  # fmt: skip
    return reduce_sum(d, axis=axis, keepdims=keepdims)


def _norm_samples() -> Any:
    for ord in (2.0, 1.0, 3.0, 1.5, 0.5, -1.0, math.inf, -math.inf, 0.0):
        yield sample(uniform(0.5, 2, 3) * [1, -1, 1], ord=ord, axis=(0,), keepdims=False)
    yield sample(normal(2, 3), ord=2.0, axis=(1,), keepdims=True)
    yield sample(normal(2, 3), ord=3.0, axis=(0, 1), keepdims=False)
    yield sample(normal(), ord=2.0, axis=(), keepdims=False)
    for ord in (2.0, 1.0, 3.0, math.inf):
        yield sample(complex_normal(2, 2), ord=ord, axis=(0,), keepdims=False)


# (sum of |x|^ord)^(1/ord), the largest or smallest |x| for ord=inf and -inf, the number of elements that are not 0 for
# ord=0.
vector_norm = primitive(
    "vector_norm", kernel=_norm_kernel, numpy=_norm_numpy, kind="reduction",
    vjps=[lambda g, out, x, *, ord, axis, keepdims: norm_pull(g, out, x, ord, axis, keepdims)],
    jvp=_norm_push, batch=batch_axes("axis"), infer=infer_reduced_real, samples=_norm_samples,
)  # fmt: skip

# The norm of order 0 without any gradient, not even zeros, for frameworks that have it so.
zero_norm = primitive(
    "zero_norm", kernel=lambda xp, x, *, axis, keepdims: _norm_kernel(xp, x, ord=0, axis=axis, keepdims=keepdims),
    numpy=lambda x, *, axis, keepdims: _norm_numpy(x, ord=0, axis=axis, keepdims=keepdims), kind="reduction",
    vjp=lambda needs, g, _out, _x, *, axis, keepdims: (None,), jvp=lambda tangents, out, x, *, axis, keepdims: None,
    batch=batch_axes("axis"), infer=infer_reduced_real, samples=lambda: [sample(normal(2, 3), axis=(1,), keepdims=True)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ matrices


def _at_end(x: Any, axis: tuple[int, int]) -> Any:
    order = [i for i in range(ndim_of(x)) if i not in axis]
    return transpose(x, axes=(*order, *axis))


def matrix_norm(x: Any, *, ord: Any, axis: tuple[int, int], keepdims: bool) -> Any:
    """The norm of the matrices that two axes hold.

    ord: 'fro' (the root of the sum of squares), 'nuc' (the sum of the singular values), 2 and -2 (the largest and the
    smallest of them), 1 and -1 (of the sums of |x| over rows), inf and -inf (of those over columns).
    """
    if ord == "fro":
        return vector_norm(x, ord=2.0, axis=tuple(sorted(axis)), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(_at_end(x, axis))
        last = (ndim_of(values) - 1,)
        if ord == "nuc":
            out = reduce_sum(values, axis=last, keepdims=False)
        else:
            out = (amax if ord > 0 else amin)(values, axis=last, keepdims=False, ties="even")
        if keepdims:
            out = reshape(out, shape=tuple(1 if i in axis else n for i, n in enumerate(shape_of(x))))
        return out
    summed, over = axis if abs(ord) == 1 else axis[::-1]
    sums = vector_norm(x, ord=1.0, axis=(summed,), keepdims=keepdims)
    over -= not keepdims and over > summed
    return (amax if ord > 0 else amin)(sums, axis=(over,), keepdims=keepdims, ties="even")


# ------------------------------------------------------------------------------------------ ranks


def matrix_rank(x: Any, *, atol: Any, rtol: Any, hermitian: bool = False) -> Any:
    """How many singular values lie above max(atol, rtol * the largest); the cut-offs broadcast with the batch."""
    s = absolute(eigvalsh(x)) if hermitian else svdvals(x)
    last = (ndim_of(s) - 1,)
    if shape_of(s)[-1] == 0:
        return reduce_sum(cast(s, dtype=np.dtype(np.int64)), axis=last, keepdims=False)
    cut = maximum(atol, amax(s, axis=last, keepdims=False, ties="even") * rtol, ties="half")
    above = greater(s, reshape(cut, shape=(*shape_of(cut), 1)))
    return reduce_sum(cast(above, dtype=np.dtype(np.int64)), axis=last, keepdims=False)
