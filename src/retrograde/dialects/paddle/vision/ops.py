"""`paddle.vision.ops`: boxes that overlap, and features of parts of images.

Where boxes lie decides which elements are read and with which weights; gradients flow to the features.
"""

from __future__ import annotations

import importlib
import io
import math
from typing import Any

import numpy as np

from ....core.unwrap import concrete
from ....core.value import dtype_of, shape_of
from ....learn.deformable import deformable_convolution, result_size
from ....ops import contraction as ct
from ....ops import indexing as ix
from ....ops import reduction as rd
from ....ops import structural as st
from .._api import missing as _missing
from .._tensor import from_array
from ..nn.functional._arguments import per_axis
from ..nn.layer._row import layer
from ..nn.layer.conv import Conv2D
from ._detection import (
    box_coder,
    distribute_fpn_proposals,
    generate_proposals,
    kept,
    matrix_nms,
    overlaps,
    prior_box,
    yolo_box,
)  # fmt: skip
from .models._blocks import ConvNormActivation


def nms(
    boxes: Any, iou_threshold: float = 0.3, scores: Any = None, category_idxs: Any = None, categories: Any = None,
    top_k: int | None = None,
) -> Any:  # fmt: skip
    """The numbers of the boxes (N, 4) that stay when those go that overlap more than a threshold with a better one.

    scores: how good each is (the earlier the better, if left out), best first in the result. category_idxs: boxes of
    different categories do not compete. top_k: how many to return. Raises ValueError for categories without scores.
    """
    places = concrete("nms", boxes)
    if scores is None:
        return from_array(np.asarray(kept(overlaps(places), iou_threshold), np.int64))
    marks = concrete("nms", scores)
    if category_idxs is not None and categories is None:
        raise ValueError("nms: category_idxs needs categories, the numbers of all of them")
    group = np.zeros(len(places), int) if category_idxs is None else concrete("nms", category_idxs)
    found: list[int] = []
    for category in (0,) if category_idxs is None else categories:
        own = np.flatnonzero(group == category)
        order = own[np.argsort(-marks[own], kind="stable")]
        found += [int(order[k]) for k in kept(overlaps(places[order]), iou_threshold)]
    best = np.asarray(sorted(found, key=lambda k: -marks[k]), np.int64)
    if top_k is not None and top_k > len(places):
        raise AssertionError(f"nms: top_k must not be above the number of boxes, {len(places)}, got {top_k}")
    return from_array(best if top_k is None else best[:top_k])


def _owners(op: str, boxes: Any, boxes_num: Any, images: int) -> tuple[np.ndarray, np.ndarray]:
    """The boxes, and the image of each."""
    places, counts = concrete(op, boxes), concrete(op, boxes_num).reshape(-1)
    if places.ndim != 2 or places.shape[1] != 4 or len(counts) != images or counts.sum() != len(places):
        raise ValueError(f"{op}: boxes {list(places.shape)} and their numbers {counts.tolist()} do not fit {images} images")
    return places.astype(np.float64), np.repeat(np.arange(images), counts)


def _pair(size: Any) -> tuple[int, int]:
    return (int(size), int(size)) if isinstance(size, int) else (int(size[0]), int(size[1]))


def roi_align(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, sampling_ratio: int = -1,
    aligned: bool = True, name: Any = None,
) -> Any:  # fmt: skip
    """The means of features (N, C, H, W), read between their places, in the parts of each box: (boxes, C, h, w)."""
    op = "roi_align"
    images, channels, height, width = shape_of(x)
    places, owners = _owners(op, boxes, boxes_num, images)
    h, w = _pair(output_size)
    shift = 0.5 if aligned else 0.0
    found = []
    for (x1, y1, x2, y2), image in zip(places * spatial_scale - shift, owners):
        wide, high = x2 - x1, y2 - y1
        if not aligned:
            wide, high = max(wide, 1.0), max(high, 1.0)
        ny, nx = (sampling_ratio if sampling_ratio > 0 else max(math.ceil(s / n), 1) for s, n in ((high, h), (wide, w)))
        rows, columns = (start + (np.arange(n * m) + 0.5) * size / (n * m)
                         for start, size, n, m in ((y1, high, h, ny), (x1, wide, w, nx)))  # fmt: skip
        left, right = _between(rows, height, h), _between(columns, width, w)
        feature = st.getitem(x, index=(int(image),))
        across = ix.take(feature, right[0].reshape(-1), axis=2)
        across = st.reshape(across, shape=(channels, height, *right[0].shape)) * right[1].astype(dtype_of(x))
        across = rd.sum(across, axis=(3,), keepdims=False)
        down = st.reshape(ix.take(across, left[0].reshape(-1), axis=1), shape=(channels, *left[0].shape, w))
        found.append(rd.sum(down * left[1][..., None].astype(dtype_of(x)), axis=(2,), keepdims=False))
    return st.stack(*found, axis=0) if found else from_array(np.zeros((0, channels, h, w), dtype_of(x)))


def _between(at: np.ndarray, n: int, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """For positions along an axis, which belong to some parts in turn: the places that each part reads, and their weights."""
    outside = (at < -1.0) | (at > n)
    at = np.clip(at, 0, n - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, n - 1)
    rest = np.where(low >= n - 1, 0.0, at - low)
    weights = np.stack([1 - rest, rest], -1) * ~outside[:, None] / (len(at) // parts)
    return np.stack([low, high], -1).reshape(parts, -1), weights.reshape(parts, -1)


def roi_pool(x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: Any = None) -> Any:
    """The largest features (N, C, H, W) in the parts of each box, rounded to places: (boxes, C, h, w); 0 in empty parts."""
    op = "roi_pool"
    images, channels, height, width = shape_of(x)
    places, owners = _owners(op, boxes, boxes_num, images)
    h, w = _pair(output_size)
    array = concrete(op, x)
    which = np.zeros((len(places), channels, h, w), np.int64)
    there = np.zeros((len(places), 1, h, w), bool)
    corners = np.floor(places * spatial_scale + 0.5).astype(int)
    for k, ((x1, y1, x2, y2), image) in enumerate(zip(corners, owners)):
        high, wide = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for i in range(h):
            top, bottom = (min(max(f(m * high / h) + y1, 0), height) for f, m in ((math.floor, i), (math.ceil, i + 1)))
            for j in range(w):
                left, right = (min(max(f(m * wide / w) + x1, 0), width) for f, m in ((math.floor, j), (math.ceil, j + 1)))
                if bottom > top and right > left:
                    part = array[image, :, top:bottom, left:right].reshape(channels, -1).argmax(1)
                    row, column = np.divmod(part, right - left)
                    which[k, :, i, j] = (row + top) * width + column + left
                    there[k, 0, i, j] = True
    flat = st.reshape(x, shape=(images, channels, height * width))
    item = np.broadcast_to(owners[:, None, None, None], which.shape)
    channel = np.broadcast_to(np.arange(channels)[:, None, None], which.shape)
    return ix.advanced_index(flat, item, channel, which, axes=(0, 1, 2)) * there.astype(dtype_of(x))


def psroi_pool(x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: Any = None) -> Any:
    """The means of features (N, C · h · w, H, W) in the parts of each box, each part in channels of its own: (boxes, C, h, w)."""
    op = "psroi_pool"
    images, channels, height, width = shape_of(x)
    places, owners = _owners(op, boxes, boxes_num, images)
    h, w = _pair(output_size)
    if channels % (h * w):
        raise ValueError(f"{op}: {channels} channels are no multiple of {h} times {w}, one for each part")
    ends = np.floor(places + 0.5) * spatial_scale
    ends[:, 2:] += spatial_scale
    weights = []
    for axis, parts, size in ((1, h, height), (0, w, width)):
        start, length = ends[:, axis, None], np.maximum(ends[:, axis + 2] - ends[:, axis], 0.1)[:, None]
        low = np.clip(np.floor(np.arange(parts) * length / parts + start), 0, size)
        high = np.clip(np.ceil(np.arange(1, parts + 1) * length / parts + start), 0, size)
        at = np.arange(size)
        inside = (at >= low[..., None]) & (at < high[..., None])
        weights.append((inside / np.maximum(high - low, 1)[..., None]).astype(dtype_of(x)))
    features = st.reshape(ix.take(x, owners, axis=0), shape=(len(owners), channels // (h * w), h, w, height, width))
    across = ct.matmul(features, weights[1][:, None, None, :, :, None])
    down = ct.matmul(np.ascontiguousarray(weights[0][:, None, :, None, None, :]), across)
    return st.reshape(down, shape=(len(owners), channels // (h * w), h, w))


def deform_conv2d(
    x: Any, offset: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    deformable_groups: int = 1, groups: int = 1, mask: Any = None, name: Any = None,
) -> Any:  # fmt: skip
    """A convolution that reads beside its grid by `offset`, between places linearly, weighted by `mask` if there is one."""
    op = "deform_conv2d"
    steps, pads, apart = (
        per_axis(op, what, v, 2) for what, v in (("stride", stride), ("padding", padding), ("dilation", dilation))
    )
    batch, channels, *size = shape_of(x)
    kernel = shape_of(weight)[2:]
    taps = deformable_groups * kernel[0] * kernel[1]
    space = result_size((size[0], size[1]), (kernel[0], kernel[1]), steps, pads, apart)
    if channels != groups * shape_of(weight)[1] or channels % deformable_groups:
        raise ValueError(f"{op}: weights {list(shape_of(weight))} and the groups do not fit {channels} channels")
    for what, given, wanted in (("offset", offset, 2 * taps), ("mask", mask, taps)):
        if given is not None and tuple(shape_of(given)) != (batch, wanted, *space):
            raise ValueError(f"{op}: {what} must have the shape {[batch, wanted, *space]}, got {list(shape_of(given))}")
    out = deformable_convolution(x, offset, weight, mask, steps, pads, apart, groups, deformable_groups)
    return out if bias is None else out + st.reshape(bias, shape=(1, shape_of(weight)[0], 1, 1))


class DeformConv2D(Conv2D):
    """`deform_conv2d` with trained weights (out, in / groups, kh, kw)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        deformable_groups: int = 1, groups: int = 1, weight_attr: Any = None, bias_attr: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, weight_attr=weight_attr,
                         bias_attr=bias_attr)  # fmt: skip
        self._deformable_groups = deformable_groups

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:  # type: ignore[override]
        """The convolution of x beside its grid."""
        return deform_conv2d(x, offset, self.weight, self.bias, self._stride, self._padding, self._dilation,
                             self._deformable_groups, self._groups, mask)  # fmt: skip


def read_file(filename: str, name: Any = None) -> Any:
    """The bytes of a file."""
    return from_array(np.fromfile(filename, np.uint8))


def decode_jpeg(x: Any, mode: str = "unchanged", name: Any = None) -> Any:
    """The pixels (C, H, W) of the bytes of an image, through Pillow; raises RuntimeError where that is not installed."""
    modes = {"unchanged": None, "gray": "L", "rgb": "RGB"}
    if mode not in modes:
        raise ValueError(f"decode_jpeg: mode must be unchanged, gray or rgb, got {mode!r}")
    try:
        pillow = importlib.import_module("PIL.Image")
    except ImportError:
        raise RuntimeError("decode_jpeg: Pillow decodes images; install it, or hand over pixels") from None
    image = pillow.open(io.BytesIO(concrete("decode_jpeg", x).tobytes()))
    pixels = np.asarray(image if modes[mode] is None else image.convert(modes[mode]))
    return from_array(np.ascontiguousarray(pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)))


RoIAlign, RoIPool, PSRoIPool = (
    layer(name, "output_size, spatial_scale=1.0", f, f"`{f.__name__}` as a layer.", shows=False, named=False)
    for name, f in (("RoIAlign", roi_align), ("RoIPool", roi_pool), ("PSRoIPool", psroi_pool))
)

__all__ = [
    "ConvNormActivation", "DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "box_coder", "decode_jpeg", "deform_conv2d",
    "distribute_fpn_proposals", "generate_proposals", "matrix_nms", "nms", "prior_box", "psroi_pool", "read_file", "roi_align",
    "roi_pool", "yolo_box",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "yolo_loss":
        raise AttributeError("paddle.vision.ops.yolo_loss is not built; write the loss on yolo_box's features with operators")
    raise _missing("paddle.vision.ops", name, __all__)
