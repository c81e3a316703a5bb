"""The loss of recurrent transducers (Graves, 2012): -log of the sum over all ways to emit labels while frames go by."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import shape_of
from ...ops import elementwise as ew
from ...ops.indexing import take_along_axis
from ...ops.manipulation import pad_constant
from ...ops.scan import cumsum, logcumsumexp
from ...ops.softmax import log_softmax
from ...ops.structural import reshape, select, stack


def transducer_loss(scores: Any, labels: np.ndarray, frames: np.ndarray, lengths: np.ndarray, blank: int) -> Any:
    """The loss of each of a batch of scores (batch, frames, labels + 1, classes), before the softmax.

    In a frame after some labels the next label is emitted, or the blank, which goes on to the next frame; the last blank ends
    it. frames, lengths: how many frames and labels of each count.
    """
    logs = log_softmax(scores, axis=3)
    stay = select(logs, axis=3, index=blank)
    batch, count, states = shape_of(stay)
    at = np.broadcast_to(np.pad(labels, ((0, 0), (0, 1)))[:, None, :, None], (batch, count, states, 1))
    emit = reshape(take_along_axis(logs, at.copy(), axis=3), shape=(batch, count, states))
    # Within a frame: reach[u] = log(came[u] + reach[u - 1] + emit[u - 1]), whose solution is a sum of shares of what was emitted.
    emitted = _before(cumsum(emit, axis=2, reverse=False))
    reach = select(emitted, axis=1, index=0)
    ends = [reach]
    for t in range(1, count):
        own = select(emitted, axis=1, index=t)
        came = ew.add(reach, select(stay, axis=1, index=t - 1))
        reach = ew.add(own, logcumsumexp(ew.subtract(came, own), axis=1, reverse=False))
        ends.append(reach)
    arrived = reshape(ew.add(stack(*ends, axis=1), stay), shape=(batch, count * states))
    last = ((frames - 1) * states + lengths).astype(np.int64)[:, None]
    return ew.negative(reshape(take_along_axis(arrived, last, axis=1), shape=(batch,)))


def _before(sums: Any) -> Any:
    """The sums of what is before each element, from those that it is part of."""
    n = shape_of(sums)[2]
    return pad_constant(sums, widths=((0, 0), (0, 0), (1, -1)), value=0) if n else sums
