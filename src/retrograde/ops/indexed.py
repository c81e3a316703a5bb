"""An array as index arrays see it, in functions of the array-API standard: a matrix, whose rows they name."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..backend.dtypes import astype
from .structural import inverse


def forward(xp: Any, indices: Any, n: int) -> Any:
    """Indices without negative ones, in the standard: a vector."""
    indices = xp.reshape(astype(xp, indices, np.int64), (-1,))
    return xp.where(indices < 0, indices + n, indices)


def index_place(axes: tuple[int, ...]) -> int:
    """Where the axes of the index arrays stand in the result: in place where adjacent, else first."""
    return axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0


class Indexed(NamedTuple):
    """An array seen as a matrix: a row for each position that index arrays can name, the other axes along it."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    common: tuple[int, ...]
    """The shape of the index arrays."""

    @property
    def order(self) -> tuple[int, ...]:
        """The indexed axes, then the others."""
        return (*self.axes, *(i for i in range(len(self.shape)) if i not in self.axes))

    @property
    def rest(self) -> tuple[int, ...]:
        """The sizes of the other axes."""
        return tuple(n for i, n in enumerate(self.shape) if i not in self.axes)

    @property
    def height(self) -> int:
        """The number of rows."""
        return math.prod(self.shape[a] for a in self.axes)

    def numbers(self, xp: Any, indices: Any) -> Any:
        """The rows that index arrays name, as a vector."""
        flat: Any = 0
        for index, axis in zip(xp.broadcast_arrays(*indices), self.axes):
            flat = flat * self.shape[axis] + forward(xp, index, self.shape[axis])
        return flat

    def rows(self, xp: Any, x: Any) -> Any:
        """An array of the shape as the matrix."""
        return xp.reshape(xp.permute_dims(x, self.order), (self.height, math.prod(self.rest)))

    def array(self, xp: Any, rows: Any) -> Any:
        """The matrix as an array of the shape."""
        x = xp.reshape(rows, (*(self.shape[a] for a in self.axes), *self.rest))
        return xp.permute_dims(x, inverse(self.order))

    def named_rows(self, xp: Any, g: Any) -> Any:
        """What stands where index arrays point, as they lay it out, a row for each of their elements."""
        k, place = len(self.common), index_place(self.axes)
        front = xp.permute_dims(g, (*range(place, place + k), *range(place), *range(place + k, g.ndim)))
        return xp.reshape(front, (math.prod(self.common), math.prod(self.rest)))

    def laid_out(self, xp: Any, rows: Any) -> Any:
        """The reverse of `named_rows`."""
        k, place = len(self.common), index_place(self.axes)
        x = xp.reshape(rows, (*self.common, *self.rest))
        return xp.permute_dims(x, (*range(k, k + place), *range(k), *range(k + place, x.ndim)))


def indexed(shape: tuple[int, ...], indices: Any, axes: tuple[int, ...]) -> Indexed:
    """An array of a shape as index arrays at some of its axes see it."""
    return Indexed(tuple(shape), axes, np.broadcast_shapes(*(i.shape for i in indices)))
