"""What detectors do with boxes, of arrays: the boxes that features stand for, and which of them stay. No gradient flows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.unwrap import concrete
from ....core.value import Value
from ....learn.boxes import kept, overlaps
from .._tensor import from_array


def _logistic(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))  # type: ignore[no-any-return]


def _floats(value: Any) -> list[float]:
    return [float(v) for v in value] if isinstance(value, (list, tuple)) else [float(value)]


def yolo_box(
    x: Any, img_size: Any, anchors: Sequence[int], class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, name: Any = None, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5,
) -> tuple[Any, Any]:  # fmt: skip
    """The boxes (N, boxes, 4) and scores (N, boxes, classes) that YOLOv3's features (N, anchors · (5 + classes), H, W) stand
    for, zeros where the confidence is below a threshold. Raises ValueError where the channels are other ones."""
    raw, sizes = concrete("yolo_box", x), concrete("yolo_box", img_size)
    n, channels, height, width = raw.shape
    count = len(anchors) // 2
    if channels != count * (5 + class_num + iou_aware):
        wanted = count * (5 + class_num + iou_aware)
        raise ValueError(f"yolo_box: {count} anchors of {class_num} classes need {wanted} channels, got {channels}")
    sure = raw[:, :count] if iou_aware else None
    parts = raw[:, count * iou_aware :].reshape(n, count, 5 + class_num, height, width)
    image_h, image_w = (sizes[:, k].astype(raw.dtype).reshape(n, 1, 1, 1) for k in (0, 1))
    shift = -0.5 * (scale_x_y - 1)
    cx = (np.arange(width) + _logistic(parts[:, :, 0]) * scale_x_y + shift) * image_w / width
    cy = (np.arange(height)[:, None] + _logistic(parts[:, :, 1]) * scale_x_y + shift) * image_h / height
    wide, high = (np.asarray(anchors[k::2], raw.dtype)[:, None, None] for k in (0, 1))
    w = np.exp(parts[:, :, 2]) * wide * image_w / (downsample_ratio * width)
    h = np.exp(parts[:, :, 3]) * high * image_h / (downsample_ratio * height)
    confidence = _logistic(parts[:, :, 4])
    if sure is not None:
        confidence = confidence ** (1 - iou_aware_factor) * _logistic(sure) ** iou_aware_factor
    low_x, low_y, high_x, high_y = cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2
    if clip_bbox:
        low_x, low_y = np.maximum(low_x, 0), np.maximum(low_y, 0)
        high_x, high_y = np.minimum(high_x, image_w - 1), np.minimum(high_y, image_h - 1)
    there = confidence >= conf_thresh
    boxes = np.stack([low_x, low_y, high_x, high_y], -1) * there[..., None]
    scores = np.moveaxis(_logistic(parts[:, :, 5:]), 2, -1) * (confidence * there)[..., None]
    return tuple(from_array(a.reshape(n, -1, a.shape[-1]).astype(raw.dtype)) for a in (boxes, scores))  # type: ignore[return-value]


def prior_box(
    input: Any, image: Any, min_sizes: Any, max_sizes: Any = None, aspect_ratios: Any = (1.0,),
    variance: Any = (0.1, 0.1, 0.2, 0.2), flip: bool = False, clip: bool = False, steps: Any = (0.0, 0.0), offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False, name: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """SSD's prior boxes (H, W, priors, 4) of features (N, C, H, W) in parts of an image, and a variance for each."""
    least = _floats(min_sizes)
    most = [] if max_sizes is None else _floats(max_sizes)
    if len(steps) != 2 or (most and len(most) != len(least)):
        raise ValueError(f"prior_box: wanted two steps and a max_size for each min_size, got {steps}, {min_sizes}, {max_sizes}")
    ratios = [1.0]
    for ratio in _floats(aspect_ratios):
        if all(abs(ratio - r) >= 1e-6 for r in ratios):
            ratios += [ratio, 1 / ratio] if flip else [ratio]
    halves = []
    for k, size in enumerate(least):
        shaped = [(size * math.sqrt(r) / 2, size / math.sqrt(r) / 2) for r in ratios]
        square = [(math.sqrt(size * most[k]) / 2,) * 2] if most else []
        halves += [shaped[0], *square, *shaped[1:]] if min_max_aspect_ratios_order else [*shaped, *square]
    (height, width), (image_h, image_w) = input.shape[2:], image.shape[2:]
    step_w, step_h = (step or whole / n for step, whole, n in zip(_floats(list(steps)), (image_w, image_h), (width, height)))
    if not all(_floats(list(steps))):
        step_w, step_h = image_w / width, image_h / height
    cx = ((np.arange(width) + offset) * step_w)[None, :, None]
    cy = ((np.arange(height) + offset) * step_h)[:, None, None]
    half_w, half_h = np.asarray(halves).T
    ends = [(middle + half) / whole for half_x, half_y in ((-half_w, -half_h), (half_w, half_h))
            for middle, half, whole in ((cx, half_x, image_w), (cy, half_y, image_h))]  # fmt: skip
    boxes = np.stack(np.broadcast_arrays(*ends), -1).astype(np.float32)
    variances = np.broadcast_to(np.asarray(_floats(list(variance)), np.float32), boxes.shape).copy()
    return from_array(np.clip(boxes, 0, 1) if clip else boxes), from_array(variances)


