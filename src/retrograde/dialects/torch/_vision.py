"""The operators of `torch.ops.torchvision`: what torchvision has in compiled code, of the dialect's own functions.

Boxes are constants: as there, no gradient flows into them. All else has derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...learn.deformable import deformable_convolution, result_size
from ._creation import as_tensor
from ._joining import cat
from ._matmul import einsum
from ._tensor import Tensor

OPERATORS: dict[str, Callable[..., Any]] = {}
"""The operators by name."""


def _operator(f: Callable[..., Any]) -> Callable[..., Any]:
    OPERATORS[f.__name__] = f
    return f


def _array(name: str, x: Any) -> np.ndarray:
    if not isinstance(x, Tensor):
        raise TypeError(f"torchvision::{name}: wanted a tensor, got {type(x).__name__}")
    return x.detach().numpy()


def _rois(name: str, input: Any, rois: Any) -> np.ndarray:
    """The regions as rows (image, x1, y1, x2, y2); raises RuntimeError where they are something else."""
    found = _array(name, rois)
    if found.ndim != 2 or found.shape[1] != 5:
        raise RuntimeError(f"torchvision::{name}: rois must have the shape (number, 5), got {list(found.shape)}")
    if rois.dtype is not input.dtype:
        raise RuntimeError(f"torchvision::{name}: input has dtype {input.dtype}, rois have {rois.dtype}")
    if found.size and not (found[:, 0].min() >= 0 and found[:, 0].max() < input.shape[0]):
        raise IndexError(f"torchvision::{name}: rois name images {found[:, 0].tolist()}, and there are {input.shape[0]}")
    return found


@_operator
def nms(dets: Any, scores: Any, iou_threshold: float) -> Any:
    """The boxes (x1, y1, x2, y2) that overlap none of higher score by more than the threshold, by falling score."""
    boxes, values = _array("nms", dets), _array("nms", scores)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or values.shape != boxes.shape[:1]:
        raise RuntimeError(
            f"torchvision::nms: wanted boxes of shape (number, 4) and a score for each, got {list(boxes.shape)} and "
            f"{list(values.shape)}"
        )
    order = np.argsort(-values, kind="stable")
    boxes = boxes[order]
    low, high = boxes[:, :2], boxes[:, 2:]
    areas = (high - low).prod(1)
    left, kept = np.ones(len(order), bool), []
    for i in range(len(order)):
        if not left[i]:
            continue
        kept.append(order[i])
        sides = np.maximum(np.minimum(high[i], high[i + 1 :]) - np.maximum(low[i], low[i + 1 :]), 0)
        both = sides.prod(1)
        with np.errstate(invalid="ignore", divide="ignore"):
            left[i + 1 :] &= ~(both / (areas[i] + areas[i + 1 :] - both) > iou_threshold)
    return as_tensor(np.asarray(kept, np.int64))


def _axis_weights(start: np.ndarray, length: np.ndarray, bins: int, ratio: int, size: int) -> np.ndarray:
    """For regions along an axis, the weight of each of `size` places in each bin's mean of its samples, (regions, bins, size).

    A bin has `ratio` samples, or, where that is not positive, one for each place that it covers.
    """
    step = length / bins
    counts = np.full(len(start), ratio) if ratio > 0 else np.ceil(length / bins).astype(np.int64)
    most = max(int(counts.max(initial=1)), 1)
    sample = np.arange(most)
    kind = start.dtype
    within = (sample + kind.type(0.5))[None, None, :] * (step / np.maximum(counts, 1).astype(kind))[:, None, None]
    at = start[:, None, None] + np.arange(bins, dtype=kind)[None, :, None] * step[:, None, None] + within
    there = (at >= -1) & (at <= size) & (sample < counts[:, None, None])
    at = np.clip(at, 0, None)
    low = np.minimum(at.astype(np.int64), size - 1)
    last = low >= size - 1
    high, part = np.where(last, low, low + 1), np.where(last, 0, at - low).astype(kind)
    share = there / np.maximum(counts, 1).astype(kind)[:, None, None]
    weights = np.zeros((len(start), bins, size), kind)
    rows, columns = np.arange(len(start))[:, None, None], np.arange(bins)[None, :, None]
    np.add.at(weights, (rows, columns, low), (1 - part) * share)
    np.add.at(weights, (rows, columns, high), part * share)
    return weights


def _aligned(
    name: str, input: Any, rois: Any, scale: float, bins: tuple[int, int], ratio: int, shift: float, least: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The images of the regions, and their weights along y and x."""
    found = _rois(name, input, rois)
    ends = found[:, 1:] * found.dtype.type(scale) - found.dtype.type(shift)
    lengths = ends[:, 2:] - ends[:, :2]
    if least is not None:
        lengths = np.maximum(lengths, found.dtype.type(least))
    y = _axis_weights(ends[:, 1], lengths[:, 1], bins[0], ratio, input.shape[2])
    x = _axis_weights(ends[:, 0], lengths[:, 0], bins[1], ratio, input.shape[3])
    return found[:, 0].astype(np.int64), y, x


