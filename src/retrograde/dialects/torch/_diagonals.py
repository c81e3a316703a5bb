"""Diagonals, triangles and strided views, with their `*_scatter` and `*_copy` forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.batched import BatchedArray
from ...core.value import Value, make, shape_of
from ...ops import elementwise as ew
from ...ops import manipulation as mp
from ...ops import structural as st
from ...ops import triangular as tr
from ...ops.indexing import index_put
from ...tape import inplace, mutation
from .._shared.registry import defined
from . import _joining, _shape
from ._api import FUNCTIONS, api
from ._axes import axis_of, integer
from ._data import np_dtype_of, sizes
from ._dtype import int64
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, show_as
from ._indexing import recording, unbind
from ._memory import contiguous, memory_of, one_entry
from ._size import check_device
from ._tensor import Tensor, beside, from_array

_ndarray = np.ndarray

NAMES.update(diagonal="DiagonalBackward0", diagonal_embed="DiagEmbedBackward0", tril="TrilBackward0",
             triu="TriuBackward0", as_strided="AsStridedBackward0")  # fmt: skip

# ------------------------------------------------------------------------------------------ diagonals


def _plane(op: str, input: Any, dim1: int, dim2: int) -> tuple[int, int]:
    n = len(shape_of(input))
    a, b = axis_of(op, dim1, n), axis_of(op, dim2, n)
    if n < 2 or a == b:
        raise RuntimeError(f"{op}: the two dimensions must differ, got {dim1} and {dim2}")
    return a, b


@api()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of the diagonal of two dimensions, as the last dimension."""
    a, b = _plane("diagonal", input, dim1, dim2)
    return inplace.view(tr.diagonal, input, offset=integer("diagonal", "offset", offset), axis1=a, axis2=b)


@api()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of `input` with `src` on the diagonal of two dimensions."""
    a, b = _plane("diagonal_scatter", input, dim1, dim2)
    return _joining.scattered(
        "diagonal_scatter", "DiagonalScatterBackward0", input, src, tr.diagonal, offset=offset, axis1=a, axis2=b
    )


@api()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros with the last dimension of `input` on the diagonal of two new ones."""
    shape = tuple(shape_of(input))
    if not shape:
        raise IndexError("diag_embed: wanted at least 1 dimension")
    rank = len(shape) + 1
    a, b = axis_of("diag_embed", dim1, rank), axis_of("diag_embed", dim2, rank)
    if a == b:
        raise RuntimeError(f"diag_embed: the two dimensions must differ, got {dim1} and {dim2}")
    n = shape[-1] + abs(offset)
    if a > b:  # the order of the two decides on which side of the diagonal the offset lies
        a, b, offset = b, a, -offset
    rest = list(shape[:-1])
    rest.insert(a, n)
    rest.insert(b, n)
    return tr.diagonal_embed(input, shape=tuple(rest), offset=offset, axis1=a, axis2=b)


@api(out=True)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a vector on a diagonal, or a copy of a matrix's diagonal."""
    n = len(shape_of(input))
    if n == 1:
        return diag_embed(input, diagonal)
    if n != 2:
        raise RuntimeError(f"diag: wanted 1 or 2 dimensions, got {n}")
    return show_as(tr_copy(input, diagonal), "DiagonalBackward0_copy")


def tr_copy(x: Any, offset: int) -> Any:
    """A copy of a matrix's diagonal."""
    out = tr.diagonal(x, offset=offset, axis1=0, axis2=1)
    if type(out._a) is _ndarray:
        mutation.rearrange(out, out._a.copy())
    return out


