"""`paddle.distributed.fleet`: `utils.recompute` only."""

from __future__ import annotations

from typing import Any

from ..._api import missing as _missing
from ..._api import submodule as _submodule


def __getattr__(name: str) -> Any:
    if name == "utils":
        return _submodule(__name__, name)
    raise _missing("paddle.distributed.fleet", name, ("utils",))
