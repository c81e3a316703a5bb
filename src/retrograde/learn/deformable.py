"""The deformable convolution: one that reads beside its grid, by offsets that are differentiated too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.unwrap import constant
from ..core.value import dtype_of, shape_of
from ..ops import comparison as cmp
from ..ops import contraction as ct
from ..ops import elementwise as ew
from ..ops import selection as sel
from ..ops import structural as st
from ..ops.indexing import take_along_axis

Pair = tuple[int, int]


def result_size(size: Pair, kernel: Pair, stride: Pair, pad: Pair, dilation: Pair) -> Pair:
    """The height and width of the result."""
    h, w = (
        (n + 2 * p - (d * (k - 1) + 1)) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, pad, dilation)
    )
    return h, w


def deformable_convolution(
    x: Any, offset: Any, weight: Any, mask: Any, stride: Pair, pad: Pair, dilation: Pair, groups: int, offset_groups: int
) -> Any:  # fmt: skip
    """The convolution of x (N, C, H, W) with weights (M, C / groups, kh, kw), each tap of which reads at its place moved by
    `offset` (N, offset_groups · kh · kw · 2, h, w: down and right), between places linearly, 0 outside; weighted by `mask`
    (N, offset_groups · kh · kw, h, w) unless it is None.
    """
    batch, channels, height, width = shape_of(x)
    out_channels, per_group, *kernel = shape_of(weight)
    h, w = result_size((height, width), (kernel[0], kernel[1]), stride, pad, dilation)
    taps, own, kind = kernel[0] * kernel[1], channels // offset_groups, dtype_of(x)
    grids = [
        np.arange(k, dtype=kind)[:, None] * d + np.arange(n, dtype=kind) * s - p
        for k, n, s, p, d in zip(kernel, (h, w), stride, pad, dilation)
    ]
    y, across = (
        np.broadcast_to(grid, (*kernel, h, w)).reshape(taps, h, w).copy()
        for grid in (grids[0][:, None, :, None], grids[1][None, :, None, :])
    )
    moved = st.reshape(offset, shape=(batch, offset_groups, taps, 2, h, w))
    every = slice(None)
    at = [ew.add(st.getitem(moved, index=(every, every, every, k)), grid) for k, grid in enumerate((y, across))]
    low = [sel.floor(constant(a)) for a in at]
    within = cmp.logical_and(*(cmp.greater(constant(a), -1) for a in at))  # at -1 itself there is no gradient
    part = [a - b for a, b in zip(at, low)]
    flat = st.reshape(x, shape=(batch, offset_groups, own, height * width))
    sampled: Any = None
    for down in (0, 1):
        for right in (0, 1):
            places = [low[0] + down, low[1] + right]
            there = within
            for place, n in zip(places, (height, width)):
                there = cmp.logical_and(there, cmp.logical_and(cmp.greater_equal(place, 0), cmp.less(place, n)))
            row, column = (sel.clip(p, low=0.0, high=float(n - 1)) for p, n in zip(places, (height, width)))
            index = st.cast(row * width + column, dtype=np.dtype(np.int64))
            index = st.reshape(index, shape=(batch, offset_groups, 1, taps * h * w))
            index = st.broadcast_to(index, shape=(batch, offset_groups, own, taps * h * w))
            shares = [p if upper else 1 - p for p, upper in zip(part, (down, right))]
            share = st.reshape(shares[0] * shares[1] * st.cast(there, dtype=kind), shape=(batch, offset_groups, 1, taps, h, w))
            taken = st.reshape(take_along_axis(flat, index, axis=3), shape=(batch, offset_groups, own, taps, h, w)) * share
            sampled = taken if sampled is None else sampled + taken
    if mask is not None:
        sampled = sampled * st.reshape(mask, shape=(batch, offset_groups, 1, taps, h, w))
    columns = st.reshape(sampled, shape=(batch, groups, per_group * taps, h * w))
    matrices = st.reshape(weight, shape=(groups, out_channels // groups, per_group * taps))
    return st.reshape(ct.matmul(matrices, columns), shape=(batch, out_channels, h, w))
