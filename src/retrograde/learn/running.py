"""Running statistics of normalisation layers: moved towards those of a batch, in place and unrecorded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._state import OBSERVERS, grad_mode
from ..core.unwrap import bare
from ..core.value import detached, make
from ..ops.elementwise import add, divide, multiply, subtract
from ..tape import inplace, mutation


def update_running(running: Any, fresh: Any, share: float) -> None:
    """running = (1 - share) * running + share * fresh, in place; no derivatives pass to the statistics."""
    old, new = running._a, bare(fresh._a)
    if type(old) is np.ndarray and type(new) is np.ndarray and old.flags.writeable:
        for observer in OBSERVERS:
            observer.reading(old)
        old *= old.dtype.type(1 - share)
        old += new * new.dtype.type(share)
        mutation.note(old)
        return
    moved = add(multiply(detached(running), 1 - share), multiply(detached(fresh), share))
    with grad_mode(False):
        inplace.update("running statistics", running, lambda: moved)


def variance_of(scale: Any, eps: float, count: int, correction: int = 1) -> Any:
    """The variance of `count` values from one over the root of variance + eps; unbiased for a correction of 1.

    NaN where there are too few values.
    """
    factor = 1.0 if correction == 0 else count / (count - correction) if count > correction else math.nan
    a = scale._a
    if type(a) is np.ndarray:
        return make(type(scale)._result, (1 / (a * a) - a.dtype.type(eps)) * a.dtype.type(factor))
    s = detached(scale)
    return multiply(subtract(divide(1, multiply(s, s)), eps), factor)
