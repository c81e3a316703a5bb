"""`paddle.vision.ops`: boxes that overlap, and features of parts of images.

Where boxes lie decides which elements are read and with which weights; gradients flow to the features.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.unwrap import concrete
from ....core.value import dtype_of, shape_of
from ....ops import indexing as ix
from ....ops import reduction as rd
from ....ops import structural as st
from .._api import missing as _missing
from .._tensor import from_array
from ..nn.layer._row import layer
from .models._blocks import ConvNormActivation


def _overlaps(boxes: np.ndarray) -> np.ndarray:
    """The area that each two boxes share over the area that they cover."""
    low = np.maximum(boxes[:, None, :2], boxes[:, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[:, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=-1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=-1)
    with np.errstate(invalid="ignore"):
        return shared / (areas[:, None] + areas - shared)  # type: ignore[no-any-return]


def _kept(boxes: np.ndarray, threshold: float) -> list[int]:
    """Which boxes stay, in their order, when those that overlap too much with an earlier one go."""
    over, gone, kept = _overlaps(boxes) > threshold, np.zeros(len(boxes), bool), []
    for k in range(len(boxes)):
        if not gone[k]:
            kept.append(k)
            gone |= over[k]
    return kept


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
        return from_array(np.asarray(_kept(places, iou_threshold), np.int64))
    marks = concrete("nms", scores)
    if category_idxs is not None and categories is None:
        raise ValueError("nms: category_idxs needs categories, the numbers of all of them")
    group = np.zeros(len(places), int) if category_idxs is None else concrete("nms", category_idxs)
    found: list[int] = []
    for category in (0,) if category_idxs is None else categories:
        own = np.flatnonzero(group == category)
        order = own[np.argsort(-marks[own], kind="stable")]
        found += [int(order[k]) for k in _kept(places[order], iou_threshold)]
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


RoIAlign, RoIPool = (
    layer(name, "output_size, spatial_scale=1.0", f, f"`{f.__name__}` as a layer.", shows=False, named=False)
    for name, f in (("RoIAlign", roi_align), ("RoIPool", roi_pool))
)

__all__ = ["ConvNormActivation", "RoIAlign", "RoIPool", "nms", "roi_align", "roi_pool"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.vision.ops", name, __all__)
