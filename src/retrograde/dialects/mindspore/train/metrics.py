"""Metrics: what is gathered over batches with `update` and evaluated with `eval`. Arrays are NumPy's."""

from __future__ import annotations

import abc
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._shared.checks import check
from .._api import missing
from .._tensor import Tensor

_EMPTY = "there are no samples; call update() with a batch first"


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Lets `update` take the arguments that `set_indexes` chose."""

    def wrapper(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        return func(self, *(inputs if indexes is None else [inputs[i] for i in indexes]))

    wrapper.__name__, wrapper.__doc__ = func.__name__, func.__doc__
    return wrapper


class Metric(abc.ABC):
    """Base of metrics: `clear`, `update(*inputs)`, `eval`; a metric of one's own derives from it."""

    _indexes: list[int] | None = None

    def __init__(self) -> None:
        self._indexes = None

    @property
    def indexes(self) -> list[int] | None:
        """Which of the arguments of `update` are used, and in which order."""
        return self._indexes

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Say which of the arguments of `update` are used; returns the metric."""
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"{type(self).__name__}.set_indexes: wanted a list of ints, got {indexes!r}")
        self._indexes = indexes
        return self

    @abc.abstractmethod
    def clear(self) -> None:
        """Forget all batches."""
        raise NotImplementedError(f"{type(self).__name__}: clear() has to be defined")

    @abc.abstractmethod
    def update(self, *inputs: Any) -> None:
        """Take in a batch."""
        raise NotImplementedError(f"{type(self).__name__}: update() has to be defined")

    @abc.abstractmethod
    def eval(self) -> Any:
        """The value over all batches since `clear`."""
        raise NotImplementedError(f"{type(self).__name__}: eval() has to be defined")

    def _chosen(self, inputs: Sequence[Any], count: int) -> list[np.ndarray]:
        """The arguments of `update` as arrays; raises ValueError for another number of them."""
        given = list(inputs) if self._indexes is None else [inputs[i] for i in self._indexes]
        if len(given) != count:
            raise ValueError(f"{type(self).__name__}.update: wanted {count} inputs, got {len(given)}")
        return [self._convert_data(x) for x in given]

    def _convert_data(self, data: Any) -> np.ndarray:
        """A Tensor, list or array as a NumPy array, for metrics of one's own; raises TypeError for others."""
        if not isinstance(data, (Tensor, list, np.ndarray)):
            raise TypeError(f"{type(self).__name__}: wanted a Tensor, a list or an array, got {type(data).__name__}")
        return as_array(data)


def flag(op: str, name: str, value: Any) -> bool:
    """A bool as it is; raises TypeError for anything else."""
    if not isinstance(value, bool):
        raise TypeError(f"{op}: {name} must be a bool, got {type(value).__name__}")
    return value


def as_array(x: Any) -> np.ndarray:
    """A Tensor, or what NumPy takes for an array, as a NumPy array."""
    return x.asnumpy() if isinstance(x, Tensor) else np.asarray(x)


class _Mean(Metric):
    """A sum over what was counted."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._total: float = 0.0
        self._count = 0

    def eval(self) -> float:
        if self._count == 0:
            raise RuntimeError(f"{type(self).__name__}: {_EMPTY}")
        return self._total / self._count


class Loss(_Mean):
    """The mean of losses."""

    def update(self, *inputs: Any) -> None:
        (loss,) = self._chosen(inputs, 1)
        if loss.ndim > 1 or (loss.ndim == 1 and loss.size == 0):
            raise ValueError(f"Loss.update: wanted a loss of at most one axis, got shape {loss.shape}")
        self._total += float(loss.mean())
        self._count += 1


class _MeanError(_Mean):
    _error: Callable[[Any], Any]

    def update(self, *inputs: Any) -> None:
        x, y = self._chosen(inputs, 2)
        self._total += float(self._error(x.reshape(y.shape) - y).sum())
        self._count += y.shape[0]


class MAE(_MeanError):
    """The sum of absolute differences over the number of samples."""

    _error = staticmethod(np.abs)


class MSE(_MeanError):
    """The sum of squared differences over the number of samples."""

    _error = staticmethod(np.square)


class EvaluationBase(Metric):
    """Base of classification metrics: predictions per class, and class numbers or one-hot rows."""

    def __init__(self, eval_type: str) -> None:
        super().__init__()
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(
                f"{type(self).__name__}: eval_type must be 'classification' or 'multilabel', got {eval_type!r}"
            )
        self._type = eval_type

    def _labels(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predicted and true classes, or (multilabel) the predictions and labels of shape (N, C, ...)."""
        name = type(self).__name__
        if self._type == "multilabel":
            if x.shape != y.shape or not np.isin(x, (0, 1)).all() or not np.isin(y, (0, 1)).all():
                raise ValueError(f"{name}: multilabel predictions and labels must have one shape and hold 0 and 1 only")
            return x, y
        if x.ndim not in (y.ndim, y.ndim + 1):
            raise ValueError(f"{name}: predictions {x.shape} go with labels of as many axes, or one less; got {y.shape}")
        if x.ndim == y.ndim:
            y = y.argmax(axis=1)
        return x.argmax(axis=1), y


