"""Blocks of pixels moved between space, channels and batch; masks of sequences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.value import shape_of
from ...ops import manipulation as mp
from ...ops import structural as st
from .._shared.axes import integers
from ._api import api
from ._promote import tensor_argument
from ._tensor import from_array

# ------------------------------------------------------------------------------------------ blocks and patches


def _space(op: str, x: Any, factor: int, channels: bool) -> tuple[int, int, int, int]:
    have = tuple(shape_of(x))
    if len(have) != 4:
        raise ValueError(f"{op}: wanted a tensor of shape (N, C, H, W), got {have}")
    n, c, h, w = have
    if factor < 2 or (channels and c % factor**2) or (not channels and (h % factor or w % factor)):
        raise ValueError(f"{op}: the shape {have} cannot be divided by a block of {factor}")
    return n, c, h, w


def depth_to_space(x: Any, block: int) -> Any:
    """Channels rearranged into blocks of pixels, the block position leading."""
    n, c, h, w = _space("DepthToSpace", x, block, True)
    x = st.reshape(x, shape=(n, block, block, c // block**2, h, w))
    return st.reshape(st.transpose(x, axes=(0, 3, 4, 1, 5, 2)), shape=(n, c // block**2, h * block, w * block))


def space_to_depth(x: Any, block: int) -> Any:
    """Blocks of pixels rearranged into channels, the block position leading."""
    n, c, h, w = _space("SpaceToDepth", x, block, False)
    x = st.reshape(x, shape=(n, c, h // block, block, w // block, block))
    return st.reshape(st.transpose(x, axes=(0, 3, 5, 1, 2, 4)), shape=(n, c * block**2, h // block, w // block))


@api(method=False)
def space_to_batch_nd(input_x: Any, block_size: Any, paddings: Any) -> Any:
    """Blocks of positions moved to the batch axis, after padding with zeros."""
    x = tensor_argument("space_to_batch_nd", input_x, "input_x")
    blocks = integers("space_to_batch_nd", "block_size", block_size)
    n = len(shape_of(x))
    m = len(blocks)
    first = n - m
    widths = ((0, 0),) * first + tuple(tuple(p) for p in paddings)
    x = mp.pad_constant(x, widths=widths, value=0.0)
    have = tuple(shape_of(x))
    if any(k % b for k, b in zip(have[first:], blocks)):
        raise ValueError(f"space_to_batch_nd: blocks {blocks} do not divide the padded sizes {have[first:]}")
    split_up = [*have[:first]]
    for k, b in zip(have[first:], blocks):
        split_up += [k // b, b]
    y = st.reshape(x, shape=tuple(split_up))
    order = [first + 2 * i + 1 for i in range(m)] + list(range(first)) + [first + 2 * i for i in range(m)]
    y = st.transpose(y, axes=tuple(order))
    return st.reshape(y, shape=(math.prod(blocks) * have[0], *have[1:first], *(k // b for k, b in zip(have[first:], blocks))))


@api(method=False)
def batch_to_space_nd(input_x: Any, block_shape: Any, crops: Any) -> Any:
    """Blocks of positions moved back from the batch axis, then cropped."""
    x = tensor_argument("batch_to_space_nd", input_x, "input_x")
    have = tuple(shape_of(x))
    blocks = integers("batch_to_space_nd", "block_shape", block_shape)
    blocks = blocks * (len(crops) // len(blocks))
    m = len(blocks)
    first = len(have) - m
    if have[0] % math.prod(blocks):
        raise ValueError(f"batch_to_space_nd: blocks {blocks} do not divide a batch of {have[0]}")
    y = st.reshape(x, shape=(*blocks, have[0] // math.prod(blocks), *have[1:]))
    order = list(range(m, m + first))
    for i in range(m):
        order += [m + first + i, i]
    space = (k * b for k, b in zip(have[first:], blocks))
    y = st.reshape(st.transpose(y, axes=tuple(order)), shape=(have[0] // math.prod(blocks), *have[1:first], *space))
    index = (slice(None),) * first + tuple(
        slice(int(c[0]), k * b - int(c[1])) for c, k, b in zip(crops, have[first:], blocks))  # fmt: skip
    return st.getitem(y, index=index)


@api(method=False)
def padding(x: Any, pad_dim_size: int = 8) -> Any:
    """The last axis, of length 1, lengthened with zeros."""
    x = tensor_argument("padding", x, "x")
    if len(shape_of(x)) < 2 or shape_of(x)[-1] != 1:
        raise ValueError(f"padding: the last of at least two axes must have length 1, got {tuple(shape_of(x))}")
    widths = ((0, 0),) * (len(shape_of(x)) - 1) + ((0, pad_dim_size - 1),)
    return mp.pad_constant(x, widths=widths, value=0.0)


@api(method=False)
def sequence_mask(lengths: Any, maxlen: Any = None) -> Any:
    """For each length the mask of the positions before it."""
    array = tensor_argument("sequence_mask", lengths, "lengths")._concrete("sequence_mask")
    n = int(array.max()) if maxlen is None else int(maxlen)
    return from_array(np.arange(n) < array[..., None])
