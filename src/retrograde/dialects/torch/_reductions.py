"""Reductions: sum, mean, prod, var, std, extremes, any, all and their relatives, over some or all dimensions."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core.node import producer
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import reduction as rd
from ...ops.elementwise import divide
from ...ops.sorting import pick
from ...ops.structural import cast, reshape
from .._shared.registry import defined
from . import _dtype
from ._api import api
from ._axes import axes_of, axis_of, numpy_names
from ._binary import maximum, minimum
from ._dtype import FROM_NUMPY
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, node_name, show_as
from ._return_types import return_type
from ._tensor import Tensor, beside

_ndarray = np.ndarray

ALL_AXES = tuple(tuple(range(n)) for n in range(33))
"""All axes of an array, by the number of its dimensions."""
ONE_AXIS = tuple((n,) for n in range(64))
"""A single axis, as reductions take it."""

_PICKED = {
    "max": "MaxBackward0", "min": "MinBackward0", "median": "MedianBackward1", "nanmedian": "NanmedianBackward1",
    "mode": "ModeBackward0", "kthvalue": "KthvalueBackward0", "sort": "SortBackward0", "stable_sort": "SortBackward1",
    "topk": "TopkBackward0", "cummax": "CummaxBackward0", "cummin": "CumminBackward0",
    "quantile": "GatherBackward0",
}  # fmt: skip


def _by_shape(name: str) -> Any:
    """Over all dimensions PyTorch's node is number 0, over some of them number 1."""
    return lambda node: f"{name}Backward{0 if node.shape == () else 1}"


NAMES.update(
    sum=_by_shape("Sum"), mean=_by_shape("Mean"), prod=_by_shape("Prod"), nansum="NansumBackward0",
    var="VarBackward0", std="StdBackward0", var_mean="VarMeanBackward0", std_mean="StdMeanBackward0",
    amax=lambda node: "MaxBackward1" if node.params["ties"] == "even" else "AmaxBackward0",
    amin=lambda node: "MinBackward1" if node.params["ties"] == "even" else "AminBackward0",
    aminmax="AminmaxBackward0", logsumexp="LogsumexpBackward0", share_among_ties="MaskedFillBackward1",
    pick=lambda node: _PICKED[node.params["of"]],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ arguments


def reduced_axes(op: str, dim: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `dim` names in ascending order; all for None or an empty sequence."""
    if dim is None:
        return ALL_AXES[ndim]
    if type(dim) is int and -ndim <= dim < ndim:
        return ONE_AXIS[dim % ndim]
    if isinstance(dim, (bool, float, str)):
        raise TypeError(f"{op}: dim must be an int or a sequence of ints, got {dim!r} of type {type(dim).__name__}")
    axes = axes_of(op, dim, ndim)
    if not axes:
        return ALL_AXES[ndim]
    if not ndim:
        return ()
    return axes if len(axes) == 1 else tuple(sorted(axes))


def _numbered(out: Any, dim: Any, first: str) -> Any:
    """The result of a reduction over given dimensions: its node is number 1 also where no dimension is left."""
    if dim is not None and shape_of(out) == ():
        show_as(out, first)
    return out


def in_dtype(op: str, x: Value, dtype: Any) -> Value:
    """`x` in a dtype, if one is given."""
    if dtype is None:
        return x
    dtype = _dtype.as_dtype(dtype)
    if not isinstance(dtype, _dtype.dtype):
        raise TypeError(f"{op}: dtype must be a torch dtype, got {type(dtype).__name__}")
    return x if dtype_of(x) == dtype.np else cast(x, dtype=dtype.np)


def real_only(op: str, x: Value, error: type[Exception] = RuntimeError) -> None:
    """Raise for complex tensors, which have no order."""
    if dtype_of(x).kind == "c":
        raise error(f"{op}: not defined for complex tensors; take abs() or real first")


def _not_empty(op: str, x: Value, axes: tuple[int, ...], whole: bool, error: type[Exception] = RuntimeError) -> None:
    shape = shape_of(x)
    if whole:
        if 0 in shape:
            raise error(f"{op}: an empty tensor has no result over all its elements; give dim")
        return
    for a in axes:
        if shape[a] == 0:
            raise IndexError(f"{op}: dim {a} has no elements to reduce")


# ------------------------------------------------------------------------------------------ sums and means


def widest(x: Value) -> Value:
    """A tensor as sums take it: integers and booleans in int64."""
    d = dtype_of(x)
    return cast(x, dtype=np.dtype(np.int64)) if d.kind in "iub" and d != np.int64 else x


_sum = rd.sum.prim.bind  # type: ignore[attr-defined]
_mean = rd.mean.prim.bind  # type: ignore[attr-defined]


@api(out=True)
@numpy_names
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over dimensions (all, if none is given); of integers and booleans in int64."""
    if dtype is None and isinstance(input, Value):
        a = input._a
        if type(a) is _ndarray and a.dtype.kind == "f":
            if dim is None:
                return _sum(input, axis=ALL_AXES[a.ndim], keepdims=keepdim)
            if a.ndim > 1 and type(dim) is int:
                return _sum(input, axis=reduced_axes("sum", dim, a.ndim), keepdims=keepdim)
    x = tensor_argument("sum", input)
    axes = reduced_axes("sum", dim, len(shape_of(x)))
    if dtype is not None:
        x = in_dtype("sum", x, dtype)
    elif dtype_of(x).kind == "b":
        return rd.count_nonzero(x, axis=axes, keepdims=keepdim)
    else:
        x = widest(x)
    return _numbered(_sum(x, axis=axes, keepdims=keepdim), dim, "SumBackward1")


@api(out=True)
@numpy_names
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean over dimensions (all, if none is given) of a floating or complex tensor."""
    if dtype is None and isinstance(input, Value):
        a = input._a
        if type(a) is _ndarray and a.dtype.kind == "f":
            if dim is None:
                return _mean(input, axis=ALL_AXES[a.ndim], keepdims=keepdim)
            if a.ndim > 1 and type(dim) is int:
                return _mean(input, axis=reduced_axes("mean", dim, a.ndim), keepdims=keepdim)
    x = in_dtype("mean", tensor_argument("mean", input), dtype)
    axes = reduced_axes("mean", dim, len(shape_of(x)))
    if dtype_of(x).kind in "iub":
        raise RuntimeError(f"mean: the input must be floating or complex, got {FROM_NUMPY[dtype_of(x)]}; give dtype=")
    return _numbered(_mean(x, axis=axes, keepdims=keepdim), dim, "MeanBackward1")


@api(out=True)
@numpy_names
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over dimensions with NaN counted as 0."""
    x = in_dtype("nansum", tensor_argument("nansum", input), dtype)
    if dtype_of(x).kind == "c":
        raise RuntimeError("nansum: not defined for complex tensors")
    if dtype_of(x).kind in "iub":
        return sum(x, dim, keepdim)
    return rd.nansum(x, axis=reduced_axes("nansum", dim, len(shape_of(x))), keepdims=keepdim)


@api(out=True)
@numpy_names
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean over dimensions of the elements that are not NaN."""
    x = tensor_argument("nanmean", input)
    if dtype_of(x).kind in "iub":
        raise RuntimeError(f"nanmean: the input must be floating or complex, got {FROM_NUMPY[dtype_of(x)]}")
    x = in_dtype("nanmean", x, dtype)
    axes = reduced_axes("nanmean", dim, len(shape_of(x)))
    count = rd.sum(rd.is_number(x), axis=axes, keepdims=keepdim)
    return divide(nansum(x, dim, keepdim), count)


@api(out=True)
@numpy_names
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product along a dimension (of all elements, if none is given); of integers and booleans in int64."""
    x = in_dtype("prod", tensor_argument("prod", input), dtype)
    if dtype is None:
        x = widest(x)
    n = len(shape_of(x))
    if dim is None:
        axes = ALL_AXES[n]
    else:
        axis = axis_of("prod", dim, n)
        axes = (axis,) if n else ()
    return _numbered(rd.prod(x, axis=axes, keepdims=keepdim), dim, "ProdBackward1")


@api(out=True)
@numpy_names
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """The logarithm of the sum of exponentials over dimensions; of integers in the default dtype."""
    x = tensor_argument("logsumexp", input)
    if dtype_of(x).kind in "iub":
        x = cast(x, dtype=_dtype.get_default_dtype().np)
    return rd.logsumexp(x, axis=reduced_axes("logsumexp", dim, len(shape_of(x))), keepdims=keepdim)


# ------------------------------------------------------------------------------------------ variance

_ABSENT = object()


def _spread(
    op: str, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> tuple[Value, tuple[int, ...], float]:
    """The operand, axes and correction of var() and std() in all their spellings."""
    x = tensor_argument(op, input)
    if isinstance(dim, bool):  # var(unbiased)
        dim, unbiased = None, dim
    if correction is not _ABSENT:
        if unbiased is not None:
            raise TypeError(f"{op}: give either unbiased or correction")
        correction = 1 if correction is None else correction
        if isinstance(correction, bool) or not isinstance(correction, (int, float)):
            raise TypeError(f"{op}: correction must be a number, got {type(correction).__name__}")
    else:
        correction = 1 if unbiased is None or unbiased else 0
    if dtype_of(x).kind in "iub":
        raise RuntimeError(f"{op}: the input must be floating or complex, got {FROM_NUMPY[dtype_of(x)]}")
    axes = reduced_axes(op, dim, len(shape_of(x)))
    if rd.reduced_count(x, axes) - correction <= 0:
        warnings.warn(
            f"{op}(): no degree of freedom is left: {rd.reduced_count(x, axes)} elements per result, "
            f"correction {correction}", stacklevel=4,
        )  # fmt: skip
    return x, axes, correction


def _deviations(op: str, run: Any, doc: str, **offered: bool) -> Any:
    """A function of the squared deviations from the mean, divided by their number - correction."""

    def f(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = _ABSENT) -> Any:
        x, axes, c = _spread(op, input, dim, unbiased, keepdim, correction)
        return run(x, axis=axes, correction=c, keepdims=keepdim)

    return api(**offered)(numpy_names(defined(op, f, doc)))


var = _deviations(
    "var", rd.var, "The variance over dimensions: the sum of squared deviations from the mean over their number - correction.",
    out=True,
)  # fmt: skip
std = _deviations("std", rd.std, "The standard deviation over dimensions: the root of the variance.", out=True)
var_mean = _deviations("var_mean", rd.var_mean, "The variance and the mean over dimensions.", method=False)
std_mean = _deviations("std_mean", rd.std_mean, "The standard deviation and the mean over dimensions.", method=False)


def _over(op: str, compute: Any, run: Any, doc: str, default: Any = None) -> Any:
    """The reduction `compute(op, input, dim, keepdim, run)`."""

    def f(input: Any, dim: Any = default, keepdim: bool = False) -> Any:
        return compute(op, input, dim, keepdim, run)

    return api(out=True)(numpy_names(defined(op, f, doc)))


# ------------------------------------------------------------------------------------------ extremes


def _extremes(op: str, input: Any, dim: Any, keepdim: bool, run: Any) -> Any:
    x = tensor_argument(op, input)
    real_only(op, x)
    axes = reduced_axes(op, dim, len(shape_of(x)))
    _not_empty(op, x, axes, dim is None or dim == () or dim == [])
    return run(x, axis=axes, keepdims=keepdim, ties="even_nan")


amax = _over(
    "amax", _extremes, rd.amax, "The largest element over dimensions; several that attain it share its gradient.", ()
)
amin = _over(
    "amin", _extremes, rd.amin, "The smallest element over dimensions; several that attain it share its gradient.", ()
)
_Aminmax = return_type("aminmax", "min", "max")


@api(out=True)
@numpy_names
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element along a dimension (of all elements, if none is given)."""
    x = tensor_argument("aminmax", input)
    real_only("aminmax", x)
    n = len(shape_of(x))
    axes = ALL_AXES[n] if dim is None else (axis_of("aminmax", dim, n),) if n else ()
    if rd.reduced_count(x, axes) == 0:
        error = RuntimeError if dim is None else IndexError
        raise error("aminmax: a dimension without elements has no extremes")
    return _Aminmax(rd.aminmax(x, axis=axes, keepdims=keepdim, ties="even_nan"))


def vector_of(x: Value) -> Value:
    """A tensor with at least one dimension."""
    return x if shape_of(x) else reshape(x, shape=(1,))


def without_axis(out: Any) -> Any:
    """The result for a 0-d tensor, computed with one element: its node is shown as that of the operation."""
    edge = out._node
    name = None if edge is None else node_name(producer(edge))
    out = reshape(out, shape=())
    return out if name is None else show_as(out, name)


def picked(x: Value, position: Any, axis: int, keepdim: bool, of: str) -> tuple[Any, Any]:
    """The elements at one position along an axis, and the positions, as results of an operation over a dimension.

    position: gives the positions in a tensor with at least one dimension; a 0-d one counts as having one element.
    """
    zero_dim = not shape_of(x)
    x = vector_of(x)
    indices = position(x)
    if keepdim and not zero_dim:
        shape = tuple(shape_of(x))
        indices = reshape(indices, shape=(*shape[:axis], 1, *shape[axis + 1 :]))
    return pick(x, indices, axis=axis, of=of), indices


def _max_or_min(op: str, input: Any, dim: Any, keepdim: bool, whole: Any, position: Any) -> Any:
    x = tensor_argument(op, input)
    real_only(op, x, NotImplementedError)
    if dim is None:
        _not_empty(op, x, (), True)
        return whole(x, axis=ALL_AXES[len(shape_of(x))], keepdims=False, ties="even")
    if isinstance(dim, (tuple, list, float, str)):
        raise TypeError(f"{op}: dim must be an int, got {dim!r}; use a{op}() for several dimensions")
    if type(keepdim) is not bool:
        raise TypeError(f"{op}: keepdim must be a bool, got {type(keepdim).__name__}")
    axis = axis_of(op, dim, len(shape_of(x)))
    if shape_of(x):
        _not_empty(op, x, (axis,), False)
    found = picked(x, lambda y: position(y, axis=axis, keepdims=False), axis, keepdim, op)
    return return_type(op, "values", "indices")(found)


@api(out=True)
@numpy_names
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element; with dim its values and positions along it; with another tensor the larger of the two."""
    if other is not None or isinstance(dim, Value):
        return maximum(input, dim if other is None else other)
    return _max_or_min("max", input, dim, keepdim, rd.amax, rd.argmax)


@api(out=True)
@numpy_names
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element; with dim its values and positions along it; with another tensor the smaller of the two."""
    if other is not None or isinstance(dim, Value):
        return minimum(input, dim if other is None else other)
    return _max_or_min("min", input, dim, keepdim, rd.amin, rd.argmin)


def _position(op: str, input: Any, dim: Any, keepdim: bool, position: Any) -> Any:
    x = tensor_argument(op, input)
    if dtype_of(x).kind in "bc":
        raise RuntimeError(f"{op}: not defined for {FROM_NUMPY[dtype_of(x)]} tensors")
    shape = tuple(shape_of(x))
    if dim is None:
        _not_empty(op, x, (), True, IndexError)
        flat = reshape(x, shape=(math.prod(shape),))
        out = position(flat, axis=0, keepdims=False)
        return reshape(out, shape=(1,) * len(shape)) if keepdim else out
    axis = axis_of(op, dim, len(shape))
    if not shape:
        return position(vector_of(x), axis=0, keepdims=False)
    _not_empty(op, x, (axis,), False)
    return position(x, axis=axis, keepdims=keepdim)


argmax = _over(
    "argmax", _position, rd.argmax, "The position of the first largest element along a dimension, or among all elements."
)
argmin = _over(
    "argmin", _position, rd.argmin, "The position of the first smallest element along a dimension, or among all elements."
)

# ------------------------------------------------------------------------------------------ logical


_UINT8 = np.dtype(np.uint8)


def _logical(op: str, input: Any, dim: Any, keepdim: bool, reduce: Any) -> Any:
    x = tensor_argument(op, input)
    n = len(shape_of(x))
    empty = isinstance(dim, (tuple, list)) and not dim  # here no dimensions means none, not all
    out = reduce(x, axis=() if empty else reduced_axes(op, dim, n), keepdims=keepdim)
    return cast(out, dtype=_UINT8) if dtype_of(x) is _UINT8 else out


all = _over("all", _logical, rd.all, "Whether all elements are not 0, over dimensions or altogether.")
any = _over("any", _logical, rd.any, "Whether any element is not 0, over dimensions or altogether.")


@api()
@numpy_names
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are not 0, over dimensions or altogether."""
    x = tensor_argument("count_nonzero", input)
    return rd.count_nonzero(x, axis=reduced_axes("count_nonzero", dim, len(shape_of(x))), keepdims=False)


@api()
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """The exclusive or of the bits of the elements, as float64 or int64, over dimensions or altogether, in uint64."""
    array = concrete("hash_tensor", input)
    if mode != 0 or array.dtype.kind == "c":
        error = RuntimeError if mode else NotImplementedError
        raise error(f"hash_tensor: wanted mode=0 and real numbers, got mode={mode} and {input.dtype}")
    axes = reduced_axes("hash_tensor", dim, array.ndim)
    if not array.size:
        error = RuntimeError if len(axes) == array.ndim else IndexError
        raise error("hash_tensor: an empty tensor has no bits to combine")
    bits = array.astype(np.float64 if array.dtype.kind == "f" else np.int64).view(np.uint64)
    return beside(np.asarray(np.bitwise_xor.reduce(bits, axis=axes, keepdims=keepdim)), input)
