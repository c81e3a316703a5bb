"""`torch.utils`: data loading, checkpointing, timing, nested containers."""

from __future__ import annotations

from .._api import attributes as _attributes

_SUBMODULES = (
    "_contextlib", "_foreach_utils", "_python_dispatch", "_pytree", "benchmark", "flop_counter", "model_zoo",
    "tensorboard", "checkpoint", "data", "dlpack", "hooks", "weak",
)  # fmt: skip

__getattr__ = _attributes(globals(), *_SUBMODULES)
