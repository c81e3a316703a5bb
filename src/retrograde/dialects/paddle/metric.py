"""`paddle.metric`: accuracy, precision, recall and the area under the ROC curve, gathered over batches."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.value import Value, shape_of
from ._api import attributes
from ._tensor import from_array

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


def _plain(x: Any, name: str) -> np.ndarray:
    if isinstance(x, Value):
        return np.asarray(x.numpy())
    if not isinstance(x, np.ndarray):
        raise ValueError(f"metric: {name} must be a Tensor or a NumPy array, got {type(x).__name__}")
    return x


class Metric(abc.ABC):
    """Base of metrics: `compute` a batch, `update` with it, `accumulate` what there is so far, `reset`."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Start anew."""
        raise NotImplementedError(f"{type(self).__name__}.reset")

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Take in what `compute` gave."""
        raise NotImplementedError(f"{type(self).__name__}.update")

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The metric so far."""
        raise NotImplementedError(f"{type(self).__name__}.accumulate")

    @abc.abstractmethod
    def name(self) -> Any:
        """The name of the metric."""
        raise NotImplementedError(f"{type(self).__name__}.name")

    def compute(self, *args: Any) -> Any:
        """What `update` takes: predictions and labels as they are, unless a metric says otherwise."""
        return args


class Accuracy(Metric):
    """How often the label is among the k most probable classes, for each k of `topk`."""

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        self.topk, self.maxk = topk, max(topk)
        base = name or "acc"
        self._name = [base] if self.maxk == 1 else [f"{base}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """For each sample and place among the best classes whether the label is there; labels may be one-hot."""
        scores, truth = _plain(pred, "pred"), _plain(label, "label")
        best = np.argsort(-scores, axis=-1, kind="stable")[..., : self.maxk]
        if truth.ndim == 1 or (truth.ndim == 2 and truth.shape[-1] == 1):
            truth = truth.reshape(-1, 1)
        elif truth.shape[-1] != 1:
            truth = truth.argmax(-1)[..., None]
        return from_array((best == truth).astype(np.float32))

    def update(self, correct: Any, *args: Any) -> Any:
        """Take in a batch; its own accuracies."""
        plain = _plain(correct, "correct")
        n = np.prod(plain.shape[:-1])  # NumPy's number: so are the accuracies
        found = []
        for i, k in enumerate(self.topk):
            right = plain[..., :k].sum()
            found.append(float(right) / n)
            self.total[i] += right
            self.count[i] += n
        return found[0] if len(self.topk) == 1 else found

    def reset(self) -> None:
        """Start anew."""
        self.total, self.count = [0.0] * len(self.topk), [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The accuracies so far."""
        found = [float(t) / c if c > 0 else 0.0 for t, c in zip(self.total, self.count)]
        return found[0] if len(self.topk) == 1 else found

    def name(self) -> list[str]:
        """A name for each k."""
        return self._name


class _Binary(Metric):
    """What precision and recall share: counts of predictions above 1/2."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:  # type: ignore[override]
        """Take in probabilities of class 1 and labels."""
        found = np.floor(_plain(preds, "preds").reshape(-1) + 0.5).astype(np.int64) == 1
        truth = _plain(labels, "labels").reshape(-1).astype(np.int64) == 1
        self.tp += int((found & truth).sum())
        self.fp += int((found & ~truth).sum())
        self.fn += int((~found & truth).sum())

    def reset(self) -> None:
        """Start anew."""
        self.tp = self.fp = self.fn = 0

    def name(self) -> str:
        """The name of the metric."""
        return self._name


class Precision(_Binary):
    """The share of true ones among the predicted ones."""

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def accumulate(self) -> float:
        """The precision so far."""
        found = self.tp + self.fp
        return float(self.tp) / found if found else 0.0


class Recall(_Binary):
    """The share of predicted ones among the true ones."""

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def accumulate(self) -> float:
        """The recall so far."""
        there = self.tp + self.fn
        return float(self.tp) / there if there else 0.0


class Auc(Metric):
    """The area under the ROC curve, from counts in `num_thresholds` bins."""

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        if curve != "ROC":
            raise NotImplementedError(f"Auc: only curve='ROC' is offered, got {curve!r}")
        self._curve, self._num_thresholds, self._name = curve, num_thresholds, name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:  # type: ignore[override]
        """Take in probabilities (N, 2) and labels."""
        scores, truth = _plain(preds, "preds"), _plain(labels, "labels").reshape(-1) != 0
        bins = (scores[:, 1] * self._num_thresholds).astype(np.int64)
        if ((bins < 0) | (bins > self._num_thresholds)).any():
            raise AssertionError("Auc: the predictions must be probabilities")
        self._stat_pos += np.bincount(bins[truth], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(bins[~truth], minlength=self._num_thresholds + 1)

    def accumulate(self) -> float:
        """The area so far."""
        true, false = (np.concatenate([[0], np.cumsum(s[::-1])]) for s in (self._stat_pos, self._stat_neg))
        if not true[-1] or not false[-1]:
            return 0.0
        area = (np.diff(false) * (true[1:] + true[:-1])).sum() / 2.0
        return float(area / true[-1] / false[-1])

    def reset(self) -> None:
        """Start anew."""
        self._stat_pos = np.zeros(self._num_thresholds + 1, np.int64)
        self._stat_neg = np.zeros(self._num_thresholds + 1, np.int64)

    def name(self) -> str:
        """The name of the metric."""
        return self._name


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: str | None = None
) -> Any:
    """The share of samples whose label is among the k most probable classes, as a tensor."""
    if len(shape_of(label)) != 2:
        raise ValueError(f"accuracy: label must have the shape (batch, 1), got {list(shape_of(label))}")
    metric = Accuracy((k,))
    found = _plain(metric.compute(input, label), "input")
    return from_array(np.asarray(found[..., :k].sum(-1).mean(), np.float32))


__getattr__ = attributes(globals())