def _by_image(images: np.ndarray, count: int) -> list[tuple[int, np.ndarray]]:
    return [(b, np.flatnonzero(images == b)) for b in range(count) if (images == b).any()]


@_operator
def roi_align(
    input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int, aligned: bool
) -> Any:
    """The mean of bilinear samples in each bin of each region. Bilinear weights and the mean are products of one factor
    for each axis, so a region is two matrix products."""
    bins = (pooled_height, pooled_width)
    images, y, x = _aligned(
        "roi_align", input, rois, spatial_scale, bins, sampling_ratio, 0.5 if aligned else 0.0, None if aligned else 1.0
    )
    parts, order = [], []
    for image, which in _by_image(images, input.shape[0]):
        along_x = as_tensor(np.ascontiguousarray(x[which].reshape(-1, x.shape[2]).T))
        rows = (input[image] @ along_x).reshape(*input.shape[1:3], len(which), pooled_width)
        along_y = as_tensor(y[which][:, None])
        parts.append(along_y @ rows.permute(2, 0, 1, 3))
        order.append(which)
    return _in_order(input, parts, order, (input.shape[1], *bins))


def _in_order(input: Any, parts: list[Any], order: list[np.ndarray], shape: tuple[int, ...]) -> Any:
    """The regions of all images in the order in which they were given."""
    if not parts:
        return input.new_zeros((0, *shape)) + input.sum() * 0
    together = cat(parts)
    back = np.argsort(np.concatenate(order), kind="stable")
    return together if (back == np.arange(len(back))).all() else together[as_tensor(back)]


@_operator
def ps_roi_align(
    input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int
) -> tuple[Any, Any]:
    """As `roi_align`, where each bin has channels of its own; with the channel that each result was taken of."""
    bins = (pooled_height, pooled_width)
    images, y, x = _aligned("ps_roi_align", input, rois, spatial_scale, bins, sampling_ratio, 0.5, None)
    channels = _per_bin("ps_roi_align", input, bins)
    parts, order = [], []
    for image, which in _by_image(images, input.shape[0]):
        own = input[image].reshape(channels, *bins, *input.shape[2:])
        along_x, along_y = (as_tensor(a[which]) for a in (x, y))
        parts.append(einsum("cpqhw,kph,kqw->kcpq", own, along_y, along_x))
        order.append(which)
    return _in_order(input, parts, order, (channels, *bins)), _channel_of(len(images), channels, bins)


def _per_bin(name: str, input: Any, bins: tuple[int, int]) -> int:
    channels, left = divmod(input.shape[1], bins[0] * bins[1])
    if left:
        raise RuntimeError(
            f"torchvision::{name}: input has {input.shape[1]} channels, which {bins[0]} x {bins[1]} bins do not divide"
        )
    return int(channels)


def _channel_of(count: int, channels: int, bins: tuple[int, int]) -> Any:
    own = np.arange(channels * bins[0] * bins[1], dtype=np.int32).reshape(1, channels, *bins)
    return as_tensor(np.repeat(own, count, 0))


