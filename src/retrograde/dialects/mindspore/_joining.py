"""Joining and splitting tensors; parts of a tensor are views of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.notation import joined_text
from ...core.value import Value, dtype_of, shape_of
from ...ops import structural as st
from ...ops import triangular
from ...ops.indexing import take
from ...tape import inplace
from ...tensor import creation as native_creation
from ...tensor import numpy_shapes as nps
from .._shared.axes import axis_of, count, integer, integers, length_of
from .._shared.registry import aliases, defined
from ._api import api, row
from ._arguments import function
from ._promote import result_dtype, same_dtype, tensor_argument, to_dtype

Function = Callable[..., Any]

# ------------------------------------------------------------------------------------------ joining


def tensors_of(op: str, tensors: Any, promote: bool = True) -> list[Any]:
    """The tensors of a tuple or list, in their common dtype (without `promote`, of one dtype); TypeError otherwise."""
    if op == "stack" and isinstance(tensors, Value):
        tensors = (tensors,)
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{op}: wanted a tuple or list of Tensors, got {type(tensors).__name__}")
    parts = [tensor_argument(op, x, f"element {i}") for i, x in enumerate(tensors)]
    if not parts:
        raise ValueError(f"{op}: wanted at least one Tensor")
    if not promote:
        same_dtype(op, *parts)
    elif len({dtype_of(x) for x in parts}) > 1:
        d = result_dtype(op, *parts)
        parts = [to_dtype(x, d) for x in parts]
    return parts


def _cat(op: str, tensors: Any, axis: Any) -> Any:
    parts = tensors_of(op, tensors)
    n = len(shape_of(parts[0]))
    i = axis_of(op, axis, n)
    shapes = [tuple(shape_of(x)) for x in parts]
    if not n or any(len(s) != n or s[:i] + s[i + 1 :] != shapes[0][:i] + shapes[0][i + 1 :] for s in shapes):
        raise ValueError(f"{op}: {joined_text(shapes, i)}")
    return st.concatenate(*parts, axis=i)


cat = row("cat", lambda tensors, axis=0: _cat("cat", tensors, axis),
    "Tensors joined along an axis, in their common dtype.", method=False)  # fmt: skip
concat = row("concat", lambda tensors, axis=0: _cat("concat", tensors, axis),
    "Tensors joined along an axis, in their common dtype.", method=False)  # fmt: skip


@api(method=False)
def stack(tensors: Any, axis: int = 0) -> Any:
    """Tensors of one shape joined along a new axis."""
    parts = tensors_of("stack", tensors, promote=False)
    shapes = {tuple(shape_of(x)) for x in parts}
    if len(shapes) > 1:
        raise ValueError(f"stack: the tensors must have one shape, got {sorted(shapes)}")
    return st.stack(*parts, axis=axis_of("stack", axis, len(shape_of(parts[0])) + 1))


def _joiner(name: str, join: Function) -> Function:
    def f(tensors: Any) -> Any:
        return join(tensors_of(name, tensors))

    doc = f"Tensors joined as NumPy's `{name}` does."
    return api(method=False)(aliases(inputs="tensors")(defined(name, f, doc)))


hstack, vstack, dstack = _joiner("hstack", nps.hstack), _joiner("vstack", nps.vstack), _joiner("dstack", nps.dstack)
column_stack, row_stack = _joiner("column_stack", nps.column_stack), _joiner("row_stack", nps.vstack)


@api(method=False)
def block_diag(*inputs: Any) -> Any:
    """Matrices along the diagonal of one, zeros elsewhere."""

    parts = [nps.atleast_2d(x) for x in tensors_of("block_diag", inputs)]
    if any(len(shape_of(x)) > 2 for x in parts):
        raise ValueError("block_diag: wanted tensors with at most two axes")
    return triangular.block_diagonal(*parts)


@api(method=False)
def cartesian_prod(*inputs: Any) -> Any:
    """All combinations of elements, one from each vector."""
    parts = [tensor_argument("cartesian_prod", x) for x in inputs]
    if len(parts) == 1:
        return parts[0]
    grids = native_creation.meshgrid(*parts, indexing="ij")
    return st.stack(*(st.reshape(g, shape=(math.prod(shape_of(g)),)) for g in grids), axis=1)


@api(method=False)
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All combinations of `r` elements of a vector."""
    x = tensor_argument("combinations", input)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.asarray(list(choose(range(length_of("combinations", shape_of(x), 0)), r)), np.int64).reshape(-1, r)
    return take(x, places, axis=0)


