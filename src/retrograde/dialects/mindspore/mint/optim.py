"""`mindspore.mint.optim`: Adam, AdamW and SGD with `param_groups`."""

from __future__ import annotations

from .._api import attributes
from ..experimental.optim import SGD, Adam, AdamW

__all__ = ["Adam", "AdamW", "SGD"]

__getattr__ = attributes(globals())
