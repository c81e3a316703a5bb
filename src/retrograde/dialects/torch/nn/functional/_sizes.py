"""Size arguments of layers: one number for all axes, or one per axis; tensors with or without a batch axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....core.value import Value, dtype_of, shape_of
from ..._axes import integer
from ..._dtype import FROM_NUMPY
from ..._shape import reshaped


def check_kind(op: str, x: Any, *, integers: bool = False) -> None:
    """Raise NotImplementedError for a tensor that is not floating (or an integer one, where these are taken)."""
    d = FROM_NUMPY[dtype_of(x)]
    if d.category != 2 and not (integers and d.category == 1):
        raise NotImplementedError(f"{op}: tensors of {d} are not taken; convert the input to a floating dtype")


def per_axis(op: str, name: str, value: Any, axes: int) -> tuple[int, ...]:
    """An int, or a sequence of one int or one per axis, as a tuple; raises RuntimeError for another number of them."""
    if type(value) is int:
        return (value,) * axes
    if isinstance(value, Value):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        sizes = tuple(integer(op, name, n) for n in value)
        if len(sizes) == axes:
            return sizes
        if len(sizes) == 1:
            return sizes * axes
        raise RuntimeError(f"{op}: {name} must be one int or {axes} of them, got {len(sizes)}: {tuple(value)}")
    return (integer(op, name, value),) * axes


def batched(op: str, x: Any, axes: int, f: Callable[[Any], Any], *, outputs: int = 1) -> Any:
    """`f` of `x` (N, C, *size), or of (C, *size) with a batch axis of one that is taken off the results again.

    Raises RuntimeError for another number of axes.
    """
    rank = len(shape_of(x))
    if rank == axes + 2:
        return f(x)
    if rank != axes + 1:
        raise RuntimeError(
            f"{op}: wanted {axes + 2} dimensions (batch, channels, and {axes} of space), or {axes + 1} without a "
            "batch; "
            f"got a tensor of shape {tuple(shape_of(x))}"
        )
    out = f(unsqueezed(x, 0))
    return squeezed(out, 0) if outputs == 1 else tuple(squeezed(y, 0) for y in out)


def unsqueezed(x: Any, axis: int) -> Any:
    """A view of `x` with an axis of length one."""
    shape = tuple(shape_of(x))
    return reshaped(x, (*shape[:axis], 1, *shape[axis:]), "UnsqueezeBackward0")


def squeezed(x: Any, axis: int) -> Any:
    """A view of `x` without an axis of length one."""
    shape = tuple(shape_of(x))
    return reshaped(x, (*shape[:axis], *shape[axis + 1 :]), "SqueezeBackward1")
