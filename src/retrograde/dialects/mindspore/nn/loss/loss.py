"""The losses as cells. `LossBase` is what a user's own loss derives from: `get_loss` weighs and reduces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....learn import losses as formulas
from ...._shared.axes import integer
from ... import _losses as F
from ..._dtype import int32
from ..._promote import tensor_argument
from ..._tensor import Tensor, from_array
from .._checks import a_bool, a_float, one_of
from .._row import layer
from ..cell import Cell
from ..layer.activation import get_activation

_REDUCTIONS = ("mean", "sum", "none")


class LossBase(Cell):
    """Base of losses: `get_loss(x, weights)` multiplies with weights and reduces as `reduction` says.

    Raises:
        ValueError: a reduction other than "mean", "sum" or "none".
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = one_of(type(self).__name__, "reduction", reduction, _REDUCTIONS)
        self.average, self.reduce = reduction == "mean", reduction != "none"

    def get_axis(self, x: Any) -> tuple[int, ...]:
        """All axes of a tensor."""
        return tuple(range(x.ndim))

    def get_loss(self, x: Any, weights: Any = 1.0) -> Any:
        """The losses `x` times weights, reduced."""
        return F.reduced(x * weights, self.reduction)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The loss; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__}: construct(logits, labels) has to be defined")


class _AnyReduction(LossBase):
    """A loss whose function knows further reductions, and checks them."""

    def __init__(self) -> None:
        Cell.__init__(self)


_MEAN = "reduction: str = 'mean'"


def _loss(name: str, options: str, f: Callable[..., Any], doc: str = "", *, inputs: str = "logits, labels", **more: Any) -> Any:
    """A loss of predictions and targets."""
    return layer(name, options, f, doc, inputs=inputs, **{"base": LossBase, **more})


def _check_class_options(loss: Any) -> None:
    op = type(loss).__name__
    if loss.weight is not None:
        tensor_argument(op, loss.weight, "weight")
    integer(op, "ignore_index", loss.ignore_index)


def _check_smoothing(loss: Any) -> None:
    _check_class_options(loss)
    if not 0.0 <= a_float("CrossEntropyLoss", "label_smoothing", loss.label_smoothing) <= 1.0:
        raise ValueError(f"CrossEntropyLoss: label_smoothing must lie in [0, 1], got {loss.label_smoothing}")


def _check_margin(loss: Any) -> None:
    if not -1.0 <= a_float("CosineEmbeddingLoss", "margin", loss.margin) <= 1.0:
        raise ValueError(f"CosineEmbeddingLoss: margin must lie in [-1, 1], got {loss.margin}")


def _choose_distance(loss: Any) -> None:
    loss.distance_function = loss.distance_function or _euclidean


def _euclidean(x: Any, y: Any) -> Any:
    return ((x - y) ** 2).sum(-1).sqrt()


def _cross_entropy(self: Any, logits: Any, labels: Any) -> Any:
    if isinstance(logits, Tensor) and isinstance(labels, Tensor) and labels.ndim != logits.ndim:
        if labels.dtype is not int32:
            raise TypeError(f"CrossEntropyLoss: labels as class numbers must be Int32, got {labels.dtype}; use astype()")
        if labels.ndim != logits.ndim - 1:
            raise ValueError(
                f"CrossEntropyLoss: logits (N, C, ...) go with labels (N, ...), got shapes {logits.shape} and "
                f"{labels.shape}"
            )
    return F.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


def _triplet(self: Any, x: Any, positive: Any, negative: Any, margin: Any = None) -> Any:
    wanted = self.margin if margin is None else margin
    return F.triplet_margin_loss(x, positive, negative, float(wanted), self.p, self.eps, self.swap, self.reduction)


def _triplet_by_distance(self: Any, x: Any, positive: Any, negative: Any) -> Any:
    near, far = self.distance_function(x, positive), self.distance_function(x, negative)
    if self.swap:
        far = far.minimum(self.distance_function(positive, negative))
    return self.get_loss((near - far + self.margin).maximum(0.0))


def _multi_margin(self: Any, x: Any, target: Any, weight: Any = None) -> Any:
    given = self.weight if weight is None else weight
    return F.multi_margin_loss(x, target, self.p, self.margin, given, self.reduction)