class Accuracy(EvaluationBase):
    """The share of right predictions; of rows in which all labels are right where "multilabel"."""

    def __init__(self, eval_type: str | None = "classification") -> None:
        super().__init__(eval_type or "classification")
        self.clear()

    def clear(self) -> None:
        self._right, self._total = 0, 0

    def update(self, *inputs: Any) -> None:
        x, y = self._labels(*self._chosen(inputs, 2))
        if self._type == "multilabel":
            classes = x.shape[1]
            right = (np.moveaxis(x, 1, -1).reshape(-1, classes) == np.moveaxis(y, 1, -1).reshape(-1, classes)).all(axis=1)
        else:
            right = x.reshape(-1) == y.reshape(-1)
        self._right += int(right.sum())
        self._total += right.size

    def eval(self) -> Any:
        if self._total == 0:
            raise RuntimeError(f"Accuracy: {_EMPTY}")
        return self._right / self._total


class _PerClass(EvaluationBase):
    """Counts of right, predicted and true labels: per class, or where "multilabel" per row of labels."""

    def __init__(self, eval_type: str | None = "classification") -> None:
        super().__init__(eval_type or "classification")
        self.clear()

    def clear(self) -> None:
        self._right: Any = 0
        self._predicted: Any = 0
        self._true: Any = 0
        self._seen = False

    def update(self, *inputs: Any) -> None:
        first, second = self._chosen(inputs, 2)
        classes = first.shape[1]
        x, y = self._labels(first, second)
        if self._type == "multilabel":
            x, y = (np.moveaxis(a, 1, -1).reshape(-1, classes).astype(np.int64) for a in (x, y))
            found = [a.sum(axis=1) for a in (x * y, x, y)]
            if self._seen:
                found = [np.concatenate(pair) for pair in zip((self._right, self._predicted, self._true), found)]
            self._right, self._predicted, self._true = found
        else:
            if y.size and y.max() >= classes:
                raise ValueError(f"{type(self).__name__}: label {int(y.max())} is not one of {classes} classes")
            x, y = (np.eye(classes, dtype=np.int64)[a.reshape(-1)] for a in (x, y))
            self._right = self._right + (x * y).sum(axis=0)
            self._predicted = self._predicted + x.sum(axis=0)
            self._true = self._true + y.sum(axis=0)
        self._seen = True

    def _result(self, below: Any, average: bool) -> Any:
        if not self._seen:
            raise RuntimeError(f"{type(self).__name__}: {_EMPTY}")
        result = self._right / np.maximum(below, np.finfo(np.float64).eps)
        return float(result.mean()) if average else result


class Precision(_PerClass):
    """For each class the share of right predictions among those that name it."""

    def eval(self, average: bool = False) -> Any:
        return self._result(self._predicted, average)


class Recall(_PerClass):
    """For each class the share of right predictions among its samples."""

    def eval(self, average: bool = False) -> Any:
        return self._result(self._true, average)


