"""Windows over sparse tensors: which values a convolution or a pooling reads for which of its results, and what they become.

Tensors are (N, *space, C) with their values (C,) at places (N, *space); places are integer arrays, values are differentiated.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ..core.value import Value, shape_of
from ..ops import contraction
from ..ops import indexing as ix
from ..ops import scatter_reduce as sr
from ..ops import structural as st
from . import sparse as math


class Windows:
    """The pairs of a value and a result that it takes part in, for each tap of a kernel in turn.

    pads: before and after, for each axis of space. same_places: results stand where the values do, and nowhere else.
    """

    def __init__(
        self, places: np.ndarray, shape: Sequence[int], kernel: Sequence[int], stride: Sequence[int],
        pads: Sequence[tuple[int, int]], dilation: Sequence[int], same_places: bool = False,
    ) -> None:  # fmt: skip
        space = list(shape[1:-1]) if same_places else [
            (n + low + high - d * (k - 1) - 1) // s + 1
            for n, k, s, (low, high), d in zip(shape[1:-1], kernel, stride, pads, dilation)
        ]
        if min(space) < 1:
            raise ValueError(f"a window of {list(kernel)} does not fit into {list(shape[1:-1])} with padding {list(pads)}")
        self.space = space
        step, low, last = (np.asarray(v)[:, None] for v in (stride, [a for a, _ in pads], space))
        self.taps: list[tuple[np.ndarray, np.ndarray]] = []
        sizes, reads, gives = (shape[0], *space), [], []
        for tap in itertools.product(*map(range, kernel)):
            at = places[1:] + low - np.asarray(tap)[:, None] * np.asarray(dilation)[:, None]
            there = ((at % step == 0) & (at >= 0) & (at // step < last)).all(0)
            reads.append(np.flatnonzero(there))
            gives.append(math.flat(np.concatenate([places[:1, there], (at // step)[:, there]]), sizes))
        wanted = np.unique(math.flat(places, sizes) if same_places else np.concatenate(gives))
        for read, give in zip(reads, gives):
            where = np.searchsorted(wanted, give)
            kept = np.isin(give, wanted) if same_places else slice(None)
            self.taps.append((read[kept], where[kept]))
        self.places = np.stack(np.unravel_index(wanted, sizes)).astype(np.int64)

    def convolved(self, values: Value, weight: Value) -> Value:
        """The sums of the values times the weights (*kernel, C, M) of their taps."""
        flat = st.reshape(weight, shape=(len(self.taps), *shape_of(weight)[-2:]))
        sums = [
            contraction.matmul(ix.take(values, read, axis=0), ix.take(flat, np.asarray(tap), axis=0))
            for tap, (read, _) in enumerate(self.taps)
        ]
        return math.added(st.concatenate(*sums, axis=0), np.concatenate([give for _, give in self.taps]), len(self.places[0]))

    def largest(self, values: Value) -> Value:
        """The largest value of each window, channel by channel; of equal ones each gets the whole gradient."""
        read, give = (np.concatenate(part) for part in zip(*self.taps))
        rows = ix.take(values, read, axis=0)
        count, channels = self.places.shape[1], shape_of(values)[1]
        start = ix.take(values, np.zeros(count, np.int64), axis=0)
        at = np.broadcast_to(give[:, None], (len(give), channels)).astype(np.int64)
        return sr.scatter_reduce(
            start, at, rows, axis=0, reduce=sr.AMAX, include_self=False, x_ties=False, shares=False
        )