# ------------------------------------------------------------------------------------------ splitting


def _parts(op: str, x: Any, sizes: Any, axis: int) -> tuple[Any, ...]:
    """Consecutive parts along an axis, views of the tensor."""
    start, out = 0, []
    for n in sizes:
        out.append(inplace.view(st.getitem, x, index=(slice(None),) * axis + (slice(start, start + n),)))
        start += n
    return tuple(out)


@api()
@aliases(split_size="split_size_or_sections", dim="axis")
def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> tuple[Any, ...]:
    """Parts of a given size (the last one may be smaller), or of given sizes."""
    x = tensor_argument("split", tensor, "tensor")
    i = axis_of("split", axis, len(shape_of(x)))
    n = length_of("split", shape_of(x), i)
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = integers("split", "split_size_or_sections", split_size_or_sections)
        if any(k < 0 for k in sizes) or np.sum(sizes) != n:
            raise ValueError(f"split: the sizes {sizes} do not add up to the {n} elements along axis {i}")
        return _parts("split", x, sizes, i)
    step = integer("split", "split_size_or_sections", split_size_or_sections)
    if step <= 0:
        raise ValueError(f"split: split_size_or_sections must be positive, got {step}")
    return _parts("split", x, [min(step, n - start) for start in range(0, max(n, 1), step)], i)


@api()
def chunk(input: Any, chunks: int, axis: int = 0) -> tuple[Any, ...]:
    """At most `chunks` parts of one size, the last of which may be smaller."""
    x = tensor_argument("chunk", input)
    i = axis_of("chunk", axis, len(shape_of(x)))
    if integer("chunk", "chunks", chunks) < 1:
        raise ValueError(f"chunk: chunks must be positive, got {chunks}")
    return split(x, max(1, -(-length_of("chunk", shape_of(x), i) // chunks)), i)


def equal_parts(op: str, x: Any, axis: int, count: int) -> tuple[Any, ...]:
    """`count` parts of one size; raises ValueError where they are none."""
    n = shape_of(x)[axis]
    if count < 1 or n % count:
        raise ValueError(f"{op}: {n} elements along axis {axis} cannot be divided into {count} equal parts")
    return _parts(op, x, [n // count] * count, axis)


@api()
def tensor_split(input: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Any, ...]:
    """Parts that end before given positions, or that many parts of sizes as equal as can be."""
    x = tensor_argument("tensor_split", input)
    i = axis_of("tensor_split", axis, len(shape_of(x)))
    n = length_of("tensor_split", shape_of(x), i)
    if isinstance(indices_or_sections, (tuple, list)):
        ends = [min(max(k + n if k < 0 else k, 0), n) for k in indices_or_sections]
        starts = [0, *ends]
        return tuple(
            inplace.view(st.getitem, x, index=(slice(None),) * i + (slice(a, max(a, b)),))
            for a, b in zip(starts, [*ends, n])
        )
    parts = count("tensor_split", "indices_or_sections", indices_or_sections)
    if parts < 1:
        raise ValueError(f"tensor_split: wanted at least one part, got {parts}")
    return _parts("tensor_split", x, [n // parts + (k < n % parts) for k in range(parts)], i)


for _name, _axis in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
    def _splitter(name: str, axis: int) -> Function:
        def f(input: Any, indices_or_sections: Any) -> tuple[Any, ...]:
            x = tensor_argument(name, input)
            i = 0 if name == "hsplit" and len(shape_of(x)) == 1 else axis
            if len(shape_of(x)) <= i:
                raise ValueError(f"{name}: wanted at least {axis + 1} axes, got shape {tuple(shape_of(x))}")
            return tensor_split(x, indices_or_sections, i)

        f.__doc__ = f"Parts along axis {axis}."
        return f

    api(_name)(_splitter(_name, _axis))


@api()
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices along an axis, without it."""
    x = tensor_argument("unbind", input)
    i = axis_of("unbind", dim, len(shape_of(x)), "dim")
    return tuple(inplace.view(st.getitem, x, index=(slice(None),) * i + (k,)) for k in range(length_of("unbind", shape_of(x), i)))


unstack = row("unstack", lambda input_x, axis=0: unbind(input_x, axis),
    "The slices along an axis, without it.", method=False)  # fmt: skip


@api()
def narrow(input: Any, axis: int, start: int, length: int) -> Any:
    """`length` elements from `start` along an axis."""
    x = tensor_argument("narrow", input)
    i = axis_of("narrow", axis, len(shape_of(x)))
    n = shape_of(x)[i]
    first = integer("narrow", "start", start)
    first += n if first < 0 else 0
    if not 0 <= first <= n or length < 0 or first + length > n:
        raise ValueError(f"narrow: elements {start} to {start + length} do not lie among the {n} along axis {i}")
    return inplace.view(st.getitem, x, index=(slice(None),) * i + (slice(first, first + length),))


@api("slice", "tensor_slice", method=False, seconds={"input_x": "input"})
def slice_(input: Any, begin: Any, size: Any) -> Any:
    """`size` elements from `begin` along each axis; a size of -1 means all that follow."""
    x = tensor_argument("slice", input)
    begins, sizes = integers("slice", "begin", begin), integers("slice", "size", size)
    have = tuple(shape_of(x))
    if len(begins) != len(have) or len(sizes) != len(have):
        raise ValueError(f"slice: begin and size must have one entry per axis of {have}, got {begins} and {sizes}")
    index = []
    for n, b, k in zip(have, begins, sizes):
        end = n if k == -1 else b + k
        if not 0 <= b <= n or end > n or end < b:
            raise ValueError(f"slice: begin {begins} and size {sizes} reach beyond the shape {have}")
        index.append(slice(b, end))
    return st.getitem(x, index=tuple(index))


slice_.__name__ = "slice"

@api(method=False)
def strided_slice(
    input_x: Any, begin: Any, end: Any, strides: Any, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,
    new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Any:  # fmt: skip
    """`x[begin:end:strides]`; bit i of a mask says that entry i is open, an ellipsis, a new axis or one element."""
    x = tensor_argument("strided_slice", input_x, "input_x")
    starts, stops, steps = (integers("strided_slice", n, v) for n, v in
                            (("begin", begin), ("end", end), ("strides", strides)))  # fmt: skip
    if not len(starts) == len(stops) == len(steps):
        raise ValueError("strided_slice: begin, end and strides must have one length")
    if 0 in steps:
        raise ValueError("strided_slice: strides must not be 0")
    key: list[Any] = []
    for i, (a, b, s) in enumerate(zip(starts, stops, steps)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(a)
        else:
            key.append(slice(None if begin_mask & bit else a, None if end_mask & bit else b, s))
    return x[tuple(key)]


def _replaced(x: Any, index: tuple[Any, ...], src: Any, op: str) -> Any:
    """The tensor, copied, with a part written."""
    src = tensor_argument(op, src, "src")
    same_dtype(op, x, src)
    out = st.copy(x)
    target = inplace.view(st.getitem, out, index=index)
    if tuple(shape_of(target)) != tuple(shape_of(src)):
        src = st.broadcast_to(src, shape=tuple(shape_of(target)))
    inplace.update(op, target, lambda: st.copy(src))
    return out


select_scatter = function("select_scatter", "input: Tensor, src, axis: Axis, index: Int",
    lambda x, src, axis, index: _replaced(x, (slice(None),) * axis + (index,), src, "select_scatter"),
    "The tensor with the slice at a position along an axis replaced.")  # fmt: skip
slice_scatter = function("slice_scatter", "input: Tensor, src, axis: Axis = 0, start = None, end = None, step: int = 1",
    lambda x, src, axis, start, end, step: _replaced(x, (slice(None),) * axis + (slice(start, end, step),), src, "slice_scatter"),
    "The tensor with the elements from `start` to before `end` along an axis replaced.")  # fmt: skip