def _poisson(self: Any, input: Any, target: Any) -> Any:
    x, y = F.together("PoissonNLLLoss", input, target, same_shape=False)
    return self.get_loss(formulas.poisson_nll(x, y, self.log_input, self.full, self.eps))


def _ctc(self: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
    out = F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)
    return out[0] if isinstance(out, tuple) else out


MSELoss = _loss("MSELoss", _MEAN, F.mse_loss)
L1Loss = _loss("L1Loss", _MEAN, F.l1_loss)
MAELoss = _loss("MAELoss", _MEAN, F.l1_loss)
SoftMarginLoss = _loss("SoftMarginLoss", _MEAN, F.soft_margin_loss)
MultilabelMarginLoss = _loss("MultilabelMarginLoss", _MEAN, F.multilabel_margin_loss)
KLDivLoss = _loss("KLDivLoss", _MEAN, F.kl_div, base=_AnyReduction)
SmoothL1Loss = _loss("SmoothL1Loss", "beta: float = 1.0, reduction: str = 'none'", F.smooth_l1_loss)
HuberLoss = _loss("HuberLoss", f"{_MEAN}, delta: float = 1.0", F.huber_loss)
BCELoss = _loss("BCELoss", f"weight: Any = None, {_MEAN}", F.binary_cross_entropy)
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", f"{_MEAN}, weight: Any = None, pos_weight: Any = None", F.binary_cross_entropy_with_logits
)
CrossEntropyLoss = _loss(
    "CrossEntropyLoss", f"weight: Any = None, ignore_index: int = -100, {_MEAN}, label_smoothing: float = 0.0",
    _cross_entropy, "The cross entropy of softmax over axis 1 and targets: class numbers (int32), or probabilities.",
    then=_check_smoothing,
)  # fmt: skip
NLLLoss = _loss(
    "NLLLoss", f"weight: Any = None, ignore_index: int = -100, {_MEAN}", F.nll_loss, then=_check_class_options
)
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", f"margin: float = 0.0, {_MEAN}", F.cosine_embedding_loss,
    inputs="logits_x1, logits_x2, labels", then=_check_margin,
)  # fmt: skip
MarginRankingLoss = _loss(
    "MarginRankingLoss", f"margin: float = 0.0, {_MEAN}", F.margin_ranking_loss, inputs="input1, input2, target"
)
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss", f"margin: float = 1.0, {_MEAN}",
    lambda self, logits, labels: F.hinge_embedding_loss(logits, labels, float(self.margin), self.reduction),
    "The input where the target is 1, max(0, margin - input) where it is -1.",
)  # fmt: skip
TripletMarginLoss = _loss(
    "TripletMarginLoss", f"p: int = 2, swap: bool = False, eps: float = 1e-06, {_MEAN}, margin: float = 1.0", _triplet,
    "max(0, margin + |anchor - positive| - |anchor - negative|), in the p-norm.",
)  # fmt: skip
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", "distance_function: Callable[[Any, Any], Any] | None = None, swap: bool = False, "
    f"{_MEAN}, margin: float = 1.0", _triplet_by_distance,
    "max(0, margin + d(anchor, positive) - d(anchor, negative)), for the Euclidean distance or a function's.",
    then=_choose_distance,
)  # fmt: skip
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss", f"weight: Any = None, {_MEAN}", F.multilabel_soft_margin_loss, inputs="x, target"
)
MultiMarginLoss = _loss(
    "MultiMarginLoss", f"p: int = 1, margin: float = 1.0, {_MEAN}, weight: Any = None", _multi_margin,
    "The mean over classes of max(0, margin - x[target] + x[class])^p.",
)  # fmt: skip
GaussianNLLLoss = _loss(
    "GaussianNLLLoss", f"*, full: bool = False, eps: float = 1e-06, {_MEAN}", F.gaussian_nll_loss,
    inputs="logits, labels, var",
)  # fmt: skip
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", f"log_input: bool = True, full: bool = False, eps: float = 1e-08, {_MEAN}", _poisson,
    "The negative log likelihood of Poisson counts, of which the input is the rate or (`log_input`) its logarithm.",
)  # fmt: skip
CTCLoss = _loss(
    "CTCLoss", f"blank: int = 0, {_MEAN}, zero_infinity: bool = False", _ctc,
    "The connectionist temporal classification loss of log-probabilities (T, N, C) and label sequences.",
)  # fmt: skip


