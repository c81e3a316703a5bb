"""Boxes in images: how much they overlap, which of them stay, and features in the parts of each.

A box is (x1, y1, x2, y2). Where boxes lie is constant: no gradient flows into them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.value import dtype_of, shape_of
from ..ops import contraction as ct
from ..ops import structural as st
from ..ops.indexing import advanced_index, take


def overlaps(
    boxes: np.ndarray, others: np.ndarray, extra: float = 0.0, areas: tuple[np.ndarray, np.ndarray] | None = None
) -> np.ndarray:
    """The area that boxes share with others (their shapes broadcast) over the area that both cover; nan where that is none.

    extra: what a side is longer than its ends tell. areas: those of both, where they are known.
    """
    one, other = areas or (_areas(boxes, extra), _areas(others, extra))
    sides = np.minimum(boxes[..., 2:], others[..., 2:]) - np.maximum(boxes[..., :2], others[..., :2])
    sides = np.where(sides < 0, 0, sides + extra) if extra else np.maximum(sides, 0)
    shared = sides[..., 0] * sides[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return shared / (one + other - shared)


def _areas(boxes: np.ndarray, extra: float) -> Any:
    sides = boxes[..., 2:] - boxes[..., :2] + extra if extra else boxes[..., 2:] - boxes[..., :2]
    return sides[..., 0] * sides[..., 1]


def staying(
    count: int, over: Callable[[int, Any], np.ndarray], threshold: float, eta: float = 1.0, most: int | None = None
) -> list[int]:
    """Which of `count` boxes stay, in their order, when those go that overlap with one before them by more than a threshold.

    over: for the number of a box, how much it overlaps with some others, given as an index. eta: what the threshold is
    multiplied with after each that stays, while it is above 0.5. most: how many may stay.
    """
    found: list[int] = []
    left = np.ones(count, bool)
    for k in range(count if most is None or most > 0 else 0):
        if not left[k] or (eta < 1 and (over(k, found) > threshold).any()):
            continue
        found.append(k)
        if len(found) == most:
            break
        if eta < 1:
            threshold *= eta if threshold > 0.5 else 1
        else:
            left[k + 1 :] &= ~(over(k, slice(k + 1, None)) > threshold)
    return found


def kept(boxes: np.ndarray, threshold: float, extra: float = 0.0, eta: float = 1.0) -> list[int]:
    """`staying` of boxes by how much they overlap."""
    areas = _areas(boxes, extra)
    return staying(
        len(boxes), lambda k, others: overlaps(boxes[k], boxes[others], extra, (areas[k], areas[others])), threshold, eta
    )


def sampling(start: np.ndarray, length: np.ndarray, parts: int, ratio: int, size: int, least: int = 0) -> np.ndarray:
    """For regions along an axis, the weight of each of `size` places in each part's mean of its samples: (regions, parts, size).

    A part has `ratio` samples between places, read linearly, or, where that is not positive, one for each place that it covers,
    and `least` at least.
    """
    kind, step = start.dtype, length / parts
    counts = np.full(len(start), ratio) if ratio > 0 else np.maximum(np.ceil(step).astype(np.int64), least)
    sample = np.arange(max(int(counts.max(initial=1)), 1))
    within = (sample + kind.type(0.5))[None, None, :] * (step / np.maximum(counts, 1).astype(kind))[:, None, None]
    at = start[:, None, None] + np.arange(parts, dtype=kind)[None, :, None] * step[:, None, None] + within
    there = (at >= -1) & (at <= size) & (sample < counts[:, None, None])
    at = np.clip(at, 0, None)
    low = np.minimum(at.astype(np.int64), size - 1)
    last = low >= size - 1
    high, part = np.where(last, low, low + 1), np.where(last, 0, at - low).astype(kind)
    share = there / np.maximum(counts, 1).astype(kind)[:, None, None]
    weights = np.zeros((len(start), parts, size), kind)
    rows, columns = np.arange(len(start))[:, None, None], np.arange(parts)[None, :, None]
    np.add.at(weights, (rows, columns, low), (1 - part) * share)
    np.add.at(weights, (rows, columns, high), part * share)
    return weights


def weighed(x: Any, images: np.ndarray, down: np.ndarray, across: np.ndarray) -> Any:
    """Sums of features (N, C, H, W) over regions, each in an image, with weights (regions, parts, H) and (regions, parts, W) of
    the places of each axis: (regions, C, parts down, parts across).

    A weight is a product of one for each axis, so a region is two matrix products.
    """
    channels, height, width = shape_of(x)[1:]

    def of_image(features: Any, which: np.ndarray) -> Any:
        along = np.ascontiguousarray(across[which].reshape(-1, width).T)
        rows = ct.matmul(st.reshape(features, shape=(channels * height, width)), along)
        rows = st.transpose(st.reshape(rows, shape=(channels, height, len(which), across.shape[1])), axes=(2, 0, 1, 3))
        return ct.matmul(down[which][:, None], rows)

    down, across = (w.astype(dtype_of(x)) for w in (down, across))
    return _by_image(x, images, of_image, (channels, down.shape[1], across.shape[1]))


def weighed_apart(x: Any, images: np.ndarray, down: np.ndarray, across: np.ndarray) -> Any:
    """As `weighed`, where each part has channels of its own: features (N, C · parts, H, W), the result (regions, C, parts)."""
    parts = down.shape[1], across.shape[1]
    channels = shape_of(x)[1] // (parts[0] * parts[1])
    down, across = (w.astype(dtype_of(x)) for w in (down, across))

    def of_image(features: Any, which: np.ndarray) -> Any:
        own = st.reshape(features, shape=(channels, *parts, *shape_of(x)[2:]))
        return ct.einsum("cpqhw,kph,kqw->kcpq", own, down[which], across[which])

    return _by_image(x, images, of_image, (channels, *parts))


def _by_image(x: Any, images: np.ndarray, part: Callable[[Any, np.ndarray], Any], shape: tuple[int, ...]) -> Any:
    """What `part(features, which)` gives for the regions in each image, in the order of the regions."""
    groups = [np.flatnonzero(images == image) for image in np.unique(images)]
    if not groups:
        none = st.getitem(x, index=(slice(0, 0), slice(0, 1), slice(0, 1), slice(0, 1)))
        return st.broadcast_to(none, shape=(0, *shape))
    found = [part(st.getitem(x, index=(int(images[which[0]]),)), which) for which in groups]
    return found[0] if len(found) == 1 else take(st.concatenate(*found, axis=0), np.argsort(np.concatenate(groups)), axis=0)


def whole(start: np.ndarray, steps: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where parts of regions begin and end along an axis of a size: from their starts and how far each end of a part is beyond
    them, (regions, parts + 1)."""
    low, high = np.floor(steps[:, :-1]).astype(np.int64), np.ceil(steps[:, 1:]).astype(np.int64)
    return np.clip(low + start[:, None], 0, size), np.clip(high + start[:, None], 0, size)


