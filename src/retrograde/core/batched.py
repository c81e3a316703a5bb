"""`BatchedArray`: an array whose batch axis operations do not see. The backend of `vmap`.

An operation on batched arrays applies the primitive's batching rule one level down.
"""

from __future__ import annotations

from typing import Any

from ..backend import register_backend
from .arrays import LevelBackend, opened
from .record import Primitive
from .value import LevelArray, dtype_of, shape_of


class BatchedArray(LevelArray):
    """An array with one hidden axis `dim`, which belongs to vmap level `_level`."""

    __slots__ = ("content", "dim")

    def __init__(self, content: Any, dim: int, level: int) -> None:
        self.content, self.dim, self._level = content, dim, level
        shape = tuple(shape_of(content))
        self.shape = shape[:dim] + shape[dim + 1 :]
        self.dtype = dtype_of(content)


BatchedArray.under = BatchedArray.content  # type: ignore[attr-defined]


class BatchedBackend(LevelBackend):
    """Applies the primitive's batching rule."""

    name = "vmap"

    def evaluate(self, prim: Primitive, arrays: Any, params: dict[str, Any]) -> Any:
        level, inner, dims = opened(BatchedArray, arrays, "dim")
        # A rule computes with raw arrays only or with core values only; a value among the operands lifts the others
        # by itself, since every operation that meets it goes through bind.
        out, dim = prim.batch(prim.op, inner, dims, params)
        if prim.multi:
            return tuple(x if d is None else BatchedArray(x, d, level) for x, d in zip(out, dim))
        return out if dim is None else BatchedArray(out, dim, level)


register_backend(BatchedArray, BatchedBackend())
