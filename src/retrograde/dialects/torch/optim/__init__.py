"""`torch.optim`: optimisers, learning-rate schedules (`lr_scheduler`) and weight averaging (`swa_utils`)."""

from typing import Any

from .._api import missing
from . import _bridge, lr_scheduler, optimizer, swa_utils
from .accumulating import ASGD, Adadelta, Adagrad, RMSprop, Rprop
from .adam import Adam, AdamW
from .adam_variants import Adamax, NAdam, RAdam
from .lbfgs import LBFGS
from .matrix import Adafactor, Muon
from .optimizer import Optimizer
from .sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "optimizer",
    "swa_utils",
]

_bridge.register()


def __getattr__(name: str) -> Any:
    raise missing("optim", name, __all__)
