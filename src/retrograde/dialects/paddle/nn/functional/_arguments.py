"""What the functions here are given: tensors, reductions, one number for all axes or one per axis, paddings, layouts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ....._errors import ShapeError
from .....core import unwrap
from .....core.value import Value, dtype_of, ndim_of, shape_of
from .....ops import structural as st
from ...._shared.arguments import raising, sizes_per_axis
from ...._shared.axes import integer
from ..._dtype import ALL, FROM_NUMPY
from ..._promote import tensor_argument

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


FLOATS = frozenset(d.np for d in ALL if d.category == 2)


shaped = raising(ValueError, ShapeError)
"""Let a function raise ValueError where what it builds on speaks of shapes that do not fit."""


def floating(op: str, x: Any, name: str = "x", error: type[Exception] = RuntimeError) -> Any:
    """A floating tensor; raises ValueError for no tensor, `error` for one of another dtype."""
    if not isinstance(x, Value):
        tensor_argument(op, x, name)
    d = dtype_of(x)
    if d not in FLOATS:
        raise error(
            f"{op}: {name} must be floating, got {FROM_NUMPY[d]}; convert it with astype('float32') first"
        )
    return x


def fixed(x: Any) -> Any:
    """A label, as a constant: PaddlePaddle's kernels give it no gradient, also where it comes from the network itself."""
    return unwrap.constant(x)


def axis_of(op: str, axis: Any, ndim: int, name: str = "axis") -> int:
    """An axis as a non-negative int; raises ValueError outside."""
    axis = operator.index(axis)
    if not -ndim <= axis < max(ndim, 1):
        raise ValueError(f"{op}: {name} must be in [{-ndim}, {max(ndim, 1) - 1}], got {axis}")
    return axis % ndim if ndim else 0


per_axis = sizes_per_axis(integer, ValueError)


def paddings(op: str, padding: Any, axes: int, channel_last: bool = False) -> Pairs | str:
    """(before, after) per axis, or "SAME" or "VALID".

    `padding` is one int, one per axis, two per axis in a row, or pairs: one per axis or one per dimension, whose pairs
    for batch and channels must be zero.
    """
    if isinstance(padding, str):
        word = padding.upper()
        if word not in ("SAME", "VALID"):
            raise ValueError(f"{op}: padding must be 'SAME', 'VALID' or ints, got {padding!r}")
        return word
    if isinstance(padding, Value):
        padding = np.asarray(padding.numpy()).reshape(-1).tolist()
    if isinstance(padding, (list, tuple)) and padding and isinstance(padding[0], (list, tuple)):
        pairs = [per_axis(op, "padding", pair, 2) for pair in padding]
        if len(pairs) == axes + 2:
            space = pairs[1:-1] if channel_last else pairs[2:]
            others = [pairs[0], pairs[-1] if channel_last else pairs[1]]
            if any(any(pair) for pair in others):
                raise ValueError(f"{op}: batch and channels cannot be padded, got padding={padding}")
            pairs = space
        if len(pairs) != axes:
            raise ValueError(f"{op}: padding must have {axes} or {axes + 2} pairs, got {padding}")
        result: Pairs = tuple((a, b) for a, b in pairs)
    elif isinstance(padding, (list, tuple)) and len(padding) == 2 * axes and len(padding) != axes:
        flat = [integer(op, "padding", n) for n in padding]
        result = tuple((flat[2 * i], flat[2 * i + 1]) for i in range(axes))
    else:
        result = tuple((n, n) for n in per_axis(op, "padding", padding, axes))
    if any(n < 0 for pair in result for n in pair):
        raise ValueError(f"{op}: padding must not be negative, got {padding}")
    return result


LAYOUTS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def channels_last(op: str, data_format: str, axes: int) -> bool:
    """Whether a layout has the channels last; raises ValueError for one that is not known."""
    first, last = LAYOUTS[axes]
    if data_format == first:
        return False
    if data_format == last:
        return True
    raise ValueError(f"{op}: data_format must be {first!r} or {last!r}, got {data_format!r}")


def move_axis(x: Any, source: int, to: int) -> Any:
    """`x` with one axis moved."""
    n = ndim_of(x)
    source, to = source % n, to % n
    if source == to:
        return x
    order = [i for i in range(n) if i != source]
    order.insert(to, source)
    return st.transpose(x, axes=tuple(order))


def channels_first(f: Callable[..., Any], x: Any, last: bool) -> Any:
    """`f` of a tensor with the channels as axis 1, and its result (one or several) in the layout of `x`."""
    if not last:
        return f(x)
    out = f(move_axis(x, -1, 1))
    if isinstance(out, tuple):
        return tuple(move_axis(part, 1, -1) for part in out)
    return move_axis(out, 1, -1)


def unsqueezed(x: Any, axis: int) -> Any:
    """`x` with an axis of length 1."""
    shape = tuple(shape_of(x))
    return st.reshape(x, shape=(*shape[:axis], 1, *shape[axis:]))


def squeezed(x: Any, axis: int) -> Any:
    """`x` without an axis of length 1."""
    shape = tuple(shape_of(x))
    return st.reshape(x, shape=(*shape[:axis], *shape[axis + 1 :]))


def constant(value: Any, like: Any) -> np.ndarray:
    """A number in the dtype of a tensor."""
    return np.asarray(value, dtype=dtype_of(like))
