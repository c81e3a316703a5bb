"""Padding of tensors: by a number, by their edges, by reflections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value
from ...ops import manipulation as mp
from ...ops.indexing import take
from .._shared.axes import integers
from ._api import api
from ._promote import tensor_argument

_MODES = {"reflect": mp.REFLECT, "replicate": mp.REPLICATE, "circular": mp.CIRCULAR}


@api(method=False)
def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Any:
    """Elements added at the ends of the last axes (the last one first in `padding`); negative widths take some away.

    mode: "constant" (`value`, 0 if not given), "reflect", "replicate" or "circular".
    """
    x = tensor_argument("pad", input_x, "input_x")
    widths = integers("pad", "padding", padding)
    if len(widths) % 2 or len(widths) // 2 > x.ndim:
        raise ValueError(f"pad: padding must hold two widths for each of at most {x.ndim} axes, got {widths}")
    pairs = tuple(zip(widths[::2], widths[1::2]))[::-1]
    full = ((0, 0),) * (x.ndim - len(pairs)) + pairs
    if any(n + a + b < 0 for n, (a, b) in zip(x.shape, full)):
        raise ValueError(f"pad: widths {widths} leave nothing of an axis of {x.shape}")
    if mode == "constant":
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float, complex))):
            raise TypeError(f"pad: value must be a number, got {type(value).__name__}")
        return mp.pad_constant(x, widths=full, value=0 if value is None else value)
    if mode not in _MODES:
        raise ValueError(f"pad: mode must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}")
    if value is not None and value != 0:
        raise ValueError(f"pad: mode {mode!r} takes no value")
    for n, (a, b) in zip(x.shape, full):
        most = {"reflect": n - 1, "circular": n}.get(mode)
        if most is not None and max(a, b) > most:
            raise ValueError(f"pad: widths {(a, b)} do not fit an axis of {n} with mode {mode!r}")
    return mp.pad_edges(x, widths=full, mode=_MODES[mode])


@api(method=False)
def mirror_pad(input_x: Any, paddings: Any, mode: str) -> Any:
    """Elements added at the ends by mirroring: without (REFLECT) or with (SYMMETRIC) the last element itself."""
    x = tensor_argument("mirror_pad", input_x, "input_x")
    rows = np.asarray(paddings._concrete("mirror_pad") if isinstance(paddings, Value) else paddings)
    if rows.shape != (x.ndim, 2):
        raise ValueError(f"mirror_pad: paddings must hold two widths for each of {x.ndim} axes, got shape {rows.shape}")
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"mirror_pad: mode must be 'REFLECT' or 'SYMMETRIC', got {mode!r}")
    for axis, (before, after) in enumerate(rows.tolist()):
        n = x.shape[axis]
        if max(before, after) > n - (mode == "REFLECT"):
            raise ValueError(f"mirror_pad: widths {(before, after)} do not fit an axis of {n} with mode {mode!r}")
        if before or after:
            kind = "reflect" if mode == "REFLECT" else "symmetric"
            x = take(x, np.pad(np.arange(n), (before, after), mode=kind), axis=axis)
    return x
