"""Covariances, finite-difference gradients, norms and distances, reductions of segments."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import distance
from ...ops import reduction as rd
from ...ops.complex_parts import make_complex
from ...ops.elementwise import add, divide, multiply, subtract
from ...ops.norms import vector_norm as vector_norm_op
from ...ops.segment import segment_reduce as segment_op
from ...ops.selection import clip
from ...ops.structural import broadcast_to, cast, concatenate, imag, real, reshape
from ...tensor.covariances import correlations, covariance
from . import _dtype
from ._api import api, write_out
from ._axes import axes_of, axis_of, numpy_names
from ._data import computed_there
from ._dtype import FROM_NUMPY, promote_types
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, show_as
from ._promote import floated, pair, to_dtype
from ._reductions import vector_of
from ._scans import part
from .linalg._norms import matrix_norm, vector_norm

NAMES.update(
    dist="DistBackward0", cdist="CdistBackward0", pdist="PdistBackward0", renorm="RenormBackward0",
    segment_reduce="SegmentReduceBackward0",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ covariance


def _weight(op: str, name: str, w: Any, n: int, kinds: str, wanted: str) -> Any:
    if not isinstance(w, Value):
        raise TypeError(f"{op}: {name} must be a tensor, got {type(w).__name__}")
    if dtype_of(w).kind not in kinds:
        raise RuntimeError(f"{op}: {name} must be {wanted}, got {FROM_NUMPY[dtype_of(w)]}")
    if len(shape_of(w)) > 1 or (shape_of(w) and shape_of(w)[0] != n):
        raise RuntimeError(f"{op}: {name} must hold one weight for each of {n} observations, got {list(shape_of(w))}")
    if computed_there(op, w, lambda array: (array < 0).any()):
        raise RuntimeError(f"{op}: {name} must not be negative")
    return vector_of(w)


@api()
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables in rows, of which columns are observations; a number for one variable.

    fweights: how often each observation counts; aweights: how important it is.
    """
    x = tensor_argument("cov", input)
    ndim = len(shape_of(x))
    if ndim > 2:
        raise RuntimeError(f"cov: the input must have at most 2 dimensions, got {ndim}")
    if dtype_of(x).kind == "b":
        raise RuntimeError("cov: not defined for boolean tensors")
    if dtype_of(x).kind in "iu":
        x = cast(x, dtype=_dtype.get_default_dtype().np)
    if ndim < 2:
        x = reshape(x, shape=(1, shape_of(x)[0] if ndim else 1))
    n = shape_of(x)[1]
    weights = importance = None  # in a dtype of their own, as PyTorch keeps them
    if fweights is not None:
        weights = _weight("cov", "fweights", fweights, n, "iu", "integer")
    if aweights is not None:
        importance = _weight("cov", "aweights", aweights, n, "f", "floating")
        weights = importance if weights is None else weights * importance
    if weights is not None and n and not computed_there("cov", weights, lambda array: array.sum()):
        raise RuntimeError("cov: the weights sum to zero")
    products, factor = covariance(x, weights, importance, correction)
    if float(concrete("cov", factor) if isinstance(factor, Value) else factor) <= 0:
        warnings.warn("cov(): no degree of freedom is left", stacklevel=3)
        factor = 0
    factor = factor if isinstance(factor, Value) else np.asarray(factor, dtype_of(products))
    out = divide(*pair("cov", products, factor))
    return show_as(reshape(out, shape=()) if tuple(shape_of(out)) == (1, 1) else out, "SqueezeBackward0")


@api()
def corrcoef(input: Any) -> Any:
    """The matrix of correlation coefficients of variables in rows, of which columns are observations."""
    x = tensor_argument("corrcoef", input)
    if len(shape_of(x)) > 2:
        raise RuntimeError(f"corrcoef: the input must have at most 2 dimensions, got {len(shape_of(x))}")
    c = correlations(cov(x))
    if not shape_of(c):
        return c
    if dtype_of(c).kind == "c":
        return make_complex(clip(real(c), low=-1.0, high=1.0), clip(imag(c), low=-1.0, high=1.0))
    return show_as(clip(c, low=-1.0, high=1.0), "ClampBackward1")


# ------------------------------------------------------------------------------------------ finite differences


