"""`mindspore.experimental`: the optimisers with parameter groups that may be changed between steps."""

from __future__ import annotations

from typing import Any

from .._api import missing
from . import optim


def __getattr__(name: str) -> Any:
    raise missing("mindspore.experimental", name, globals())
