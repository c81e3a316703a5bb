"""`mindspore.nn.wrap.loss_scale`: the cells that scale losses."""

from __future__ import annotations

from .cell_wrapper import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, TrainOneStepWithLossScaleCell

__all__ = ["DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell"]