def _whole_bins(start: np.ndarray, length: np.ndarray, bins: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The first place of each bin and the one after its last, each (regions, bins)."""
    step, i = (length / bins)[:, None].astype(np.float32), np.arange(bins, dtype=np.float32)
    low, high = np.floor(i * step), np.ceil((i + 1) * step)
    return tuple(np.clip(e.astype(np.int64) + start[:, None], 0, limit) for e in (low, high))  # type: ignore[return-value]


def _rounded(x: np.ndarray) -> np.ndarray:
    """To the nearest whole number, halves away from zero."""
    return (np.sign(x) * np.floor(np.abs(x) + x.dtype.type(0.5))).astype(np.int64)


@_operator
def roi_pool(input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int) -> tuple[Any, Any]:
    """The largest element in each bin of each region, 0 for an empty bin; with its place in the image, -1 for none."""
    found = _rois("roi_pool", input, rois)
    ends = _rounded(found[:, 1:] * found.dtype.type(spatial_scale))
    height, width = input.shape[2:]
    y0, y1 = _whole_bins(ends[:, 1], np.maximum(ends[:, 3] - ends[:, 1] + 1, 1), pooled_height, height)
    x0, x1 = _whole_bins(ends[:, 0], np.maximum(ends[:, 2] - ends[:, 0] + 1, 1), pooled_width, width)
    data = _array("roi_pool", input)
    places = np.full((len(found), input.shape[1], pooled_height, pooled_width), -1, np.int32)
    for k, image in enumerate(found[:, 0].astype(np.int64)):
        for p in range(pooled_height):
            for q in range(pooled_width):
                bin_ = data[image, :, y0[k, p] : y1[k, p], x0[k, q] : x1[k, q]]
                if bin_.shape[1] and bin_.shape[2]:
                    row, column = divmod(bin_.reshape(len(bin_), -1).argmax(1), bin_.shape[2])
                    places[k, :, p, q] = (row + y0[k, p]) * width + column + x0[k, q]
    image = found[:, 0].astype(np.int64)[:, None, None, None]
    channel = np.arange(input.shape[1])[None, :, None, None]
    index = (image * input.shape[1] + channel) * height * width + np.maximum(places, 0)
    taken = input.reshape(-1)[as_tensor(index.reshape(-1))].reshape(places.shape)
    return taken * as_tensor((places >= 0).astype(data.dtype)), as_tensor(places)


@_operator
def ps_roi_pool(input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int) -> tuple[Any, Any]:
    """The mean of each bin of each region, each bin in channels of its own; with the channel that each was taken of."""
    found, bins = _rois("ps_roi_pool", input, rois), (pooled_height, pooled_width)
    channels = _per_bin("ps_roi_pool", input, bins)
    ends = _rounded(found[:, 1:] * found.dtype.type(spatial_scale))
    height, width = input.shape[2:]
    weights = []
    axes = (ends[:, 1], ends[:, 3], pooled_height, height), (ends[:, 0], ends[:, 2], pooled_width, width)
    for start, end, count, size in axes:
        low, high = _whole_bins(start, np.maximum(end - start, 1), count, size - 1)
        inside = (np.arange(size) >= low[..., None]) & (np.arange(size) < high[..., None])
        weights.append((inside / np.maximum(high - low, 1)[..., None]).astype(found.dtype))
    parts, order = [], []
    for image, which in _by_image(found[:, 0].astype(np.int64), input.shape[0]):
        own = input[image].reshape(channels, *bins, height, width)
        along_y, along_x = (as_tensor(w[which]) for w in weights)
        parts.append(einsum("cpqhw,kph,kqw->kcpq", own, along_y, along_x))
        order.append(which)
    return _in_order(input, parts, order, (channels, *bins)), _channel_of(len(found), channels, bins)


@_operator
def deform_conv2d(
    input: Any, weight: Any, offset: Any, mask: Any, bias: Any, stride_h: int, stride_w: int, pad_h: int, pad_w: int,
    dilation_h: int, dilation_w: int, groups: int, offset_groups: int, use_mask: bool,
) -> Any:  # fmt: skip
    """A convolution that reads beside its grid by `offset`, between places bilinearly, weighted by `mask`."""
    stride, pad, dilation = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    kernel_h, kernel_w = weight.shape[2:]
    size = result_size(tuple(input.shape[2:]), (kernel_h, kernel_w), stride, pad, dilation)
    wanted = [input.shape[0], offset_groups * 2 * kernel_h * kernel_w, *size]
    if list(offset.shape) != wanted:
        raise RuntimeError(
            f"torchvision::deform_conv2d: offset must have the shape {wanted}, got {list(offset.shape)}"
        )
    out = deformable_convolution(
        input, offset, weight, mask if use_mask else None, stride, pad, dilation, groups, offset_groups
    )
    return out + bias.reshape(1, -1, 1, 1)


@_operator
def _cuda_version() -> int:
    """-1: no CUDA."""
    return -1


def _refused(name: str, remedy: str) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"torchvision::{name}: not in retrograde's torch dialect; {remedy}")

    OPERATORS[name] = refuse


for _name in ("roi_align", "ps_roi_align", "roi_pool", "ps_roi_pool", "deform_conv2d"):
    _refused(f"_{_name}_backward", f"differentiate {_name} itself")
for _name in ("qnms", "qroi_align"):
    _refused(_name, f"convert the quantised tensors and call {_name[1:]}")
