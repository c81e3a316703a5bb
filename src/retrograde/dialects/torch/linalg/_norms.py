"""Norms, condition numbers and ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backend.dtypes import real_of
from ....core.value import dtype_of, ndim_of, shape_of
from ....ops import norms
from ....ops.elementwise import divide, multiply
from ....ops.linalg import inv
from ....ops.linalg_spectral import svdvals
from ....ops.selection import nan_to_num
from ....ops.structural import cast, getitem, reshape
from .. import _dtype
from .._axes import axes_of, axis_of, numpy_names
from .._dtype import FROM_NUMPY, can_cast
from .._graph_nodes import NAMES, show_as
from .._tensor import Tensor, beside
from ._checks import floating, matrices, shape_argument, takes_out
from ._solve import cutoffs

NAMES["vector_norm"] = NAMES["zero_norm"] = "LinalgVectorNormBackward0"


def _converted(op: str, x: Any, dtype: Any) -> Any:
    """`x` in the dtype that the norm is to be computed in; raises where that is of another kind or narrower."""
    have = FROM_NUMPY[dtype_of(x)]
    if have.category < 2:
        raise RuntimeError(f"{op}: the input must be floating or complex, got {have!r}; convert it first")
    if dtype is None:
        return x
    dtype = _dtype.as_dtype(dtype)
    if not isinstance(dtype, _dtype.dtype):
        raise TypeError(f"{op}: dtype must be a torch dtype, got {type(dtype).__name__}")
    if dtype.is_complex != have.is_complex or dtype.category < 2:
        kind = "complex" if have.is_complex else "real and floating"
        raise RuntimeError(f"{op}: dtype must be {kind}, as the input, got {dtype!r}")
    if _dtype.promote_types(dtype, have) is not dtype or not can_cast(have, dtype):
        raise RuntimeError(f"{op}: dtype must hold every value of the input's {have!r}, got {dtype!r}")
    return x if dtype is have else cast(x, dtype=dtype.np)


def _order(op: str, order: Any) -> float:
    if isinstance(order, (bool, int, float, np.generic)):
        return float(order)
    raise TypeError(f"{op}: ord must be a number, got {type(order).__name__}")


@numpy_names
@takes_out
def vector_norm(input: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of the vectors that the dimensions hold: (sum of |x|^ord)^(1/ord); all elements where dim is None."""
    op = "linalg.vector_norm"
    shape = shape_argument(op, input, "input")
    order = _order(op, ord)
    x = _converted(op, input, dtype)
    every = dim is None or dim == () or dim == []
    reduced = tuple(range(len(shape))) if every or not shape else tuple(sorted(axes_of(op, dim, len(shape))))
    if (order < 0 or order == math.inf) and any(shape[a] == 0 for a in reduced):
        raise RuntimeError(f"{op}: the norm of order {order:g} of no elements does not exist; reduce another dim")
    if order == 0:
        return norms.zero_norm(x, axis=reduced, keepdims=keepdim)
    return norms.vector_norm(x, ord=order, axis=reduced, keepdims=keepdim)


_NAMED = ("fro", "nuc")