def _centred(boxes: np.ndarray, extra: float) -> tuple[np.ndarray, ...]:
    """Centre and size of boxes by corners."""
    w, h = boxes[..., 2] - boxes[..., 0] + extra, boxes[..., 3] - boxes[..., 1] + extra
    return boxes[..., 0] + w / 2, boxes[..., 1] + h / 2, w, h


def _cornered(cx: Any, cy: Any, w: Any, h: Any, extra: float) -> np.ndarray:
    return np.stack([cx - w / 2, cy - h / 2, cx + w / 2 - extra, cy + h / 2 - extra], -1)


def box_coder(
    prior_box: Any, prior_box_var: Any, target_box: Any, code_type: str = "encode_center_size", box_normalized: bool = True,
    axis: int = 0, name: Any = None,
) -> Any:  # fmt: skip
    """Boxes in terms of prior boxes (M, 4): where their centres lie and by which factor they are larger, as a logarithm (N, M,
    4), over a variance; or the boxes again from that."""
    if code_type not in ("encode_center_size", "decode_center_size"):
        raise ValueError(f"box_coder: code_type must be encode_center_size or decode_center_size, got {code_type!r}")
    if not isinstance(prior_box_var, (Value, list, tuple)):
        raise TypeError(f"box_coder: prior_box_var must be a Tensor or four numbers, got {type(prior_box_var).__name__}")
    prior, target = concrete("box_coder", prior_box), concrete("box_coder", target_box)
    scale = concrete("box_coder", prior_box_var) if isinstance(prior_box_var, Value) else np.asarray(prior_box_var, prior.dtype)
    extra = float(not box_normalized)
    px, py, pw, ph = _centred(prior, extra)
    if code_type == "encode_center_size":
        _, _, w, h = _centred(target[:, None], extra)
        x, y = ((target[:, None, k] + target[:, None, k + 2]) / 2 for k in (0, 1))
        found = np.stack([(x - px) / pw, (y - py) / ph, np.log(np.abs(w / pw)), np.log(np.abs(h / ph))], -1) / scale
    else:
        if axis:
            px, py, pw, ph = (a[:, None] for a in (px, py, pw, ph))
            scale = scale[:, None] if scale.ndim == 2 else scale
        moved = target * scale
        found = _cornered(
            moved[..., 0] * pw + px, moved[..., 1] * ph + py, np.exp(moved[..., 2]) * pw, np.exp(moved[..., 3]) * ph, extra
        )
    return from_array(found.astype(target.dtype))



