"""The metric of how scores separate classes: `ROC`, the curve over all thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .metrics import Metric


class ROC(Metric):
    """The false and true positive rates at falling thresholds, of the last batch.

    class_num: how many classes predictions have in columns; None where they are scores of one class.
    pos_label: the label of that class, 1 unless said otherwise.

    Raises TypeError for numbers that are no ints.
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"ROC: {name} must be an int, got {type(value).__name__}")
        self.class_num, self.pos_label = class_num, pos_label
        self.clear()

    def clear(self) -> None:
        self._scores: np.ndarray | None = None
        self._labels = np.zeros(0)

    def update(self, *inputs: Any) -> None:
        scores, labels = self._chosen(inputs, 2)
        wanted = (labels.size,) if self.class_num is None else (labels.size, self.class_num)
        if scores.shape != wanted or labels.ndim != 1:
            raise ValueError(f"ROC.update: wanted predictions of shape {wanted}, got {scores.shape}")
        self._scores, self._labels = scores, labels

    def eval(self) -> Any:
        if self._scores is None:
            raise RuntimeError("ROC: there are no samples; call update() with a batch first")
        if self.class_num is None:
            return _curve(self._scores, self._labels == (1 if self.pos_label is None else self.pos_label))
        curves = [_curve(self._scores[:, c], self._labels == c) for c in range(self.class_num)]
        return tuple(list(part) for part in zip(*curves))


def _curve(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if positive.all() or not positive.any():
        raise ValueError("ROC: there must be samples of the class and others")
    order = np.argsort(scores, kind="stable")[::-1]
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)
    hits = np.cumsum(positive)[last]
    misses = 1 + last - hits
    thresholds = np.append(scores[last[0]] + 1, scores[last])
    return np.append(0, misses) / misses[-1], np.append(0, hits) / hits[-1], thresholds
