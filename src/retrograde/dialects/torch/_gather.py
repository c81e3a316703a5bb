"""Functions that read and write at positions: gather, scatter, index_*, masked_*, take, put, nonzero."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core.arrays import on_host
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import indexing as ix
from ...ops import scatter_reduce as sr
from ...ops import structural as st
from ...ops.manipulation import pad_constant
from ...ops.selection import where as where_op
from ...tape import inplace, mutation
from . import _dtype
from ._api import METHODS, api, in_place_form
from ._axes import axis_of, numpy_names
from ._data import places_set, sizes
from ._dtype import FROM_NUMPY, int64
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, show_as
from ._indexing import INDEX_DTYPES, check_arrays, check_index, fitted, read, recording, same_device, write_at
from ._promote import number_array
from ._tensor import Tensor, beside, from_array

_ndarray = np.ndarray
_INT64 = np.dtype(np.int64)

NAMES.update(take_along_axis="GatherBackward0", scatter="ScatterBackward0", scatter_add="ScatterAddBackward0",
             scatter_reduce="ScatterReduceBackward0")  # fmt: skip


def _same_dtype(op: str, input: Value, src: Value) -> None:
    if dtype_of(input) != dtype_of(src):
        raise RuntimeError(
            f"{op}: both tensors must have one dtype, got {FROM_NUMPY[dtype_of(input)]} and {FROM_NUMPY[dtype_of(src)]}"
        )


def _value(op: str, input: Value, value: Any) -> Any:
    """A number, or a 0-d tensor, in the dtype of the tensor it is written into."""
    if isinstance(value, Value):
        if shape_of(value):
            raise RuntimeError(f"{op}: the value must be a number or a 0-d tensor, got shape {list(shape_of(value))}")
        kind = dtype_of(input).kind
        if dtype_of(value).kind == "c" and kind != "c" and (
            op == "index_fill" or (kind != "b" and concrete(op, value).imag.any())
        ):
            raise RuntimeError(f"{op}: the value is complex and the tensor {FROM_NUMPY[dtype_of(input)]}")
        return value if dtype_of(value) == dtype_of(input) else st.cast(value, dtype=dtype_of(input))
    return number_array(op, value, dtype_of(input))


# ------------------------------------------------------------------------------------------ along a dimension


def _along(op: str, input: Value, dim: int, index: Any, src: Any = None) -> tuple[int, Any]:
    """The axis and the index operand of a gather or scatter, their shapes checked."""
    have = shape_of(input)
    n = len(have)
    axis = axis_of(op, dim, n)
    place = getattr(index, "_a", None)
    if (
        type(place) is type(input._a) is _ndarray and place.dtype is _INT64 and place.ndim == n and n and place.size
        and not index._level
        and (place.shape == have or all(k <= m or i == axis for i, (k, m) in enumerate(zip(place.shape, have))))
        and (src is None or place.shape == shape_of(src))
    ):
        return axis, place
    if not isinstance(index, Value):
        raise TypeError(f"{op}: the index must be a tensor, got {type(index).__name__}")
    same_device(op, input, index)
    shape = tuple(shape_of(index))
    if dtype_of(index) not in INDEX_DTYPES:
        if math.prod(shape):
            raise RuntimeError(f"{op}: the index must have dtype int64, got {FROM_NUMPY[dtype_of(index)]}")
        index = beside(np.zeros(shape, np.int64), index)
    others = [("the tensor", tuple(shape_of(input)), True)]
    if src is not None:
        others.append(("the source", tuple(shape_of(src)), False))
    for name, other, off_axis in others:
        if math.prod(shape) and (len(other) or 1) != (len(shape) or 1):
            raise RuntimeError(
                f"{op}: the index of shape {list(shape)} and {name} of shape {list(other)} must have as many dimensions; "
                "give the shorter one an axis with unsqueeze()"
            )
        if any(k > m and not (off_axis and i == axis) for i, (k, m) in enumerate(zip(shape, other))):
            raise RuntimeError(
                f"{op}: the index of shape {list(shape)} is larger than {name} of shape {list(other)}"
                + (f" apart from dimension {axis}" if off_axis else "")
            )
    if not math.prod(shape) and len(shape) != n:
        index = beside(np.zeros((0,) * n, np.int64), index)
    elif not shape and n:  # a 0-d index stands for one with one element
        index = st.reshape(index, shape=(1,) * n)
    return axis, index._a if index._level == 0 and type(index._a) is _ndarray else index


def _untouched(input: Tensor, src: Any) -> Any:
    """A copy of the input, for an index without elements; the source has a gradient all the same."""
    if not isinstance(src, Value) or not recording(src):
        return st.copy(input)
    shape = tuple(shape_of(input))
    none = st.getitem(st.reshape(src, shape=(math.prod(shape_of(src)),)), index=(slice(0, 0),))
    flat = st.reshape(input, shape=(math.prod(shape),))
    out = ix.index_put(flat, none, np.zeros(0, np.int64), axes=(0,), accumulate=True, unique=True)
    return st.reshape(out, shape=shape)


def _source(src: Value, index: Any) -> Any:
    """The part of a source that the index covers."""
    shape = tuple(shape_of(index))
    have = tuple(shape_of(src))
    if have == shape:
        return src
    if len(have) != len(shape):
        return st.reshape(src, shape=shape)
    return st.getitem(src, index=tuple(slice(0, n) for n in shape))


@api(out=True)
@numpy_names
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """For each element of `index` the element of `input` that it names along `dim`, in the same place otherwise."""
    if not shape_of(input) and len(shape_of(index)) == 1:
        input = st.reshape(input, shape=(1,))
    axis, given = _along("gather", input, dim, index)
    out = ix.take_along_axis(input, given, axis=axis)
    shape = tuple(shape_of(index))
    return out if tuple(shape_of(out)) == shape else st.reshape(out, shape=shape)


@api(out=True)
@numpy_names
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements that `indices` name along `dim`, both broadcast; without `dim`, of the flattened tensor."""
    if dtype_of(indices) != np.int64:
        raise RuntimeError(f"take_along_dim: the indices must have dtype int64, got {FROM_NUMPY[dtype_of(indices)]}")
    if dim is None:
        flat = st.reshape(input, shape=(math.prod(shape_of(input)),))
        return gather(flat, 0, st.reshape(indices, shape=(math.prod(shape_of(indices)),)))
    n, shape = len(shape_of(input)), tuple(shape_of(input))
    if len(shape_of(indices)) != n:
        raise RuntimeError(
            f"take_along_dim: the tensor has {n} dimensions, the indices {len(shape_of(indices))}; they must agree"
        )
    axis = axis_of("take_along_dim", dim, n)
    have = tuple(shape_of(indices))
    at = indices._a
    if type(at) is _ndarray and indices._level == 0 and at.size and np.minimum.reduce(at, None) < 0:
        indices = from_array(np.where(at < 0, at + shape[axis], at))
    if have[:axis] == shape[:axis] and have[axis + 1 :] == shape[axis + 1 :]:
        return gather(input, axis, indices)
    common = np.broadcast_shapes((*shape[:axis], 1, *shape[axis + 1 :]), (*have[:axis], 1, *have[axis + 1 :]))
    wanted = (*common[:axis], shape[axis], *common[axis + 1 :])
    x = input if wanted == shape else st.broadcast_to(input, shape=wanted)
    wanted = (*common[:axis], have[axis], *common[axis + 1 :])
    return gather(x, axis, indices if wanted == have else st.broadcast_to(indices, shape=wanted))