class Fbeta(_PerClass):
    """(1 + beta²) precision recall / (beta² precision + recall), per class."""

    def __init__(self, beta: float) -> None:
        check("Fbeta", "beta > 0", locals())
        super().__init__()
        self._beta2 = beta * beta

    def eval(self, average: bool = False) -> Any:
        if not self._seen:
            raise RuntimeError(f"{type(self).__name__}: {_EMPTY}")
        score = (1 + self._beta2) * self._right / (self._beta2 * self._true + self._predicted + np.finfo(float).eps)
        return float(score.mean()) if average else score


class F1(Fbeta):
    """The harmonic mean of precision and recall, per class."""

    def __init__(self) -> None:
        super().__init__(1.0)


class TopKCategoricalAccuracy(_Mean):
    """The share of samples whose class is among the k likeliest."""

    def __init__(self, k: int) -> None:
        super().__init__()
        check(type(self).__name__, "k: int >= 1", locals())
        self.k = k

    def update(self, *inputs: Any) -> None:
        x, y = self._chosen(inputs, 2)
        if y.ndim == x.ndim:
            y = y.argmax(axis=1)
        if self.k > x.shape[1]:
            raise ValueError(f"{type(self).__name__}: k is {self.k}, but there are {x.shape[1]} classes")
        best = np.argsort(-x, axis=1, kind="stable")[:, : self.k]
        self._total += int((best == y.reshape(-1, 1)).any(axis=1).sum())
        self._count += y.shape[0]


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is the likeliest."""

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is among the 5 likeliest."""

    def __init__(self) -> None:
        super().__init__(5)


class ConfusionMatrix(Metric):
    """How often a class (row) was taken for another (column); `normalize` by "target", "prediction" or "all"."""

    def __init__(self, num_classes: int, normalize: str | None = "no_norm", threshold: float = 0.5) -> None:
        super().__init__()
        if normalize not in ("target", "prediction", "all", "no_norm", None):
            raise ValueError(f"ConfusionMatrix: normalize must be 'target', 'prediction', 'all' or 'no_norm', got {normalize!r}")
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self) -> None:
        self._matrix = np.zeros((self.num_classes, self.num_classes))
        self._seen = False

    def update(self, *inputs: Any) -> None:
        x, y = self._chosen(inputs, 2)
        if x.ndim not in (y.ndim, y.ndim + 1):
            raise ValueError(f"ConfusionMatrix: predictions {x.shape} do not go with labels {y.shape}")
        if x.ndim == y.ndim + 1:
            x = x.argmax(axis=1)
        elif x.dtype.kind == "f":
            x = (x >= self.threshold).astype(np.int64)
        pairs = (y.reshape(-1) * self.num_classes + x.reshape(-1)).astype(np.int64)
        self._matrix += np.bincount(pairs, minlength=self.num_classes**2).reshape(self._matrix.shape)
        self._seen = True

    def eval(self) -> np.ndarray:
        if not self._seen:
            raise RuntimeError(f"ConfusionMatrix: {_EMPTY}")
        below: Any = {
            "target": self._matrix.sum(axis=1, keepdims=True), "prediction": self._matrix.sum(axis=0, keepdims=True),
            "all": self._matrix.sum(),
        }.get(self.normalize or "", 1)  # fmt: skip
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(self._matrix / below))


class Perplexity(_Mean):
    """exp of the mean negative log-probability of the labels; those equal to `ignore_label` are left out."""

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        self.ignore_label = ignore_label

    def update(self, *inputs: Any) -> None:
        x, y = self._chosen(inputs, 2)
        labels = y.reshape(-1).astype(np.int64)
        chosen = x.reshape(-1, x.shape[-1])[np.arange(labels.size), labels]
        if self.ignore_label is not None:
            kept = labels != self.ignore_label
            chosen, labels = chosen[kept], labels[kept]
        self._total -= float(np.log(np.maximum(chosen, 1e-10)).sum())
        self._count += labels.size

    def eval(self) -> float:
        return math.exp(super().eval())


