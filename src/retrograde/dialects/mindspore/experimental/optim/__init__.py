"""`mindspore.experimental.optim`: optimisers whose options stand in `param_groups`, and schedulers of their rates."""

from __future__ import annotations

from ..._api import attributes
from . import lr_scheduler
from .optimizer import Optimizer
from .rules import ASGD, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop, Rprop
from ..._paths import offer_paths

__all__ = [
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SGD",
    "lr_scheduler",
]  # fmt: skip

__getattr__ = attributes(globals())

offer_paths(__name__)
