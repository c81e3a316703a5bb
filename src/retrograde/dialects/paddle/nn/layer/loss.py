"""Losses as layers: called with predictions and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....learn.losses import check_reduction
from .. import functional as F
from ._row import layer
from .layers import Layer

_MEAN, _WEIGHED = "reduction='mean'", "weight=None, reduction='mean'"


def _loss(name: str, options: str, f: Callable[..., Any], doc: str = "", **more: Any) -> Any:
    """A loss: its text says no options, its reduction is checked when it is made."""
    return layer(name, options, f, doc, **{"shows": False, "then": _check_reduction, **more})


def _check_reduction(loss: Any) -> None:
    """Raise ValueError for a reduction that there is not."""
    check_reduction(type(loss).__name__, loss._reduction)


def _check_margin(loss: Any) -> None:
    _check_reduction(loss)
    if not -1 <= loss._margin <= 1:
        raise ValueError(f"CosineEmbeddingLoss: margin must lie in [-1, 1], got {loss._margin}")


CrossEntropyLoss = _loss(
    "CrossEntropyLoss", "weight=None, ignore_index=-100, reduction='mean', soft_label=False, axis=-1, use_softmax=True, "
    "label_smoothing=0.0", F.cross_entropy, "The cross entropy of the softmax of predictions and labels.", then=None,
)  # fmt: skip
MSELoss = _loss("MSELoss", _MEAN, F.mse_loss)
L1Loss = _loss("L1Loss", _MEAN, F.l1_loss)
HuberLoss = SmoothL1Loss = _loss("SmoothL1Loss", f"{_MEAN}, delta=1.0, is_huber=True", F.smooth_l1_loss)
NLLLoss = _loss("NLLLoss", f"weight=None, ignore_index=-100, {_MEAN}", F.nll_loss)
BCELoss = _loss("BCELoss", _WEIGHED, F.binary_cross_entropy)
BCEWithLogitsLoss = _loss("BCEWithLogitsLoss", f"{_WEIGHED}, pos_weight=None", F.binary_cross_entropy_with_logits)
KLDivLoss = _loss("KLDivLoss", f"{_MEAN}, log_target=False", F.kl_div, then=None)
CTCLoss = _loss("CTCLoss", f"blank=0, {_MEAN}, zero_infinity=False", F.ctc_loss, then=None, named=False)
RNNTLoss = _loss("RNNTLoss", f"blank=0, fastemit_lambda=0.001, {_MEAN}", F.rnnt_loss, then=None)
MarginRankingLoss = _loss("MarginRankingLoss", f"margin=0.0, {_MEAN}", F.margin_ranking_loss)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", f"margin=1.0, {_MEAN}", F.hinge_embedding_loss)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", f"margin=0, {_MEAN}", F.cosine_embedding_loss, then=_check_margin)
TripletMarginLoss = _loss(
    "TripletMarginLoss", f"margin=1.0, p=2.0, epsilon=1e-6, swap=False, {_MEAN}", F.triplet_margin_loss
)
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", f"distance_function=None, margin=1.0, swap=False, {_MEAN}",
    F.triplet_margin_with_distance_loss,
)  # fmt: skip
SoftMarginLoss = _loss("SoftMarginLoss", _MEAN, F.soft_margin_loss)
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", _WEIGHED, F.multi_label_soft_margin_loss)
MultiMarginLoss = _loss("MultiMarginLoss", f"p=1, margin=1.0, {_WEIGHED}", F.multi_margin_loss)
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", _MEAN, F.multi_label_margin_loss)
PoissonNLLLoss = _loss("PoissonNLLLoss", f"log_input=True, full=False, epsilon=1e-8, {_MEAN}", F.poisson_nll_loss)
GaussianNLLLoss = _loss("GaussianNLLLoss", f"full=False, epsilon=1e-6, {_MEAN}", F.gaussian_nll_loss)


class HSigmoidLoss(Layer):
    """The hierarchical sigmoid loss over a complete binary tree of classes, or one that is given (`is_custom`)."""

    def __init__(
        self, feature_size: int, num_classes: int, weight_attr: Any = None, bias_attr: Any = None,
        is_custom: bool = False, is_sparse: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise ValueError(f"HSigmoidLoss: num_classes must be at least 2, got {num_classes}")
        self._num_classes, self._is_custom = num_classes, is_custom
        rows = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([rows, feature_size], weight_attr)
        self.bias = self.create_parameter([rows, 1], bias_attr, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        """The losses (N, 1)."""
        return F.hsigmoid_loss(input, label, self._num_classes, self.weight, self.bias, path_table, path_code)


class AdaptiveLogSoftmaxWithLoss(Layer):
    """A softmax over clusters of classes, the rare ones with fewer features (Grave et al., 2017)."""

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Any, weight_attr: Any = None, bias_attr: Any = None,
        div_value: float = 4.0, head_bias: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        bounds = list(cutoffs)
        if not bounds or bounds != sorted(set(bounds)) or bounds[0] <= 0 or bounds[-1] > n_classes - 1:
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs must increase between 1 and {n_classes - 1}, got {cutoffs}"
            )
        self.cutoffs = [*bounds, n_classes]
        self.shortlist_size, self.n_clusters = bounds[0], len(bounds)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight = self.create_parameter([in_features, self.head_size], weight_attr)
        self.head_bias = self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        self.tail_weights = []
        for i in range(self.n_clusters):
            narrow = int(in_features // (div_value ** (i + 1)))
            pair = [
                self.create_parameter([in_features, narrow], weight_attr),
                self.create_parameter([narrow, self.cutoffs[i + 1] - self.cutoffs[i]], weight_attr),
            ]
            for j, w in enumerate(pair):
                self.add_parameter(f"_tail_{i}_{j}", w)
            self.tail_weights.append(pair)

    def forward(self, input: Any, label: Any) -> Any:
        """The log-probabilities of the labels, and the mean loss."""
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )
