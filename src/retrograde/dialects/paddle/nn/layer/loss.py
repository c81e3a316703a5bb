"""Losses as layers: called with predictions and labels."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ._simple import check_reduction, layer_of
from .layers import Layer

_EVERY_REDUCTION = {"KLDivLoss", "CrossEntropyLoss"}


def _loss(name: str, f: Any, text: str, **options: Any) -> Any:
    """A loss, whose text names no options; its reduction is checked when it is made."""
    check = check_reduction(name) if "reduction" in options and name not in _EVERY_REDUCTION else None
    return layer_of(name, f, text, options, shown=(), check=check)


CrossEntropyLoss = _loss(
    "CrossEntropyLoss", F.cross_entropy, "The cross entropy of the softmax of predictions and labels.", weight=None,
    ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True, label_smoothing=0.0,
)  # fmt: skip
MSELoss = _loss("MSELoss", F.mse_loss, "The squared difference.", reduction="mean")
L1Loss = _loss("L1Loss", F.l1_loss, "The absolute difference.", reduction="mean")
SmoothL1Loss = _loss(
    "SmoothL1Loss", F.smooth_l1_loss, "Half the squared difference below delta, linear beyond.", reduction="mean",
    delta=1.0, is_huber=True,
)  # fmt: skip
HuberLoss = SmoothL1Loss
NLLLoss = _loss(
    "NLLLoss", F.nll_loss, "The negative log-probability of the labels' classes.", weight=None, ignore_index=-100,
    reduction="mean",
)  # fmt: skip
BCELoss = _loss(
    "BCELoss", F.binary_cross_entropy, "The cross entropy of probabilities and labels in [0, 1].", weight=None,
    reduction="mean",
)  # fmt: skip
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, "The cross entropy of sigmoids and labels in [0, 1].",
    weight=None, reduction="mean", pos_weight=None,
)  # fmt: skip
KLDivLoss = _loss("KLDivLoss", F.kl_div, "The Kullback-Leibler divergence.", reduction="mean", log_target=False)
CTCLoss = layer_of(
    "CTCLoss", F.ctc_loss, "The connectionist temporal classification loss.",
    {"blank": 0, "reduction": "mean", "zero_infinity": False}, shown=(), show_name=False,
)  # fmt: skip
RNNTLoss = layer_of(
    "RNNTLoss", F.rnnt_loss, "The transducer loss.", {"blank": 0, "fastemit_lambda": 0.001, "reduction": "mean"}, shown=(),
)  # fmt: skip
MarginRankingLoss = _loss(
    "MarginRankingLoss", F.margin_ranking_loss, "max(0, -label (input - other) + margin).", margin=0.0,
    reduction="mean",
)  # fmt: skip
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss", F.hinge_embedding_loss, "The input where the label is 1, max(0, margin - input) elsewhere.",
    margin=1.0, reduction="mean",
)  # fmt: skip


def _check_margin(margin: float, **others: Any) -> None:
    check_reduction("CosineEmbeddingLoss")(**others)
    if not -1 <= margin <= 1:
        raise ValueError(f"CosineEmbeddingLoss: margin must lie in [-1, 1], got {margin}")


CosineEmbeddingLoss = layer_of(
    "CosineEmbeddingLoss", F.cosine_embedding_loss, "1 - cos where the label is 1, max(0, cos - margin) elsewhere.",
    {"margin": 0, "reduction": "mean"}, shown=(), check=_check_margin,
)  # fmt: skip
TripletMarginLoss = _loss(
    "TripletMarginLoss", F.triplet_margin_loss, "max(0, margin + |input - positive| - |input - negative|).", margin=1.0,
    p=2.0, epsilon=1e-6, swap=False, reduction="mean",
)  # fmt: skip
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss", F.triplet_margin_with_distance_loss, "TripletMarginLoss for any distance.",
    distance_function=None, margin=1.0, swap=False, reduction="mean",
)  # fmt: skip
SoftMarginLoss = _loss("SoftMarginLoss", F.soft_margin_loss, "log(1 + exp(-label input)).", reduction="mean")
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss", F.multi_label_soft_margin_loss, "The mean over classes of binary cross entropies.",
    weight=None, reduction="mean",
)  # fmt: skip
MultiMarginLoss = _loss(
    "MultiMarginLoss", F.multi_margin_loss, "The mean over classes of max(0, margin - input[label] + input[class])^p.",
    p=1, margin=1.0, weight=None, reduction="mean",
)  # fmt: skip
MultiLabelMarginLoss = _loss(
    "MultiLabelMarginLoss", F.multi_label_margin_loss, "Margins between the labels and all other classes.",
    reduction="mean",
)  # fmt: skip
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", F.poisson_nll_loss, "The negative log likelihood of Poisson counts.", log_input=True, full=False,
    epsilon=1e-8, reduction="mean",
)  # fmt: skip
GaussianNLLLoss = _loss(
    "GaussianNLLLoss", F.gaussian_nll_loss, "The negative log likelihood of a Gaussian.", full=False, epsilon=1e-6,
    reduction="mean",
)  # fmt: skip


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
