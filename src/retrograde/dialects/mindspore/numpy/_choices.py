"""Choices of `mindspore.numpy` among several tensors or functions, element by element."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.value import Value
from .. import _gather, _joining, _shape
from .._promote import result_dtype, to_dtype
from .._tensor import from_array
from . import _functions as f


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """For each element what the function (or number) of the last condition that holds gives; 0, or that of the one
    function more, where none does. Raises ValueError for another number of functions."""
    x = f.asarray(x)
    conditions = [condlist] if isinstance(condlist, Value) and condlist.ndim == x.ndim else list(condlist)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: {len(conditions)} conditions need as many functions or one more, got {len(funclist)}")
    numbers = [g for g in funclist if not callable(g)]
    kind = functools.reduce(lambda d, g: result_dtype("piecewise", from_array(np.zeros(0, d.np)), g), numbers, x.dtype)
    if numbers and len(numbers) == len(funclist):
        kind = f.asarray(numbers).dtype

    def piece(g: Any) -> Any:
        return to_dtype(g(x, *args, **kw) if callable(g) else f.full_like(x, g, kind), kind)

    out = piece(funclist[-1]) if len(funclist) > len(conditions) else f.zeros_like(x, kind)
    for condition, g in zip(conditions, funclist):
        out = f.where(condition, piece(g), out)
    return out


def choose(a: Any, choices: Any, mode: str = "clip") -> Any:
    """For each place the element of the choice whose number stands in `a`; numbers beyond are clipped or wrapped.

    Raises ValueError for another mode.
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"choose: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    options = [f.asarray(c) for c in choices]
    which = f.asarray(a)
    shape = np.broadcast_shapes(which.shape, *(c.shape for c in options))
    numbers = np.broadcast_to(np.asarray(which), shape)
    numbers = numbers % len(options) if mode == "wrap" else np.clip(numbers, 0, len(options) - 1)
    together = _joining.stack([_shape.broadcast_to(c, shape) for c in options])
    return _gather.gather_elements(together, 0, from_array(numbers[None].astype(np.int64)))[0]
