"""Metrics of curves, of sentences and of the surfaces of segmented images."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np

from .metrics import Metric, as_array

_DISTANCES = {"euclidean": None, "chessboard": "chessboard", "taxicab": "taxicab"}


def _flag(op: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{op}: {name} must be a bool, got {type(value).__name__}")
    return value


# ------------------------------------------------------------------------------------------ curves


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


# ------------------------------------------------------------------------------------------ sentences


class BleuScore(Metric):
    """The geometric mean of the shares of n-grams (n from 1 to `n_gram`) that references have too, less for brevity.

    smooth: count each n-gram once more on both sides. Raises ValueError for n_gram beyond 1 to 4, TypeError for another
    kind of option.
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        if isinstance(n_gram, bool) or not isinstance(n_gram, int):
            raise TypeError(f"BleuScore: n_gram must be an int, got {type(n_gram).__name__}")
        if not 1 <= n_gram <= 4:
            raise ValueError(f"BleuScore: n_gram must lie between 1 and 4, got {n_gram}")
        self.n_gram, self.smooth = n_gram, _flag("BleuScore", "smooth", smooth)
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


# ------------------------------------------------------------------------------------------ surfaces


def _distances(op: str, x: np.ndarray, y: np.ndarray, kind: str) -> np.ndarray:
    """For each element of the edge of one region, how far the edge of the other is; infinite where there is none."""
    from scipy import ndimage

    edges = [mask ^ ndimage.binary_erosion(mask) for mask in (x, y)]
    if not edges[0].any() or not edges[1].any():
        return np.full(max(int(edges[0].sum()), 1), np.inf if edges[0].any() or edges[1].any() else 0.0)
    metric = _DISTANCES[kind]
    if metric is None:
        field = ndimage.distance_transform_edt(~edges[1])
    else:
        field = ndimage.distance_transform_cdt(~edges[1], metric=metric)
    return field[edges[0]]  # type: ignore[no-any-return]


class _Surface(Metric):
    _wrong_label: type[Exception] = ValueError

    def __init__(self, distance_metric: str) -> None:
        super().__init__()
        if distance_metric not in _DISTANCES:
            raise ValueError(
                f"{type(self).__name__}: distance_metric must be one of {', '.join(map(repr, _DISTANCES))}, "
                f"got {distance_metric!r}"
            )
        self.distance_metric = distance_metric
        self.clear()

    def clear(self) -> None:
        """Forget the images."""
        self._regions: tuple[np.ndarray, np.ndarray] | None = None

    def update(self, *inputs: Any) -> None:
        """Take in predicted labels, the true ones and the label of the region that counts."""
        op = type(self).__name__
        if len(inputs) != 3:
            raise ValueError(f"{op}.update: wanted predictions, labels and the label that counts, got {len(inputs)} inputs")
        x, y = as_array(inputs[0]), as_array(inputs[1])
        label = inputs[2]
        if isinstance(label, bool) or not isinstance(label, (int, float)):
            raise self._wrong_label(f"{op}.update: the label must be a number, got {type(label).__name__}")
        if x.shape != y.shape or not x.size:
            raise ValueError(f"{op}.update: predictions {x.shape} and labels {y.shape} must have one shape")
        if label not in x and label not in y:
            raise ValueError(f"{op}.update: the label {label} is in neither image")
        self._regions = x == label, y == label

    def _measured(self, both: bool) -> list[np.ndarray]:
        if self._regions is None:
            raise RuntimeError(f"{type(self).__name__}: there are no samples; call update() with a batch first")
        x, y = self._regions
        pairs = ((x, y), (y, x)) if both else ((x, y),)
        return [_distances(type(self).__name__, a, b, self.distance_metric) for a, b in pairs]


class HausdorffDistance(_Surface):
    """How far the edge of one region is from the other's where it is farthest; the larger of both ways unless `directed`.

    percentile: take this percentile of the distances instead of the largest. crop changes no result.
    """

    def __init__(
        self, distance_metric: str = "euclidean", percentile: float | None = None, directed: bool = False,
        crop: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(distance_metric)
        self.percentile = percentile
        self.directed, self.crop = _flag("HausdorffDistance", "directed", directed), _flag("HausdorffDistance", "crop", crop)

    def eval(self) -> float:
        q = 100.0 if self.percentile is None else self.percentile
        if not 0 <= q <= 100:
            raise ValueError(f"HausdorffDistance: percentile must lie between 0 and 100, got {q}")
        # The percentile of infinite distances would be nan.
        return max(d[0].item() if np.isinf(d[0]) else np.percentile(d, q).item() for d in self._measured(not self.directed))


class _MeanSurface(_Surface):
    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__(distance_metric)
        self.symmetric = _flag(type(self).__name__, "symmetric", symmetric)


class MeanSurfaceDistance(_MeanSurface):
    """The mean distance of one region's edge from the other's; of both together if `symmetric`."""

    def eval(self) -> float:
        return float(np.concatenate(self._measured(self.symmetric)).mean())


class RootMeanSquareDistance(_MeanSurface):
    """The root of the mean squared distance of one region's edge from the other's; of both together if `symmetric`."""

    _wrong_label = TypeError

    def eval(self) -> float:
        return float(np.sqrt(np.square(np.concatenate(self._measured(self.symmetric)).astype(np.float64)).mean()))
