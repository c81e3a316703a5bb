"""`paddle.incubate`: the functional derivatives of `paddle.incubate.autograd`, segments, a fused softmax."""

from __future__ import annotations

from typing import Any

from .._api import missing as _missing
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
    "autograd", "graph_send_recv", "identity_loss", "segment_max", "segment_mean", "segment_min", "segment_sum",
    "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise _missing("paddle.incubate", name, globals())
