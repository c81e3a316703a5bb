"""`torch.nn.functional`: layers as functions. The functions live in topic files, named here one by one."""

from __future__ import annotations

from typing import Any as _Any

from ..._api import missing as _missing


def __getattr__(name: str) -> _Any:
    raise _missing("nn.functional", name, globals())
