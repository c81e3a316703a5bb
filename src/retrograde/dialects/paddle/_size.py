"""`paddle.Size`, a list of ints that prints under its own name, and the size of a tensor, which is a number."""

from __future__ import annotations

import math
from typing import Any


class Size(list[int]):
    """The shape of a tensor: a list, equal to tuples of the same numbers as well."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"paddle.Size({list.__repr__(self)})"

    __str__ = __repr__

    def __eq__(self, other: Any) -> bool:
        return list.__eq__(self, list(other)) if isinstance(other, (list, tuple)) else False

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> Any:
        return Size(list.__add__(self, list(other))) if isinstance(other, (list, tuple)) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return Size([*other, *self]) if isinstance(other, (list, tuple)) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return Size(list.__mul__(self, times))

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Any:
        found = list.__getitem__(self, key)
        return Size(found) if isinstance(key, slice) else found


class TensorSize(int):
    """The number of elements of a tensor; called, it gives the shape, as `Tensor.size()` of other frameworks does."""

    _shape: tuple[int, ...]

    def __new__(cls, shape: tuple[int, ...]) -> TensorSize:
        self = super().__new__(cls, math.prod(shape))
        self._shape = shape
        return self

    def __call__(self, dim: int | None = None) -> Any:
        return Size(self._shape) if dim is None else self._shape[dim]