def _spacings(op: str, x: Value, spacing: Any, dim: Any) -> tuple[list[int], list[Any]]:
    """The axes to differentiate along, and for each the distance of samples or their coordinates."""
    n = len(shape_of(x))
    several = isinstance(spacing, (tuple, list))
    if spacing is None:
        spacing = 1
    if dim is None:
        axes = list(range(n))
    else:
        axes = list(axes_of(op, dim, n))
    if isinstance(spacing, Value):
        raise TypeError(f"{op}: spacing must be a number or a sequence of numbers or tensors, got a tensor")
    given = list(spacing) if several else [spacing] * len(axes)
    if len(given) != len(axes):
        raise RuntimeError(f"{op}: there are {len(given)} spacings for {len(axes)} dimensions")
    for axis, h in zip(axes, given):
        if isinstance(h, Value) and tuple(shape_of(h)) != (shape_of(x)[axis],):
            raise RuntimeError(
                f"{op}: the coordinates along dim {axis} must have shape [{shape_of(x)[axis]}], got {list(shape_of(h))}"
            )
    return axes, given


def _even(x: Any, axis: int, h: Any, order: int) -> list[Any]:
    """The derivative at the first sample, those within, and at the last one, for samples at distance h."""
    n = shape_of(x)[axis]
    at = [part(x, axis, i, i + 1) for i in range(order + 1)]
    end = [part(x, axis, n - 1 - i, n - i) for i in range(order + 1)]
    inner = divide(subtract(part(x, axis, 2, None), part(x, axis, None, -2)), _like(2 * h, x))
    if order == 1:
        first, last = divide(subtract(at[1], at[0]), _like(h, x)), divide(subtract(end[0], end[1]), _like(h, x))
    else:
        first, last = (
            divide(multiply(a, _like(-1.5 * s, x)) + multiply(b, _like(2 * s, x)) + multiply(c, _like(-0.5 * s, x)),
                   _like(h, x)) for (a, b, c), s in ((at, 1), (end, -1)))  # fmt: skip
    return [first, inner, last]


def _like(number: Any, x: Any) -> np.ndarray:
    return np.asarray(number, dtype=dtype_of(x))


def _uneven(x: Any, axis: int, points: Any, order: int) -> list[Any]:
    """The same for samples at given coordinates."""
    shape = tuple(shape_of(x))
    n = shape[axis]
    points = reshape(points, shape=(*(1,) * axis, n, *(1,) * (len(shape) - axis - 1)))
    h = subtract(part(points, axis, 1, None), part(points, axis, None, -1))
    slopes = divide(subtract(part(x, axis, 1, None), part(x, axis, None, -1)), h)
    left, right = part(slopes, axis, None, -1), part(slopes, axis, 1, None)
    h1, h2 = part(h, axis, None, -1), part(h, axis, 1, None)
    inner = divide(left * h2 + right * h1, h1 + h2)  # the slope of the parabola through three samples
    first, last = part(slopes, axis, 0, 1), part(slopes, axis, n - 2, n - 1)
    if order == 2:
        bend, width = divide(right - left, h1 + h2), h
        first = first - part(bend, axis, 0, 1) * part(width, axis, 0, 1)
        last = last + part(bend, axis, n - 3, n - 2) * part(width, axis, n - 2, n - 1)
    return [first, inner, last]


@api(method=False)
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """The derivatives along dimensions of a function given by samples: central differences, one-sided at the ends.

    spacing: the distance of samples, or one distance or tensor of coordinates per dimension.
    """
    op = "gradient"
    x = tensor_argument(op, input)
    axes, given = _spacings(op, x, spacing, dim)
    if edge_order not in (1, 2):
        raise RuntimeError(f"{op}: edge_order must be 1 or 2, got {edge_order}")
    if dtype_of(x).kind in "iub":
        x = cast(x, dtype=_dtype.get_default_dtype().np)
    results = []
    for axis, h in zip(axes, given):
        if shape_of(x)[axis] < edge_order + 1:
            raise RuntimeError(
                f"{op}: dim {axis} has {shape_of(x)[axis]} samples, edge_order={edge_order} needs {edge_order + 1}"
            )
        if isinstance(h, Value):
            y, points = pair(op, x, h)
            parts = _uneven(y, axis, points, edge_order)
        else:
            parts = _even(x, axis, h, edge_order)
        results.append(concatenate(*parts, axis=axis))
    return tuple(results)


# ------------------------------------------------------------------------------------------ norms