@api()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements on a diagonal."""
    return diag_embed(_shape.reshape(input, -1), offset)


# ------------------------------------------------------------------------------------------ triangles


def _triangle(name: str, op: Any) -> None:
    def function(input: Tensor, diagonal: int = 0) -> Tensor:
        if len(shape_of(input)) < 2:
            raise RuntimeError(f"{name}: wanted at least 2 dimensions, got {len(shape_of(input))}")
        return op(input, k=integer(name, "diagonal", diagonal))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {'lower' if name == 'tril' else 'upper'} triangle of each matrix, the rest zero."
    api(name, in_place=True, out=True)(function)


_triangle("tril", tr.tril)
_triangle("triu", tr.triu)


def _triangle_indices(name: str, find: Any) -> None:
    def function(
        row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None
    ) -> Tensor:
        check_device(name, device)
        if row < 0 or col < 0:
            raise RuntimeError(f"{name}: sizes must not be negative, got {row} and {col}")
        return from_array(np.stack(find(row, offset, col)).astype(np_dtype_of(name, dtype, int64)), device=device)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "The positions of a triangle of a matrix: rows in the first row, columns in the second."
    api(name, method=False)(function)


_triangle_indices("tril_indices", np.tril_indices)
_triangle_indices("triu_indices", np.triu_indices)

# ------------------------------------------------------------------------------------------ strided views


def _strided_arguments(op: str, x: Any, size: Any, stride: Any, storage_offset: Any) -> tuple[Any, Any, int]:
    shape, strides = tuple(map(int, size)), tuple(map(int, stride))
    if len(shape) != len(strides):
        raise RuntimeError(f"{op}: {len(shape)} sizes and {len(strides)} strides; give as many")
    if any(n < 0 for n in shape) or any(s < 0 for s in strides):
        raise RuntimeError(f"{op}: sizes and strides must not be negative, got {list(shape)} and {list(strides)}")
    return shape, strides, x.storage_offset() if storage_offset is None else int(storage_offset)


def _reach(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> int:
    return 0 if 0 in shape else offset + sum((n - 1) * s for n, s in zip(shape, strides)) + 1


@api()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the tensor's storage with the given sizes, strides and offset (in elements)."""
    shape, strides, offset = _strided_arguments("as_strided", input, size, stride, storage_offset)
    a = input._a
    if type(a) is not _ndarray:  # inside a transform a tensor has no storage but its own elements
        if type(a) is BatchedArray and type(a.content) is _ndarray:
            return _entries_strided(a, shape, strides, offset)
        axes = _storage_order(a)
        offset = 0 if storage_offset is None else offset
        if axes is None:
            raise RuntimeError(
                "as_strided: inside a transform, elements with gaps between them or shared places are no storage; look at "
                "them by indices, or use as_strided outside"
            )
        if axes != tuple(range(len(axes))):
            input = st.transpose(input, axes=axes)
        return mp.as_strided(input, shape=shape, strides=strides, offset=offset)
    memory, first = memory_of(a)
    if _reach(shape, strides, offset) > memory.size:
        raise RuntimeError(
            f"as_strided: sizes {list(shape)} with strides {list(strides)} and offset {offset} reach past a storage of "
            f"{memory.size} elements"
        )
    params = {"shape": shape, "strides": strides, "offset": offset}
    if a.flags.c_contiguous and first == 0 and a.size == memory.size:
        return inplace.view(mp.as_strided, input, **params)
    order = tuple(int(i) for i in np.argsort([-s for s in a.strides], kind="stable"))
    if first == 0 and a.size == memory.size and a.transpose(order).flags.c_contiguous:
        return inplace.view(mp.as_strided, inplace.view(st.transpose, input, axes=order), **params)
    base = input._base
    if base is not None and not (
        type(base._a) is _ndarray and base._a.size == memory.size and base._a.flags.c_contiguous
    ):
        base = None
    if not recording(input):
        return from_array(mp.as_strided(memory, **params)) if base is None else inplace.view(mp.as_strided, base, **params)
    out = mp.as_strided(_in_storage(input, memory, first), **params)
    seen = mp.as_strided(memory, **params)
    mutation.rearrange(out, seen.copy() if base is None else seen)
    if base is not None:
        inplace.attach(out, base, ((mp.as_strided, tuple(params.items())),))
    return out


