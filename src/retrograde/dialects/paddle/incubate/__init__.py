"""`paddle.incubate`: the functional derivatives of `paddle.incubate.autograd`, segments, a fused softmax, optimisers."""

from __future__ import annotations

from typing import Any

from .._api import missing as _missing
from .._api import submodule as _submodule
from . import autograd
from .operators import (
    graph_send_recv,
    identity_loss,
    segment_max,
    segment_mean,
    segment_min,
    segment_sum,
    softmax_mask_fuse,
    softmax_mask_fuse_upper_triangle,
)

__all__ = [
    "LookAhead", "ModelAverage", "autograd", "graph_send_recv", "identity_loss", "optimizer", "segment_max", "segment_mean",
    "segment_min", "segment_sum", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("LookAhead", "ModelAverage", "optimizer"):  # a program that asks for none of them need not load them
        module = _submodule(__name__, "optimizer")
        return module if name == "optimizer" else getattr(module, name)
    raise _missing("paddle.incubate", name, globals())
