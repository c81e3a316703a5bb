"""`mindspore.train`: models, callbacks, metrics, checkpoints."""

from __future__ import annotations

from typing import Any

from .._api import missing, submodule
from . import callback, metrics, serialization
from .callback import (
    Callback, CheckpointConfig, EarlyStopping, History, LambdaCallback, LearningRateScheduler, LossMonitor,
    ModelCheckpoint, ReduceLROnPlateau, RunContext, TimeMonitor,
)  # fmt: skip
from .loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from .metrics import (
    F1, MAE, MSE, Accuracy, ConfusionMatrix, CosineSimilarity, Dice, Fbeta, Loss, Metric, Perplexity, Precision,
    Recall, Top1CategoricalAccuracy, Top5CategoricalAccuracy, TopKCategoricalAccuracy, auc, get_metric_fn, names,
    rearrange_inputs,
)  # fmt: skip
from .model import Model
from .serialization import (
    ckpt_to_safetensors, export, load, load_checkpoint, load_param_into_net, safetensors_to_ckpt, save_checkpoint,
)  # fmt: skip

_LAZY = ("amp",)


def __getattr__(name: str) -> Any:
    if name == "build_train_network":
        return submodule(__name__, "amp").build_train_network
    if any(name == metric for _, metric in metrics.BY_MODULE.values()):
        return getattr(metrics, name)
    if name == "SummaryRecord":
        return submodule(__name__, "_summary").SummaryRecord
    if name in _LAZY:
        return submodule(__name__, name)
    raise missing("mindspore.train", name, globals())
