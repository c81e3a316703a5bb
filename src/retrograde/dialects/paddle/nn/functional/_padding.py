"""Padding of tensors: by a number, by their edges, by reflections, around."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....core.value import Value, dtype_of, shape_of
from .....ops import manipulation as mp
from ..._api import aliases
from ._arguments import tensor_argument


def _pad_widths(op: str, pad: Any, shape: tuple[int, ...], mode: str, data_format: Any, from_left: bool) -> Any:
    """(before, after) for each dimension."""
    if isinstance(pad, Value):
        pad = pad.numpy().reshape(-1).tolist()
    flat = [int(n.item() if isinstance(n, Value) else n) for n in pad]
    n = len(shape)
    if len(flat) % 2 or len(flat) > 2 * n:
        raise ValueError(f"{op}: pad must be pairs of widths, {n} at most for shape {list(shape)}, got {flat}")
    pairs = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    if len(pairs) == n and mode == "constant":  # a pair for each dimension
        return tuple(pairs if from_left else reversed(pairs))
    last = data_format in ("NLC", "NHWC", "NDHWC")
    space = list(range(1, n - 1)) if last else list(range(n - len(pairs), n))
    space = space[-len(pairs) :]
    widths = [(0, 0)] * n
    for axis, pair in zip(reversed(space), pairs):
        widths[axis] = pair
    return tuple(widths)


@aliases(input="x")
def pad(
    x: Any, pad: Any, mode: str = "constant", value: float = 0.0, data_format: str | None = None,
    pad_from_left_axis: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """The tensor with elements added: a number ("constant"), "reflect", "replicate" or "circular".

    `pad` is (before, after) for the dimensions of space, the last one first; or, for "constant", for all dimensions,
    the first one first (with `pad_from_left_axis`).
    """
    tensor_argument("pad", x)
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise AssertionError(f"pad: mode must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}")
    shape = tuple(shape_of(x))
    known = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
    if data_format is not None and len(shape) in known and data_format not in known[len(shape)]:
        raise AssertionError(f"pad: data_format of {len(shape)} dimensions must be one of {known[len(shape)]}")
    widths = _pad_widths("pad", pad, shape, mode, data_format, pad_from_left_axis)
    if mode == "constant":
        number = value.item() if isinstance(value, Value) else value
        return mp.pad_constant(x, widths=widths, value=np.asarray(number).astype(dtype_of(x)).item())
    for i, (n, (lo, hi)) in enumerate(zip(shape, widths)):
        most = {"reflect": n - 1, "circular": n}.get(mode)
        if (lo or hi) and ((most is not None and max(lo, hi) > most) or n == 0 or min(lo, hi) < 0):
            raise ValueError(f"pad: widths {lo} and {hi} do not fit dimension {i} of size {n} with mode {mode!r}")
    return mp.pad_edges(x, widths=widths, mode={"reflect": mp.REFLECT, "replicate": mp.REPLICATE,
                                                "circular": mp.CIRCULAR}[mode])  # fmt: skip


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Images surrounded by zeros: (left, right, top, bottom)."""
    return globals()["pad"](x, padding, "constant", 0.0, data_format)
