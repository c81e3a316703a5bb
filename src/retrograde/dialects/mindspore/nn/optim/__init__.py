"""`mindspore.nn.optim`: the optimisers."""

from __future__ import annotations

from .lars import LARS
from .optimizer import Optimizer
from .rules import (
    ASGD, FTRL, SGD, Adadelta, AdaFactor, Adagrad, Adam, AdaMax, AdamOffload, AdamWeightDecay, Lamb, LazyAdam,
    Momentum, ProximalAdagrad, RMSProp, Rprop,
)  # fmt: skip
from ..._paths import offer_paths

__all__ = [
    "ASGD", "AdaFactor", "Adadelta", "Adagrad", "Adam", "AdaMax", "AdamOffload", "AdamWeightDecay", "FTRL", "LARS", "Lamb",
    "LazyAdam", "Momentum", "Optimizer", "ProximalAdagrad", "RMSProp", "Rprop", "SGD",
]  # fmt: skip


offer_paths(__name__)
