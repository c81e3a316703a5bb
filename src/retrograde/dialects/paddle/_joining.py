"""Joining tensors and taking them apart: concat, stack, split and their relatives; parts of a tensor, also replaced."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._errors import ShapeError
from ...core.notation import joined_text
from ...core.value import Value, dtype_of, shape_of
from ...ops import indexing as ix
from ...ops import manipulation as mani
from ...ops import structural as st
from ...ops.triangular import block_diagonal
from ...tensor import manipulation
from ...tensor import numpy_shapes as nps
from .._shared.axes import axis_of, integer, integers
from ._api import api
from ._arguments import function, unnamed
from ._binary import same_dtype
from ._conversion import cast
from ._promote import single
from ._shape import _expanded, meshgrid, reshape, view


def _tensors(op: str, x: Any) -> list[Any]:
    """The tensors of a list, of which there is one at least, all of one dtype."""
    if isinstance(x, Value) or not isinstance(x, (list, tuple)) or not x:
        raise ValueError(f"{op}: wanted a list of Tensors, one at least, got {type(x).__name__}")
    same_dtype(op, *x)
    return list(x)


@api("concat", "cat", "concatenate", out=True, seconds={"tensors": "x"})
def concat(x: Any, axis: Any = 0, name: Any = None) -> Any:
    """Tensors joined along an axis that they have, in one dtype."""
    given = _tensors("concat", x)
    ndim = len(shape_of(given[0]))
    if not ndim:
        raise ValueError("concat: 0-d tensors have no axis to join along; use stack()")
    i = axis_of("concat", axis, ndim)
    shapes = [tuple(shape_of(v)) for v in given]
    given = [v for v, shape in zip(given, shapes) if shape != (0,)] or given[:1]
    rest = {(*shape[:i], *shape[i + 1 :]) for shape in shapes if shape != (0,)}
    if len(rest) > 1:
        raise ValueError(f"concat: {joined_text(shapes, i)}")
    return st.concatenate(*given, axis=i)


@api(out=True, seconds={"tensors": "x"})
def stack(x: Any, axis: Any = 0, name: Any = None) -> Any:
    """Tensors of one shape and dtype joined along a new axis."""
    given = _tensors("stack", x)
    shapes = {tuple(shape_of(v)) for v in given}
    if len(shapes) > 1:
        raise ValueError(f"stack: the tensors have different shapes, {[list(s) for s in sorted(shapes)]}")
    return st.stack(*given, axis=axis_of("stack", axis, len(shape_of(given[0])) + 1))


def _stacking(names: str, f: Any) -> None:
    @api(*names.split(), method=False)
    def function(x: Any, name: Any = None) -> Any:
        """Tensors joined along one of the first three axes, which they get where they have fewer."""
        given = _tensors(function.__name__, x)
        try:
            return f(given)
        except (IndexError, ShapeError):
            shapes = [list(shape_of(v)) for v in given]
            raise ValueError(f"{function.__name__}: tensors of shapes {shapes} cannot be joined") from None

    function.__name__ = function.__qualname__ = names.split()[0]


_stacking("hstack", nps.hstack)
_stacking("vstack row_stack", nps.vstack)
_stacking("dstack", nps.dstack)
_stacking("column_stack", nps.column_stack)


@api(method=True)
def block_diag(inputs: Any, name: Any = None) -> Any:
    """The matrix with the given ones along its diagonal."""
    given = _tensors("block_diag", inputs)
    if any(len(shape_of(x)) > 2 for x in given):
        raise ValueError("block_diag: wanted tensors of at most 2 axes")
    return block_diagonal(*(nps.atleast_2d(x) for x in given))


# ------------------------------------------------------------------------------------------ taking apart


def _own(parts: Iterable[Any]) -> list[Any]:
    """Parts that one operation has taken from a tensor, in memory of their own, as PaddlePaddle's are."""
    found = list(parts)
    for part in found:
        if type(part._a) is np.ndarray:
            part._a = part._a.copy()
    return found


