"""The operators of `torch.ops.torchvision`: what torchvision has in compiled code, of the dialect's own functions.

Boxes are constants: as there, no gradient flows into them. All else has derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...learn import boxes
from ...learn.deformable import deformable_convolution, result_size
from ._creation import as_tensor
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
    places, values = _array("nms", dets), _array("nms", scores)
    if places.ndim != 2 or places.shape[1] != 4 or values.shape != places.shape[:1]:
        raise RuntimeError(
            f"torchvision::nms: wanted boxes of shape (number, 4) and a score for each, got {list(places.shape)} and "
            f"{list(values.shape)}"
        )
    order = np.argsort(-values, kind="stable")
    return as_tensor(order[boxes.kept(places[order], iou_threshold)].astype(np.int64))


def _aligned(
    name: str, input: Any, rois: Any, scale: float, bins: tuple[int, int], ratio: int, shift: float, least: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The images of the regions, and their weights along y and x."""
    found = _rois(name, input, rois)
    ends = found[:, 1:] * found.dtype.type(scale) - found.dtype.type(shift)
    lengths = ends[:, 2:] - ends[:, :2]
    if least is not None:
        lengths = np.maximum(lengths, found.dtype.type(least))
    y = boxes.sampling(ends[:, 1], lengths[:, 1], bins[0], ratio, input.shape[2])
    x = boxes.sampling(ends[:, 0], lengths[:, 0], bins[1], ratio, input.shape[3])
    return found[:, 0].astype(np.int64), y, x


@_operator
def roi_align(
    input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int, aligned: bool
) -> Any:
    """The mean of bilinear samples in each bin of each region."""
    bins = (pooled_height, pooled_width)
    shift, least = (0.5, None) if aligned else (0.0, 1.0)
    return boxes.weighed(input, *_aligned("roi_align", input, rois, spatial_scale, bins, sampling_ratio, shift, least))


@_operator
def ps_roi_align(
    input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int
) -> tuple[Any, Any]:
    """As `roi_align`, where each bin has channels of its own; with the channel that each result was taken of."""
    bins = (pooled_height, pooled_width)
    images, y, x = _aligned("ps_roi_align", input, rois, spatial_scale, bins, sampling_ratio, 0.5, None)
    channels = _per_bin("ps_roi_align", input, bins)
    return boxes.weighed_apart(input, images, y, x), _channel_of(len(images), channels, bins)


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


def _bins(start: np.ndarray, length: np.ndarray, bins: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the bins of regions begin and end, in float32 as there."""
    step = (np.maximum(length, 1) / bins)[:, None].astype(np.float32)
    return boxes.whole(start, np.arange(bins + 1, dtype=np.float32) * step, size)


def _rounded(x: np.ndarray) -> np.ndarray:
    """To the nearest whole number, halves away from zero."""
    return (np.sign(x) * np.floor(np.abs(x) + x.dtype.type(0.5))).astype(np.int64)


@_operator
def roi_pool(input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int) -> tuple[Any, Any]:
    """The largest element in each bin of each region, 0 for an empty bin; with its place in the image, -1 for none."""
    found = _rois("roi_pool", input, rois)
    ends = _rounded(found[:, 1:] * found.dtype.type(spatial_scale))
    columns, rows = (
        _bins(ends[:, k], ends[:, k + 2] - ends[:, k] + 1, bins, input.shape[3 - k])
        for k, bins in enumerate((pooled_width, pooled_height))
    )
    taken, places = boxes.largest(input, _array("roi_pool", input), found[:, 0].astype(np.int64), rows, columns)
    return taken, as_tensor(places.astype(np.int32))


@_operator
def ps_roi_pool(input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int) -> tuple[Any, Any]:
    """The mean of each bin of each region, each bin in channels of its own; with the channel that each was taken of."""
    found, bins = _rois("ps_roi_pool", input, rois), (pooled_height, pooled_width)
    channels = _per_bin("ps_roi_pool", input, bins)
    ends = _rounded(found[:, 1:] * found.dtype.type(spatial_scale))
    height, width = input.shape[2:]
    axes = (ends[:, 1], ends[:, 3], pooled_height, height), (ends[:, 0], ends[:, 2], pooled_width, width)
    weights = (boxes.means(*_bins(start, end - start, count, size - 1), size) for start, end, count, size in axes)
    taken = boxes.weighed_apart(input, found[:, 0].astype(np.int64), *weights)
    return taken, _channel_of(len(found), channels, bins)


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
