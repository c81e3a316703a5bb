"""`mindspore.mint.optim`: Adam, AdamW and SGD with `param_groups`."""

from __future__ import annotations

from typing import Any

from .._api import missing
from ..experimental.optim import SGD, Adam, AdamW

__all__ = ["Adam", "AdamW", "SGD"]


def __getattr__(name: str) -> Any:
    raise missing("mindspore.mint.optim", name, globals())
