"""Shapes and axes: view, reshape, squeeze, permute, expand and the like. Views of memory wherever PyTorch has views."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._state import grad_mode, is_grad_enabled
from ...core.arrays import on_host
from ...core.batched import BatchedArray
from ...core.node import Node
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import manipulation as mp
from ...ops import structural as st
from ...tape import autograd as tape
from ...tape import inplace, mutation
from .._shared.shapes import broadcast, filled
from . import _dtype
from ._api import METHODS, api
from ._axes import axes_of, axis_of, integer, numpy_names, varargs
from ._data import elements_of
from ._dtype import FROM_NUMPY
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, show_as
from ._indexing import recording
from ._size import Size
from ._tensor import Tensor, beside, from_array

_ndarray = np.ndarray
_reshape, _transpose = inplace.viewer(st.reshape), inplace.viewer(st.transpose)
expanded = inplace.viewer(st.broadcast_to)
"""The view of a tensor broadcast to a shape."""

NAMES.update(
    reshape="ViewBackward0", transpose="PermuteBackward0", tile="RepeatBackward0", repeat_elements="ViewBackward0",
    flip="FlipBackward0", roll="RollBackward0", rot90="Rot90Backward0", sliding_windows="UnfoldBackward0",
    view_as_real="ViewAsRealBackward0", view_as_complex="ViewAsComplexBackward0",
)  # fmt: skip


def reshaped(x: Any, shape: tuple[int, ...], name: str | None = None) -> Any:
    """The view of a tensor in another shape (a copy where memory does not allow one), its node shown as `name`."""
    out = _reshape(x, shape)
    if name is not None and type(out._node) is Node:
        out._node.shown_as = name
    return out


def transposed(x: Any, axes: tuple[int, ...], name: str = "PermuteBackward0") -> Any:
    """The view of a tensor with its axes in another order."""
    out = _transpose(x, axes)
    if type(out._node) is Node:
        out._node.shown_as = name
    return out


def full_shape(op: str, sizes: tuple[Any, ...], total: int) -> tuple[int, ...]:
    """Sizes with -1 replaced by what the number of elements asks for; raises RuntimeError where they do not fit."""
    for n in sizes:
        if type(n) is not int:
            sizes = tuple([integer(op, "a size", n) for n in sizes])
            break
    return filled(op, sizes, total, RuntimeError)


def _viewable(x: Any, out: Any) -> bool:
    a, b = x._a, out._a
    return type(a) is not _ndarray or a.flags.c_contiguous or not a.size or np.may_share_memory(a, b)


@api(function=False)
def view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """The same memory in another shape (or dtype); raises RuntimeError where strides do not allow it."""
    for n in shape:
        if type(n) is not int or n < 0:
            break
    else:
        if shape and size is dtype is None:
            try:
                out = _reshape(self, shape)
            except (RuntimeError, TypeError):  # said below
                pass
            else:
                if out._base is not None or _viewable(self, out):
                    return out
    return _view_anyhow(self, shape, size, dtype)


def _view_anyhow(self: Tensor, shape: tuple[Any, ...], size: Any, dtype: Any) -> Tensor:
    """`view` with all that it can be given."""
    if size is not None or dtype is not None:
        if shape or (size is not None and dtype is not None):
            raise TypeError("view: takes sizes or a dtype, got both")
        shape = (dtype if size is None else size,)
    if len(shape) == 1:
        first = shape[0]
        if isinstance(first, _dtype.dtype):
            return _view_dtype(self, first)
        if isinstance(first, (tuple, list)):
            shape = tuple(first)
    elif not shape:
        raise TypeError("view: give the sizes; () is the shape of a single number")
    try:
        a = self._a
    except AttributeError:
        tensor_argument("view", self)
        raise
    plain = type(a) is _ndarray
    wanted = full_shape("view", shape, a.size if plain else math.prod(shape_of(a)))
    out = _reshape(self, wanted)
    if plain and out._base is None and not _viewable(self, out):
        raise RuntimeError(
            f"view: a tensor of shape {list(a.shape)} whose memory is not contiguous cannot be seen as {list(wanted)}; "
            "use reshape(), which copies where it must"
        )
    return out


def _view_dtype(x: Tensor, d: _dtype.dtype) -> Tensor:
    """The bytes of a tensor read as another dtype; nothing is recorded."""
    if d.np == dtype_of(x):
        return reshaped(x, tuple(shape_of(x))) if type(x._a) is not _ndarray else from_array(x._a)
    if d.is_complex and recording(x):
        raise RuntimeError(f"view: a tensor that requires grad cannot be seen as dtype {d}; use view_as_complex()")
    a = x._a
    if type(a) is BatchedArray and type(a.content) is _ndarray and a.dtype.itemsize == d.itemsize:
        return make(Tensor, BatchedArray(a.content.view(d.np), a.dim, a._level), None, a._level)
    if type(a) is not _ndarray:
        if not on_host(x):
            raise NotImplementedError(f"view: a tensor on {x.device} is not seen as another dtype; use x.cpu().view({d})")
        raise RuntimeError(f"view: inside a transform a tensor cannot be seen as dtype {d}")
    if a.itemsize != d.itemsize and not a.ndim:
        raise RuntimeError(f"view: a 0-d tensor cannot be seen as dtype {d}, whose elements have another size")
    if d.itemsize > a.itemsize and (a.shape[-1] * a.itemsize) % d.itemsize:
        raise RuntimeError(
            f"view: the last dimension of size {a.shape[-1]} times {a.itemsize} bytes is no multiple of {d.itemsize}"
        )
    from ._memory import memory_of

    if d.itemsize > a.itemsize and (memory_of(a)[1] * a.itemsize) % d.itemsize:
        raise RuntimeError(f"view: the first element does not lie at a multiple of {d.itemsize} bytes in the storage")
    try:
        return from_array(a.view(d.np))
    except ValueError as error:
        raise RuntimeError(f"view: this memory cannot be seen as dtype {d}: the last dimension is not dense") from error


@api(function=False)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """The same memory in the shape of another tensor."""
    return view(self, tuple(shape_of(other)))


@api()
def reshape(input: Tensor, *shape: Any, **given: Any) -> Tensor:
    """The elements in another shape: a view where memory allows one, else a copy."""
    for n in shape:
        if type(n) is not int or n < 0:
            break
    else:
        if shape and not given:
            try:
                out = _reshape(input, shape)
            except (RuntimeError, TypeError):  # said below
                pass
            else:
                return out if out._base is not None else _copied(input, out)
    if given:
        shape = (given.pop("shape"),)
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    elif not shape:
        raise TypeError("reshape: give the sizes; () is the shape of a single number")
    try:
        a = input._a
    except AttributeError:
        tensor_argument("reshape", input)
        raise
    plain = type(a) is _ndarray
    wanted = full_shape("reshape", shape, a.size if plain else math.prod(shape_of(a)))
    out = _reshape(input, wanted)
    return out if out._base is not None else _copied(input, out)


def _copied(x: Any, out: Any) -> Any:
    """What `reshape` gives of a tensor where it is no view; the node says so."""
    return out if _viewable(x, out) else show_as(out, "UnsafeViewBackward0")


@api(function=False)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of another tensor."""
    return reshape(self, tuple(shape_of(other)))


