"""`paddle.vision.ops`: boxes that overlap, and features of parts of images.

Where boxes lie decides which elements are read and with which weights; gradients flow to the features.
"""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np

from ....core.unwrap import concrete
from ....core.value import shape_of
from ....learn.boxes import kept, largest, means, sampling, weighed, weighed_apart, whole
from ....learn.deformable import deformable_convolution, result_size
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
    matrix_nms,
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
        return from_array(np.asarray(kept(places, iou_threshold), np.int64))
    marks = concrete("nms", scores)
    if category_idxs is not None and categories is None:
        raise ValueError("nms: category_idxs needs categories, the numbers of all of them")
    group = np.zeros(len(places), int) if category_idxs is None else concrete("nms", category_idxs)
    found: list[int] = []
    for category in (0,) if category_idxs is None else categories:
        own = np.flatnonzero(group == category)
        order = own[np.argsort(-marks[own], kind="stable")]
        found += [int(order[k]) for k in kept(places[order], iou_threshold)]
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
    places, owners = _owners("roi_align", boxes, boxes_num, shape_of(x)[0])
    places = places * spatial_scale - (0.5 if aligned else 0.0)
    lengths = places[:, 2:] - places[:, :2]
    lengths = lengths if aligned else np.maximum(lengths, 1.0)
    down, across = (
        sampling(places[:, k], lengths[:, k], parts, sampling_ratio, shape_of(x)[3 - k], least=1)
        for k, parts in zip((1, 0), _pair(output_size))
    )
    return weighed(x, owners, down, across)


def roi_pool(x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: Any = None) -> Any:
    """The largest features (N, C, H, W) in the parts of each box, rounded to places: (boxes, C, h, w); 0 in empty parts."""
    places, owners = _owners("roi_pool", boxes, boxes_num, shape_of(x)[0])
    ends = np.floor(places * spatial_scale + 0.5).astype(int)
    lengths = np.maximum(ends[:, 2:] - ends[:, :2] + 1, 1)
    columns, rows = (
        whole(ends[:, k], np.arange(parts + 1) * lengths[:, k, None] / parts, shape_of(x)[3 - k])
        for k, parts in enumerate(reversed(_pair(output_size)))
    )
    return largest(x, concrete("roi_pool", x), owners, rows, columns)[0]


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
        weights.append(means(low, high, size))
    return weighed_apart(x, owners, *weights)


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
