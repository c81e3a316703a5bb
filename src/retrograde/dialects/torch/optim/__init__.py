"""`torch.optim`: optimisers, learning-rate schedules (`lr_scheduler`) and weight averaging (`swa_utils`)."""

import importlib
from typing import Any

from .._api import missing
from . import _bridge, lr_scheduler, optimizer
from ._adafactor import Adafactor
from ._muon import Muon
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

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
    "SparseAdam",
    "lr_scheduler",
    "optimizer",
    "swa_utils",
]


def __getattr__(name: str) -> Any:
    if name == "swa_utils":  # it needs torch.nn, which optimisers do not
        return importlib.import_module(f"{__name__}.swa_utils")
    raise missing("torch.optim", name, __all__)
