"""Norms and distances, covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import distance
from ...ops import elementwise as ew
from ...ops import reduction as rd
from ...ops import structural as st
from ...tensor import linalg as native_linalg
from ...tensor.covariances import covariance
from .._shared.axes import axes_of, axis_of
from ._api import api
from ._binary import clip_by_value, div, maximum, mul
from ._promote import FLOAT, FLOATING, single, tensor_argument
from ._reductions import _in_dtype, _reduced, _sum, with_positions


def euclidean(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """The root of the sum of squares, without a derivative at 0."""
    squares = ew.square(x) if dtype_of(x).kind != "c" else ew.square(ew.absolute(x))
    return ew.sqrt(_sum(squares, axis=axis, keepdims=keepdims))


@api()
def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm over axes: of vectors, or (two axes, or a matrix and `ord`) of matrices."""
    x = _in_dtype("norm", single("norm", A, FLOAT), dtype)
    n = len(shape_of(x))
    if ord is None:
        return euclidean(x, _reduced("norm", x, dim, "dim"), keepdim)
    if dim is None and n not in (1, 2) and ord is not None:
        raise ValueError(f"norm: ord={ord!r} needs one or two axes, or dim; the tensor has {n}")
    axes = tuple(range(n)) if dim is None else axes_of("norm", dim, n, "dim")
    if dim is not None and isinstance(dim, (tuple, list)):
        axes = tuple(axis_of("norm", d, n, "dim") for d in dim)
    if len(axes) == 1:
        lp = isinstance(dim, int) and isinstance(ord, (int, float)) and 1 <= ord < float("inf")
        return lp_norm(x, ord, axes, keepdim) if lp else vector_norm(x, ord, axes, keepdim)
    if len(axes) == 2:
        return matrix_norm(x, ord, axes, keepdim)
    raise ValueError(f"norm: ord={ord!r} needs one or two axes in dim, got {dim}")


