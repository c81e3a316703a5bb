"""Tensors joined and taken apart: cat, stack, split, chunk and the like; narrow, select and the `*_scatter` forms."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._state import LOOKED_AT
from ...core.specialise import binder
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import manipulation as mp
from ...ops import structural as st
from ...ops import triangular as tr
from ...tape import inplace
from .._shared.axes import count
from .._shared.registry import defined
from . import _creation
from ._api import api, row, write_out
from ._axes import axis_of, integer, numpy_names, varargs
from ._dtype import FROM_NUMPY, promote_types
from ._graph_nodes import NAMES, show_as
from ._promote import to_dtype
from ._shape import atleast, reshaped
from ._tensor import Tensor

NAMES.update(split="SplitBackward0", block_diagonal="BlockDiagBackward0")

_full = slice(None)
_ndarray = np.ndarray
_concatenate, _join_two = st._concatenate.prim.bind, binder(st._concatenate, 2)
_stack = st.stack.prim.bind


def tensors_of(op: str, tensors: Any, *, empty: type[Exception] = RuntimeError) -> list[Any]:
    """A sequence of tensors as a list; raises TypeError for anything else, `empty` for none."""
    if isinstance(tensors, Value) or not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{op}: wanted a tuple or list of tensors, got {type(tensors).__name__}")
    for x in tensors:
        if not isinstance(x, Value):
            raise TypeError(f"{op}: wanted tensors, got {type(x).__name__} among them")
    if not tensors:
        raise empty(f"{op}: give at least one tensor")
    return list(tensors)


def _one_dtype(tensors: list[Any]) -> list[Any]:
    first = dtype_of(tensors[0])
    if all(dtype_of(x) == first for x in tensors):
        return tensors
    d = FROM_NUMPY[first]
    for x in tensors[1:]:
        d = promote_types(d, FROM_NUMPY[dtype_of(x)])
    return [to_dtype(x, d) for x in tensors]


# ------------------------------------------------------------------------------------------ joining


@api("cat", "concat", "concatenate", method=False)
def cat(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors joined along a dimension that they have."""
    if axis is not None:
        dim = axis
    if out is not None:
        return write_out("cat", _cat(tensors, dim), out)  # type: ignore[no-any-return]
    # Arrays of one dtype and rank: what does not fit otherwise, NumPy refuses.
    if (type(tensors) is list or type(tensors) is tuple) and len(tensors) == 2 and type(dim) is int:
        x, y = tensors
        try:
            a, b = x._a, y._a
            sizes: Any = a.shape[dim], b.shape[dim]
        except (AttributeError, IndexError):  # said below
            return _cat(tensors, dim)
        if type(a) is type(b) is _ndarray and a.dtype is b.dtype:
            rank = a.ndim
            if rank == b.ndim and (rank > 1 or (sizes[0] and sizes[1])):  # a vector without elements fits anything
                return _join_two(x, y, axis=dim if dim >= 0 else dim + rank, sizes=sizes)
    elif type(tensors) in (list, tuple) and tensors and type(dim) is int:
        first = getattr(tensors[0], "_a", None)
        if type(first) is _ndarray and first.ndim:
            rank, dtype = first.ndim, first.dtype
            if -rank <= dim < rank:
                along = dim % rank
                sizes = []
                for x in tensors:
                    a = getattr(x, "_a", None)
                    if type(a) is not _ndarray or a.ndim != rank or a.dtype is not dtype:
                        break
                    sizes.append(a.shape[along])
                else:
                    if rank > 1 or 0 not in sizes:
                        return _concatenate(*tensors, axis=along, sizes=tuple(sizes))
    return _cat(tensors, dim)


def _cat(tensors: Any, dim: int) -> Tensor:
    """`cat` of whatever there is, checked."""
    given = tensors_of("cat", tensors, empty=ValueError)
    shapes = [tuple(shape_of(x)) for x in given]
    # A 1-d tensor without elements fits anything, as in PyTorch.
    kept = [i for i, s in enumerate(shapes) if s != (0,)]
    rank = len(shapes[kept[0]]) if kept else 1
    along = axis_of("cat", dim, rank)
    if kept:
        first = shapes[kept[0]]
        for i in kept:
            s = shapes[i]
            if not s:
                raise RuntimeError(f"cat: tensor {i} is 0-d and cannot be joined; use stack()")
            if len(s) != rank:
                raise RuntimeError(f"cat: tensors of {rank} and of {len(s)} dimensions cannot be joined")
            if any(a != b for k, (a, b) in enumerate(zip(s, first)) if k != along):
                raise RuntimeError(
                    f"cat: tensors must agree apart from dimension {along}, got shapes {list(first)} and {list(s)}"
                )
    given = _one_dtype(given)
    if kept:  # the others take part as nothing of the right shape: they have a gradient, too
        nothing = (*first[:along], 0, *first[along + 1 :])
        given = [x if i in kept else st.reshape(x, shape=nothing) for i, x in enumerate(given)]
    return st.concatenate(*given, axis=along)


