"""How the numbers of an array become nested brackets: what is left out of a large one, and where lines break."""

from __future__ import annotations

import math

import numpy as np

_GAP = 2  # columns taken by the ", " after a cell


def elide(array: np.ndarray, threshold: float, edge: int) -> tuple[np.ndarray, list[bool]]:
    """The part of an array that is shown, and for each axis whether its middle is left out.

    An array of more than `threshold` elements is reduced to `edge` of them at both ends of every axis that has more.
    """
    elided = [False] * array.ndim
    if array.size > threshold:
        for axis, length in enumerate(array.shape):
            if length > 2 * edge:
                elided[axis] = True
                head = (slice(None),) * axis
                array = np.concatenate((array[(*head, slice(edge))], array[(*head, slice(length - edge, None))]), axis)
    return array, elided


def nest(
    cells: list[str], width: int, shape: tuple[int, ...], elided: list[bool], indent: int, linewidth: float,
    *, dots: str = "...",
) -> str:  # fmt: skip
    """Fold the cells of an array, in order, into its bracketed text, from the last axis to the first.

    width: the columns of a cell. indent: the columns to the left of the text. dots: what stands for the middle of a row.
    """
    last = len(shape) - 1
    per_line = max(1, math.floor((linewidth - indent - last) / (width + _GAP)))
    blocks = cells
    for axis in range(last, -1, -1):
        length = shape[axis]
        newline = "\n" * (last - axis or 1) + " " * (indent + axis + 1)
        folded = []
        for start in range(0, len(blocks), length):
            items = blocks[start : start + length]
            if axis == last:
                if elided[axis]:
                    items.insert(length // 2, dots)
                lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
            else:
                if elided[axis]:
                    items.insert(length // 2, "...")
                lines = items
            folded.append(f"[{f',{newline}'.join(lines)}]")
        blocks = folded
    return blocks[0]