@api(method=False)
def vector_norm(x: Any, ord: Any = 2, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The norm of vectors along axes."""
    x = _in_dtype("vector_norm", single("vector_norm", x, FLOAT), dtype)
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        raise TypeError(f"vector_norm: ord must be a number, got {ord!r}")
    axes = _reduced("vector_norm", x, axis)
    if ord == 2:
        return euclidean(x, axes, keepdims)
    if abs(ord) == float("inf") and (len(axes) == 1 or len(axes) == x.ndim) and x.size and dtype_of(x).kind != "c":
        # The first of those that are equally far from 0 gets the whole gradient.
        sizes = ew.absolute(x if len(axes) == 1 else st.reshape(x, shape=(x.size,)))
        out, _ = with_positions("norm", sizes, axes[0], len(axes) == 1 and keepdims, ord > 0)
        return st.reshape(out, shape=(1,) * x.ndim) if keepdims and len(axes) > 1 else out
    return native_linalg.vector_norm(x, axis=axes, keepdims=keepdims, ord=float(ord))


def lp_norm(x: Any, p: float, axes: Any, keepdims: bool, epsilon: float = 1e-12) -> Any:
    """The norm of vectors along axes, no less than epsilon; where it would be less it has no gradient."""
    if p != 2:
        return maximum(vector_norm(x, p, axes, keepdims), epsilon)
    squares = _sum(ew.square(x), axis=_reduced("LpNorm", x, axes), keepdims=keepdims)
    return ew.sqrt(maximum(squares, epsilon * epsilon))


@api(method=False)
def matrix_norm(A: Any, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices: "fro", "nuc", 1, 2, inf or the negative ones."""
    x = _in_dtype("matrix_norm", single("matrix_norm", A, FLOAT), dtype)
    n = len(shape_of(x))
    rows, columns = (axis_of("matrix_norm", a, n) for a in axis)
    if rows == columns:
        raise ValueError(f"matrix_norm: axis {axis} names an axis twice")
    if ord == "fro":
        return euclidean(x, tuple(sorted((rows, columns))), keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
        raise ValueError(f"matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")
    order = (*(i for i in range(n) if i not in (rows, columns)), rows, columns)
    out = native_linalg.matrix_norm(st.transpose(x, axes=order), keepdims=False, ord=ord)
    if keepdims:
        out = st.reshape(out, shape=tuple(1 if i in (rows, columns) else k for i, k in enumerate(shape_of(x))))
    return out


@api()
def renorm(input: Any, p: float, axis: int, maxnorm: float) -> Any:
    """The slices along an axis with those of greater p-norm than `maxnorm` scaled down to it."""
    x = single("renorm", input, FLOATING)
    return distance.renorm(x, ord=float(p), axis=axis_of("renorm", axis, len(shape_of(x))), bound=float(maxnorm))


@api(method=False)
def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The p-norm distances between the rows of two matrices, batched."""
    x, y = single("cdist", x1, FLOATING), single("cdist", x2, FLOATING)
    if p < 0:
        raise ValueError(f"cdist: p must not be negative, got {p}")
    return distance.cdist(x, y, ord=float(p))


@api(method=False)
def pdist(input: Any, p: float = 2.0) -> Any:
    """The p-norm distances between all pairs of rows."""
    if p < 0:
        raise ValueError(f"pdist: p must not be negative, got {p}")
    return distance.pdist(single("pdist", input, FLOATING), ord=float(p))


@api(method=False)
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of the difference of two tensors, all elements taken together."""
    difference = single("dist", input, FLOATING) - other
    return vector_norm(st.reshape(difference, shape=(-1,)), p)


@api(method=False)
def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """A tensor (or a list of them) scaled so that its norm (all taken together) is at most `max_norm`."""
    parts = list(x) if isinstance(x, (tuple, list)) else [x]
    norms = [st.reshape(vector_norm(part, norm_type), shape=(1,)) for part in parts]
    total = vector_norm(st.concatenate(*norms, axis=0), norm_type)
    if error_if_nonfinite and not np.isfinite(float(total)):
        raise RuntimeError(f"clip_by_norm: the norm is {float(total)}")
    factor = clip_by_value(div(float(max_norm), total + 1e-6), None, 1.0)
    out = [mul(part, factor) for part in parts]
    return type(x)(out) if isinstance(x, (tuple, list)) else out[0]


@api(method=False)
def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> Any:
    """Tensors (or the elements of one) scaled so that the root of the sum of all their squares is at most `clip_norm`."""
    if isinstance(x, Value):
        return clip_by_global_norm((x,), clip_norm, use_norm)[0]
    if not isinstance(x, (tuple, list)):
        raise TypeError(f"clip_by_global_norm: wanted a tuple or list of Tensors, got {type(x).__name__}")
    if isinstance(clip_norm, bool) or not isinstance(clip_norm, (int, float)):
        raise TypeError(f"clip_by_global_norm: clip_norm must be a number, got {type(clip_norm).__name__}")
    if clip_norm <= 0:
        raise ValueError(f"clip_by_global_norm: clip_norm must be above 0, got {clip_norm}")
    if use_norm is not None:
        raise ValueError("clip_by_global_norm: use_norm must be None")
    if not x or not all(isinstance(part, Value) for part in x):
        raise ValueError("clip_by_global_norm: wanted one Tensor or more, and nothing else")
    squares = [rd.sum(ew.square(part), axis=tuple(range(part.ndim)), keepdims=False) for part in x]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    norm = ew.sqrt(total)
    bound = maximum(norm, float(clip_norm))
    return tuple(mul(part, float(clip_norm)) / bound for part in x)


@api()
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of the rows, whose columns are observations with weights."""
    x = single("cov", input, FLOAT)
    if len(shape_of(x)) > 2:
        raise ValueError(f"cov: wanted at most two axes, got shape {tuple(shape_of(x))}")
    rows = x if len(shape_of(x)) == 2 else st.reshape(x, shape=(1, -1 if shape_of(x) else 1))
    frequency, importance = (
        None if w is None else st.cast(tensor_argument("cov", w, "weights"), dtype=dtype_of(x)) for w in (fweights, aweights)
    )
    weights = importance if frequency is None else frequency if importance is None else frequency * importance
    products, freedom = covariance(rows, weights, importance, correction)
    out = products / freedom
    return out if rows is x else st.reshape(out, shape=())
