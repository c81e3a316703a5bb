"""Boxes, regions and colours of images: functions of `mindspore.ops`, and rows of the table of Primitive classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import dtype_of
from ...ops import elementwise as ew
from ...ops import structural as st
from ...ops.indexing import take
from .._shared.axes import integers
from . import _activations, _binary, _gather, _joining, _reductions, _resample
from ._api import api
from ._promote import FLOATING, single, tensor_argument
from ._tensor import from_array

Function = Callable[..., Any]

# ------------------------------------------------------------------------------------------ boxes


def _boxes(op: str, x: Any, name: str) -> Any:
    x = single(op, x, FLOATING)
    if x.ndim != 2 or x.shape[1] != 4:
        raise ValueError(f"{op}: {name} must have shape (n, 4), got {x.shape}")
    return x


def _sides(boxes: Any) -> tuple[Any, Any]:
    """The middles and the lengths of the sides of boxes (x0, y0, x1, y1), whose last pixel belongs to them."""
    low, high = boxes[:, :2], boxes[:, 2:]
    return (low + high) * 0.5, high - low + 1.0


@api(method=False)
def bounding_box_encode(
    anchor_box: Any, groundtruth_box: Any, means: Any = (0.0,) * 4, stds: Any = (1.0,) * 4
) -> Any:  # fmt: skip
    """How to move and stretch boxes so that they become others: shifts in their sizes, and logarithms of the stretching."""
    op = "bounding_box_encode"
    a, b = _boxes(op, anchor_box, "anchor_box"), _boxes(op, groundtruth_box, "groundtruth_box")
    (middle, size), (wanted, wanted_size) = _sides(a), _sides(b)
    moves = _joining.cat(((wanted - middle) / size, ew.log(wanted_size / size)), 1)
    return (moves - from_array(np.asarray(means, dtype_of(moves)))) / from_array(np.asarray(stds, dtype_of(moves)))


@api(method=False)
def bounding_box_decode(
    anchor_box: Any, deltas: Any, max_shape: Any, means: Any = (0.0,) * 4, stds: Any = (1.0,) * 4, wh_ratio_clip: float = 0.016
) -> Any:  # fmt: skip
    """Boxes moved and stretched as `bounding_box_encode` says, within an image of (height, width)."""
    a, d = _boxes("bounding_box_decode", anchor_box, "anchor_box"), _boxes("bounding_box_decode", deltas, "deltas")
    d = d * from_array(np.asarray(stds, dtype_of(d))) + from_array(np.asarray(means, dtype_of(d)))
    most = abs(float(np.log(wh_ratio_clip)))
    middle, size = _sides(a)
    middle, size = middle + size * d[:, :2], size * ew.exp(_binary.clamp(d[:, 2:], -most, most))
    height, width = integers("bounding_box_decode", "max_shape", max_shape)[:2]
    ends = []
    for k, last in enumerate((width, height)):
        half = size[:, k] * 0.5 - 0.5
        ends.append([_binary.clamp(middle[:, k] + sign * half, 0, last) for sign in (-1.0, 1.0)])
    (x0, x1), (y0, y1) = ends
    return _joining.stack((x0, y0, x1, y1), 1)


@api(method=False)
def check_valid(bboxes: Any, img_metas: Any) -> Any:
    """For each box (x0, y0, x1, y1) whether it lies in an image; (height, width, ratio) say how large that is."""
    x = np.asarray(_boxes("check_valid", bboxes, "bboxes")._concrete("check_valid"))
    height, width, ratio = np.asarray(tensor_argument("check_valid", img_metas)._concrete("check_valid"))[:3]
    ends = np.asarray([width * ratio - 1, height * ratio - 1] * 2)
    return from_array((x[:, :2] >= 0).all(axis=1) & (x[:, 2:] <= ends[2:]).all(axis=1))


def _overlaps(x: np.ndarray, extra: float) -> np.ndarray:
    """For every pair of boxes their common area over that of both; `extra` belongs to each side."""
    low = np.maximum(x[:, None, :2], x[None, :, :2])
    high = np.minimum(x[:, None, 2:], x[None, :, 2:])
    common = np.prod(np.maximum(high - low + extra, 0), axis=-1)
    area = np.prod(x[:, 2:] - x[:, :2] + extra, axis=-1)
    both = area[:, None] + area[None, :] - common
    return common / np.where(both > 0, both, 1)


def _suppressed(order: np.ndarray, overlaps: np.ndarray, limit: float, most: int) -> list[int]:
    """The places in order of those that overlap with none before them by more than the limit."""
    kept: list[int] = []
    for i in order.tolist():
        if len(kept) == most:
            break
        if all(overlaps[i, j] <= limit for j in kept):
            kept.append(i)
    return kept


def _value(op: str, x: Any) -> Any:
    return x._concrete(op).item() if hasattr(x, "_concrete") else x


def _nms(boxes: Any, scores: Any, most: Any, limit: Any, least: Any) -> Any:
    op = "NonMaxSuppressionV3"
    x, s = np.asarray(boxes._concrete(op)), np.asarray(scores._concrete(op))
    x = np.concatenate([np.minimum(x[:, :2], x[:, 2:]), np.maximum(x[:, :2], x[:, 2:])], axis=1)
    order = np.argsort(-s, kind="stable")
    order = order[s[order] > _value(op, least)]
    kept = _suppressed(order, _overlaps(x, 0.0), _value(op, limit), int(_value(op, most)))
    return from_array(np.asarray(kept, np.int32))


def _nms_of_overlaps(overlaps: Any, scores: Any, most: Any, limit: Any, least: Any) -> Any:
    op = "NonMaxSuppressionWithOverlaps"
    s = np.asarray(scores._concrete(op))
    order = np.argsort(-s, kind="stable")
    order = order[s[order] > _value(op, least)]
    kept = _suppressed(order, np.asarray(overlaps._concrete(op)), _value(op, limit), int(_value(op, most)))
    return from_array(np.asarray(kept, np.int32))


def _nms_with_mask(bboxes: Any, *, iou_threshold: float) -> tuple[Any, Any, Any]:
    """Boxes with scores in order of these, their numbers in it, and whether each overlaps with none of those that are kept."""
    x = np.asarray(tensor_argument("NMSWithMask", bboxes)._concrete("NMSWithMask"))
    if x.ndim != 2 or x.shape[1] != 5:
        raise ValueError(f"NMSWithMask: bboxes must have shape (n, 5), got {x.shape}")
    order = np.argsort(-x[:, 4], kind="stable")
    kept = _suppressed(np.arange(len(x)), _overlaps(x[order, :4], 0.0), iou_threshold, len(x))
    mask = np.zeros(len(x), bool)
    mask[kept] = True
    return from_array(x[order]), from_array(np.arange(len(x), dtype=np.int32)), from_array(mask)


# ------------------------------------------------------------------------------------------ regions


def _sampled(image: Any, rows: np.ndarray, ys: np.ndarray, xs: np.ndarray) -> Any:
    """The pixels (n, height, width, channels) of images (N, H, W, C) at places between pixels: linear in both directions."""
    height, width = image.shape[1:3]
    y0, x0 = np.floor(ys).astype(np.int64), np.floor(xs).astype(np.int64)
    y0, x0 = np.clip(y0, 0, height - 1), np.clip(x0, 0, width - 1)
    y1, x1 = np.minimum(y0 + 1, height - 1), np.minimum(x0 + 1, width - 1)
    dy, dx = (ys - y0)[..., None], (xs - x0)[..., None]
    total: Any = 0
    for y, wy in ((y0, 1 - dy), (y1, dy)):
        for x, wx in ((x0, 1 - dx), (x1, dx)):
            weight = from_array((wy * wx).astype(dtype_of(image)))
            total = total + image[tuple(from_array(i) for i in np.broadcast_arrays(rows, y, x))] * weight
    return total


@api(method=False)
def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear", extrapolation_value: float = 0.0
) -> Any:  # fmt: skip
    """Parts (y0, x0, y1, x1 in shares of an image) of images (N, H, W, C), each brought to one size."""
    op = "crop_and_resize"
    x = single(op, image, FLOATING)
    if method not in ("bilinear", "nearest", "bilinear_v2"):
        raise ValueError(f"{op}: method must be 'bilinear', 'nearest' or 'bilinear_v2', got {method!r}")
    if x.ndim != 4:
        raise ValueError(f"{op}: image must have 4 axes, got shape {x.shape}")
    parts = np.asarray(_boxes(op, boxes, "boxes")._concrete(op), np.float64)
    rows = np.asarray(box_indices._concrete(op))[:, None, None]
    size = integers(op, "crop_size", crop_size)
    if method == "bilinear_v2":
        raise ValueError(f"{op}: method 'bilinear_v2' is not supported; use 'bilinear'")
    places = []
    for k, (n, m) in enumerate(zip(x.shape[1:3], size)):
        low, high = parts[:, k : k + 1] * (n - 1), parts[:, k + 2 : k + 3] * (n - 1)
        steps = np.arange(m)[None, :]
        places.append(low + steps * (high - low) / (m - 1) if m > 1 else (low + high) / 2)
    ys, xs = places[0][:, :, None], places[1][:, None, :]
    inside = (ys >= 0) & (ys <= x.shape[1] - 1) & (xs >= 0) & (xs <= x.shape[2] - 1)
    ys, xs = (np.round(v) if method == "nearest" else v for v in np.broadcast_arrays(ys, xs))
    found = _sampled(x, np.broadcast_to(rows, ys.shape), np.where(inside, ys, 0), np.where(inside, xs, 0))
    return _gather.where(from_array(np.broadcast_to(inside[..., None], found.shape).copy()), found, float(extrapolation_value))


def _roi_align(x: Any, rois: Any, *, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int,
               roi_end_mode: int) -> Any:  # fmt: skip
    """The means over regions (image, x0, y0, x1, y1) of images (N, C, H, W), each divided into as many parts."""
    x = single("ROIAlign", x, FLOATING)
    regions = np.asarray(tensor_argument("ROIAlign", rois, "rois")._concrete("ROIAlign"), np.float64)
    image = st.transpose(x, axes=(0, 2, 3, 1))
    out = []
    for row in regions:
        x0, y0 = row[1] * spatial_scale, row[2] * spatial_scale
        width, height = ((row[3 + k] + roi_end_mode) * spatial_scale - v for k, v in enumerate((x0, y0)))
        if not roi_end_mode:
            width, height = max(width, 1.0), max(height, 1.0)
        lengths = ((height, pooled_height), (width, pooled_width))
        counts = [sample_num if sample_num > 0 else int(np.ceil(n / m)) for n, m in lengths]
        ys, xs = (
            start + (np.arange(m * count) + 0.5) * length / (m * count)
            for start, length, m, count in ((y0, height, pooled_height, counts[0]), (x0, width, pooled_width, counts[1]))
        )
        ys, xs = np.meshgrid(ys, xs, indexing="ij")
        h, w = image.shape[1:3]
        inside = (ys >= -1) & (ys <= h) & (xs >= -1) & (xs <= w)
        ys, xs = np.clip(ys, 0, h - 1), np.clip(xs, 0, w - 1)
        found = _sampled(image, np.full(ys.shape, int(row[0])), ys, xs) * from_array(inside[..., None].astype(dtype_of(x)))
        parts = st.reshape(found, shape=(pooled_height, counts[0], pooled_width, counts[1], x.shape[1]))
        out.append(_reductions.mean(parts, (1, 3)))
    return st.transpose(_joining.stack(out, 0), axes=(0, 3, 1, 2))


# ------------------------------------------------------------------------------------------ colours


def _hsv(rgb: np.ndarray) -> np.ndarray:
    """Hue, saturation and value of colours along the last axis, all between 0 and 1."""
    r, g, b = np.moveaxis(rgb, -1, 0)
    value = rgb.max(axis=-1)
    span = value - rgb.min(axis=-1)
    by = np.where(span == 0, 1, span)
    sector = np.where(value == r, (g - b) / by % 6, np.where(value == g, (b - r) / by + 2, (r - g) / by + 4))
    return np.stack([np.where(span == 0, 0, sector / 6), span / np.where(value == 0, 1, value), value], axis=-1)


def _rgb(hsv: np.ndarray) -> np.ndarray:
    """The colours of hues, saturations and values along the last axis."""
    hue, saturation, value = np.moveaxis(hsv, -1, 0)
    turns = [(n + hue * 6) % 6 for n in (5, 3, 1)]
    return np.stack([value - value * saturation * np.clip(np.minimum(k, 4 - k), 0, 1) for k in turns], axis=-1)


def _colours(op: str, x: Any, convert: Callable[[np.ndarray], np.ndarray]) -> Any:
    x = tensor_argument(op, x)
    if not x.ndim or x.shape[-1] != 3:
        raise ValueError(f"{op}: the last axis must hold three colours, got shape {x.shape}")
    return from_array(convert(np.asarray(x._concrete(op))).astype(dtype_of(x)))


def _adjusted(op: str, images: Any, place: int, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Images with their hue (0) or saturation (1) changed."""

    def convert(rgb: np.ndarray) -> np.ndarray:
        hsv = _hsv(rgb)
        hsv[..., place] = change(hsv[..., place])
        return _rgb(hsv)

    return _colours(op, images, convert)


