"""The metric of sentences: `BleuScore`, what they share with a reference, word by word."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np

from ..._shared.checks import check
from .metrics import Metric, flag


class BleuScore(Metric):
    """The geometric mean of the shares of n-grams (n from 1 to `n_gram`) that references have too, less for brevity.

    smooth: count each n-gram once more on both sides. Raises ValueError for n_gram beyond 1 to 4, TypeError for another
    kind of option.
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        check("BleuScore", "n_gram: int in [1, 4]", locals())
        self.n_gram, self.smooth = n_gram, flag("BleuScore", "smooth", smooth)
        self.clear()

    def clear(self) -> None:
        self._shared, self._given = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._length = self._reference_length = 0.0

    def update(self, *inputs: Any) -> None:
        if len(inputs) != 2:
            raise ValueError(f"BleuScore.update: wanted sentences and references, got {len(inputs)} inputs")
        sentences, references = inputs
        if len(sentences) != len(references):
            raise ValueError(f"BleuScore.update: {len(sentences)} sentences, but references for {len(references)}")
        for sentence, known in zip(sentences, references):
            self._length += len(sentence)
            self._reference_length += min((len(r) for r in known), key=lambda n: abs(n - len(sentence)))
            best: collections.Counter[tuple[str, ...]] = collections.Counter()
            for r in known:
                best |= self._grams(r)
            own = self._grams(sentence)
            for gram, count in own.items():
                self._given[len(gram) - 1] += count
                self._shared[len(gram) - 1] += min(count, best[gram])

    def _grams(self, words: Any) -> collections.Counter[tuple[str, ...]]:
        return collections.Counter(
            tuple(words[i : i + n]) for n in range(1, self.n_gram + 1) for i in range(len(words) - n + 1)
        )

    def eval(self) -> Any:
        if self._length == 0:
            raise RuntimeError("BleuScore: there are no samples; call update() with a batch first")
        if self._shared.min() == 0:
            return np.array(0.0)
        extra = 1.0 if self.smooth else 0.0
        mean = np.log((self._shared + extra) / (self._given + extra)).mean()
        short = 0.0 if self._length > self._reference_length else 1 - self._reference_length / self._length
        return math.exp(mean + short)
