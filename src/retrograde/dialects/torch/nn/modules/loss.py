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
    name: str, options: str, f: Callable[..., Any], doc: str = "", *, inputs: str = "input, target",
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


L1Loss = _loss("L1Loss", _REDUCTION, F.l1_loss)
MSELoss = _loss("MSELoss", _REDUCTION, F.mse_loss)
SmoothL1Loss = _loss("SmoothL1Loss", f"{_REDUCTION}, beta: float = 1.0", F.smooth_l1_loss)
HuberLoss = _loss("HuberLoss", "reduction: str = 'mean', delta: float = 1.0", F.huber_loss)
NLLLoss = _loss("NLLLoss", _CLASSES, F.nll_loss)
NLLLoss2d = layer("NLLLoss2d", _CLASSES, None, "The old name of NLLLoss for images.", base=NLLLoss)
CrossEntropyLoss = _loss("CrossEntropyLoss", f"{_CLASSES}, label_smoothing: float = 0.0", F.cross_entropy)
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", "log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8, "
    "reduce: Any = None, reduction: str = 'mean'", lambda self, log_input, target: F.poisson_nll_loss(
        log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
    ), "exp(x) - y x (log_input), or x - y log(x + eps), with Stirling's term if `full`, for (log) rates and counts.",
)  # fmt: skip
GaussianNLLLoss = _loss(
    "GaussianNLLLoss", "*, full: bool = False, eps: float = 1e-6, reduction: str = 'mean'", F.gaussian_nll_loss,
    inputs="input, target, var: Any",
)  # fmt: skip
KLDivLoss = _loss("KLDivLoss", f"{_REDUCTION}, log_target: bool = False", F.kl_div)
BCELoss = _loss("BCELoss", f"{_WEIGHT}, {_REDUCTION}", F.binary_cross_entropy)
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", f"{_WEIGHT}, {_REDUCTION}, pos_{_WEIGHT}", F.binary_cross_entropy_with_logits
)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", f"margin: float = 1.0, {_REDUCTION}", F.hinge_embedding_loss)
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", _REDUCTION, F.multilabel_margin_loss)
SoftMarginLoss = _loss("SoftMarginLoss", _REDUCTION, F.soft_margin_loss)
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", f"{_WEIGHT}, {_REDUCTION}", F.multilabel_soft_margin_loss)
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", f"margin: float = 0.0, {_REDUCTION}", F.cosine_embedding_loss,
    inputs="input1, input2, target",
)  # fmt: skip
MarginRankingLoss = _loss(
    "MarginRankingLoss", f"margin: float = 0.0, {_REDUCTION}", F.margin_ranking_loss, inputs="input1, input2, target"
)
MultiMarginLoss = _loss(
    "MultiMarginLoss", f"p: int = 1, margin: float = 1.0, {_WEIGHT}, {_REDUCTION}", F.multi_margin_loss,
    then=_check_p_and_weight,
)  # fmt: skip
TripletMarginLoss = _loss(
    "TripletMarginLoss", f"margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, {_REDUCTION}",
    F.triplet_margin_loss, inputs="anchor, positive, negative", then=_check_margin,
)  # fmt: skip
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", "*, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, "
    "margin: float = 1.0, swap: bool = False, reduction: str = 'mean'", F.triplet_margin_with_distance_loss,
    "TripletMarginLoss with a distance of the user's.", inputs="anchor, positive, negative", then=_complete_distance,
)  # fmt: skip
CTCLoss = _loss(
    "CTCLoss", "blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False", F.ctc_loss,
    inputs="log_probs, targets, input_lengths: Any, target_lengths: Any",
)  # fmt: skip


__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss",
    "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip
