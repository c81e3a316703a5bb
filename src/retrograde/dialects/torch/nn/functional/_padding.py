"""Padding of tensors: by a number, by their edges, by reflections, around."""

from __future__ import annotations

from typing import Any

from .....core.value import dtype_of, shape_of
from .....ops import manipulation as mp
from ..._api import api
from ..._axes import integer
from ..._graph_nodes import NAMES, show_as
from ..._promote import number_array
from ..._tensor import Tensor

NAMES.update(pad_constant="ConstantPadNdBackward0")


def _widths(op: str, pad: Any, n: int) -> tuple[tuple[int, int], ...]:
    """PyTorch's flat widths, the last dimension first, as (before, after) for each dimension."""
    flat = [integer(op, "a width", w) for w in pad]
    if len(flat) % 2:
        raise RuntimeError(f"{op}: widths come in pairs (before, after), got {len(flat)}")
    if len(flat) > 2 * n:
        raise RuntimeError(f"{op}: {len(flat) // 2} pairs of widths for a tensor of {n} dimensions")
    pairs = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    return ((0, 0),) * (n - len(pairs)) + tuple(reversed(pairs))


@api("constant_pad_nd", method=False)
def constant_pad(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """The tensor surrounded by a number; negative widths take elements away."""
    shape = tuple(shape_of(input))
    widths = _widths("pad", pad, len(shape))
    d = dtype_of(input)  # the number passes through float64, which no unsigned dtype takes when negative
    number = 0 if value is None else number_array("pad", float(value) if d.kind == "u" else value, d).item()
    return mp.pad_constant(input, widths=widths, value=number)

_NAMES = {
    mp.REFLECT: "ReflectionPad{}DBackward0", mp.REPLICATE: "ReplicationPad{}DBackward0", mp.CIRCULAR: "CopySlices",
}  # fmt: skip


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """The tensor with elements added at the ends of its last dimensions (the last one first in `pad`).

    mode: "constant" (`value`), "reflect", "replicate" or "circular". Raises RuntimeError for widths that do not fit.
    """
    if mode == "constant":
        return constant_pad(input, pad, value)
    if mode not in mp.MODES:
        raise NotImplementedError(f"pad: mode must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}")
    if value is not None and value != 0:
        raise RuntimeError(f"pad: mode {mode!r} takes no value")
    shape = tuple(shape_of(input))
    pairs = len(pad) // 2
    if len(pad) % 2 or not 1 <= pairs <= 3 or len(shape) not in (pairs + 1, pairs + 2):
        raise NotImplementedError(
            f"pad: mode {mode!r} pads the last 1, 2 or 3 dimensions of a tensor that has one or two more; got "
            f"{len(pad)} widths for shape {list(shape)}"
        )
    widths = _widths("pad", pad, len(shape))
    for i, (n, (lo, hi)) in enumerate(zip(shape, widths)):
        if not (lo or hi):
            continue
        most = {mp.REFLECT: n - 1, mp.CIRCULAR: n}.get(mode)
        if (most is not None and max(lo, hi) > most) or n + lo + hi < 1 or n == 0:
            raise RuntimeError(f"pad: widths {lo} and {hi} do not fit dimension {i} of size {n} with mode {mode!r}")
    return show_as(mp.pad_edges(input, widths=widths, mode=mode), _NAMES[mode].format(pairs))
