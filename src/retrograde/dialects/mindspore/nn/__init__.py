"""`mindspore.nn`: cells, layers, losses, optimisers."""

from __future__ import annotations

from typing import Any

from ..._shared.documents import documented
from .._api import missing, submodule
from .cell import Cell, GraphCell
from .containers import CellDict, CellList, SequentialCell

# The layers, losses and optimisers (one line per topic file).
from .layer.activation import (
    CELU, ELU, GELU, GLU, FastGelu, Hardtanh, HShrink, HSigmoid, HSwish, LeakyReLU, LogSigmoid, LogSoftmax, Mish, PReLU,
    ReLU, ReLU6, RReLU, SeLU, Sigmoid, SiLU, Softmax, Softmax2d, Softmin, SoftShrink, Softsign, Tanh, Tanhshrink,
    Threshold, get_activation,
)
from .layer.basic import (
    BiDense, ClipByNorm, Dense, Dropout, Dropout1d, Dropout2d, Dropout3d, Embedding, EmbeddingLookup, Flatten, Identity,
    L1Regularizer, Linear, Norm, OneHot, Roll, Tril, Triu, Unflatten, Unfold,
)
from .layer.conv import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose, Conv3d, Conv3dTranspose
from .dynamic_lr import (
    cosine_decay_lr, exponential_decay_lr, inverse_decay_lr, natural_exp_decay_lr, piecewise_constant_lr,
    polynomial_decay_lr, warmup_lr,
)
from .grad import Jvp, Vjp
from .learning_rate_schedule import (
    CosineDecayLR, ExponentialDecayLR, InverseDecayLR, LearningRateSchedule, NaturalExpDecayLR, PolynomialDecayLR,
    WarmUpLR,
)
from .loss import (
    BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, CTCLoss, DiceLoss, FocalLoss, GaussianNLLLoss,
    HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, LossBase, MAELoss, MarginRankingLoss, MSELoss, MultiClassDiceLoss,
    MultiLabelSoftMarginLoss, MultilabelMarginLoss, MultiMarginLoss, NLLLoss, PoissonNLLLoss, RMSELoss, SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits, SoftMarginLoss, TripletMarginLoss, TripletMarginWithDistanceLoss,
)
from .layer.combined import (
    MSSSIM, PSNR, SSIM, CentralCrop, Conv2dBnAct, DenseBnAct, ImageGradients, TimeDistributed,
)  # fmt: skip
from .layer.math import (
    DiGamma, IGamma, LBeta, LGamma, MatDet, MatInverse, MatMul, MatrixDiag, MatrixDiagPart, MatrixSetDiag, Moments, Range,
    ReduceLogSumExp,
)
from .layer.normalization import (
    LRN, BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, LayerNorm,
    SyncBatchNorm,
)
from .optim import (
    ASGD, FTRL, LARS, SGD, Adadelta, AdaFactor, Adagrad, Adam, AdaMax, AdamOffload, AdamWeightDecay, Lamb, LazyAdam,
    Momentum, Optimizer, ProximalAdagrad, RMSProp, Rprop,
)
from .layer.padding import (
    ChannelShuffle, ConstantPad1d, ConstantPad2d, ConstantPad3d, Pad, PixelShuffle, PixelUnshuffle, ReflectionPad1d,
    ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, Upsample, ZeroPad2d,
)
from .layer.pooling import (
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d,
    AdaptiveMaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, FractionalMaxPool2d, FractionalMaxPool3d, LPPool1d,
    LPPool2d, MaxPool1d, MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
)  # fmt: skip
from .layer.rnns import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from .layer.transformer import (
    MultiheadAttention, Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder,
    TransformerEncoderLayer,
)
from .wrap import (
    DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, ForwardValueAndGrad, ParameterUpdate, TrainOneStepCell,
    TrainOneStepWithLossScaleCell, WithEvalCell, WithGradCell, WithLossCell,
)


_METRICS = frozenset((
    "Accuracy", "ConfusionMatrix", "CosineSimilarity", "Dice", "F1", "Fbeta", "Loss", "MAE", "MSE", "Metric",
    "BleuScore", "HausdorffDistance", "MeanSurfaceDistance", "ROC", "RootMeanSquareDistance",
    "Perplexity", "Precision", "Recall", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy", "auc", "get_metric_fn", "get_metrics", "names", "rearrange_inputs",
))  # fmt: skip

documented(globals(), [name for name in globals() if name[0].isupper()], Cell)


def __getattr__(name: str) -> Any:
    if name in _METRICS:  # they stand in mindspore.train, which costs no import time until it is used
        from ..train import metrics

        return getattr(metrics, name)
    if name in ("SparseToDense", "SparseTensorDenseMatmul"):
        return getattr(submodule(f"{__name__}.layer", "sparse"), name)
    if name == "probability":
        return submodule(__name__, name)
    raise missing("mindspore.nn", name, globals())
