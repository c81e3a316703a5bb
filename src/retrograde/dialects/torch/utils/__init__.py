"""`torch.utils`: data loading, checkpointing, timing, nested containers."""

from __future__ import annotations

from typing import Any as _Any

from .._api import missing as _missing
from .._api import submodule as _submodule

_SUBMODULES = (
    "_contextlib", "_foreach_utils", "_python_dispatch", "_pytree", "benchmark", "flop_counter", "model_zoo",
    "tensorboard", "checkpoint", "data", "dlpack", "hooks", "weak",
)  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _SUBMODULES:
        return _submodule(__name__, name)
    raise _missing("torch.utils", name, (*globals(), *_SUBMODULES))