class CosineSimilarity(Metric):
    """The similarities of rows: their cosines, or products ("dot"); `zero_diagonal` leaves out each with itself."""

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True) -> None:
        super().__init__()
        if similarity not in ("dot", "cosine") or reduction not in ("none", "sum", "mean"):
            raise ValueError(f"CosineSimilarity: got similarity={similarity!r} and reduction={reduction!r}")
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, zero_diagonal
        self.clear()

    def clear(self) -> None:
        self._matrix: np.ndarray | None = None

    def update(self, inputs: Any) -> None:
        x = as_array(inputs)
        if self.similarity == "cosine":
            x = x / np.linalg.norm(x, axis=1, keepdims=True)
        found = x @ x.T
        if self.zero_diagonal:
            np.fill_diagonal(found, 0)
        self._matrix = found

    def eval(self) -> Any:
        if self._matrix is None:
            raise RuntimeError(f"CosineSimilarity: {_EMPTY}")
        if self.reduction == "none":
            return self._matrix
        return getattr(self._matrix, self.reduction)(axis=-1)


class Dice(_Mean):
    """2 |x y| / (|x|² + |y|² + smooth) of each batch, added up and divided by the number of samples."""

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        check("Dice", "smooth > 0", locals())
        self.smooth = smooth

    def update(self, *inputs: Any) -> None:
        x, y = self._chosen(inputs, 2)
        if x.shape != y.shape:
            raise ValueError(f"Dice: predictions {x.shape} and labels {y.shape} must have one shape")
        self._total += 2 * float((x * y).sum()) / (float((x * x).sum() + (y * y).sum()) + self.smooth)
        self._count += y.shape[0]


def auc(x: Any, y: Any, reorder: bool = False) -> float:
    """The area under a curve by the trapezoidal rule; raises TypeError for what is no array."""
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"auc: x and y must be NumPy arrays, got {type(x).__name__} and {type(y).__name__}")
    if x.shape != y.shape or x.ndim != 1 or x.size < 2:
        raise ValueError(f"auc: x and y must be of one length of 2 or more, got shapes {x.shape} and {y.shape}")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and not (steps <= 0).all():
        raise ValueError("auc: x must rise or fall all along; or pass reorder=True")
    return float(abs(((y[1:] + y[:-1]) / 2 * steps).sum()))


BY_MODULE = {
    "bleu_score": ("_bleu", "BleuScore"), "hausdorff_distance": ("_surfaces", "HausdorffDistance"),
    "mean_surface_distance": ("_surfaces", "MeanSurfaceDistance"), "roc": ("_roc", "ROC"),
    "root_mean_square_distance": ("_surfaces", "RootMeanSquareDistance"),
}  # fmt: skip
"""The classes of metrics in files of their own, which are imported when they are asked for: the file and the class by the
names that `get_metric_fn` takes."""
_BY_NAME: dict[str, Callable[..., Any]] = {
    "auc": auc,
    "F1": F1, "acc": Accuracy, "accuracy": Accuracy, "confusion_matrix": ConfusionMatrix,
    "cosine_similarity": CosineSimilarity, "dice": Dice, "loss": Loss, "mae": MAE, "mse": MSE, "perplexity": Perplexity,
    "precision": Precision, "recall": Recall, "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy, "topk": TopKCategoricalAccuracy,
}  # fmt: skip


def names() -> list[str]:
    """The names of the metrics."""
    return sorted([*_BY_NAME, *BY_MODULE])


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Metric:
    """A metric by its name; raises KeyError for an unknown one."""
    if name in BY_MODULE:
        return __getattr__(BY_MODULE[name][1])(*args, **kwargs)  # type: ignore[no-any-return]
    if name not in _BY_NAME:
        raise KeyError(f"there is no metric {name!r}; there are {', '.join(names())}")
    return _BY_NAME[name](*args, **kwargs)  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    for file, metric in BY_MODULE.values():
        if name == metric:
            return getattr(importlib.import_module(f".{file}", __package__), name)
    raise missing("mindspore.train.metrics", name, globals())


def get_metrics(metrics: Any) -> dict[str, Metric]:
    """Metrics by name from a dict of them, or a set of names; raises TypeError for others."""
    if metrics is None:
        return {}
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str) or not isinstance(metric, Metric):
                raise TypeError(f"metrics: wanted metrics by name, got {name!r}: {type(metric).__name__}")
        return metrics
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in sorted(metrics)}
    raise TypeError(f"metrics: wanted a dict or a set of names, got {type(metrics).__name__}")
