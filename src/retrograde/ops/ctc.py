"""The connectionist temporal classification loss (Graves et al., 2006): -log of the sum over all alignments.

Labels come with blanks around them: of S labels, L = 2 S + 1 states, of which the even ones are blank. An alignment
stays in a state, moves on by one, or skips a blank between two different labels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, shape_of
from .comparison import equal, greater, not_equal
from .elementwise import exp, logaddexp
from .indexing import along_add, take_along_axis
from .kernels import in_single
from .reduction import logsumexp, sum
from .rules import batch_loop
from .samples import normal, sample
from .selection import drop, keep, where
from .structural import broadcast_to, concatenate, getitem, reshape, stack

IMPOSSIBLE = -1e30
"""The logarithm of no probability: unlike -inf it has differences and derivatives."""


def with_blanks(targets: np.ndarray, blank: int) -> np.ndarray:
    """Rows of labels (N, S) with blanks before, between and behind them."""
    out = np.full((targets.shape[0], 2 * targets.shape[1] + 1), blank, np.int64)
    out[:, 1::2] = targets
    return out


def _step(xp: Any, before: Any, skip: Any) -> Any:
    """The logarithm of the probability of arriving in each state."""
    out = before.copy()
    out[:, 1:] = xp.logaddexp(out[:, 1:], before[:, :-1])
    out[:, 2:] = xp.where(skip[:, 2:], xp.logaddexp(out[:, 2:], before[:, :-2]), out[:, 2:])
    return out


def _ctc_kernel(
    xp: Any, x: Any, labels: Any, frames: Any, lengths: Any, *, zero_infinity: bool, normalised: bool
) -> Any:
    wide = in_single(x)
    states = np.arange(labels.shape[1])
    skip = np.zeros(labels.shape, bool)
    skip[:, 2:] = (labels[:, 2:] != labels[:, :-2]) & (states[2:] % 2 == 1)
    emitted = np.take_along_axis(wide, np.broadcast_to(labels, (x.shape[0], *labels.shape)), axis=2)
    final = (states == 2 * lengths[:, None]) | (states == 2 * lengths[:, None] - 1)
    # Before the first frame an alignment waits left of state 0, from where states 0 and 1 are one step.
    forward = np.full(labels.shape, -math.inf, wide.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        for t in range(x.shape[0]):
            if t == 0:
                arrived = np.where(states < 2, emitted.dtype.type(0), emitted.dtype.type(-math.inf))
            else:
                arrived = _step(xp, forward, skip)
            forward = np.where((t < frames)[:, None], arrived + emitted[t], forward)
        out = -np.logaddexp.reduce(np.where(final, forward, -math.inf), axis=1)
    out = np.where(frames == 0, np.where(lengths == 0, 0, math.inf), out)
    if zero_infinity:
        out = np.where(out == math.inf, 0, out)
    return out.astype(x.dtype, copy=False)


def _moved(x: Any, by: int) -> Any:
    """`x` (N, L) shifted by some states, up or (negative) down."""
    n, states = shape_of(x)
    edge = np.full((n, min(abs(by), states)), IMPOSSIBLE, dtype_of(x))
    if abs(by) >= states:
        return edge
    if by > 0:
        return concatenate(edge, getitem(x, index=(slice(None), slice(0, states - by))), axis=1)
    return concatenate(getitem(x, index=(slice(None), slice(-by, states))), edge, axis=1)


def _arrive(before: Any, skips: Any) -> Any:
    return logaddexp(logaddexp(before, _moved(before, 1)), where(skips, _moved(before, 2), IMPOSSIBLE_LIKE(before)))


def _leave(behind: Any, skips_next: Any) -> Any:
    return logaddexp(logaddexp(behind, _moved(behind, -1)), where(skips_next, _moved(behind, -2), IMPOSSIBLE_LIKE(behind)))


def IMPOSSIBLE_LIKE(x: Any) -> Any:
    return np.full((), IMPOSSIBLE, dtype_of(x))
