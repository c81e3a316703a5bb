"""`torch.masked`: reductions and normalisations in which only the elements count whose mask is set.

A mask broadcasts to its tensor. Where nothing is set along a dimension, a reduction gives its neutral element.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import reduction as rd
from ...ops import scan
from ...ops import sorting as so
from ...ops.elementwise import divide, multiply, sqrt, subtract
from ...ops.elementwise import logaddexp as logaddexp_op
from ...ops.norms import vector_norm
from ...ops.selection import clip
from ...ops.selection import where as where_op
from ...ops.structural import broadcast_to, cast, conj, reshape
from . import _dtype
from ._api import missing as _missing
from ._axes import axis_of
from ._dtype import FROM_NUMPY
from ._elementwise import tensor_argument
from ._graph_nodes import show_as
from ._promote import pair
from ._reductions import in_dtype, picked, reduced_axes, vector_of, without_axis
from ._tensor import beside
from .nn.functional import _softmax as sm

_BOOL = np.dtype(bool)

# ------------------------------------------------------------------------------------------ masks


def _mask(op: str, x: Any, mask: Any) -> Any:
    """The mask in the shape of the tensor, as booleans; None where everything counts."""
    if mask is None:
        return None
    if not isinstance(mask, Value):
        raise TypeError(f"masked.{op}: the mask must be a tensor, got {type(mask).__name__}")
    shape = tuple(shape_of(x))
    if dtype_of(mask) != _BOOL:
        mask = cast(mask, dtype=_BOOL)
    if tuple(shape_of(mask)) == shape:
        return mask
    try:
        return broadcast_to(mask, shape=shape)
    except (ValueError, RuntimeError):
        raise RuntimeError(
            f"masked.{op}: a mask of shape {list(shape_of(mask))} does not broadcast to the tensor's {list(shape)}"
        ) from None


def _filled(op: str, x: Any, mask: Any, value: Any) -> Any:
    """The tensor with a number wherever the mask is not set."""
    mask = _mask(op, x, mask)
    return x if mask is None else where_op(mask, x, beside(np.asarray(value, dtype=dtype_of(x)), x))


def _input(op: str, input: Any, dtype: Any, *, widen: bool = False) -> Any:
    """The tensor in the dtype of the computation: int64 for integers, where sums of them are meant."""
    x = in_dtype(f"masked.{op}", tensor_argument(f"masked.{op}", input), dtype)
    if widen and dtype is None and dtype_of(x).kind in "iub" and dtype_of(x) != np.int64:
        x = cast(x, dtype=np.dtype(np.int64))
    return x


def _axes(op: str, x: Any, dim: Any) -> tuple[int, ...]:
    return reduced_axes(f"masked.{op}", dim, len(shape_of(x)))


def _lowest(op: str, d: np.dtype, largest: bool) -> Any:
    """The neutral element of a maximum (or of a minimum)."""
    if d.kind == "b":
        raise NotImplementedError(f"masked.{op}: booleans have no neutral element; convert them first")
    if d.kind in "iu":
        return np.iinfo(d).min if largest else np.iinfo(d).max
    return -math.inf if largest else math.inf


# ------------------------------------------------------------------------------------------ reductions


def sum(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The sum of the elements that count; 0 where none does."""
    x = _filled("sum", x := _input("sum", input, dtype, widen=True), mask, 0)
    return show_as(rd.sum(x, axis=_axes("sum", x, dim), keepdims=bool(keepdim)), "SumBackward1")