@api(method=False, out=True)
def stack(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors of one shape joined along a new dimension."""
    if axis is not None:
        dim = axis
    if type(tensors) in (list, tuple) and tensors and type(dim) is int:
        first = getattr(tensors[0], "_a", None)
        if type(first) is _ndarray and -first.ndim - 1 <= dim <= first.ndim:
            dtype, plain, arrays = first.dtype, not LOOKED_AT, []
            for x in tensors:
                a = getattr(x, "_a", None)
                if type(a) is not _ndarray or a.dtype is not dtype:
                    break
                plain = plain and x._node is None and not x._level and type(x) is Tensor
                arrays.append(a)
            else:
                axis = dim % (first.ndim + 1)
                try:
                    if plain:  # nothing to be recorded
                        return make(Tensor, st.stack.prim.numpy_kernel(*arrays, axis=axis))
                    return _stack(*tensors, axis=axis)
                except (RuntimeError, IndexError, ValueError):
                    pass  # shapes that differ: below is said which
    given = tensors_of("stack", tensors)
    shape = tuple(shape_of(given[0]))
    for i, x in enumerate(given):
        if tuple(shape_of(x)) != shape:
            raise RuntimeError(
                f"stack: all tensors must have one shape, got {list(shape)} and at position {i} {list(shape_of(x))}; pad "
                "them to one, or join them with cat(), which takes axes that differ"
            )
    return st.stack(*_one_dtype(given), axis=axis_of("stack", dim, len(shape) + 1))


@api(method=False, out=True)
def hstack(tensors: Any) -> Tensor:
    """Tensors joined along their second dimension (vectors along their first)."""
    given = [atleast(1, x) for x in tensors_of("hstack", tensors)]
    return cat(given, 0 if len(shape_of(given[0])) == 1 else 1)


vstack = row("vstack row_stack", lambda tensors: cat([atleast(2, x) for x in tensors_of("vstack", tensors)], 0),
    "Tensors joined along their first dimension, vectors being rows.", method=False, out=True)  # fmt: skip
dstack = row("dstack", lambda tensors: cat([atleast(3, x) for x in tensors_of("dstack", tensors)], 2),
    "Tensors joined along their third dimension.", method=False, out=True)  # fmt: skip


@api(method=False, out=True)
def column_stack(tensors: Any) -> Tensor:
    """Tensors joined along their second dimension, vectors being columns."""
    given = [
        x if len(shape_of(x)) > 1 else reshaped(x, (math.prod(shape_of(x)), 1))
        for x in tensors_of("column_stack", tensors)
    ]
    return cat(given, 1)


@api(method=False)
def block_diag(*tensors: Any) -> Tensor:
    """Matrices (vectors being rows) along the diagonal of a larger one that is zero elsewhere."""
    given = tensors_of("block_diag", varargs("block_diag", tensors)) if tensors else []
    if not given:
        return _creation.zeros(1, 0)
    for x in given:
        if len(shape_of(x)) > 2:
            raise RuntimeError(f"block_diag: wanted tensors of at most 2 dimensions, got shape {list(shape_of(x))}")
    return tr.block_diagonal(*(atleast(2, x) for x in _one_dtype(given)))


# ------------------------------------------------------------------------------------------ taking apart


def _split(x: Any, axis: int, sizes: tuple[int, ...], *, views: bool = True) -> tuple[Any, ...]:
    """Consecutive parts along an axis, which share the memory; `views`: and are views to the tape."""
    outs = mp.split(x, axis=axis, sizes=sizes)
    if views:
        inplace.attach_parts(outs, x, st.getitem, "index", mp.split_indices(axis, sizes))
    return outs


def _split_sizes(op: str, n: int, given: Any, axis: int) -> tuple[int, ...]:
    if isinstance(given, (list, tuple)):
        sizes = tuple(integer(op, "a size", s) for s in given)
        if sum(sizes) != n or any(s < 0 for s in sizes):
            raise RuntimeError(f"{op}: the sizes {list(sizes)} must add up to {n}, the size of dimension {axis}")
        return sizes
    size = integer(op, "the size", given)
    if size < 0 or (size == 0 and n):
        raise RuntimeError(f"{op}: the size of a part must be positive, got {size} for a dimension of size {n}")
    if n == 0:
        return (0,)
    return _even(n, size)


@functools.lru_cache(256)
def _even(n: int, size: int) -> tuple[int, ...]:
    """The sizes of parts of n, all the same but for the last."""
    return tuple([min(size, n - start) for start in range(0, n, size)])


def _dimension(op: str, x: Any, dim: int) -> tuple[int, int]:
    shape = shape_of(x)
    if not shape:
        raise RuntimeError(f"{op}: a 0-d tensor cannot be taken apart")
    axis = axis_of(op, dim, len(shape))
    return axis, shape[axis]


@api("split")
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0, **given: Any) -> tuple[Tensor, ...]:
    """Views of consecutive parts along a dimension, of one size or of the given sizes."""
    axis, n = _dimension("split", tensor, dim)
    out = _split(tensor, axis, _split_sizes("split", n, split_size_or_sections, axis))
    if isinstance(split_size_or_sections, (list, tuple)) and out:
        show_as(out[0], "SplitWithSizesBackward0")
    return out


split_method = row("split", lambda self, split_size, dim=0: split(self, split_size, dim),
    "Views of consecutive parts along a dimension, of one size or of the given sizes.", function=False)  # fmt: skip
split_with_sizes = row("split_with_sizes", lambda input, split_sizes, dim=0: split(input, list(split_sizes), dim),
    "Views of consecutive parts of the given sizes.")  # fmt: skip


@api()
@numpy_names
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most `chunks` consecutive parts of equal size, the last one perhaps smaller."""
    axis, n = _dimension("chunk", input, dim)
    chunks = integer("chunk", "the number of chunks", chunks)
    if chunks <= 0:
        raise RuntimeError(f"chunk: the number of chunks must be positive, got {chunks}")
    return _split(input, axis, _even(n, -(-n // chunks)) if n else (0,) * chunks)


@api("unsafe_split")
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split`, of parts that may be changed in place."""
    axis, n = _dimension("unsafe_split", input, dim)
    outs = _split(input, axis, _split_sizes("unsafe_split", n, split_size, axis), views=False)
    return _unsafe(outs, "UnsafeSplitBackward0")


@api()
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split_with_sizes`, of parts that may be changed in place."""
    axis, n = _dimension("unsafe_split_with_sizes", input, dim)
    outs = _split(input, axis, _split_sizes("unsafe_split_with_sizes", n, list(split_sizes), axis), views=False)
    return _unsafe(outs, "UnsafeSplitWithSizesBackward0")


@api("unsafe_chunk")
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As `chunk`, of parts that may be changed in place."""
    axis, n = _dimension("unsafe_chunk", input, dim)
    outs = _split(input, axis, _split_sizes("unsafe_chunk", n, max(1, -(-n // chunks)), axis), views=False)
    return _unsafe(outs, "UnsafeSplitBackward0")


def _unsafe(outs: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if outs:
        show_as(outs[0], name)
    return outs


@api()
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0, **given: Any) -> tuple[Tensor, ...]:
    """Views of parts along a dimension: as many as the int says, the first ones larger, or cut at the indices."""
    axis, n = _dimension("tensor_split", input, dim)
    where = indices_or_sections
    if isinstance(where, Value):
        array = concrete("tensor_split", where)
        if array.dtype != np.int64 or array.ndim > 1:
            raise RuntimeError("tensor_split: a tensor of indices must be int64 and at most 1-d")
        where = array.tolist()
    if isinstance(where, (list, tuple)):
        cuts = [0, *(min(max(i + n if i < 0 else i, 0), n) for i in where), n]
    else:
        parts = count("tensor_split", "the number of sections", where)
        if parts <= 0:
            raise RuntimeError(f"tensor_split: the number of sections must be positive, got {parts}")
        base, extra = divmod(n, parts)
        cuts = [0, *itertools.accumulate(base + (i < extra) for i in range(parts))]
    outs = []
    for start, end in itertools.pairwise(cuts):
        outs.append(inplace.view(st.getitem, input, index=(_full,) * axis + (slice(start, max(start, end)),)))
    return tuple(outs)


def _directed(name: str, rank: int, axis: int) -> None:
    def function(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        n = len(shape_of(input))
        if n < rank:
            raise RuntimeError(f"{name}: wanted at least {rank} dimension(s), got {n}")
        dim = 0 if name == "hsplit" and n == 1 else axis
        if isinstance(indices_or_sections, int):
            size = shape_of(input)[dim]
            if indices_or_sections <= 0 or size % indices_or_sections:
                raise RuntimeError(f"{name}: a dimension of size {size} cannot be cut into {indices_or_sections} parts")
        return tensor_split(input, indices_or_sections, dim)

    api(name)(defined(name, function, f"As `tensor_split` along dimension {axis}, in parts of one size."))


_directed("hsplit", 1, 1)
_directed("vsplit", 2, 0)
_directed("dsplit", 3, 2)

# ------------------------------------------------------------------------------------------ parts


@api()
@numpy_names
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A view of `length` elements along a dimension, from `start` on."""
    axis, n = _dimension("narrow", input, dim)
    if isinstance(start, Value) and (shape_of(start) or dtype_of(start).kind not in "iu"):
        raise RuntimeError(f"narrow: start must be an int or a 0-d tensor of integers, got {start!r}")
    start = integer("narrow", "start", start)
    if length < 0:
        raise RuntimeError(f"narrow: the length must not be negative, got {length}")
    if not -n <= start <= n:
        raise IndexError(f"narrow: start {start} is out of range for a dimension of size {n}")
    if start < 0:
        start += n
    if start + length > n:
        raise RuntimeError(f"narrow: start {start} and length {length} reach past a dimension of size {n}")
    return inplace.view(st.getitem, input, index=(_full,) * axis + (slice(start, start + length),))


@api()
@numpy_names
def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """A view of the slice at `index` along a dimension, without it."""
    shape = shape_of(input)
    if not shape:
        raise IndexError("select: a 0-d tensor has no dimension to select from")
    axis = axis_of("select", dim, len(shape))
    index = integer("select", "index", index)
    if not -shape[axis] <= index < shape[axis]:
        raise IndexError(f"select: index {index} is out of range for dimension {axis} of size {shape[axis]}")
    return inplace.view(st.getitem, input, index=(*(_full,) * axis, index, Ellipsis))


def scattered(op: str, name: str, input: Any, src: Any, step: Callable[..., Any], **params: Any) -> Any:
    """A copy of a tensor with the view that `step` makes of it replaced by `src`."""
    if dtype_of(src) != dtype_of(input):
        src = st.cast(src, dtype=dtype_of(input))
    steps = ((step, tuple(params.items())),)
    wanted = tuple(shape_of(step(np.broadcast_to(np.zeros((), dtype_of(input)), tuple(shape_of(input))), **params)))
    if tuple(shape_of(src)) != wanted:
        if op == "slice_scatter" and len(shape_of(src)) <= len(wanted):
            src = st.broadcast_to(src, shape=wanted)
        else:
            raise RuntimeError(f"{op}: the source must have shape {list(wanted)}, got {list(shape_of(src))}")
    return show_as(st.view_scatter(input, src, steps=steps), name)


@api()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of `input` with `src` in the place of the slice at `index` along a dimension."""
    axis, n = _dimension("select_scatter", input, dim)
    if not -n <= index < n:
        raise IndexError(f"select_scatter: index {index} is out of range for a dimension of size {n}")
    at = (*(_full,) * axis, index, Ellipsis)
    return scattered("select_scatter", "SelectScatterBackward0", input, src, st.getitem, index=at)


@api(out=True)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of `input` with `src` in the place of a slice along a dimension."""
    axis, _ = _dimension("slice_scatter", input, dim)
    at = (_full,) * axis + (slice(start, end, step),)
    return scattered("slice_scatter", "SliceScatterBackward0", input, src, st.getitem, index=at)


# ------------------------------------------------------------------------------------------ combinations


@api(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """Every choice of one element from each vector, one row each."""
    given = tensors_of("cartesian_prod", varargs("cartesian_prod", tensors))
    for x in given:
        if len(shape_of(x)) != 1:
            raise RuntimeError(f"cartesian_prod: wanted vectors, got shape {list(shape_of(x))}")
    if len(given) == 1:
        return given[0]
    shape = tuple(shape_of(x)[0] for x in given)
    columns = []
    for i, x in enumerate(_one_dtype(given)):
        grid = st.broadcast_to(st.reshape(x, shape=(shape[i],) + (1,) * (len(shape) - i - 1)), shape=shape)
        columns.append(st.reshape(grid, shape=(math.prod(shape),)))
    return st.stack(*columns, axis=1)


@api()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of `r` elements of a vector, in order, one row each."""
    shape = tuple(shape_of(input))
    if len(shape) != 1:
        raise RuntimeError(f"combinations: wanted a vector, got shape {list(shape)}")
    if r < 0:
        raise RuntimeError(f"combinations: r must not be negative, got {r}")
    if r == 0:
        return _creation.empty(0, dtype=input.dtype)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(shape[0]), r)), np.int64).reshape(-1, r)
    from ...ops.indexing import take

    return show_as(take(input, rows, axis=0), "StackBackward0")