_REDUCTIONS = {"sum": "sum", "prod": "prod", "mean": "mean", "amax": "amax", "amin": "amin"}


@api(in_place=True, out=True)
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """`input` with the elements of `src` (or a number) written where `index` says along `dim`."""
    src = value if src is None else src
    if src is None:
        raise TypeError("scatter: give a source tensor or a value")
    if reduce is not None and reduce not in ("add", "multiply"):
        raise RuntimeError(f"scatter: reduce must be 'add' or 'multiply', got {reduce!r}")
    if isinstance(src, Value):
        _same_dtype("scatter", input, src)
        axis, given = _along("scatter", input, dim, index, src)
        src = _source(src, given) if 0 not in shape_of(given) else src
        shown = None
    else:
        axis, given = _along("scatter", input, dim, index)
        src = number_array("scatter", src, dtype_of(input))
        shown = "ScatterBackward1"
    if 0 in shape_of(given):
        return _untouched(input, src)
    if reduce is not None:
        if not shape_of(src) and shape_of(given):
            src = st.broadcast_to(src, shape=tuple(shape_of(given)))
        if reduce == "add":
            return ix.scatter_add(input, given, src, axis=axis)
        return sr.scatter_reduce(input, given, src, axis=axis, reduce="prod", include_self=True, x_ties=False)
    out = ix.scatter(input, given, src, axis=axis)
    return out if shown is None else show_as(out, shown)


