"""`Scattered`: a cotangent of which only a few elements are kept, at the positions that index arrays name.

A derivative rule may hand one to a leaf, never to another operation: sums of cotangents and `.grad` are all that it
goes through. What the users of a dialect see of it is the affair of their tape policy (`TapePolicy.from_scattered`).
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Scattered:
    """Zeros of `shape` with `content[k]` added at `places[:, k]`, which number the leading axes."""

    __slots__ = ("places", "content", "shape", "dtype")
    __array_ufunc__ = None  # so that `array + scattered` asks here

    def __init__(self, places: np.ndarray, content: np.ndarray, shape: tuple[int, ...]) -> None:
        self.places, self.content, self.shape, self.dtype = places, content, shape, content.dtype

    def add_to(self, array: np.ndarray) -> np.ndarray:
        """Add the elements to an array in place; returns it."""
        np.add.at(array, tuple(self.places), self.content)
        return array

    def dense(self) -> np.ndarray:
        """The array with all its elements."""
        return self.add_to(np.zeros(self.shape, self.dtype))

    def copy(self) -> Scattered:
        """The same elements in memory of their own."""
        return Scattered(self.places.copy(), self.content.copy(order="C"), self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        out = self.dense()
        return out if dtype is None else out.astype(dtype, copy=False)

    def __add__(self, later: Any) -> Any:
        """The sum of two cotangents: what has come later stands first, as PyTorch puts them."""
        return merged(later, self) if type(later) is Scattered else later + self.dense()

    def __radd__(self, earlier: Any) -> Any:
        return earlier + self.dense()


def merge_order(
    first: np.ndarray, second: np.ndarray, shape: tuple[int, ...]
) -> tuple[list[int], list[int], list[int]]:
    """How two lists of places become one, both walked through as if in order: which elements of both together are kept,
    and which of the kept ones (by position) get another element added."""
    lead = tuple(shape[: len(first)])
    ours = np.ravel_multi_index(tuple(first), lead).tolist()
    theirs = np.ravel_multi_index(tuple(second), lead).tolist()
    kept: list[int] = []
    getting: list[int] = []
    added: list[int] = []
    i, j, m, n = 0, 0, len(ours), len(theirs)
    while i < m and j < n:
        if ours[i] <= theirs[j]:
            if ours[i] == theirs[j]:
                getting.append(len(kept))
                added.append(m + j)
                j += 1
            kept.append(i)
            i += 1
        else:
            kept.append(m + j)
            j += 1
    return [*kept, *range(i, m), *range(m + j, m + n)], getting, added


def merged(first: Scattered, second: Scattered) -> Scattered:
    """The sum, equal places added where they meet (`merge_order`).

    Where the elements of one are not contiguous in memory (a gradient that was broadcast), one stands after the other.
    """
    places = np.concatenate([first.places, second.places], axis=1)
    content = np.concatenate([first.content, second.content])
    if first.content.flags.c_contiguous and second.content.flags.c_contiguous:
        kept, getting, added = merge_order(first.places, second.places, first.shape)
        places, extra, content = places[:, kept], content[added], content[kept]
        content[getting] += extra
    return Scattered(places, content, first.shape)