@api()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` as one."""
    shape = tuple(shape_of(input))
    n = len(shape)
    start = 0 if start_dim == 0 else axis_of("flatten", start_dim, n)
    end = n - 1 if end_dim == -1 else axis_of("flatten", end_dim, n)
    if not n:
        return reshape(input, 1)
    if start > end:
        raise RuntimeError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
    if start == end:
        return input
    return reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@api()
@numpy_names
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """A dimension split into several of the given sizes, of which one may be -1."""
    shape = tuple(shape_of(input))
    axis = axis_of("unflatten", dim, len(shape))
    if isinstance(sizes, int) or not hasattr(sizes, "__iter__"):
        raise TypeError(f"unflatten: sizes must be a tuple of ints, got {type(sizes).__name__}")
    sizes = tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten: give at least one size")
    parts = full_shape("unflatten", sizes, shape[axis] if shape else 1)
    return reshape(input, (*shape[:axis], *parts, *shape[axis + 1 :]))


@api()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return reshape(input, -1) if math.prod(shape_of(input)) else reshape(input, 0)


# ------------------------------------------------------------------------------------------ axes of size 1


@api()
def squeeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Tensor:
    """The tensor without its dimensions of size 1, or without those of them that `dim` names."""
    if axis is not None:
        dim = axis
    shape = tuple(shape_of(input))
    if type(dim) is int and shape:
        axis = axis_of("squeeze", dim, len(shape))
        return reshaped(input, (*shape[:axis], *shape[axis + 1 :]) if shape[axis] == 1 else shape, "SqueezeBackward1")
    if dim is None:
        return reshaped(input, tuple([n for n in shape if n != 1]), "SqueezeBackward0")
    axes = axes_of("squeeze", dim, len(shape))
    name = "SqueezeBackward1" if isinstance(dim, int) else "SqueezeBackward2"
    return reshaped(input, tuple([n for i, n in enumerate(shape) if i not in axes or n != 1]), name)


@api()
def unsqueeze(input: Tensor, dim: Any = None, *, axis: Any = None) -> Tensor:
    """The tensor with a dimension of size 1 inserted at `dim`."""
    shape, dim = tuple(shape_of(input)), dim if axis is None else axis
    if dim is None:
        raise TypeError("unsqueeze: dim is missing; it says where the new dimension goes")
    at = axis_of("unsqueeze", dim, len(shape) + 1)
    return reshaped(input, (*shape[:at], 1, *shape[at:]), "UnsqueezeBackward0")


# ------------------------------------------------------------------------------------------ order of axes


@api()
def permute(input: Tensor, *dims: Any, **given: Any) -> Tensor:
    """The dimensions in another order; a view."""
    dims = varargs("permute", (given["dims"],) if "dims" in given else dims)
    n = len(shape_of(input))
    if len(dims) != n:
        raise RuntimeError(f"permute: {len(dims)} dimensions were given for a tensor of {n}")
    return transposed(input, axes_of("permute", dims, n))


def _exchanged(op: str, input: Any, dim0: int, dim1: int) -> tuple[int, ...]:
    n = len(shape_of(input))
    a, b = axis_of(op, dim0, n), axis_of(op, dim1, n)
    order = list(range(n))
    if n:
        order[a], order[b] = b, a
    return tuple(order)


@api("transpose", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged; a view."""
    return transposed(input, _exchanged("transpose", input, dim0, dim1), "TransposeBackward0")


@api()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged; a view."""
    return transposed(input, _exchanged("swapaxes", input, axis0, axis1), "TransposeBackward0")


@api()
def t(input: Tensor) -> Tensor:
    """A matrix transposed; a vector or number as it is."""
    n = len(shape_of(input))
    if n > 2:
        raise RuntimeError(f"t: wanted at most 2 dimensions, got {n}; use transpose() or mT")
    return transposed(input, (1, 0) if n == 2 else tuple(range(n)), "TBackward0")


@api()
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, complex elements conjugated."""
    return tensor_argument("adjoint", input).mH  # type: ignore[attr-defined]


def _moved(input: Any, source: Any, destination: Any) -> tuple[int, ...]:
    n = len(shape_of(input))
    one = (list, tuple)
    if len(source if isinstance(source, one) else (0,)) != len(destination if isinstance(destination, one) else (0,)):
        raise RuntimeError(f"movedim: {source} and {destination} must name as many dimensions")
    old, new = axes_of("movedim", source, n), axes_of("movedim", destination, n)
    rest = iter(i for i in range(n) if i not in old)
    place = dict(zip(new, old))
    return tuple(place[i] if i in place else next(rest) for i in range(n))


@api("movedim", "moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the others in their order; a view."""
    return transposed(input, _moved(input, source, destination))


# ------------------------------------------------------------------------------------------ broadcasting, repetition


@api(function=False)
def expand(self: Tensor, *size: Any, implicit: bool = False, **given: Any) -> Tensor:
    """The tensor broadcast to larger sizes without copying; -1 keeps a size. A view."""
    sizes = varargs("expand", (given["size"],) if "size" in given else size)
    have = tuple(shape_of(self))
    extra = len(sizes) - len(have)
    if extra >= 0 and {*map(type, sizes)} <= {int} and (not sizes or min(sizes) >= 0):
        for old, n in zip(have, sizes[extra:]):
            if old != n and old != 1:
                break
        else:
            return expanded(self, sizes)
    return expanded(self, broadcast("expand", have, [integer("expand", "a size", n) for n in sizes], RuntimeError))


@api(function=False)
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor broadcast to the shape of another."""
    return expand(self, tuple(shape_of(other)))


@api()
def broadcast_to(input: Tensor, *size: Any, **given: Any) -> Tensor:
    """The tensor broadcast to a shape."""
    return expand(input, *((given["size"],) if "size" in given else size))


@api(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape to which shapes broadcast; raises RuntimeError where they do not."""
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    try:
        return Size(np.broadcast_shapes(*given))
    except ValueError:
        raise RuntimeError(f"broadcast_shapes: {', '.join(map(str, given))} do not broadcast") from None


@api(method=False)
def broadcast_tensors(*tensors: Any) -> list[Tensor]:
    """The tensors expanded to their common shape."""
    given = varargs("broadcast_tensors", tensors)
    shapes = {tuple(shape_of(x)) for x in given}
    if len(shapes) == 1:
        return list(given)
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise RuntimeError(
            f"broadcast_tensors: shapes {', '.join(str(list(shape_of(x))) for x in given)} do not broadcast"
        ) from None
    return [x if tuple(shape_of(x)) == shape else expanded(x, shape) for x in given]


@api(function=False)
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The tensor summed over the dimensions along which a tensor of the given sizes broadcasts to it."""
    sizes = tuple(integer("sum_to_size", "a size", n) for n in varargs("sum_to_size", size))
    have = tuple(shape_of(self))
    extra = len(have) - len(sizes)
    if extra < 0 or any(n not in (1, m) for n, m in zip(sizes, have[extra:])):
        raise RuntimeError(f"sum_to_size: a tensor of sizes {list(sizes)} does not broadcast to {list(have)}")
    if sizes == have and (have or dtype_of(self).kind not in "iub"):
        return reshaped(self, have)
    if dtype_of(self).kind in "iub":
        self = st.cast(self, dtype=np.dtype(np.int64))
    return show_as(st.sum_to_shape(self, sizes), "SumBackward1")


@api(function=False)
def repeat(self: Tensor, *repeats: Any, **given: Any) -> Tensor:
    """Copies of the tensor side by side, as many along each dimension as `repeats` says."""
    reps = varargs("repeat", (given["repeats"],) if "repeats" in given else repeats)
    reps = tuple(integer("repeat", "a number of repeats", n) for n in reps)
    if len(reps) < len(shape_of(self)):
        raise RuntimeError(f"repeat: {len(reps)} repeats for a tensor of {len(shape_of(self))} dimensions")
    if any(n < 0 for n in reps):
        raise RuntimeError(f"repeat: repeats must not be negative, got {list(reps)}")
    return mp.tile(self, reps=reps)


@api()
def tile(input: Tensor, *dims: Any, **given: Any) -> Tensor:
    """As `repeat`, with missing leading repeats taken as 1."""
    reps = varargs("tile", (given["dims"],) if "dims" in given else dims)
    return repeat(input, (1,) * (len(shape_of(input)) - len(reps)) + reps)


@api()
@numpy_names
def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Each slice along `dim` (each element, without one) repeated in a row; `repeats` is an int or one per slice."""
    if repeats is None:
        counts = elements_of("repeat_interleave", tensor_argument("repeat_interleave", input))
        if counts.ndim != 1 or counts.dtype.kind not in "iu":
            raise RuntimeError("repeat_interleave: repeats alone must be a 1-d tensor of ints")
        return beside(np.repeat(np.arange(len(counts)), concrete("repeat_interleave", input)), input)
    x = input if dim is not None else flatten(input)
    n = len(shape_of(x))
    axis = axis_of("repeat_interleave", 0 if dim is None else dim, n)
    if not n:
        x = reshape(x, 1)
    if isinstance(repeats, (list, tuple)):
        repeats = from_array(np.asarray(repeats, np.int64))
    if isinstance(repeats, Value) and math.prod(shape_of(repeats)) == 1:
        repeats = int(repeats.item())  # type: ignore[attr-defined]
    if isinstance(repeats, Value):
        counts = concrete("repeat_interleave", repeats)
        if counts.dtype.kind not in "iu" or counts.ndim > 1:
            raise RuntimeError("repeat_interleave: repeats must be an int or a 1-d tensor of ints")
        if len(counts) != shape_of(x)[axis]:
            raise RuntimeError(
                f"repeat_interleave: {len(counts)} repeats for a dimension of size {shape_of(x)[axis]}; give one each"
            )
        if counts.size and counts.min() < 0:
            raise RuntimeError("repeat_interleave: repeats must not be negative")
        from ...ops.indexing import take

        return show_as(take(x, np.repeat(np.arange(len(counts)), counts), axis=axis), "IndexSelectBackward0")
    repeats = integer("repeat_interleave", "repeats", repeats)
    if repeats < 0:
        raise RuntimeError(f"repeat_interleave: repeats must not be negative, got {repeats}")
    return mp.repeat_elements(x, repeats=repeats, axis=axis)


def atleast(rank: int, x: Any) -> Any:
    """A tensor with at least `rank` dimensions: of size 1 where it had fewer."""
    if not isinstance(x, Value):
        raise TypeError(f"atleast_{rank}d: wanted tensors, got {type(x).__name__}")
    shape = tuple(shape_of(x))
    if len(shape) >= rank:
        return x
    if rank == 3 and len(shape) == 2:
        return unsqueeze(x, -1)
    wider = {1: (1,), 2: (1, *shape) if shape else (1, 1), 3: (1, *shape, 1) if shape else (1, 1, 1)}[rank]
    return reshaped(x, wider, "UnsqueezeBackward0" if len(wider) == len(shape) + 1 else None)


def _register_atleast(rank: int) -> None:
    def function(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
            return atleast(rank, tensors[0])
        return tuple(atleast(rank, x) for x in varargs(f"atleast_{rank}d", tensors))

    function.__doc__ = f"Tensors with at least {rank} dimensions: of size 1 where they had fewer."
    api(f"atleast_{rank}d", method=False)(function)


for _rank in (1, 2, 3):
    _register_atleast(_rank)


@api(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """A grid of coordinates from vectors: one tensor per vector, each of the grid's shape."""
    given = varargs("meshgrid", tensors)
    if indexing is None:
        warnings.warn("meshgrid: pass indexing='ij' (as it is now) or 'xy'", UserWarning, stacklevel=2)
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be 'ij' or 'xy', got {indexing!r}")
    if not given:
        raise RuntimeError("meshgrid: give at least one tensor")
    for x in given:
        if len(shape_of(x)) > 1:
            raise RuntimeError(f"meshgrid: wanted vectors, got a tensor of shape {list(shape_of(x))}")
        if dtype_of(x) != dtype_of(given[0]):
            raise RuntimeError(
                f"meshgrid: all tensors must have one dtype, got {FROM_NUMPY[dtype_of(given[0])]} and "
                f"{FROM_NUMPY[dtype_of(x)]}"
            )
    swap = indexing == "xy" and len(given) > 1
    if swap:
        given = (given[1], given[0], *given[2:])
    shape = tuple(math.prod(shape_of(x)) for x in given)
    grids = []
    for i, x in enumerate(given):
        column = reshaped(x, (1,) * i + (shape[i],) + (1,) * (len(shape) - i - 1))
        grids.append(expanded(column, shape))
    if swap:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


# ------------------------------------------------------------------------------------------ reordering elements


@api()
def flip(input: Tensor, *dims: Any, **given: Any) -> Tensor:
    """The order of elements reversed along dimensions; a copy."""
    tensor_argument("flip", input)
    dims = varargs("flip", (given["dims"],) if "dims" in given else dims)
    if isinstance(dims, int):
        dims = (dims,)
    return mp.flip(input, axes=axes_of("flip", dims, len(shape_of(input))) if shape_of(input) else ())


def _reversed(self: Tensor) -> Tensor:
    """The tensor with its first dimension reversed, for `reversed(x)`."""
    return mp.flip(self, axes=(0,)) if shape_of(self) else self


METHODS["__reversed__"] = _reversed


@api()
def fliplr(input: Tensor) -> Tensor:
    """The second dimension reversed."""
    if len(shape_of(input)) < 2:
        raise RuntimeError("fliplr: wanted at least 2 dimensions")
    return mp.flip(input, axes=(1,))


@api()
def flipud(input: Tensor) -> Tensor:
    """The first dimension reversed."""
    if not shape_of(input):
        raise RuntimeError("flipud: wanted at least 1 dimension")
    return mp.flip(input, axes=(0,))


@api()
def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Elements moved along dimensions, those that fall off coming back at the other end; flattened without `dims`."""
    moves = tuple(shifts) if isinstance(shifts, (tuple, list)) else (integer("roll", "shifts", shifts),)
    given = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    if not moves:
        raise RuntimeError("roll: give one shift at least")
    if not given and len(moves) == 1:
        shape = tuple(shape_of(input))
        flat = st.reshape(input, shape=(math.prod(shape),))
        return show_as(st.reshape(mp.roll(flat, shifts=moves, axes=(0,)), shape=shape), "RollBackward0")
    if len(given) != len(moves):
        raise RuntimeError(f"roll: {len(moves)} shifts for {len(given)} dimensions; give as many")
    axes = axes_of("roll", given, len(shape_of(input)), unique=False)
    if not math.prod(shape_of(input)):
        return show_as(st.copy(input), "RollBackward0")
    return mp.roll(input, shifts=tuple(int(s) for s in moves), axes=axes)


@api()
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """The tensor turned by 90 degrees, `k` times, in the plane of two dimensions."""
    n = len(shape_of(input))
    if len(dims) != 2:
        raise RuntimeError(f"rot90: two dimensions span a plane, got {len(dims)}")
    if n < 2:
        raise RuntimeError(f"rot90: wanted at least 2 dimensions, got {n}")
    a, b = (axis_of("rot90", d, n) for d in dims)
    if a == b:
        raise RuntimeError(f"rot90: the two dimensions must differ, got {tuple(dims)}")
    return mp.rot90(input, k=integer("rot90", "k", k), axes=(a, b))


@api(function=False)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of the windows of `size` elements along a dimension, `step` apart, which become the last dimension."""
    shape = tuple(shape_of(self))
    axis = axis_of("unfold", dimension, len(shape))
    length = shape[axis] if shape else 1
    if size < 0 or size > length:
        raise RuntimeError(f"unfold: windows of {size} elements do not fit a dimension of size {length}")
    if step <= 0:
        raise RuntimeError(f"unfold: the step must be positive, got {step}")
    if not shape:
        return reshaped(self, (1,)) if size else st.getitem(reshaped(self, (1,)), index=(slice(0, 0),))
    return inplace.view(mp.sliding_windows, self, axis=axis, size=size, step=step, dilation=1)


# ------------------------------------------------------------------------------------------ complex as pairs


@api()
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as a real one with a last dimension of 2; a view."""
    if dtype_of(tensor_argument("view_as_real", input)).kind != "c":
        raise RuntimeError(f"view_as_real: wanted a complex tensor, got {input.dtype}")
    return inplace.view(mp.view_as_real, input)


@api()
def view_as_complex(input: Tensor) -> Tensor:
    """A real tensor with a last dimension of 2 as a complex one; a view."""
    shape = tuple(shape_of(tensor_argument("view_as_complex", input)))
    if dtype_of(input) not in (np.float32, np.float64):
        raise RuntimeError(f"view_as_complex: wanted float32 or float64, got {input.dtype}")
    if not shape or shape[-1] != 2:
        raise RuntimeError(f"view_as_complex: the last dimension must have size 2, got shape {list(shape)}")
    a = input._a
    if type(a) is _ndarray and (
        a.strides[-1] != a.itemsize or any(s % (2 * a.itemsize) for s, n in zip(a.strides[:-1], shape) if n > 1)
    ):
        raise RuntimeError("view_as_complex: the pairs must lie next to each other in memory; use contiguous()")
    return inplace.view(mp.view_as_complex, input)


# ------------------------------------------------------------------------------------------ in place


def in_place_view(name: str, f: Callable[..., Any], shown: str) -> Any:
    """`x.NAME_()`: the tensor itself becomes the view that `NAME` gives of it, which counts as a change of its memory."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        inplace.check_history(name + "_", self)
        inplace.anchor(self)
        if is_grad_enabled() or tape.is_leaf(self):
            out = f(self, *args, **kwargs)
        else:  # where PyTorch keeps the history as it was, which does not fit any more: here it follows the shape
            with grad_mode(True):
                out = f(self, *args, **kwargs)
        if type(out._a) is _ndarray:
            mutation.note(out._a)
        inplace.adopt(self, out)
        if self._base is not None and out._base is not None:
            self._view_steps = out._view_steps
        if name == "squeeze":
            dim = args[0] if args else kwargs.get("dim")
            return show_as(self, f"SqueezeBackward{3 if dim is None else 4 if isinstance(dim, int) else 5}")
        return show_as(self, shown)

    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"This tensor seen as `{name}` gives it; returns it."
    METHODS[name + "_"] = method
    return method


for _name, _f, _shown in (
    ("squeeze", squeeze, "SqueezeBackward3"), ("unsqueeze", unsqueeze, "UnsqueezeBackward1"), ("t", t, "TBackward1"),
    ("transpose", transpose, "TransposeBackward1"), ("swapaxes", transpose, "TransposeBackward1"),
    ("swapdims", transpose, "TransposeBackward1"),
):  # fmt: skip
    in_place_view(_name, _f, _shown)
