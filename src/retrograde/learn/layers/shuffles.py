"""The exchange of channels and space. Callers check that the sizes divide."""

from __future__ import annotations

import math
from typing import Any

from ...core.value import shape_of
from ...ops.structural import reshape, transpose


def pixel_shuffle(x: Any, r: int) -> Any:
    """Channels moved into space: (..., c r², h, w) to (..., c, h r, w r)."""
    *lead, c, h, w = shape_of(x)
    k = len(lead)
    x = reshape(x, shape=(*lead, c // (r * r), r, r, h, w))
    x = transpose(x, axes=(*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return reshape(x, shape=(*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(x: Any, r: int) -> Any:
    """Space moved into channels: (..., c, h r, w r) to (..., c r², h, w)."""
    *lead, c, h, w = shape_of(x)
    k = len(lead)
    x = reshape(x, shape=(*lead, c, h // r, r, w // r, r))
    x = transpose(x, axes=(*range(k), k, k + 2, k + 4, k + 1, k + 3))
    return reshape(x, shape=(*lead, c * r * r, h // r, w // r))


def channel_shuffle(x: Any, groups: int) -> Any:
    """The channels (axis 1) of `groups` groups dealt out in turn."""
    shape = tuple(shape_of(x))
    n, c, *rest = shape
    x = reshape(x, shape=(n, groups, c // groups, math.prod(rest)))
    return reshape(transpose(x, axes=(0, 2, 1, 3)), shape=shape)
