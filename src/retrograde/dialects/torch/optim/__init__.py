"""`torch.optim`: optimisers, learning-rate schedules (`lr_scheduler`) and weight averaging (`swa_utils`)."""

import importlib
from typing import Any

from .._api import missing
from . import _bridge, lr_scheduler, optimizer
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rules import (
    ASGD, SGD, Adadelta, Adafactor, Adagrad, Adam, Adamax, AdamW, Muon, NAdam, RAdam, RMSprop, Rprop, SparseAdam,
)  # fmt: skip

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "optimizer", "swa_utils",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "swa_utils":  # it needs torch.nn, which optimisers do not
        return importlib.import_module(f"{__name__}.swa_utils")
    raise missing("torch.optim", name, __all__)
