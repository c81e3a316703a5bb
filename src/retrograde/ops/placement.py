"""Writing and adding at places that follow from shapes and parameters, in functions of the array-API standard, which cannot
assign at arrays of positions. Where positions are data, grouping.py has it.

Places are a NumPy array of positions in C order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype
from .kernels import constant, elements, zero_of


def places_of(shape: tuple[int, ...]) -> np.ndarray:
    """The position of each element of an array of `shape` in C order."""
    return np.arange(math.prod(shape)).reshape(shape)


def taken(xp: Any, x: Any, places: np.ndarray) -> Any:
    """The elements of `x` at places, in the shape of `places`."""
    flat = xp.reshape(x, (-1,))
    return xp.reshape(xp.take(flat, constant(xp, places.reshape(-1), x), axis=0), places.shape)


def written_at(xp: Any, base: Any, values: Any, places: np.ndarray) -> Any:
    """`base` with `values`, which broadcast to the shape of `places`, at places that differ."""
    if not elements(places):
        return base
    source = np.full(math.prod(base.shape), -1)
    source[places.reshape(-1)] = np.arange(places.size)
    source = source.reshape(base.shape)
    values = astype(xp, xp.broadcast_to(values, places.shape), base.dtype)
    return xp.where(constant(xp, source >= 0, base), taken(xp, values, np.maximum(source, 0)), base)


def added_at(xp: Any, values: Any, places: np.ndarray, shape: tuple[int, ...]) -> Any:
    """Zeros of `shape` to which `values` are added at places of their shape, in order: of each place its first value, then
    its second."""
    out = xp.zeros(shape, dtype=values.dtype, device=values.device)
    flat = places.reshape(-1)
    left = np.arange(flat.size)
    while left.size:
        _, first = np.unique(flat[left], return_index=True)
        now = left[np.sort(first)]
        source = np.full(math.prod(shape), -1)
        source[flat[now]] = now
        source = source.reshape(shape)
        part = taken(xp, values, np.maximum(source, 0))
        out = out + xp.where(constant(xp, source >= 0, values), part, zero_of(values))
        left = np.setdiff1d(left, now, assume_unique=True)
    return out


def wrapped(xp: Any, positions: Any, n: int) -> Any:
    """Positions without negative ones, which count from the end."""
    return xp.where(positions < 0, positions + n, positions)
