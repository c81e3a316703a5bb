"""Losses as modules. `reduction` is 'mean', 'sum' or 'none'; size_average and reduce are its old spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._tensor import Tensor
from .. import functional as F
from ..functional._losses import old_reduction
from ._layer import layer
from .distance import PairwiseDistance
from .module import Module


class _Loss(Module):
    __constants__ = ["reduction"]
    reduction: str

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = old_reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(
        self, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.weight: Tensor | None


class _PositiveWeightedLoss(_WeightedLoss):
    def __init__(
        self, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)
        self.pos_weight: Tensor | None


_REDUCTION = "size_average: Any = None, reduce: Any = None, reduction: str = 'mean'"
_WEIGHT = "weight: Tensor | None = None"
_CLASSES = f"{_WEIGHT}, size_average: Any = None, ignore_index: int = -100, reduce: Any = None, reduction: str = 'mean'"


def _loss(
    name: str, options: str, f: Callable[..., Any], doc: str, *, inputs: str = "input, target",
    then: Callable[[Any], None] | None = None,
) -> Any:  # fmt: skip
    """A loss; weights, of classes or elements, are buffers."""
    base = _PositiveWeightedLoss if "pos_weight" in options else _WeightedLoss if _WEIGHT in options else _Loss
    return layer(name, options, f, doc, inputs=inputs, base=base, then=then, spent=("size_average", "reduce"))


def _check_p_and_weight(loss: Any) -> None:
    if loss.p not in (1, 2):
        raise ValueError(f"MultiMarginLoss: p must be 1 or 2, got {loss.p}")
    if loss.weight is not None and loss.weight.dim() != 1:
        raise AssertionError(f"MultiMarginLoss: weight must be a vector, got {loss.weight.dim()} axes")


def _check_margin(loss: Any) -> None:
    if loss.margin <= 0:
        raise ValueError(f"{type(loss).__name__}: margin must be positive, got {loss.margin}")


def _complete_distance(loss: Any) -> None:
    _check_margin(loss)
    if loss.distance_function is None:
        loss.distance_function = PairwiseDistance()


L1Loss = _loss("L1Loss", _REDUCTION, F.l1_loss, "|x - y|, for inputs and targets of one shape.")
MSELoss = _loss("MSELoss", _REDUCTION, F.mse_loss, "(x - y)², for inputs and targets of one shape.")
SmoothL1Loss = _loss(
    "SmoothL1Loss", f"{_REDUCTION}, beta: float = 1.0", F.smooth_l1_loss,
    "(x - y)² / (2 beta) where |x - y| < beta, else |x - y| - beta / 2.",
)  # fmt: skip
HuberLoss = _loss(
    "HuberLoss", "reduction: str = 'mean', delta: float = 1.0", F.huber_loss,
    "(x - y)² / 2 where |x - y| < delta, else delta (|x - y| - delta / 2).",
)  # fmt: skip
NLLLoss = _loss(
    "NLLLoss", _CLASSES, F.nll_loss, "-x[target] for log probabilities x of shape (N, C, ...) and class numbers."
)
NLLLoss2d = layer("NLLLoss2d", _CLASSES, None, "The old name of NLLLoss for images.", base=NLLLoss)
CrossEntropyLoss = _loss(
    "CrossEntropyLoss", f"{_CLASSES}, label_smoothing: float = 0.0", F.cross_entropy,
    "-log softmax(x)[target] for scores x of shape (N, C, ...); targets are class numbers or probabilities.",
)  # fmt: skip
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", "log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8, "
    "reduce: Any = None, reduction: str = 'mean'", lambda self, log_input, target: F.poisson_nll_loss(
        log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
    ), "exp(x) - y x (log_input), or x - y log(x + eps), with Stirling's term if `full`, for (log) rates and counts.",
)  # fmt: skip
GaussianNLLLoss = _loss(
    "GaussianNLLLoss", "*, full: bool = False, eps: float = 1e-6, reduction: str = 'mean'", F.gaussian_nll_loss,
    "(log var + (x - y)² / var) / 2 for means, observations and variances.", inputs="input, target, var: Any",
)  # fmt: skip
KLDivLoss = _loss(
    "KLDivLoss", f"{_REDUCTION}, log_target: bool = False", F.kl_div,
    "y (log y - x) for log probabilities x and probabilities y, or their logarithms.",
)  # fmt: skip
BCELoss = _loss(
    "BCELoss", f"{_WEIGHT}, {_REDUCTION}", F.binary_cross_entropy,
    "-(y log x + (1 - y) log(1 - x)) for probabilities x and targets of one shape.",
)  # fmt: skip
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", f"{_WEIGHT}, {_REDUCTION}, pos_{_WEIGHT}", F.binary_cross_entropy_with_logits,
    "BCELoss of sigmoid(x), computed without overflow.",
)  # fmt: skip
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss", f"margin: float = 1.0, {_REDUCTION}", F.hinge_embedding_loss,
    "x where y = 1, max(0, margin - x) where y = -1, for distances and signs.",
)  # fmt: skip
MultiLabelMarginLoss = _loss(
    "MultiLabelMarginLoss", _REDUCTION, F.multilabel_margin_loss,
    "The margins between the classes that a target names, the first negative one ending a row, and all others.",
)  # fmt: skip
SoftMarginLoss = _loss("SoftMarginLoss", _REDUCTION, F.soft_margin_loss, "log(1 + exp(-y x)) for scores and signs.")
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss", f"{_WEIGHT}, {_REDUCTION}", F.multilabel_soft_margin_loss,
    "The mean over classes of BCEWithLogitsLoss, for targets 0 and 1 of shape (N, C).",
)  # fmt: skip
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", f"margin: float = 0.0, {_REDUCTION}", F.cosine_embedding_loss,
    "1 - cos(x1, x2) where y = 1, max(0, cos(x1, x2) - margin) where y = -1.", inputs="input1, input2, target",
)  # fmt: skip
MarginRankingLoss = _loss(
    "MarginRankingLoss", f"margin: float = 0.0, {_REDUCTION}", F.margin_ranking_loss,
    "max(0, -y (x1 - x2) + margin) for pairs of scores and signs.", inputs="input1, input2, target",
)  # fmt: skip
MultiMarginLoss = _loss(
    "MultiMarginLoss", f"p: int = 1, margin: float = 1.0, {_WEIGHT}, {_REDUCTION}", F.multi_margin_loss,
    "The mean over classes of max(0, margin - x[target] + x[i])^p.", then=_check_p_and_weight,
)  # fmt: skip
TripletMarginLoss = _loss(
    "TripletMarginLoss", f"margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, {_REDUCTION}",
    F.triplet_margin_loss, "max(0, d(anchor, positive) - d(anchor, negative) + margin) with the distance of the p-norm.",
    inputs="anchor, positive, negative", then=_check_margin,
)  # fmt: skip
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", "*, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, "
    "margin: float = 1.0, swap: bool = False, reduction: str = 'mean'", F.triplet_margin_with_distance_loss,
    "TripletMarginLoss with a distance of the user's.", inputs="anchor, positive, negative", then=_complete_distance,
)  # fmt: skip
CTCLoss = _loss(
    "CTCLoss", "blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False", F.ctc_loss,
    "Connectionist temporal classification (Graves et al., 2006): -log of the probability of all alignments of log "
    "probabilities (T, N, C), or (T, C), with label sequences.",
    inputs="log_probs, targets, input_lengths: Any, target_lengths: Any",
)  # fmt: skip


__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss",
    "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip
