"""Functions of `paddle.incubate`: reductions of segments under their older names, masked softmax, a loss as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import dtype_of, shape_of
from ....ops.softmax import softmax
from .._promote import single
from .._tensor import from_array
from ..geometric import segment_max, segment_mean, segment_min, segment_sum, send_u_recv

__all__ = [
    "graph_send_recv", "identity_loss", "segment_max", "segment_mean", "segment_min", "segment_sum",
    "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle",
]  # fmt: skip


def graph_send_recv(x: Any, src_index: Any, dst_index: Any, pool_type: str = "sum", out_size: Any = None,
                    name: Any = None) -> Any:  # fmt: skip
    """The rows of x at the sources of edges, reduced at their destinations."""
    return send_u_recv(x, src_index, dst_index, pool_type.lower(), out_size)


def identity_loss(x: Any, reduction: str | int = "none") -> Any:
    """The tensor, its sum ("sum" or 0) or its mean ("mean" or 1)."""
    x = single("identity_loss", x)
    if reduction in ("sum", 0):
        return x.sum()
    if reduction in ("mean", 1):
        return x.mean()
    if reduction not in ("none", 2):
        raise ValueError(f"identity_loss: reduction must be 'sum', 'mean' or 'none', got {reduction!r}")
    return x


def softmax_mask_fuse(x: Any, mask: Any, name: Any = None) -> Any:
    """The softmax of x + mask along the last axis."""
    return softmax(x + mask, axis=len(shape_of(single("softmax_mask_fuse", x))) - 1)


def softmax_mask_fuse_upper_triangle(x: Any) -> Any:
    """The softmax along the last axis of matrices whose elements above the diagonal do not count."""
    x = single("softmax_mask_fuse_upper_triangle", x)
    n = len(shape_of(x))
    if n < 2:
        raise ValueError(f"softmax_mask_fuse_upper_triangle: wanted at least 2 axes, got {n}")
    above = np.triu(np.full(tuple(shape_of(x))[-2:], -np.inf), 1).astype(dtype_of(x))
    return softmax(x + from_array(above), axis=n - 1)