def _entries_strided(a: BatchedArray, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Tensor:
    """The storage of each entry of a batch so: no further than the entry itself reaches, since what follows is another's."""
    entry = one_entry(a)
    if entry is not a:
        memory, first = memory_of(entry)
        step = a.content.strides[a.dim] // entry.itemsize
        if _reach(shape, strides, offset) <= _reach(entry.shape, tuple(s // entry.itemsize for s in entry.strides), first):
            size = a.content.shape[a.dim]
            found = mp.as_strided(memory, shape=(size, *shape), strides=(step, *strides), offset=offset)
            return make(Tensor, BatchedArray(found, 0, a._level), None, a._level)
    raise RuntimeError(
        f"as_strided: under vmap, sizes {list(shape)} with strides {list(strides)} and offset {offset} reach past the elements "
        "of an entry of the batch"
    )


def _storage_order(a: Any) -> tuple[int, ...] | None:
    """The axes of an array of a transform in the order in which its elements lie one behind the other; None where they do
    not."""
    a = one_entry(a)
    if type(a) is not _ndarray:
        return tuple(range(len(a.shape)))
    order = tuple(int(i) for i in np.argsort([-s for s in a.strides], kind="stable"))
    return order if a.transpose(order).flags.c_contiguous else None


def _in_storage(x: Tensor, memory: _ndarray, first: int) -> Any:
    """A storage, as a function of the tensor that looks at a part of it: what lies outside is constant, and where several
    elements of the tensor share a place, each has an equal part in it."""
    a = x._a
    places = mp.positions(a.shape, tuple(s // a.itemsize for s in a.strides), first).reshape(-1)
    flat = st.reshape(x, shape=(a.size,))
    counts = np.bincount(places, minlength=memory.size)
    unique = not a.size or int(counts.max()) == 1
    whole = memory.copy()
    if not unique:
        whole[places] = 0
        flat = ew.multiply(flat, (1 / counts[places]).astype(a.dtype))
    return index_put(whole, flat, places, axes=(0,), accumulate=not unique, unique=unique)


FUNCTIONS["as_strided_"] = _shape.in_place_view("as_strided", as_strided, "AsStridedBackward1")


@api()
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy of `input` with `src` in the place of a strided view of it."""
    shape, strides, offset = _strided_arguments("as_strided_scatter", input, size, stride, storage_offset)
    a = input._a
    if _reach(shape, strides, offset) > math.prod(shape_of(input)):
        raise RuntimeError("as_strided_scatter: the view reaches past the tensor's elements")
    params = {"shape": shape, "strides": strides, "offset": offset}
    name = "AsStridedScatterBackward0"
    if type(a) is _ndarray and not a.flags.c_contiguous:
        order = tuple(int(i) for i in np.argsort([-s for s in a.strides], kind="stable"))
        if a.transpose(order).flags.c_contiguous:
            back = tuple(int(i) for i in np.argsort(order))
            dense = st.transpose(input, axes=order)
            out = _joining.scattered("as_strided_scatter", name, dense, src, mp.as_strided, **params)
            return show_as(st.transpose(out, axes=back), name)
        input = contiguous(input)
    return _joining.scattered("as_strided_scatter", name, input, src, mp.as_strided, **params)


# ------------------------------------------------------------------------------------------ copies of views


def _copy_form(name: str, f: Any, several: bool = False) -> Any:
    """`torch.NAME_copy`: what the view function NAME gives, in memory of its own."""

    def owned(out: Any) -> Any:
        if isinstance(out, Value):
            copied = st.copy(out) if not recording(out) or type(out._a) is not _ndarray else out
            if copied is out:
                mutation.rearrange(out, out._a.copy())
                for mark in ("_base", "_view_steps", "_view_restriction"):
                    out.__dict__.pop(mark, None)
            return copied
        return out

    def function(input: Tensor, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        found = f(input, *args, **kwargs)
        if found is input:
            found = st.copy(input)
        result = tuple(owned(x) for x in found) if several else owned(found)
        if out is None:
            return result
        from ._api import write_out

        return write_out(name, result, out)

    return api(name, method=False)(defined(name, function, f"As `{name[:-5]}`, in memory of its own."))


for _name, _f in {
    "alias_copy": lambda input: _shape.view(input, tuple(shape_of(input))), "as_strided_copy": as_strided,
    "diagonal_copy": diagonal, "expand_copy": _shape.expand,
    "permute_copy": _shape.permute, "select_copy": _joining.select, "squeeze_copy": _shape.squeeze,
    "t_copy": _shape.t, "transpose_copy": _shape.transpose, "unfold_copy": _shape.unfold,
    "unsqueeze_copy": _shape.unsqueeze, "view_copy": _shape.view, "view_as_real_copy": _shape.view_as_real,
    "view_as_complex_copy": _shape.view_as_complex, "detach_copy": lambda input: tensor_argument("detach_copy", input).detach(),
}.items():  # fmt: skip
    _copy_form(_name, _f)
for _name, _f in {"split_copy": _joining.split, "split_with_sizes_copy": _joining.split_with_sizes,
                  "unbind_copy": lambda input, dim=0: unbind(tensor_argument("unbind_copy", input), dim)}.items():  # fmt: skip
    _copy_form(_name, _f, several=True)


@api("slice_copy", method=False)
def slice_copy(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of a slice along a dimension."""
    axis = axis_of("slice_copy", dim, len(shape_of(input)))
    return st.copy(st.getitem(input, index=(slice(None),) * axis + (slice(start, end, step),)))


_narrow_copy = _copy_form("narrow_copy", _joining.narrow)


@api("narrow_copy", function=False)
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """As `narrow`, in memory of its own."""
    return _narrow_copy(self, dim, start, length)


@api(function=False)
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal (all axes but those of a matrix must have one size); `wrap` goes on after it."""
    shape = tuple(shape_of(self))
    if len(shape) < 2:
        raise RuntimeError(f"fill_diagonal_: wanted at least 2 axes, got {len(shape)}")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"fill_diagonal_: beyond 2 axes all sizes must be equal, got {list(shape)}")

    def filled() -> Tensor:
        where = np.zeros(shape, bool)
        np.fill_diagonal(where, True, wrap=wrap)
        return self.masked_fill(beside(where, self), fill_value)

    return inplace.update("fill_diagonal_", self, filled)


@api(method=False)
def empty_strided(size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
                  requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A tensor with the given shape and strides (in elements), whose elements are to be written."""
    check_device("empty_strided", device)
    shape, steps = sizes("empty_strided", (tuple(size),)), sizes("empty_strided", (tuple(stride),))
    if len(shape) != len(steps):
        raise RuntimeError(f"empty_strided: {len(shape)} sizes and {len(steps)} strides; wanted one stride per size")
    last = sum((n - 1) * step for n, step in zip(shape, steps)) + 1 if 0 not in shape else 0
    memory = from_array(np.zeros(last, np_dtype_of("empty_strided", dtype)))
    out = from_array(as_strided(memory, shape, steps)._a, device=device)
    return out.requires_grad_() if requires_grad else out


@api(function=False)
def new_empty_strided(self: Tensor, size: Any, stride: Any, dtype: Any = None, device: Any = None,
                      requires_grad: bool = False, **_: Any) -> Tensor:  # fmt: skip
    """As `torch.empty_strided`, in this tensor's dtype unless another is given."""
    where = self.device if device is None else device
    return empty_strided(size, stride, dtype=dtype or self.dtype, device=where, requires_grad=requires_grad)
