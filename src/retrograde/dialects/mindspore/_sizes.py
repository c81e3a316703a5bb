"""Size arguments of layers: one number for all axes, or one per axis."""

from __future__ import annotations

from typing import Any

from ...learn.layers import windows
from .._shared.arguments import sizes_per_axis
from .._shared.axes import integer, integers

per_axis = sizes_per_axis(integer, ValueError)


def pads(op: str, pad_mode: str, padding: Any, size: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """The padding (before, after) per axis that a mode and a padding mean."""
    axes = len(kernel)
    mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
    if mode not in ("valid", "same", "pad"):
        raise ValueError(f"{op}: pad_mode must be 'valid', 'same' or 'pad', got {pad_mode!r}")
    given = integers(op, "padding", padding)
    if any(n < 0 for n in given):
        raise ValueError(f"{op}: padding must not be negative, got {padding}")
    if mode != "pad":
        if any(given):
            raise ValueError(f"{op}: padding is only possible with pad_mode='pad', got {padding} and {pad_mode!r}")
        return ((0, 0),) * axes if mode == "valid" else windows.same_padding(size, kernel, stride, dilation)
    if len(given) == 2 * axes:
        return tuple(zip(given[::2], given[1::2]))
    if len(given) == 1:
        given *= axes
    if len(given) != axes:
        raise ValueError(f"{op}: padding must be an int, {axes} or {2 * axes} of them, got {padding}")
    return tuple((n, n) for n in given)
