"""Running statistics of normalisation layers: moved towards those of a batch, in place and unrecorded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._state import OBSERVERS, grad_mode
from ..backend.jit import channels
from ..core.unwrap import bare, constant
from ..core.value import make
from ..ops.running import moved_towards, variance_of_scale
from ..tape import inplace, mutation


def update_statistics(
    running: tuple[Any, Any], mean: Any, scale: Any, share: float, eps: float, count: int, correction: int = 1
) -> None:  # fmt: skip
    """Let running means and variances take in `share` of a batch's, of `count` values for each mean; scale: one over the roots
    of variance + eps."""
    olds, fresh, bent = (running[0]._a, running[1]._a), mean._a, scale._a
    if not OBSERVERS and {type(olds[0]), type(olds[1]), type(fresh), type(bent)} == _PLAIN:
        factor = 1.0 if correction == 0 else count / (count - correction) if count > correction else math.nan
        if channels.moved(olds, fresh, bent, share, float(eps), factor):
            mutation.note_all(olds)
            return
    update_running(running[0], mean, share)
    update_running(running[1], variance_of(scale, eps, count, correction), share)


_PLAIN = {np.ndarray}


def update_running(running: Any, fresh: Any, share: float) -> None:
    """running = (1 - share) * running + share * fresh, in place; no derivatives pass to the statistics."""
    old, new = running._a, bare(fresh._a)
    plain = type(old) is np.ndarray and type(new) is np.ndarray and old.flags.writeable
    if plain and not OBSERVERS:
        mutation.write(old, moved_towards(old, new, share=share))
        return
    with grad_mode(False):
        given = (running, fresh) if plain and new is fresh._a else (constant(running), constant(fresh))
        moved = moved_towards(*given, share=share)  # who looks on sees an operation
        inplace.update("running statistics", running, lambda: moved)


def variance_of(scale: Any, eps: float, count: int, correction: int = 1) -> Any:
    """The variance of `count` values from one over the root of variance + eps; unbiased for a correction of 1.

    NaN where there are too few values.
    """
    factor = 1.0 if correction == 0 else count / (count - correction) if count > correction else math.nan
    if OBSERVERS and type(scale._a) is np.ndarray:
        with grad_mode(False):
            found: Any = variance_of_scale(scale, eps=float(eps), factor=factor)
        return found
    array = variance_of_scale(bare(scale._a), eps=float(eps), factor=factor)
    return make(type(scale)._result, array, None, getattr(array, "_level", 0))