@api(in_place=True, out=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`input` with the elements of `src` added where `index` says along `dim`."""
    _same_dtype("scatter_add", input, src)
    axis, given = _along("scatter_add", input, dim, index, src)
    if 0 in shape_of(given):
        return _untouched(input, src)
    return ix.scatter_add(input, given, _source(src, given), axis=axis)


@api(in_place=True, out=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` with the elements of `src` reduced ("sum", "prod", "mean", "amax", "amin") into where `index` says."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"scatter_reduce: reduce must be one of {', '.join(_REDUCTIONS)}, got {reduce!r}")
    _same_dtype("scatter_reduce", input, src)
    axis, given = _along("scatter_reduce", input, dim, index, src)
    if 0 in shape_of(given):
        return _untouched(input, src)
    return _reduced(input, given, _source(src, given), axis, reduce, bool(include_self))


def _reduced(input: Any, index: Any, src: Any, axis: int, reduce: str, include_self: bool) -> Any:
    if reduce == "prod" and type(index) is _ndarray and (recording(input) or recording(src)):
        out = sr.scatter_product(input, index, src, axis=axis, include_self=include_self)
        if out is not None:
            return show_as(out, "ScatterReduceBackward0")
    return sr.scatter_reduce(input, index, src, axis=axis, reduce=reduce, include_self=include_self, x_ties=True)


# ------------------------------------------------------------------------------------------ index_*


_LONG_ONLY = {"index_fill": IndexError, "index_copy": RuntimeError}
"""Functions that take no index of int32, and what they raise for one."""


def _vector(op: str, index: Any) -> Any:
    """A 1-d index as an operand (0-d counts as one element)."""
    place = getattr(index, "_a", None)
    if type(place) is _ndarray and place.dtype is _INT64 and place.ndim == 1 and not index._level:
        return place
    if not isinstance(index, Value):
        raise TypeError(f"{op}: the index must be a tensor, got {type(index).__name__}")
    if dtype_of(index) not in INDEX_DTYPES:
        raise RuntimeError(f"{op}: the index must have dtype int64 or int32, got {FROM_NUMPY[dtype_of(index)]}")
    if op in _LONG_ONLY and dtype_of(index) != np.int64:
        raise _LONG_ONLY[op](f"{op}: the index must have dtype int64, got {FROM_NUMPY[dtype_of(index)]}")
    if len(shape_of(index)) > 1:
        raise IndexError(f"{op}: the index must be 1-d, got shape {list(shape_of(index))}")
    if not shape_of(index):
        index = st.reshape(index, shape=(1,))
    return index._a if index._level == 0 and type(index._a) is _ndarray else index


def _in_range(op: str, index: Any, n: int, error: type[Exception] = IndexError) -> None:
    if type(index) is _ndarray and (bad := ix.outside(index, n)) is not None:
        raise error(f"{op}: index {bad} is out of range for a dimension of size {n}")


@api(out=True)
@numpy_names
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of `input` along `dim` that the 1-d `index` names."""
    shape = shape_of(input)
    axis = axis_of("index_select", dim, len(shape))
    given = _vector("index_select", index)
    _in_range("index_select", given, shape[axis] if shape else 1)
    if not shape:
        if tuple(shape_of(given)) != (1,):
            raise RuntimeError("index_select: a 0-d tensor takes an index of one element")
        return show_as(st.copy(input), "IndexSelectBackward0")
    return show_as(ix.take(input, given, axis=axis), "IndexSelectBackward0")


def _index_source(op: str, input: Value, axis: int, index: Any, source: Value) -> Any:
    """The source of an index_* function, its shape checked."""
    _same_dtype(op, input, source)
    shape, have, count = tuple(shape_of(input)), tuple(shape_of(source)), shape_of(index)[0]
    if not shape:
        shape = (1,)
    if not have:
        have, source = (1,), st.reshape(source, shape=(1,))
    wanted = (*shape[:axis], count, *shape[axis + 1 :])
    if have != wanted:
        error = IndexError if op.startswith("index_copy") else RuntimeError
        raise error(f"{op}: the source must have shape {list(wanted)}, got {list(have)}")
    return source


def _put_along(op: str, input: Value, dim: int, index: Any, values: Any, accumulate: bool) -> Any:
    shape = shape_of(input)
    axis = axis_of(op, dim, len(shape))
    given = _vector(op, index)
    n = shape[axis] if shape else 1
    filling = op == "index_fill"
    if not filling:
        _in_range(op, given, n, RuntimeError if op == "index_add" and len(shape) > 1 else IndexError)
    elif type(given) is _ndarray and given.size > 1 and isinstance(values, Value):
        given = np.unique(given + n * (given < 0))  # a place that is named twice counts once for the value's gradient
    if isinstance(values, Value) and not filling:
        values = _index_source(op, input, axis, given, values)
    x = input if shape else st.reshape(input, shape=(1,))
    out = ix.index_put(x, values, given, axes=(axis,), accumulate=accumulate)
    return out if shape else st.reshape(out, shape=())


@api(in_place=True, out=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """`input` with the slices of `alpha * source` added where the 1-d `index` says along `dim`."""
    if alpha != 1:
        source = source * alpha  # type: ignore[operator]
    return show_as(_put_along("index_add", input, dim, index, source, True), "IndexAddBackward0")


@api(in_place=True, out=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """`input` with the slices of `source` written where the 1-d `index` says along `dim`."""
    return show_as(_put_along("index_copy", input, dim, index, source, False), "IndexCopyBackward0")


@api()
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """`input` with a number written into the slices that the 1-d `index` names along `dim`."""
    name = "IndexFillBackward1" if isinstance(value, Value) else "IndexFillBackward0"
    return show_as(_put_along("index_fill", input, dim, index, _value("index_fill", input, value), False), name)


_index_fill_anew = in_place_form("index_fill_", index_fill)


def _index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """`index_fill` written into this tensor; returns it."""
    if not isinstance(value, Value) and isinstance(self, Value) and (shape := shape_of(self)):
        axis = axis_of("index_fill", dim, len(shape))
        given = _vector("index_fill", index)
        if type(given) is _ndarray and ix.outside(given, shape[axis]) is None:
            number, place = _value("index_fill", self, value), (slice(None),) * axis + (given,)
            prim, params, edges = ix.index_put.prim, ix.put_params(axis), (None, None)
            if inplace.write_part("index_fill_", self, place, number, prim, params, edges, number, given):
                return show_as(self, "IndexFillBackward0")
    return _index_fill_anew(self, dim, index, value)


METHODS["index_fill_"] = _index_fill


@api(in_place=True, out=True)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` with the slices of `source` reduced ("prod", "mean", "amax", "amin") into where `index` says."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce: reduce must be one of prod, mean, amax, amin, got {reduce!r}")
    shape = shape_of(input)
    axis = axis_of("index_reduce", dim, len(shape))
    given = _vector("index_reduce", index)
    _in_range("index_reduce", given, shape[axis] if shape else 1)
    source = _index_source("index_reduce", input, axis, given, source)
    spread = (1,) * axis + (-1,) + (1,) * (len(shape_of(source)) - axis - 1)
    count = shape_of(given)[0]
    where = st.broadcast_to(st.reshape(given, shape=tuple(count if n == -1 else 1 for n in spread)),
                            shape=tuple(shape_of(source)))  # fmt: skip
    x = input if shape else st.reshape(input, shape=(1,))
    out = _reduced(x, where, source, axis, reduce, bool(include_self))
    return show_as(out if shape else st.reshape(out, shape=()), "IndexReduceBackward0")


def _index_arrays(op: str, input: Value, indices: Any) -> tuple[list[Any], list[int], bool]:
    """Index tensors (None for a full slice) as index arrays and their axes; whether they come from one mask."""
    if isinstance(indices, Value) or not hasattr(indices, "__iter__"):
        raise TypeError(f"{op}: the indices must be a tuple of tensors, got {type(indices).__name__}")
    arrays: list[Any] = []
    axes: list[int] = []
    masks = dim = given = 0
    shape = tuple(shape_of(input))
    for e in indices:
        if e is None:
            dim += 1
            continue
        given += 1
        if not isinstance(e, Value):
            raise TypeError(f"{op}: the indices must be tensors or None, got {type(e).__name__}")
        if dtype_of(e) in (np.bool_, np.uint8):
            if dtype_of(e) == np.uint8:
                warnings.warn(f"{op}: indexing with uint8 is deprecated; use bool masks", UserWarning, stacklevel=5)
            have = tuple(shape_of(e))
            if have != shape[dim : dim + len(have)]:
                raise IndexError(f"{op}: a mask of shape {list(have)} does not fit a tensor of shape {list(shape)} at {dim}")
            arrays.extend(places_set(op, e))
            axes.extend(range(dim, dim + len(have)))
            dim += len(have)
            masks += 1
            continue
        arrays.append(check_index(op, e))
        axes.append(dim)
        dim += 1
    if dim > len(shape):
        raise IndexError(f"{op}: {dim} indices were given for a tensor of {len(shape)} dimensions")
    return arrays, axes, masks == given == 1


def _put(
    op: str, x: Tensor, indices: Any, values: Tensor, checked: bool = True
) -> tuple[Any, list[Any], tuple[int, ...], bool]:
    """The values to write, where (arrays and their axes), and whether no position is named twice.

    checked: whether that one array points into the tensor is looked at here, not left to the operation."""
    arrays, axes, unique = _index_arrays(op, x, indices)
    _same_dtype(op, x, values)
    if not arrays:
        raise (IndexError if len(indices) else RuntimeError)(f"{op}: give at least one index tensor")
    if checked or len(arrays) > 1:
        check_arrays(op, x, arrays, axes)
    shape = ix.indexed_shape(tuple(shape_of(x)), [tuple(shape_of(a)) for a in arrays], tuple(axes))
    return fitted(values, shape), arrays, tuple(axes), unique


@api()
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """`input` with `values` written (added, with `accumulate`) at the positions that index tensors name."""
    values, arrays, axes, unique = _put("index_put", input, indices, values, checked=bool(accumulate))
    try:
        return ix.index_put(input, values, *arrays, axes=axes, accumulate=bool(accumulate), unique=unique)
    except (IndexError, RuntimeError):
        check_arrays("index_put", input, arrays, list(axes))
        raise


@api()
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """`index_put` written into this tensor; returns it."""
    write_at("index_put_", input, *_put("index_put_", input, indices, values), bool(accumulate))
    return input




@api("_unsafe_masked_index", method=False)
def unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: Any) -> Tensor:
    """`input` at index tensors, `fill` where the mask is not set."""
    arrays, axes, unique = _index_arrays("_unsafe_masked_index", input, indices)
    shape = shape_of(input)
    arrays = [_clamped(a, mask, shape[axis]) for a, axis in zip(arrays, axes)]
    return masked_fill(read(input, arrays, axes, unique), ~mask, fill)  # type: ignore[operator]


@api("_unsafe_masked_index_put_accumulate", method=False)
def unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Any, values: Tensor) -> Tensor:
    """`input` with `values` added at index tensors where the mask is set."""
    arrays, axes, unique = _index_arrays("_unsafe_masked_index_put_accumulate", input, indices)
    shape = shape_of(input)
    arrays = [_clamped(a, mask, shape[axis]) for a, axis in zip(arrays, axes)]
    kept = masked_fill(values, ~mask, 0)  # type: ignore[operator]
    return ix.index_put(input, kept, *arrays, axes=tuple(axes), accumulate=True, unique=unique)


def _clamped(index: Any, mask: Value, n: int) -> Any:
    index, chosen = np.broadcast_arrays(concrete("index", index) if isinstance(index, Value) else index,
                                        concrete("mask", mask))  # fmt: skip
    return np.clip(np.where(chosen, index, 0), -n, n - 1)


# ------------------------------------------------------------------------------------------ masks


def _mask(op: str, mask: Any) -> Any:
    if not isinstance(mask, Value):
        raise TypeError(f"{op}: the mask must be a tensor, got {type(mask).__name__}")
    if dtype_of(mask).kind != "b":
        raise RuntimeError(f"{op}: the mask must have dtype bool, got {FROM_NUMPY[dtype_of(mask)]}")
    return mask._a if mask._level == 0 and type(mask._a) is _ndarray else mask


@api(in_place=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`input` with a number where the mask is set."""
    given = _mask("masked_fill", mask)
    number = _value("masked_fill", input, value)
    name = "MaskedFillBackward1" if isinstance(value, Value) else "MaskedFillBackward0"
    out = where_op(given, number, input)
    return show_as(_in_c_order(out), name)


def _in_c_order(out: Any) -> Any:
    """A new result, whose elements lie row by row however those of its operands do."""
    if type(out._a) is np.ndarray and not out._a.flags.c_contiguous:
        mutation.rearrange(out, np.ascontiguousarray(out._a))
    return out


@api(out=True)
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of `input` where the mask, broadcast with it, is set; 1-d."""
    given = _mask("masked_select", mask)
    shape = np.broadcast_shapes(tuple(shape_of(input)), tuple(shape_of(given)))
    x = input if shape == tuple(shape_of(input)) else st.broadcast_to(input, shape=shape)
    if not shape:
        x, given = st.reshape(x, shape=(1,)), st.reshape(given, shape=(1,))
        shape = (1,)
    positions = places_set("masked_select", st.broadcast_to(given, shape=shape))
    out = ix.advanced_index(x, *positions, axes=tuple(range(len(shape))), unique=True)
    return show_as(out, "MaskedSelectBackward0")


@api(in_place=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`input` with the first elements of `source` written, in order, where the mask is set."""
    given = _mask("masked_scatter", mask)
    _same_dtype("masked_scatter", input, source)
    shape = np.broadcast_shapes(tuple(shape_of(input)), tuple(shape_of(given)))
    x = input if shape == tuple(shape_of(input)) else st.broadcast_to(input, shape=shape)
    spread = st.broadcast_to(given, shape=shape)
    flat = places_set("masked_scatter", st.reshape(spread, shape=(math.prod(shape),)))[0]
    total = math.prod(shape_of(source))
    if len(flat) > total:
        raise RuntimeError(f"masked_scatter: the mask chooses {len(flat)} places, the source has {total} elements")
    values = st.reshape(source, shape=(total,))
    if total != len(flat):
        values = st.getitem(values, index=(slice(0, len(flat)),))
    positions = np.unravel_index(flat, shape) if type(flat) is _ndarray else places_set("masked_scatter", spread)
    if not shape:
        return show_as(st.reshape(values, shape=()) if len(flat) else st.copy(x), "MaskedScatterBackward0")
    out = ix.index_put(x, values, *positions, axes=tuple(range(len(shape))), accumulate=False, unique=True)
    return show_as(_in_c_order(out), "MaskedScatterBackward0")


# ------------------------------------------------------------------------------------------ flat positions


def _flat_index(op: str, index: Any, n: int) -> Any:
    if not isinstance(index, Value):
        raise TypeError(f"{op}: the index must be a tensor, got {type(index).__name__}")
    if dtype_of(index) != np.int64:
        raise RuntimeError(f"{op}: the index must have dtype int64, got {FROM_NUMPY[dtype_of(index)]}")
    array = index._a if index._level == 0 and type(index._a) is _ndarray else index
    if type(array) is _ndarray and array.size and not (-n <= array.min() and array.max() < n):
        bad = int(array.max()) if array.max() >= n else int(array.min())
        raise IndexError(f"{op}: index {bad} is out of range for {n} elements")
    return array


@api(out=True)
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements that `index` names in the flattened tensor."""
    n = math.prod(shape_of(input))
    given = _flat_index("take", index, n)
    return show_as(ix.take(st.reshape(input, shape=(n,)), given, axis=0), "TakeBackward0")


@api(in_place=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`input` with the elements of `source` written (or added) where `index` says in the flattened tensor."""
    n, shape = math.prod(shape_of(input)), tuple(shape_of(input))
    given = _flat_index("put", index, n)
    _same_dtype("put", input, source)
    if math.prod(shape_of(index)) != math.prod(shape_of(source)):
        raise RuntimeError(
            f"put: index and source must have as many elements, got {math.prod(shape_of(index))} and "
            f"{math.prod(shape_of(source))}"
        )
    count = math.prod(shape_of(source))
    values = st.reshape(source, shape=(count,))
    flat = st.reshape(input, shape=(n,))
    given = given.reshape(count) if type(given) is _ndarray else st.reshape(given, shape=(count,))
    out = ix.index_put(flat, values, given, axes=(0,), accumulate=bool(accumulate))
    return show_as(st.reshape(out, shape=shape), "PutBackward0")


# ------------------------------------------------------------------------------------------ positions of elements


@api(out=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not zero: one row each, or with `as_tuple` one tensor per dimension."""
    if type(input._a) is not _ndarray and not on_host(input):
        x = input if shape_of(input) or not as_tuple else st.reshape(input, shape=(1,))
        columns = places_set("nonzero", x)
        if as_tuple:
            return tuple(map(from_array, columns))
        rows = [make(Tensor, column) for column in columns]
        return st.stack(*rows, axis=1) if rows else input.new_zeros((int(input.item() != 0), 0), dtype=int64)
    array = concrete("nonzero", input)
    if array.dtype == _dtype.bfloat16.np:
        array = array != 0
    if as_tuple:
        # NumPy's are columns of one array.
        return tuple(from_array(a.copy()) for a in (array if array.ndim else array.reshape(1)).nonzero())
    return from_array(np.argwhere(array))


@api(out=True)
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` rows of `nonzero(input)`, and rows of `fill_value` where there are fewer."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: size must not be negative, got {size}")
    found = nonzero(input)[:size]
    return pad_constant(found, widths=((0, size - shape_of(found)[0]), (0, 0)), value=fill_value)  # type: ignore[no-any-return]


@api(method=True)
def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero, one row each."""
    return nonzero(input)


@api(method=False)
def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates, one tensor per axis, of flat indices into an array of a shape."""
    tensor_argument("unravel_index", indices)
    if indices.dtype.category != 1:
        raise TypeError(f"unravel_index: the indices must be integers, got {indices.dtype}")
    dims = sizes("unravel_index", (tuple(shape) if isinstance(shape, (tuple, list)) else (shape,),))
    coordinates: list[Tensor] = []
    rest = indices.long()
    for n in reversed(dims):
        coordinates.append(rest % n)
        rest = rest // n
    return tuple(reversed(coordinates))
