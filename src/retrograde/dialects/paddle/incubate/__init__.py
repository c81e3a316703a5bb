"""`paddle.incubate`: the functional derivatives of `paddle.incubate.autograd`, segments, a fused softmax, optimisers."""

from __future__ import annotations

from .._api import attributes as _attributes
from . import autograd
from .operators import (
    graph_send_recv, identity_loss, segment_max, segment_mean, segment_min, segment_sum, softmax_mask_fuse,
    softmax_mask_fuse_upper_triangle,
)  # fmt: skip

__all__ = [
    "LookAhead", "ModelAverage", "autograd", "graph_send_recv", "identity_loss", "optimizer", "segment_max", "segment_mean",
    "segment_min", "segment_sum", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle",
]  # fmt: skip

# a program that asks for none of them need not load them
__getattr__ = _attributes(globals(), "optimizer", LookAhead="optimizer", ModelAverage="optimizer")
