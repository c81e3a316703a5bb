"""Dropout of elements and of channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import dtype_of
from ...learn.layers import dropout as drop
from .._shared.spatial import of_axes
from ._api import api
from ._promote import FLOATING, single, tensor_argument
from ._random import keep_mask
from ._tensor import from_array

Function = Callable[..., Any]


def _rate(op: str, p: Any) -> float:
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"{op}: p must be a float, got {type(p).__name__}")
    if not 0 <= p <= 1:
        raise (RuntimeError if op == "dropout" else ValueError)(f"{op}: p must lie in [0, 1], got {p}")
    return float(p)


@api(method=False)
def dropout(input: Any, p: float = 0.5, training: bool = True, seed: Any = None) -> Any:
    """Elements set to 0 with probability p, the others divided by 1 - p, in training."""
    p = _rate("dropout", p)
    if not training:
        return tensor_argument("dropout", input)
    x = single("dropout", input, FLOATING)
    if not p:
        return x
    return drop.dropped(x, keep_mask(x.shape, p, seed), p)


def _channel_dropout(name: str, axes: int) -> Function:
    def f(input: Any, p: float = 0.5, training: bool = True) -> Any:
        x = single(name, input, FLOATING)
        rate = _rate(name, p)
        if x.ndim not in (axes + 1, axes + 2):
            raise ValueError(f"{name}: wanted {axes + 1} or {axes + 2} axes, got shape {x.shape}")
        if not training or not rate:
            return x
        lead = x.shape[: x.ndim - axes]
        return drop.dropped(x, keep_mask((*lead, *(1,) * axes), rate, None), rate)

    return f


dropout1d, dropout2d, dropout3d = of_axes(
    "dropout{}d", "Whole channels set to 0 with probability p, the others divided by 1 - p, in training.", _channel_dropout,
    api(method=False),
)  # fmt: skip


def dropout_with_mask(x: Any, keep_prob: float, axes: int = 0) -> tuple[Any, Any]:
    """The tensor with elements (channels, for axes of space) set to 0 with probability 1 - keep_prob; and the mask."""
    x = single("Dropout", x, FLOATING)
    p = 1.0 - keep_prob
    lead = x.shape if not axes else (*x.shape[: x.ndim - axes], *(1,) * axes)
    keep = keep_mask(lead, p, None)
    mask = np.broadcast_to(np.asarray(keep), x.shape)
    return (drop.dropped(x, keep, p) if p else x), from_array(mask.astype(dtype_of(x) if not axes else bool))
