"""`mindspore.nn.loss`: the losses."""

from __future__ import annotations

from .loss import (
    BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, CTCLoss, DiceLoss, FocalLoss, GaussianNLLLoss,
    HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, LossBase, MAELoss, MarginRankingLoss, MSELoss, MultiClassDiceLoss,
    MultiLabelSoftMarginLoss, MultilabelMarginLoss, MultiMarginLoss, NLLLoss, PoissonNLLLoss, RMSELoss, SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits, SoftMarginLoss, TripletMarginLoss, TripletMarginWithDistanceLoss,
)
