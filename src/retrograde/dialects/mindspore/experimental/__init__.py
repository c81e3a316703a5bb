"""`mindspore.experimental`: the optimisers with parameter groups that may be changed between steps."""

from __future__ import annotations

from .._api import attributes
from . import optim

__getattr__ = attributes(globals())