@takes_out
def matrix_norm(
    input: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of the matrices that two dimensions hold, for ord 'fro', 'nuc', 1, -1, 2, -2, inf and -inf."""
    op = "linalg.matrix_norm"
    shape = shape_argument(op, input, "input")
    if len(shape) < 2:
        raise RuntimeError(f"{op}: the input must have at least 2 dimensions, got {len(shape)}")
    x = _converted(op, input, dtype)
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"{op}: dim must hold two dimensions, got {dim!r}")
    pair = axis_of(op, dim[0], len(shape)), axis_of(op, dim[1], len(shape))
    if pair[0] == pair[1]:
        raise RuntimeError(f"{op}: the two dimensions must be different, got {tuple(dim)}")
    if isinstance(ord, str):
        if ord not in _NAMED:
            raise RuntimeError(f"{op}: ord must be 'fro', 'nuc' or a number, got {ord!r}")
    elif abs(order := _order(op, ord)) not in (1.0, 2.0, math.inf):
        raise RuntimeError(f"{op}: ord must be 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc', got {ord}")
    else:
        ord = order
    if ord in ("nuc", 2, -2):
        floating(op, x, "input", half=RuntimeError)
    if 0 in (shape[pair[0]], shape[pair[1]]):
        ord = "fro"  # every norm of a matrix without elements is 0
    out = norms.matrix_norm(x, ord=ord, axis=pair, keepdims=keepdim)
    if ord == "fro":
        return out
    if keepdim and ord in ("nuc", 2, -2):
        return show_as(out, "PermuteBackward0")
    return show_as(out, "SumBackward1" if ord == "nuc" else "AmaxBackward0" if ord > 0 else "AminBackward0")


@takes_out
def norm(input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector norm or, with two dimensions or a named order, a matrix norm; of all elements where nothing is said."""
    op = "linalg.norm"
    shape = shape_argument(op, input, "input")
    if dim is not None:
        dims = (dim,) if not isinstance(dim, (tuple, list)) else tuple(dim)
        if len(dims) not in (1, 2) and not isinstance(ord, str):
            raise RuntimeError(f"{op}: dim must hold one or two dimensions, got {list(dims)}")
    elif ord is not None and not isinstance(ord, str) and len(shape) not in (1, 2):
        raise RuntimeError(f"{op}: with ord and without dim the input must have 1 or 2 dimensions, got {len(shape)}")
    if isinstance(ord, str):
        if dim is None and len(shape) > 2:
            raise RuntimeError(f"{op}: with ord={ord!r} and without dim the input must be a matrix, got {list(shape)}")
        return matrix_norm(input, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    if ord is not None and (len(shape) == 2 if dim is None else len(dims) == 2):
        return matrix_norm(input, ord, (0, 1) if dim is None else dims, keepdim, dtype=dtype)
    return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def _ends(values: Any, order: Any) -> Any:
    """The largest over the smallest of descending values, or the other way round."""
    first, last = (getitem(values, index=(Ellipsis, slice(i, i + 1 or None))) for i in (0, -1))
    ratio = divide(last, first) if order == -2 else divide(first, last)
    return show_as(reshape(ratio, shape=tuple(shape_of(ratio))[:-1]), "SqueezeBackward1")


@takes_out
def cond(input: Any, p: Any = None) -> Tensor:
    """The condition number in the norm p (2 for None): the norm of A times that of its inverse; inf for singular A."""
    op = "linalg.cond"
    shape = matrices(op, input)
    order = 2 if p is None else p
    if order not in (*_NAMED, 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"{op}: p must be 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc', got {p!r}")
    if 0 in shape[-2:]:
        return beside(np.zeros(shape[:-2], real_of(dtype_of(input))), input)
    if order in (2, -2):
        return _ends(svdvals(input), order)
    matrices(op, input, square=True)
    n = ndim_of(input)
    kwargs: dict[str, Any] = {"ord": order, "axis": (n - 2, n - 1), "keepdims": False}
    inverse = inv(input, check=False)
    product = multiply(norms.matrix_norm(input, **kwargs), norms.matrix_norm(inverse, **kwargs))
    return product if order == "nuc" else nan_to_num(product, nan=math.inf, posinf=math.inf, neginf=-math.inf)


@takes_out
def matrix_rank(input: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """How many singular values of each matrix lie above max(atol, rtol * the largest)."""
    op = "linalg.matrix_rank"
    matrices(op, input, square=hermitian, half=RuntimeError)
    if tol is not None:
        if atol is not None or rtol is not None:
            raise TypeError(f"{op}: tol is the old name of atol with rtol=0; give either tol or atol and rtol")
        atol, rtol = tol, 0.0
    low, relative = cutoffs(op, input, atol, rtol)
    return norms.matrix_rank(input.detach(), atol=low, rtol=relative, hermitian=hermitian)
