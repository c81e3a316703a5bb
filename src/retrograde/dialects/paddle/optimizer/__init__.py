"""`paddle.optimizer`: optimisers and learning-rate schedules."""

from __future__ import annotations

from typing import Any

from .._paths import otherwise
from . import lr
from .optimizer import Optimizer
from .rules import ASGD, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lamb, Momentum, NAdam, RAdam, RMSProp, Rprop

__all__ = [
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Lamb", "Momentum", "NAdam", "Optimizer", "RAdam",
    "RMSProp", "Rprop", "SGD", "lr",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "LBFGS":
        from .lbfgs import LBFGS

        return LBFGS
    return otherwise("paddle.optimizer", name, __all__)