def matrix_nms(
    bboxes: Any, scores: Any, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True,
    return_index: bool = False, return_rois_num: bool = True, name: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The best boxes of (N, M, 4) with scores (N, classes, M), scores lessened by how much better ones overlap: rows (class,
    score, box); how many for each image; and their numbers."""
    boxes, marks = concrete("matrix_nms", bboxes), concrete("matrix_nms", scores)
    rows, numbers, counts = [], [], []
    for image in range(len(boxes)):
        own, which = [], []
        for label in range(marks.shape[1]):
            mark = marks[image, label]
            among = np.flatnonzero(mark > score_threshold)
            if label == background_label or not len(among):
                continue
            among = among[np.argsort(-mark[among], kind="stable")]
            among = among[:nms_top_k] if nms_top_k > -1 else among
            over = np.tril(overlaps(boxes[image, among][:, None], boxes[image, among], float(not normalized)), -1)
            worst = over.max(1, initial=0)
            if use_gaussian:
                lessened = np.exp((worst**2 - over**2) * gaussian_sigma)
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    lessened = (1 - over) / (1 - worst)
            lessened[~np.tril(np.ones(over.shape, bool), -1)] = 1
            score = mark[among] * lessened.min(1, initial=1)
            for k in np.flatnonzero(score > post_threshold):
                own.append([label, score[k], *boxes[image, among[k]]])
                which.append(image * boxes.shape[1] + among[k])
        order = np.argsort([-row[1] for row in own], kind="stable")
        order = order[:keep_top_k] if keep_top_k > -1 else order
        rows += [own[k] for k in order]
        numbers += [which[k] for k in order]
        counts.append(len(order))
    return (
        from_array(np.asarray(rows, boxes.dtype).reshape(-1, 6)),
        from_array(np.asarray(counts, np.int32)) if return_rois_num else None,
        from_array(np.asarray(numbers, np.int32).reshape(-1, 1)) if return_index else None,
    )


def distribute_fpn_proposals(
    fpn_rois: Any, min_level: int, max_level: int, refer_level: int, refer_scale: int, pixel_offset: bool = False,
    rois_num: Any = None, name: Any = None,
) -> tuple[list[Any], Any, Any]:  # fmt: skip
    """The regions of each level of a pyramid, by their size; where each went; and how many each image has on each level."""
    op = "distribute_fpn_proposals"
    rois = concrete(op, fpn_rois)
    sides = rois[:, 2:] - rois[:, :2]
    areas = np.where((sides < 0).any(1), 0, np.prod(sides + float(pixel_offset), axis=1))
    level = np.floor(np.log2(np.sqrt(areas) / refer_scale + 1e-8)) + refer_level
    level = np.clip(level, min_level, max_level).astype(int)
    owner = np.repeat(np.arange(rois_num.shape[0]), concrete(op, rois_num)) if rois_num is not None else np.zeros(len(rois), int)
    parts = [np.flatnonzero(level == k) for k in range(min_level, max_level + 1)]
    restore = np.argsort(np.concatenate(parts), kind="stable").astype(np.int32).reshape(-1, 1)
    counts = None if rois_num is None else [
        from_array(np.bincount(owner[part], minlength=rois_num.shape[0]).astype(np.int32)) for part in parts
    ]  # fmt: skip
    return [from_array(rois[part]) for part in parts], from_array(restore), counts


def generate_proposals(
    scores: Any, bbox_deltas: Any, img_size: Any, anchors: Any, variances: Any, pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0, pixel_offset: bool = False,
    return_rois_num: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """The best regions that scores (N, A, H, W) and shifts (N, 4 A, H, W) of anchors (H, W, A, 4) stand for, their scores, and
    how many each image has (None unless asked)."""
    marks, deltas, sizes, anchor, scale = (
        concrete("generate_proposals", v) for v in (scores, bbox_deltas, img_size, anchors, variances)
    )
    anchor, scale, extra = anchor.reshape(-1, 4), scale.reshape(-1, 4), float(pixel_offset)
    regions, found, counts = [], [], []
    for mark, delta, size in zip(marks, deltas, sizes):
        mark = mark.transpose(1, 2, 0).reshape(-1)
        moved = delta.reshape(-1, 4, *delta.shape[1:]).transpose(2, 3, 0, 1).reshape(-1, 4) * scale
        order = np.argsort(-mark, kind="stable")
        order = order[:pre_nms_top_n] if pre_nms_top_n > 0 else order
        px, py, pw, ph = _centred(anchor[order], extra)
        moved = moved[order]
        w, h = (np.exp(np.minimum(moved[:, k], math.log(1000 / 16))) * p for k, p in ((2, pw), (3, ph)))
        boxes = _cornered(moved[:, 0] * pw + px, moved[:, 1] * ph + py, w, h, extra)
        boxes = np.clip(boxes, 0, np.asarray([size[1], size[0], size[1], size[0]]) - extra)
        cx, cy, w, h = _centred(boxes, extra)
        large = (w >= max(min_size, 1.0)) & (h >= max(min_size, 1.0))
        if pixel_offset:
            large &= (cx <= size[1]) & (cy <= size[0])
        boxes, own = boxes[large], mark[order][large]
        which = kept(boxes, nms_thresh, extra, eta) if nms_thresh > 0 else list(range(len(boxes)))
        which = which[:post_nms_top_n] if post_nms_top_n > 0 else which
        regions.append(boxes[which])
        found.append(own[which])
        counts.append(len(which))
    return (
        from_array(np.concatenate(regions).astype(marks.dtype)), from_array(np.concatenate(found).reshape(-1, 1)),
        from_array(np.asarray(counts, np.int32)) if return_rois_num else None,
    )  # fmt: skip
