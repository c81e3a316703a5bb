"""Metrics of the surfaces of segmented images: how far the edges of two regions lie apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._shared.checks import check
from .metrics import Metric, as_array, flag

_DISTANCES = {"euclidean": None, "chessboard": "chessboard", "taxicab": "taxicab"}


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
        check(type(self).__name__, "distance_metric: str", locals())
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
        self.directed, self.crop = flag("HausdorffDistance", "directed", directed), flag("HausdorffDistance", "crop", crop)

    def eval(self) -> float:
        q = 100.0 if self.percentile is None else self.percentile
        if not 0 <= q <= 100:
            raise ValueError(f"HausdorffDistance: percentile must lie between 0 and 100, got {q}")
        # The percentile of infinite distances would be nan.
        return max(d[0].item() if np.isinf(d[0]) else np.percentile(d, q).item() for d in self._measured(not self.directed))


class _MeanSurface(_Surface):
    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__(distance_metric)
        self.symmetric = flag(type(self).__name__, "symmetric", symmetric)


class MeanSurfaceDistance(_MeanSurface):
    """The mean distance of one region's edge from the other's; of both together if `symmetric`."""

    def eval(self) -> float:
        return float(np.concatenate(self._measured(self.symmetric)).mean())


class RootMeanSquareDistance(_MeanSurface):
    """The root of the mean squared distance of one region's edge from the other's; of both together if `symmetric`."""

    _wrong_label = TypeError

    def eval(self) -> float:
        return float(np.sqrt(np.square(np.concatenate(self._measured(self.symmetric)).astype(np.float64)).mean()))