@api(method=False)
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Any:
    """The norm of order p of all elements or over dimensions; 'fro' is 2, 'nuc' the sum of singular values."""
    x = tensor_argument("norm", input)
    if p is None or p == "fro":
        result = vector_norm(x, 2, dim, keepdim, dtype=dtype)
    elif isinstance(p, str):
        if dim is None and len(shape_of(x)) != 2:
            raise RuntimeError(f"norm: p={p!r} needs a matrix or dim, got {len(shape_of(x))} dimensions")
        result = matrix_norm(x, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    else:
        result = vector_norm(x, p, dim, keepdim, dtype=dtype)
    return result if out is None else write_out("norm", result, out)


@api("norm", function=False)
def norm_method(self: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """As `torch.norm` of this tensor."""
    return norm(self, p, dim, keepdim, dtype=dtype)


@api(method=False)
def frobenius_norm(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The root of the sum of squares over dimensions."""
    return show_as(vector_norm(input, 2, dim, keepdim), "NormBackward1")


@api(method=False)
def nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    """The sum of the singular values of the matrices that two dimensions hold."""
    return matrix_norm(input, "nuc", (-2, -1) if isinstance(dim, bool) else dim, keepdim)


@api(in_place=True, out=True)
@numpy_names
def renorm(input: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """Each slice along a dimension, scaled down to p-norm `maxnorm` where it exceeds it."""
    x = tensor_argument("renorm", input)
    if len(shape_of(x)) < 2:
        raise RuntimeError(f"renorm: the input must have at least 2 dimensions, got {len(shape_of(x))}")
    if p <= 0 or maxnorm < 0:
        raise RuntimeError(f"renorm: p must be positive and maxnorm not negative, got p={p} and maxnorm={maxnorm}")
    axis = axis_of("renorm", dim, len(shape_of(x)))
    return distance.renorm(x, ord=float(p), axis=axis, bound=float(maxnorm))


# ------------------------------------------------------------------------------------------ distances


@api()
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """The p-norm of the difference of two tensors."""
    kinds = {dtype_of(tensor_argument("dist", x)).kind for x in (input, other)}
    x, y = pair("dist", input, other)
    if dtype_of(x).kind in "iu" or "b" in kinds:
        raise RuntimeError(f"dist: the tensors must be floating or complex, got {FROM_NUMPY[dtype_of(x)]}")
    return distance.dist(x, y, ord=float(p))


_BY_PRODUCT = 25
"""Of more rows PyTorch takes a matrix product, unless it is told not to."""
_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _of_one_kind(x: Any, y: Any) -> bool:
    """Whether two operands are matrices of single or of double numbers, with as many columns."""
    a, b = getattr(x, "_a", None), getattr(y, "_a", None)
    return (
        type(a) is np.ndarray and type(b) is np.ndarray and a.ndim == b.ndim == 2 and a.dtype is b.dtype
        and a.dtype.char in "fd" and a.shape[1] == b.shape[1]
    )  # fmt: skip


@api(method=False)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = _MODES[0]) -> Any:
    """The p-norm distances of each row of x1 (..., P, M) and each of x2 (..., R, M), as (..., P, R)."""
    op = "cdist"
    if _of_one_kind(x1, x2) and type(p) is float and p >= 0 and compute_mode is _MODES[0]:
        out = distance.cdist(x1, x2, ord=p)
        rows = max(shape_of(x1)[0], shape_of(x2)[0])
        return show_as(out, "ViewBackward0") if p == 2 and rows > _BY_PRODUCT else out
    if compute_mode is None:
        compute_mode = _MODES[0]
    if compute_mode not in _MODES:
        raise ValueError(f"{op}: compute_mode must be one of {', '.join(_MODES)}, got {compute_mode!r}")
    for name, x in (("x1", x1), ("x2", x2)):
        tensor_argument(op, x)
        if len(shape_of(x)) < 2:
            raise RuntimeError(f"{op}: {name} must have at least 2 dimensions, got {len(shape_of(x))}")
        if dtype_of(x).kind not in "fV":
            raise RuntimeError(f"{op}: {name} must be floating, got {FROM_NUMPY[dtype_of(x)]}")
    if dtype_of(x1) != dtype_of(x2):
        raise RuntimeError(f"{op}: x1 has dtype {FROM_NUMPY[dtype_of(x1)]}, x2 {FROM_NUMPY[dtype_of(x2)]}; convert one")
    if not p >= 0:
        raise RuntimeError(f"{op}: p must not be negative, got {p}")
    s1, s2 = tuple(shape_of(x1)), tuple(shape_of(x2))
    if s1[-1] != s2[-1]:
        raise RuntimeError(f"{op}: the rows must have one length, x1 has {s1[-1]} columns and x2 {s2[-1]}")
    if s1[:-2] != s2[:-2]:
        lead = np.broadcast_shapes(s1[:-2], s2[:-2])
        x1, x2 = broadcast_to(x1, shape=(*lead, *s1[-2:])), broadcast_to(x2, shape=(*lead, *s2[-2:]))
    out = distance.cdist(x1, x2, ord=float(p))
    by_product = compute_mode == _MODES[1] or (compute_mode == _MODES[0] and max(s1[-2], s2[-2]) > _BY_PRODUCT)
    return show_as(out, "ViewBackward0") if p == 2 and by_product else out


@api(method=False)
def pdist(input: Any, p: float = 2) -> Any:
    """The p-norm distances of all pairs of rows of a matrix, those of the first row first."""
    x = tensor_argument("pdist", input)
    if len(shape_of(x)) != 2:
        raise RuntimeError(f"pdist: the input must have 2 dimensions, got {len(shape_of(x))}")
    if dtype_of(x).kind not in "fV":
        raise RuntimeError(f"pdist: the input must be floating, got {FROM_NUMPY[dtype_of(x)]}")
    if not p >= 0:
        raise RuntimeError(f"pdist: p must not be negative, got {p}")
    return distance.pdist(x, ord=float(p))


@api(method=False)
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> Any:
    """The p-norms of the differences of corresponding rows, to which eps is added."""
    d = floated(subtract(*pair("pairwise_distance", tensor_argument("pairwise_distance", x1), x2)))
    d = add(d, np.asarray(eps, dtype=dtype_of(d)))
    return show_as(vector_norm(d, p, len(shape_of(d)) - 1, keepdim), "NormBackward1")


@api(method=False)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-08) -> Any:
    """The cosine of the angle between vectors along a dimension, their lengths taken to be at least eps."""
    op = "cosine_similarity"
    x, y = tensor_argument(op, x1), tensor_argument(op, x2)
    d = promote_types(FROM_NUMPY[dtype_of(x)], FROM_NUMPY[dtype_of(y)])
    x, y = to_dtype(x, d), to_dtype(y, d)
    if dtype_of(x).kind not in "fV":
        raise RuntimeError(f"{op}: the tensors must be floating, got {FROM_NUMPY[dtype_of(x)]}")
    if eps < 0:
        raise RuntimeError(f"{op}: eps must not be negative, got {eps}")
    axis = axis_of(op, dim, max(len(shape_of(x)), len(shape_of(y))))
    shape = np.broadcast_shapes(tuple(shape_of(x)), tuple(shape_of(y)))
    if not shape:
        x, y, shape = vector_of(x), vector_of(y), (1,)
    x, y = (a if tuple(shape_of(a)) == shape else broadcast_to(a, shape=shape) for a in (x, y))
    units = [divide(a, _length(a, axis, eps)) for a in (x, y)]
    return show_as(rd.sum(multiply(*units), axis=(axis,), keepdims=False), "SumBackward1")


def _length(x: Any, axis: int, eps: float) -> Any:
    """The lengths of vectors, at least eps: where that holds, the gradient of the length itself passes."""
    length = vector_norm_op(x, ord=2.0, axis=(axis,), keepdims=True)
    return add(length, distance.shortfall(length, bound=float(eps)))


# ------------------------------------------------------------------------------------------ segments

_REDUCES = ("sum", "mean", "max", "min", "prod")


@api("segment_reduce", "_segment_reduce", method=False)
def segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None,
) -> Any:  # fmt: skip
    """The sum, mean, max, min or product of consecutive segments of an axis, told by their lengths or offsets."""
    op = "segment_reduce"
    x = tensor_argument(op, data)
    if reduce not in _REDUCES:
        raise RuntimeError(f"{op}: reduce must be one of {', '.join(_REDUCES)}, got {reduce!r}")
    if indices is not None:
        raise RuntimeError(f"{op}: segments are told by lengths or offsets, not by indices")
    if (lengths is None) == (offsets is None):
        raise RuntimeError(f"{op}: give either lengths or offsets")
    if dtype_of(x).kind not in "fV":
        raise RuntimeError(f"{op}: the data must be floating, got {FROM_NUMPY[dtype_of(x)]}")
    if offsets is not None:
        lengths = subtract(part(offsets, len(shape_of(offsets)) - 1, 1, None),
                           part(offsets, len(shape_of(offsets)) - 1, None, -1))  # fmt: skip
    if dtype_of(lengths).kind not in "iu":
        raise RuntimeError(f"{op}: lengths must be integers, got {FROM_NUMPY[dtype_of(lengths)]}")
    lengths = cast(lengths, dtype=np.dtype(np.int64))
    lead = tuple(shape_of(lengths))[:-1]
    if axis_of(op, axis, len(shape_of(x))) != len(lead) or tuple(shape_of(x))[: len(lead)] != lead:
        raise RuntimeError(f"{op}: lengths {list(shape_of(lengths))} do not go with axis {axis} of {list(shape_of(x))}")
    if not unsafe:
        total = shape_of(x)[len(lead)]
        if computed_there(op, lengths, lambda array: (array < 0).any() or (array.sum(axis=-1) != total).any()):
            raise RuntimeError(f"{op}: lengths must not be negative and add up to {shape_of(x)[len(lead)]}")
    return segment_op(x, lengths, reduce=reduce, initial=None if initial is None else float(initial))
