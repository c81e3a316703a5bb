"""The exchange of channels and space. Callers check that the sizes divide."""

from __future__ import annotations

import functools
import math
from typing import Any

from ...core.value import shape_of
from ...ops.structural import rearrange


def pixel_shuffle(x: Any, r: int) -> Any:
    """Channels moved into space: (..., c r², h, w) to (..., c, h r, w r)."""
    return rearrange(x, **_into_space(tuple(shape_of(x)), r))


def pixel_unshuffle(x: Any, r: int) -> Any:
    """Space moved into channels: (..., c, h r, w r) to (..., c r², h, w)."""
    return rearrange(x, **_into_channels(tuple(shape_of(x)), r))


def channel_shuffle(x: Any, groups: int) -> Any:
    """The channels (axis 1) of `groups` groups dealt out in turn."""
    shape = tuple(shape_of(x))
    n, c, *rest = shape
    return rearrange(x, shape=(n, groups, c // groups, math.prod(rest)), axes=(0, 2, 1, 3), result=shape)


@functools.lru_cache(256)
def _into_space(shape: tuple[int, ...], r: int) -> dict[str, tuple[int, ...]]:
    *lead, c, h, w = shape
    k, c = len(lead), c // (r * r)
    axes = (*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return {"shape": (*lead, c, r, r, h, w), "axes": axes, "result": (*lead, c, h * r, w * r)}


@functools.lru_cache(256)
def _into_channels(shape: tuple[int, ...], r: int) -> dict[str, tuple[int, ...]]:
    *lead, c, h, w = shape
    k, h, w = len(lead), h // r, w // r
    axes = (*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return {"shape": (*lead, c, h, r, w, r), "axes": axes, "result": (*lead, c * r * r, h, w)}
