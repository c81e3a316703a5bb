"""`mindspore.experimental.optim`: optimisers whose options stand in `param_groups`, and schedulers of their rates."""

from __future__ import annotations

from typing import Any

from ..._api import missing
from . import lr_scheduler
from .optimizer import Optimizer
from .rules import ASGD, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop, Rprop
from ..._paths import offer_paths

__all__ = [
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SGD",
    "lr_scheduler",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise missing("mindspore.experimental.optim", name, globals())


offer_paths(__name__)
