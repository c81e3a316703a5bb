"""`mindspore.nn.wrap`: cells around networks, for training."""

from __future__ import annotations

from .cell_wrapper import (
    DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, ForwardValueAndGrad, ParameterUpdate, TrainOneStepCell,
    TrainOneStepWithLossScaleCell, WithEvalCell, WithGradCell, WithLossCell,
)
