"""Padding layers. `padding` is one number, or (before, after) per axis with the last axis first."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from .. import functional as F
from .conv import tuple_of
from .module import Module


class _Pad(Module):
    __constants__ = ["padding"]
    _axes: int
    _mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = tuple_of(padding, 2 * self._axes)

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    __constants__ = ["padding", "value"]
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The padded input."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The padding and its value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """The last axis padded with a number."""

    _axes = 1


class ConstantPad2d(_ConstantPadNd):
    """The last two axes padded with a number."""

    _axes = 2


class ConstantPad3d(_ConstantPadNd):
    """The last three axes padded with a number."""

    _axes = 3


def _zero(base: type[_ConstantPadNd], name: str) -> Any:
    def __init__(self: Any, padding: Any) -> None:
        base.__init__(self, padding, 0.0)

    def extra_repr(self: Any) -> str:
        """The padding."""
        return f"{self.padding}"

    body = {
        "__init__": __init__, "extra_repr": extra_repr, "__module__": __name__,
        "__doc__": (base.__doc__ or "").replace("a number", "zeros"),
    }  # fmt: skip
    return type(name, (base,), body)


ZeroPad1d = _zero(ConstantPad1d, "ZeroPad1d")
ZeroPad2d = _zero(ConstantPad2d, "ZeroPad2d")
ZeroPad3d = _zero(ConstantPad3d, "ZeroPad3d")


class ReflectionPad1d(_Pad):
    """The last axis of (C, L) or (N, C, L) padded with its mirror image."""

    _axes, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """The last two axes padded with their mirror image."""

    _axes, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """The last three axes padded with their mirror image."""

    _axes, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The last axis padded with its end elements."""

    _axes, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The last two axes padded with their end elements."""

    _axes, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The last three axes padded with their end elements."""

    _axes, _mode = 3, "replicate"


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """The padded input; raises ValueError for another number of dimensions."""
        if input.ndim not in (self._axes + 1, self._axes + 2):
            raise ValueError(
                f"{type(self).__name__}: wanted {self._axes + 1} or {self._axes + 2} dimensions, got {input.ndim}"
            )
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """The last axis continued periodically."""

    _axes = 1


class CircularPad2d(_CircularPad):
    """The last two axes continued periodically."""

    _axes = 2


class CircularPad3d(_CircularPad):
    """The last three axes continued periodically."""

    _axes = 3


__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip
