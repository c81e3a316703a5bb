"""`mindspore.mint`: the functions of `mindspore.ops` under torch-like names and parameters (`dim`, `keepdim`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ....ops import structural as st
from ..._shared.registry import aliases, defined
from .. import (
    _activations, _arithmetic, _binary, _conversion, _creation, _diagonals, _gather, _joining, _linalg, _matmul, _random,
    _reductions, _scans, _shape, _sorting, _statistics, _unary,
)  # fmt: skip
from .._api import attributes, named
from .._dtype import as_dtype, int64
from .._generator import stream_of
from .._promote import FLOATING, single, tensor_argument, to_dtype
from .._reductions import also_called
from .._tensor import from_array

Function = Callable[..., Any]

# What `ops` or tensors have under the same name.
_functions: dict[str, Function] = {f.__name__: f for f in (
    _arithmetic.absolute, _unary.acos, _unary.acosh, _matmul.addbmm, _binary.addcdiv, _binary.addcmul, _matmul.addmm,
    _matmul.addmv, _creation.arange, _unary.arccos, _unary.arccosh, _unary.arcsin, _unary.arcsinh, _unary.arctan,
    _unary.arctanh, _unary.asin, _unary.asinh, _unary.atan, _binary.atan2, _unary.atanh, _sorting.bincount,
    _arithmetic.bitwise_and, _unary.bitwise_not, _arithmetic.bitwise_or, _arithmetic.bitwise_xor, _matmul.bmm,
    _shape.broadcast_to, _statistics.cdist, _unary.ceil, _binary.clamp, _conversion.clone, _unary.cos, _unary.cosh,
    _matmul.cross, _scans.cummax, _diagonals.diag, _scans.diff, _matmul.einsum, _arithmetic.equal, _unary.erf, _unary.erfc,
    _unary.erfinv, _unary.exp, _unary.exp2, _unary.expm1, _creation.eye, _shape.flip, _binary.float_power, _unary.floor,
    _binary.fmod, _unary.frac, _creation.full_like, _binary.gcd, _arithmetic.greater, _arithmetic.greater_equal,
    _sorting.histc, _unary.imag, _linalg.inverse, _binary.isclose, _unary.isfinite, _unary.isinf, _unary.isnan,
    _unary.isneginf, _arithmetic.less, _arithmetic.less_equal, _creation.linspace, _unary.log, _unary.log10, _unary.log1p,
    _unary.log2, _binary.logaddexp, _binary.logaddexp2, _binary.logical_and, _arithmetic.logical_not, _binary.logical_or,
    _binary.logical_xor, _reductions.logsumexp, _gather.masked_select, _arithmetic.matmul, _binary.maximum, _binary.minimum,
    _matmul.mm, _binary.mul, _matmul.mv, _unary.nan_to_num, _arithmetic.neg, _gather.nonzero, _arithmetic.not_equal,
    _creation.ones, _creation.ones_like, _matmul.outer, _shape.permute, _unary.polar, _arithmetic.pow, _reductions.prod,
    _shape.ravel, _unary.real, _unary.reciprocal, _binary.remainder, _shape.reshape, _shape.roll, _unary.round,
    _unary.rsqrt, _activations.sigmoid, _unary.sign, _unary.sin, _unary.sinc, _unary.sinh, _unary.sqrt, _unary.square,
    _shape.swapaxes, _shape.t, _gather.take, _unary.tan, _unary.tanh, _shape.tile, _diagonals.trace, _diagonals.tril,
    _diagonals.triu, _unary.trunc, _joining.unbind, _shape.unsqueeze, _gather.where, _binary.xlogy, _creation.zeros,
    _creation.zeros_like, _sorting.unique_consecutive, _random.rand_like, _random.randint_like, _random.randn_like,
    _reductions.nansum, _reductions.all, _reductions.any, _reductions.sum, _reductions.mean, _creation.full,
    _arithmetic.add_ext, _arithmetic.sub_ext, _arithmetic.div_ext, _reductions.max_method, _reductions.min_method,
    _matmul.dot, _binary.allclose,
)} | {
    "arctan2": _binary.atan2, "clip": _binary.clamp, "divide": _arithmetic.div_ext, "eq": _arithmetic.equal,
    "floor_divide": _arithmetic.floor_div, "ge": _arithmetic.greater_equal, "gt": _arithmetic.greater,
    "le": _arithmetic.less_equal, "lt": _arithmetic.less, "ne": _arithmetic.not_equal, "negative": _arithmetic.neg,
    "index_add": _gather.index_add_method, "scatter_add": _gather.scatter_add_method, "gather": _gather.gather_elements,
    "select": _gather.select_method,
    **{f.__name__: f for f in (
        _reductions.amax, _reductions.amin, _joining.hstack, _joining.dstack, _binary.lerp, _reductions.argmax, _scans.cumprod,
        _sorting.kthvalue, _linalg.triangular_solve, _sorting.searchsorted,
    )},
    **{f.__name__: also_called(dim="axis")(f) for f in (
        _reductions.count_nonzero, _scans.cummin, _joining.cat, _joining.concat, _joining.stack, _joining.split, _joining.chunk,
        _joining.narrow, _gather.scatter, _gather.index_select, _shape.repeat_interleave, _shape.squeeze,
    )},
}  # fmt: skip


def _export(f: Function) -> Function:
    _functions[f.__name__.removesuffix("_")] = f
    return f


def _row(name: str, f: Any, doc: str) -> Function:
    """A function that one expression says."""
    return _export(defined(name, f, doc))


_row("flatten", lambda input, start_dim=0, end_dim=-1: _shape.flatten(input, start_dim=start_dim, end_dim=end_dim),
     "Neighbouring axes (all, if none are given) joined into one.")  # fmt: skip
_row("transpose", lambda input, dim0, dim1: _shape.swapaxes(input, dim0, dim1), "Two axes exchanged.")
_row("meshgrid", lambda *tensors, indexing="ij": _shape.meshgrid(*tensors, indexing=indexing),
     "The coordinates of a grid, from those along each of its axes.")  # fmt: skip
_row("softmax", lambda input, dim, *, dtype=None: _activations.softmax(input, dim, dtype=dtype),
     "exp(x) divided by its sum along an axis.")  # fmt: skip


@_export
def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The position of the smallest element along an axis; without one, among all elements."""
    return to_dtype(_reductions._positions("argmin", input, dim, keepdim, False), int64)


@_export
def cumsum(input: Any, dim: int, dtype: Any = None) -> Any:
    """The sums of the elements so far along an axis; of integers in int64."""
    x = tensor_argument("cumsum", input)
    return _scans.cumsum(_reductions._widest(x) if dtype is None else x, dim, dtype)


def _ordered(name: str, at: int) -> Function:
    """Sorting with positions in int64."""

    def f(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
        values, positions = _sorting.sort(input, dim, descending)
        return (values, to_dtype(positions, int64)) if name == "sort" else to_dtype(positions, int64)

    f.__name__ = name
    f.__doc__ = "The elements in order along an axis and where they come from." if at == 0 else "The positions that sort."
    return f


_functions["sort"], _functions["argsort"] = _ordered("sort", 0), _ordered("argsort", 1)


@_export
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    """The k greatest (or smallest) elements along an axis, and where they come from."""
    values, at = _sorting.topk(input, k, dim, largest, sorted)
    return values, to_dtype(at, int64)


@_export
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The median of all elements; along an axis the medians and their positions."""
    if dim is None:
        return _sorting.median(st.reshape(tensor_argument("median", input), shape=(-1,)), 0)[0]
    return _sorting.median(input, dim, keepdim)


def _moment(moment: Function) -> None:
    def f(input: Any, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
        return moment(input, dim, correction, keepdim)

    name = moment.__name__
    _row(name, f, f"The `{name}` over axes, divided by the count less `correction`.")


for _f in (_reductions.var, _reductions.std, _reductions.var_mean, _reductions.std_mean):
    _moment(_f)


@_export
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean over axes (all, if none is given)."""
    x = tensor_argument("mean", input)
    return _reductions.mean(x if dtype is None else to_dtype(x, as_dtype(dtype)), dim, keepdim)


@_export
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of vectors along axes (of all elements, without them)."""
    x = single("norm", input, FLOATING)
    x = x if dtype is None else to_dtype(x, as_dtype(dtype))
    return _statistics.vector_norm(x, 2 if p == "fro" else p, dim, keepdim)


@_export
def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    """The different elements in order, and for each element which one it is, and how often each occurs."""
    import numpy as np

    if dim is not None:
        raise ValueError("unique: dim= is not supported; flatten the tensor, or use numpy")
    x = tensor_argument("unique", input)._concrete("unique")
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    extra = ([inverse.reshape(input.shape)] if return_inverse else []) + ([counts] if return_counts else [])
    found = [from_array(a) for a in (values, *extra)]
    return tuple(found) if extra else found[0]


@_export
def empty(*size: Any, dtype: Any = None) -> Any:
    """A tensor whose elements are not set (here: zeros)."""
    return _creation.zeros(size[0] if len(size) == 1 and not isinstance(size[0], int) else size, dtype)


_row("empty_like", lambda input, *, dtype=None: _creation.zeros_like(input, dtype=dtype),
     "A tensor of the shape and dtype of another, whose elements are not set (here: zeros).")  # fmt: skip


@_export
def randperm(n: int, *, generator: Any = None, dtype: Any = int64) -> Any:
    """The numbers below n in random order."""
    return _random.randperm(n, stream_of("randperm", generator), dtype=dtype)


@_export
def rand(*size: Any, generator: Any = None, dtype: Any = None) -> Any:
    """Uniform numbers in [0, 1)."""
    return _random.rand(*size, dtype=dtype, seed=stream_of("rand", generator))


@_export
def randn(*size: Any, generator: Any = None, dtype: Any = None) -> Any:
    """Standard normal numbers."""
    return _random.randn(*size, dtype=dtype, seed=stream_of("randn", generator))


@_export
def randint(low: int, high: int, size: Any, *, generator: Any = None, dtype: Any = None) -> Any:
    """Whole numbers in [low, high)."""
    return _random.randint(low, high, size, stream_of("randint", generator), dtype=dtype)


_row("bernoulli", lambda input, *, generator=None: _random.bernoulli_method(input, generator=generator),
     "1 with the probability that an element is, else 0.")  # fmt: skip


@_export
def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    """Positions drawn from each row with the probabilities (up to a factor) that it holds."""
    return _random.multinomial(input, num_samples, replacement, stream_of("multinomial", generator))


@_export
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None) -> Any:
    """Normal numbers with a mean and a standard deviation, of a size or of the shape of those."""
    return _random.normal(() if size is None else size, mean, std, stream_of("normal", generator))


nonzero = _row("nonzero", lambda input, *, as_tuple=False: _gather.nonzero(input, as_tuple=as_tuple),
     "The places of the elements that are not zero: one row each, or a vector per axis.")  # fmt: skip


@_export
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where the condition is true, `other` elsewhere; of a condition alone the places where it is true."""
    return nonzero(condition, as_tuple=True) if input is None else _gather.where(condition, input, other)


_row("baddbmm", lambda input, batch1, batch2, *, beta=1, alpha=1: _matmul.baddbmm(input, batch1, batch2, beta, alpha),
     "beta input + alpha times the products of two batches of matrices.")  # fmt: skip


@_export
def diag(input: Any, diagonal: int = 0) -> Any:
    """A vector along a diagonal of a matrix, or the diagonal of a matrix."""
    from ....tensor.numpy_shapes import diag as native

    return native(tensor_argument("diag", input), diagonal)


_row("fix", lambda input: _unary.trunc(input), "Rounded towards zero.")
_row("item", lambda input: tensor_argument("item", input).item(), "The only element as a Python number.")
_row("vdot", lambda input, other: _matmul.vecdot(input, other),
     "The sum of products of two vectors, the first conjugated.")  # fmt: skip
_row("squeeze", lambda input, dim=None: _shape.squeeze(input, dim), "Without axes of length 1.")


@_export
def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Any:
    """`steps` evenly spaced numbers from `start` to `end`."""
    spaced = _creation.linspace(start, end, steps)
    return spaced if dtype is None else to_dtype(spaced, as_dtype(dtype))


_SECONDS = {
    "cummax": {"dim": "axis"}, "diff": {"dim": "axis"}, "isnan": {"tensor": "input"}, "permute": {"dims": "axis"},
    "ones": {"size": "shape"}, "triangular_solve": {"b": "self"}, "floor_divide": _arithmetic._XY,
    "gather": {"x": "input"}, "float_power": {"other": "exponent"},
    "div": _arithmetic._OF_DIVISION, "divide": _arithmetic._OF_DIVISION,
}  # fmt: skip
"""Names of arguments that the functions of `mindspore.ops` do not have; the first is `input` in all of them here."""


def _renamed(name: str, f: Function) -> Function:
    seconds = dict(_SECONDS.get(name, {}))
    first = next(iter(inspect.signature(f).parameters.values()))
    if first.name in ("x", "self", "input_x", "mat") and "b" not in seconds:
        seconds["input"] = first.name
    return named(aliases(**seconds)(f) if seconds else f, name)


globals().update({name: _renamed(name, f) for name, f in _functions.items()})

__getattr__ = attributes(globals(), "nn", "linalg", "special", "optim", known=_functions)