def means(low: np.ndarray, high: np.ndarray, size: int) -> np.ndarray:
    """The weights of the mean of each part, from where it begins and ends along an axis of a size: (regions, parts, size)."""
    at = np.arange(size)
    inside = (at >= low[..., None]) & (at < high[..., None])
    return inside / np.maximum(high - low, 1)[..., None]


Ends = tuple[np.ndarray, np.ndarray]


def largest(x: Any, data: np.ndarray, images: np.ndarray, rows: Ends, columns: Ends) -> tuple[Any, np.ndarray]:
    """The largest features (N, C, H, W) in each part of each region, 0 in an empty one; and their places in the image, or -1.

    data: the elements of x. rows, columns: where the parts begin and end (`whole`).
    """
    channels, height, width = data.shape[1:]
    places = np.full((len(images), channels, rows[0].shape[1], columns[0].shape[1]), -1, np.int64)
    for k, p, q in np.ndindex(len(images), *places.shape[2:]):
        top, left = rows[0][k, p], columns[0][k, q]
        part = data[images[k], :, top : rows[1][k, p], left : columns[1][k, q]]
        if part.shape[1] and part.shape[2]:
            row, column = np.divmod(part.reshape(channels, -1).argmax(1), part.shape[2])
            places[k, :, p, q] = (row + top) * width + column + left
    at = np.broadcast_arrays(images[:, None, None, None], np.arange(channels)[:, None, None], np.maximum(places, 0))
    found = advanced_index(st.reshape(x, shape=(len(data), channels, height * width)), *at, axes=(0, 1, 2))
    return found * (places >= 0).astype(dtype_of(x)), places