def _parts(x: Any, axis: int, cuts: int | list[int]) -> list[Any]:
    """Copies of consecutive parts: a number of them, or those that end where a list says."""
    n = shape_of(x)[axis]
    if isinstance(cuts, int):
        sizes = [n // cuts + (k < n % cuts) for k in range(cuts)]
    else:
        ends = [slice(k).indices(n)[1] for k in cuts]
        sizes = [max(end - start, 0) for start, end in zip([0, *ends], [*ends, n])]
        if sum(sizes) != n:  # the ends do not ascend: parts overlap
            return [st.copy(part) for part in manipulation.split(x, cuts, axis=axis)]
    return _own(mani.split(x, axis=axis, sizes=tuple(sizes)))


@api()
def split(x: Any, num_or_sections: Any, axis: Any = 0, name: Any = None) -> list[Any]:
    """Consecutive parts along an axis: equal ones of a number, or of the sizes of a list, of which one may be -1."""
    x = single("split", x)
    i = axis_of("split", axis, len(shape_of(x)))
    if not shape_of(x):
        raise ValueError("split: a 0-d tensor has no axis to divide")
    n = shape_of(x)[i]
    if isinstance(num_or_sections, (list, tuple)):
        sizes = list(integers("split", "num_or_sections", num_or_sections))
        free = [k for k, size in enumerate(sizes) if size == -1]
        if len(free) == 1:
            sizes[free[0]] = n - sum(sizes) - 1
        if any(size < 0 for size in sizes) or sum(sizes) != n:
            raise ValueError(f"split: the sizes {list(num_or_sections)} do not add up to {n}")
    else:
        if isinstance(num_or_sections, Value):
            raise TypeError("split: num_or_sections must be an int or a list of ints, got a Tensor")
        count = integer("split", "num_or_sections", num_or_sections)
        if count < 1 or n % count:
            raise ValueError(f"split: an axis of {n} elements does not divide into {count} equal parts")
        sizes = [n // count] * count
    return _parts(x, i, list(itertools.accumulate(sizes[:-1])))


@api()
def chunk(x: Any, chunks: int, axis: Any = 0, name: Any = None) -> list[Any]:
    """A number of equal consecutive parts along an axis."""
    return split(x, integer("chunk", "chunks", chunks), axis)


@api("split_with_sizes", function=False)
def split_with_sizes(self: Any, split_sizes: Any, dim: int = 0) -> list[Any]:
    """Consecutive parts of the given sizes along an axis."""
    return split(self, list(split_sizes), dim)


@api(seconds={"indices_or_sections": "num_or_indices", "indices": "num_or_indices", "sections": "num_or_indices"})
def tensor_split(x: Any, num_or_indices: Any, axis: Any = 0, name: Any = None) -> list[Any]:
    """Consecutive parts along an axis: a number of nearly equal ones, or those that end where a list says."""
    x = single("tensor_split", x)
    if not shape_of(x):
        raise ValueError("tensor_split: a 0-d tensor has no axis to split")
    i = axis_of("tensor_split", axis, len(shape_of(x)))
    if isinstance(num_or_indices, (list, tuple)):
        return _parts(x, i, list(integers("tensor_split", "num_or_indices", num_or_indices)))
    count = integer("tensor_split", "num_or_indices", num_or_indices)
    if count < 1:
        raise ValueError(f"tensor_split: wanted a positive number of parts, got {count}")
    return _parts(x, i, count)


def _splitting(name: str, axis: int, least: int) -> None:
    @api(name)
    def f(x: Any, num_or_indices: Any, name: Any = None) -> list[Any]:
        """Consecutive parts along the first, or the third, axis."""
        op = f.__name__
        n = len(shape_of(single(op, x)))
        if n < least:
            raise ValueError(f"{op}: wanted at least {least} axes, got {n}")
        return tensor_split(x, num_or_indices, axis)

    f.__name__ = f.__qualname__ = name


_splitting("vsplit", 0, 2)
_splitting("dsplit", 2, 3)


@api()
def hsplit(x: Any, num_or_indices: Any, name: Any = None) -> list[Any]:
    """Consecutive parts along the second axis, of a vector along its only one."""
    n = len(shape_of(single("hsplit", x)))
    if not n:
        raise ValueError("hsplit: a 0-d tensor has no axis to split")
    return tensor_split(x, num_or_indices, min(n - 1, 1))


@api()
def unstack(x: Any, axis: Any = 0, num: int | None = None) -> list[Any]:
    """Copies of the slices along an axis, without it; `num`, if given, must be how many there are."""
    x = single("unstack", x)
    i = axis_of("unstack", axis, len(shape_of(x)))
    if not shape_of(x) or (num is not None and num != shape_of(x)[i]):
        raise ValueError(f"unstack: {num} slices were asked for of shape {list(shape_of(x))} along axis {axis}")
    return _own(mani.unstack(x, axis=i))


@api()
def unbind(input: Any, axis: Any = 0) -> list[Any]:
    """The slices along an axis, without it: views."""
    x = single("unbind", input)
    if not shape_of(x):
        raise ValueError("unbind: a 0-d tensor has no axis to take apart")
    return list(manipulation.unstack(x, axis=axis_of("unbind", axis, len(shape_of(x)))))


def _with_part(x: Any, part: Any, steps: Any) -> Any:
    """x with the view that `steps` make of it replaced."""
    return st.view_scatter(x, part, steps=steps)


def _replaced(
    op: str, x: Any, part: Any, primitive: Any, params: dict[str, Any], error: type[Exception] = RuntimeError
) -> Any:
    wanted = shape_of(primitive(x.detach(), **params))
    part = single(op, part)
    if tuple(shape_of(part)) != tuple(wanted):
        raise error(f"{op}: the part to be replaced has shape {list(wanted)}, not {list(shape_of(part))}")
    part = cast(part, x.dtype) if dtype_of(part) != dtype_of(x) else part
    return _with_part(x, part, ((primitive, tuple(params.items())),))


def _slices(op: str, x: Any, axes: Any, starts: Any, ends: Any, strides: Any) -> tuple[slice, ...]:
    n = len(shape_of(x))
    index: list[Any] = [slice(None)] * n
    places = [axis_of(op, a, n) for a in integers(op, "axes", axes)]
    firsts, lasts = integers(op, "starts", starts), integers(op, "ends", ends)
    steps = (1,) * len(places) if strides is None else integers(op, "strides", strides)
    if not len(places) == len(firsts) == len(lasts) == len(steps):
        raise ValueError(f"{op}: axes, starts, ends and strides must be as many")
    for i, first, last, step in zip(places, firsts, lasts, steps):
        size = shape_of(x)[i]
        if not step:
            raise ValueError(f"{op}: a stride cannot be 0")
        stop: int | None = last
        if step < 0 and last < -size:
            stop = None
        index[i] = slice(first, stop, step)
    return tuple(index)


slice_part = unnamed("slice", "input: Tensor, axes, starts, ends",
    lambda x, **part: view(st.getitem, x, index=_slices("slice", x, **part, strides=None)),
    "The part of the tensor from a start to an end along some axes.")  # fmt: skip
strided_slice = function("strided_slice", "x: Tensor, axes, starts, ends, strides",
    lambda x, **part: view(st.getitem, x, index=_slices("strided_slice", x, **part)),
    "The part of the tensor from a start to an end along some axes, by strides.")  # fmt: skip


@api()
def slice_scatter(x: Any, value: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: Any = None) -> Any:
    """The tensor with such a part replaced by another tensor."""
    x = single("slice_scatter", x)
    index = _slices("slice_scatter", x, axes, starts, ends, strides)
    value = _expanded("slice_scatter", single("slice_scatter", value), tuple(shape_of(x.detach()[index])))
    return _replaced("slice_scatter", x, value, st.getitem, {"index": index})


@api()
def select_scatter(x: Any, values: Any, axis: Any, index: Any, name: Any = None) -> Any:
    """The tensor with the slice at a position along an axis replaced by another tensor."""
    x = single("select_scatter", x)
    i = axis_of("select_scatter", axis, len(shape_of(x)))
    place = integer("select_scatter", "index", index)
    if not -shape_of(x)[i] <= place < shape_of(x)[i]:
        raise ValueError(f"select_scatter: index {place} is out of range for an axis of {shape_of(x)[i]}")
    return _replaced("select_scatter", x, values, st.getitem, {"index": (slice(None),) * i + (place,)})


@api()
def narrow(input: Any, dim: Any, start: Any, length: Any) -> Any:
    """The part of `length` elements from `start` on along an axis."""
    x = single("narrow", input)
    i = axis_of("narrow", dim, len(shape_of(x)))
    first, count = integer("narrow", "start", start), integer("narrow", "length", length)
    size = shape_of(x)[i]
    first += size if first < 0 else 0
    if count < 0 or not 0 <= first <= size - count:
        raise ValueError(f"narrow: {count} elements from {start} on do not lie within an axis of {size}")
    return view(st.getitem, x, index=(slice(None),) * i + (slice(first, first + count),))


@api()
def crop(x: Any, shape: Any = None, offsets: Any = None, name: Any = None) -> Any:
    """The part of a shape (-1: up to the end of an axis) that starts at `offsets` (0)."""
    x = single("crop", x)
    have = tuple(shape_of(x))
    first = (0,) * len(have) if offsets is None else integers("crop", "offsets", offsets)
    sizes = (-1,) * len(have) if shape is None else integers("crop", "shape", shape)
    if len(first) != len(have) or len(sizes) != len(have):
        raise ValueError(f"crop: shape and offsets need a number for each of {len(have)} axes")
    index = []
    for i, (a, n) in enumerate(zip(first, sizes)):
        end = have[i] if n == -1 else a + n
        if a < 0 or end > have[i]:
            raise ValueError(f"crop: {n} elements from {a} on do not lie within axis {i} of {have[i]}")
        index.append(slice(a, end))
    return st.copy(st.getitem(x, index=tuple(index)))


@api(method=False)
def cartesian_prod(x: Any, name: Any = None) -> Any:
    """All combinations of one element from each vector, in rows; of one vector, its elements."""
    given = [single("cartesian_prod", v) for v in x]
    if any(len(shape_of(v)) != 1 for v in given):
        raise ValueError(f"cartesian_prod: wanted vectors, got shapes {[list(shape_of(v)) for v in given]}")
    if len(given) == 1:
        return st.copy(given[0])
    return manipulation.stack([reshape(g, [-1]) for g in meshgrid(*given)], axis=1)


@api()
def combinations(x: Any, r: int = 2, with_replacement: bool = False, name: Any = None) -> Any:
    """The combinations of r elements of a vector, in rows."""
    x = single("combinations", x)
    if len(shape_of(x)) != 1:
        raise TypeError(f"combinations: wanted a vector, got shape {list(shape_of(x))}")
    if r < 0:
        raise ValueError(f"combinations: r must not be negative, got {r}")
    if r == 0:
        return st.getitem(x, index=(slice(0, 0),))
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(pick(range(shape_of(x)[0]), r)), np.int64).reshape(-1, r)
    return ix.take(x, rows, axis=0)