def _adjust_hue(images: Any, delta: Any) -> Any:
    return _adjusted("AdjustHue", images, 0, lambda hue: (hue + _value("AdjustHue", delta)) % 1.0)


def _adjust_saturation(images: Any, scale: Any) -> Any:
    return _adjusted("AdjustSaturation", images, 1, lambda s: np.clip(s * _value("AdjustSaturation", scale), 0, 1))


def _adjust_contrast(images: Any, factor: Any) -> Any:
    x = single("AdjustContrastv2", images, FLOATING)
    middle = _reductions.mean(x, (-3, -2), True)
    return (x - middle) * float(_value("AdjustContrastv2", factor)) + middle


# ------------------------------------------------------------------------------------------ sizes


def _nearest(x: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    x = single("ResizeNearestNeighborV2", x, FLOATING)
    out = integers("ResizeNearestNeighborV2", "size", size)
    if not align_corners:
        return _resample.interpolate(x, out, mode="nearest-exact" if half_pixel_centers else "nearest")
    for axis, (n, m) in enumerate(zip(x.shape[2:], out), 2):  # the first and last elements stay where they are
        x = take(x, np.round(np.arange(m) * ((n - 1) / max(m - 1, 1))).astype(np.int64), axis=axis)
    return x


def _linear(x: Any, size: Any, *, coordinate_transformation_mode: str) -> Any:
    align = coordinate_transformation_mode == "align_corners"
    return _resample.interpolate(x, integers("ResizeLinear1D", "size", size), mode="linear", align_corners=align)


def _upsampled(mode: str) -> Function:
    def run(x: Any, output_size: Any = None, scales: Any = None, *, align_corners: bool | None = None) -> Any:
        return _resample.interpolate(x, output_size, None if scales is None else tuple(scales), mode, align_corners)

    return run


_RESIZE = "align_corners=False, half_pixel_centers=False"
_CODING = "means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)"

ROWS: dict[str, tuple[str, Function]] = {
    "BoundingBoxEncode": (_CODING, bounding_box_encode), "CheckValid": ("", check_valid),
    "BoundingBoxDecode": (f"max_shape, {_CODING}, wh_ratio_clip=0.016", bounding_box_decode),
    "NonMaxSuppressionV3": ("", _nms), "NonMaxSuppressionWithOverlaps": ("", _nms_of_overlaps),
    "NMSWithMask": ("iou_threshold=0.5", _nms_with_mask),
    "CropAndResize": ('method="bilinear", extrapolation_value=0.0', crop_and_resize),
    "ROIAlign": ("pooled_height, pooled_width, spatial_scale, sample_num=2, roi_end_mode=1", _roi_align),
    "RGBToHSV": ("", lambda x: _colours("RGBToHSV", x, _hsv)),
    "HSVToRGB": ("", lambda x: _colours("HSVToRGB", x, _rgb)),
    "AdjustHue": ("", _adjust_hue), "AdjustSaturation": ("", _adjust_saturation), "AdjustContrastv2": ("", _adjust_contrast),
    "ResizeNearestNeighborV2": (_RESIZE, _nearest),
    "ResizeLinear1D": ('coordinate_transformation_mode="align_corners"', _linear),
    "UpsampleNearest3D": ("", _upsampled("nearest")),
    "UpsampleTrilinear3D": ("align_corners=False", _upsampled("trilinear")),
}  # fmt: skip


@api(method=False)
def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Any:
    """For every pair of boxes (x0, y0, x1, y1) their common area over the area of both ("iou") or of the second ("iof")."""
    a, b = single("iou", anchor_boxes, FLOATING), single("iou", gt_boxes, FLOATING)
    if mode not in ("iou", "iof"):
        raise ValueError(f"iou: mode must be 'iou' or 'iof', got {mode!r}")
    # As MindSpore counts: a box has its last pixel too.
    low, high = _binary.maximum(a[None, :, :2], b[:, None, :2]), _binary.minimum(a[None, :, 2:], b[:, None, 2:])
    sides = _activations.relu(high - low + 1.0)
    common = sides[..., 0] * sides[..., 1]
    first, second = ((x[:, 2] - x[:, 0] + 1.0) * (x[:, 3] - x[:, 1] + 1.0) for x in (a, b))
    return common / (first[None, :] + second[:, None] - common if mode == "iou" else second[:, None])