class RMSELoss(LossBase):
    """The root of the mean squared difference."""

    def __init__(self) -> None:
        super().__init__("mean")
        self.MSELoss = MSELoss()

    def construct(self, logits: Any, label: Any) -> Any:
        return self.MSELoss(logits, label).sqrt()


class SoftmaxCrossEntropyWithLogits(LossBase):
    """The cross entropy of the softmax of (N, C) and class numbers where `sparse`, probabilities otherwise."""

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = a_bool("SoftmaxCrossEntropyWithLogits", "sparse", sparse)

    def construct(self, logits: Any, labels: Any) -> Any:
        if logits.ndim != 2:
            raise ValueError(f"SoftmaxCrossEntropyWithLogits: logits must have two axes, got shape {logits.shape}")
        if self.sparse:
            if labels.dtype.category != 1:
                raise TypeError(f"SoftmaxCrossEntropyWithLogits: sparse labels are class numbers, got {labels.dtype}")
            return F.cross_entropy(logits, labels.reshape(-1).astype(int32), reduction=self.reduction)
        losses, _ = F.softmax_cross_entropy_with_logits(logits, labels)
        return self.get_loss(losses)


class FocalLoss(LossBase):
    """The cross entropy of the softmax times (1 - p)^gamma (Lin et al. 2017), of (N, C) or (N, C, H, W).

    Labels have as many axes: one channel of class numbers, or one of 0 and 1 per class.
    """

    def __init__(self, weight: Any = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight, self.gamma = weight, a_float("FocalLoss", "gamma", gamma)

    def construct(self, logits: Any, labels: Any) -> Any:
        if logits.ndim != labels.ndim:
            raise ValueError(f"FocalLoss: logits {logits.shape} and labels {labels.shape} must have as many axes")
        if labels.shape[1] not in (1, logits.shape[1]):
            raise ValueError(f"FocalLoss: labels must have 1 or {logits.shape[1]} channels, got {labels.shape[1]}")
        n, c = logits.shape[:2]
        x = logits.reshape((n, c, -1))
        logs = F.soft.log_softmax(x, axis=1)
        t = labels.reshape((n, labels.shape[1], -1))
        if labels.shape[1] == 1 and c != 1:
            classes = from_array(_row(c))
            t = (t.astype(int32) == classes).astype(x.dtype)
        losses = -t * logs * (1 - logs.exp()) ** self.gamma
        if self.weight is not None:
            losses = losses * self.weight.reshape((1, c, 1))
        return self.get_loss(losses.sum(1).mean(-1)) if labels.shape[1] == 1 else self.get_loss(losses.mean(-1))


def _row(c: int) -> Any:
    import numpy as np

    return np.arange(c, dtype=np.int32).reshape(1, c, 1)


class DiceLoss(LossBase):
    """1 - 2 |x y| / (|x|² + |y|² + smooth)."""

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__("mean")
        if smooth <= 0:
            raise ValueError(f"DiceLoss: smooth must be above 0, got {smooth}")
        self.smooth = smooth

    def construct(self, logits: Any, label: Any) -> Any:
        if logits.shape != label.shape:
            raise ValueError(f"DiceLoss: logits {logits.shape} and label {label.shape} must have one shape")
        overlap = (logits * label).sum()
        union = (logits * logits).sum() + (label * label).sum()
        return 1 - 2 * overlap / (union + self.smooth)


class MultiClassDiceLoss(LossBase):
    """The mean over classes (axis 1) of the Dice loss of the activated predictions."""

    def __init__(self, weights: Any = None, ignore_indiex: int | None = None, activation: Any = "softmax") -> None:
        super().__init__("mean")
        self.binarydiceloss = DiceLoss(smooth=1e-5)
        self.weights, self.ignore_indiex = weights, ignore_indiex
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, logits: Any, label: Any) -> Any:
        if logits.shape != label.shape:
            raise ValueError(f"MultiClassDiceLoss: logits {logits.shape} and label {label.shape} must have one shape")
        x = logits if self.activation is None else self.activation(logits)
        total: Any = 0.0
        for i in range(label.shape[1]):
            if i != self.ignore_indiex:
                dice = self.binarydiceloss(x[:, i], label[:, i])
                total = total + (dice if self.weights is None else dice * self.weights[i])
        return total / label.shape[1]
