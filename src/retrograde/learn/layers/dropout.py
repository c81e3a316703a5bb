"""Dropout for a mask that the dialect has drawn (booleans, True where an element is kept)."""

from __future__ import annotations

import math
from typing import Any

from ...core.value import dtype_of
from ...ops.dropout import dropout
from ...ops.elementwise import add, multiply
from ...ops.structural import cast

_ALPHA = 1.7580993408473766  # -scale * alpha of SELU: what a dropped element becomes


def dropped(x: Any, keep: Any, p: float, upscale: bool = True) -> Any:
    """`x` where `keep`, which broadcasts against it; divided by 1 - p where `upscale`, so that the mean stays."""
    if p == 1.0:
        return dropout(x, keep, scale=0.0)
    return dropout(x, keep, scale=1.0 / float(dtype_of(x).type(1.0 - p)) if upscale else 1.0)


def alpha_dropped(x: Any, keep: Any, p: float) -> Any:
    """Dropout that keeps mean and deviation for SELU (Klambauer et al. 2017)."""
    if p == 1.0:
        return dropout(x, keep, scale=0.0)
    a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    noise = cast(keep, dtype=dtype_of(x))
    return add(dropout(x, keep, scale=a), add(multiply(add(noise, -1), _ALPHA * a), _ALPHA * a * p))
