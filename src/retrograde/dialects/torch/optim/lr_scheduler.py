"""`torch.optim.lr_scheduler`: schedules of the learning rate."""

from typing import Any

from .._api import missing, owned
from .composed_schedulers import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from .cyclic_schedulers import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .epoch_schedulers import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)  # fmt: skip
from .scheduler_base import LRScheduler, _LRScheduler

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR", "_LRScheduler",
]  # fmt: skip
owned(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("torch.optim.lr_scheduler", name, __all__)