def prod(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The product of the elements that count; 1 where none does."""
    x = _filled("prod", x := _input("prod", input, dtype, widen=True), mask, 1)
    return show_as(rd.prod(x, axis=_axes("prod", x, dim), keepdims=bool(keepdim)), "ProdBackward1")


def _extreme(op: str, input: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any, reduce: Any) -> Any:
    x = _input(op, input, dtype)
    axes = _axes(op, x, dim)
    if mask is not None:
        x = _filled(op, x, mask, _lowest(op, dtype_of(x), reduce is rd.amax))
    for a in axes:
        if shape_of(x)[a] == 0:
            raise IndexError(f"masked.{op}: dim {a} has no elements to reduce")
    return reduce(x, axis=axes, keepdims=bool(keepdim), ties="even_nan")


def amax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The largest of the elements that count; -inf (or the smallest integer) where none does."""
    return _extreme("amax", input, dim, keepdim, dtype, mask, rd.amax)


def amin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The smallest of the elements that count; inf (or the largest integer) where none does."""
    return _extreme("amin", input, dim, keepdim, dtype, mask, rd.amin)


def _position(op: str, input: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any, find: Any) -> Any:
    x = _input(op, input, dtype)
    result = dtype_of(x)
    if mask is not None:
        x = _filled(op, x, mask, _lowest(op, result, find is rd.argmax))
    shape = tuple(shape_of(x))
    if dim is None:
        out = find(reshape(x, shape=(math.prod(shape),)), axis=0, keepdims=False)
        out = reshape(out, shape=(1,) * len(shape)) if keepdim else out
    else:
        axis = axis_of(f"masked.{op}", dim, len(shape))
        out = find(vector_of(x), axis=axis, keepdims=bool(keepdim and shape))
    return cast(out, dtype=result)


def argmax(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The position of the largest of the elements that count, in the input's dtype."""
    return _position("argmax", input, dim, keepdim, dtype, mask, rd.argmax)


def argmin(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The position of the smallest of the elements that count, in the input's dtype."""
    return _position("argmin", input, dim, keepdim, dtype, mask, rd.argmin)


def _count(op: str, x: Any, mask: Any, axes: tuple[int, ...], keepdim: bool, dtype: np.dtype) -> Any:
    """How many elements count, in a floating dtype."""
    mask = _mask(op, x, mask)
    if mask is None:
        shape = rd.reduced_shape(tuple(shape_of(x)), axes, keepdim)
        return beside(np.full(shape, rd.reduced_count(x, axes), dtype), x)
    return cast(rd.count_nonzero(mask, axis=axes, keepdims=keepdim), dtype=dtype)


def mean(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The mean of the elements that count; NaN where none does."""
    x = _input("mean", input, dtype)
    if dtype_of(x).kind in "iub":
        raise ValueError(f"masked.mean: the input must be floating or complex, got {FROM_NUMPY[dtype_of(x)]}")
    axes = _axes("mean", x, dim)
    total = rd.sum(_filled("mean", x, mask, 0), axis=axes, keepdims=bool(keepdim))
    return divide(total, _count("mean", x, mask, axes, bool(keepdim), dtype_of(x)))


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The median of the elements that count along a dimension (of an even number the lower one), else NaN."""
    x = _input("median", input, dtype)
    axis = axis_of("masked.median", dim, len(shape_of(x)))
    if dtype_of(x).kind not in "iub" or mask is None:
        return _picked_median(_filled("median", x, mask, math.nan), axis, keepdim)
    counted = rd.any(_mask("median", x, mask), axis=(axis,), keepdims=False)
    if not concrete("masked.median", counted).all():
        raise ValueError("masked.median: integers have no median where no element counts; convert them first")
    wide = _filled("median", cast(x, dtype=np.dtype(np.float64)), mask, math.nan)
    return cast(_picked_median(wide, axis, keepdim), dtype=dtype_of(x))


def _picked_median(x: Any, axis: int, keepdim: Any) -> Any:
    return picked(x, lambda y: so.argmedian(y, axis=axis, ignore_nan=True), axis, bool(keepdim), "nanmedian")[0]


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of the sum of the exponentials of the elements that count; -inf where none does."""
    x = _input("logsumexp", input, dtype)
    if dtype_of(x).kind in "iub":
        x = cast(x, dtype=_dtype.get_default_dtype().np)
    x = _filled("logsumexp", x, mask, -math.inf)
    out = rd.logsumexp(x, axis=_axes("logsumexp", x, dim), keepdims=bool(keepdim))
    return cast(out, dtype=dtype_of(input)) if dtype is None and dtype_of(out) != dtype_of(input) else out


def norm(
    input: Any, ord: Any = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The vector norm of the elements that count; 0 where none does (inf for ord=-inf)."""
    x = _input("norm", input, dtype)
    if dtype_of(x).kind in "iub":
        raise RuntimeError(f"masked.norm: the input must be floating or complex, got {FROM_NUMPY[dtype_of(x)]}")
    order = 2.0 if ord is None else float(ord)
    x = _filled("norm", x, mask, math.inf if order < 0 else 0)
    return vector_norm(x, ord=order, axis=_axes("norm", x, dim), keepdims=bool(keepdim))


def _variance(
    op: str, input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: Any, dtype: Any, mask: Any
) -> Any:
    if unbiased is not None and correction is not None:
        raise ValueError(f"masked.{op}: give either unbiased or correction")
    lost = correction if correction is not None else 1 if unbiased is None or unbiased else 0
    x = _input(op, input, dtype)
    if dtype_of(x).kind in "iub":
        x = cast(x, dtype=_dtype.get_default_dtype().np)
    axes = _axes(op, x, dim)
    d = dtype_of(x)
    real = np.dtype(f"f{d.itemsize // 2}") if d.kind == "c" else d
    count = _count(op, x, mask, axes, True, real)
    center = rd.sum(_filled(op, x, mask, 0), axis=axes, keepdims=True) / cast(count, dtype=d)
    apart = subtract(x, center)
    total = rd.sum(_filled(op, multiply(apart, conj(apart)), mask, 0), axis=axes, keepdims=bool(keepdim))
    freedom = clip(reshape(count, shape=tuple(shape_of(total))) - np.asarray(lost, real), low=0.0, high=None)
    return divide(total, cast(freedom, dtype=d))


def var(
    input: Any, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The variance of the elements that count."""
    return _variance("var", input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Any, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The standard deviation of the elements that count."""
    return sqrt(_variance("std", input, dim, unbiased, correction, keepdim, dtype, mask))


# ------------------------------------------------------------------------------------------ along a dimension


def _scanned(op: str, input: Any, dim: int, dtype: Any, mask: Any, neutral: float, run: Any) -> Any:
    x = _filled(op, x := _input(op, input, dtype), mask, neutral)
    shape = tuple(shape_of(x))
    out = run(vector_of(x), axis=axis_of(f"masked.{op}", dim, len(shape)), reverse=False)
    return out if shape else without_axis(out)


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The sums so far along a dimension of the elements that count."""
    return _scanned("cumsum", input, dim, dtype, mask, 0, scan.cumsum)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The products so far along a dimension of the elements that count."""
    return _scanned("cumprod", input, dim, dtype, mask, 1, scan.cumprod)


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The softmax along a dimension of the elements that count, 0 for the others; NaN where none does."""
    x = _input("softmax", input, dtype)
    return sm.softmax_of(_filled("softmax", x, mask, -math.inf), dim)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of the softmax of the elements that count, -inf for the others."""
    x = _input("log_softmax", input, dtype)
    return sm.log_softmax_of(_filled("log_softmax", x, mask, -math.inf), dim)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The softmax of the negative elements that count, 0 for the others."""
    x = _input("softmin", input, dtype)
    return sm.softmin(_filled("softmin", x, mask, math.inf), dim)


def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Any:
    """The elements that count, divided by their norm along a dimension (at least eps); 0 for the others."""
    x = _input("normalize", input, dtype)
    length = clip(norm(x, ord, dim, keepdim=True, mask=mask), low=float(eps), high=None)
    x = _filled("normalize", x, mask, 0)
    return divide(*pair("masked.normalize", x, length))


def logaddexp(input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Any:
    """log(exp(input) + exp(other)), in which elements that do not count stand for -inf."""
    x, y = _input("logaddexp", input, dtype), _input("logaddexp", other, dtype)
    x, y = pair("masked.logaddexp", x, y)
    return logaddexp_op(_filled("logaddexp", x, input_mask, -math.inf), _filled("logaddexp", y, other_mask, -math.inf))


_MASKED = ("MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor")


def __getattr__(name: str) -> Any:
    if name in _MASKED:
        from . import _masked_tensor

        return getattr(_masked_tensor, name)
    raise _missing("torch.masked", name, {*globals(), *_MASKED})
