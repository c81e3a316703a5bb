"""Padding layers. `padding` is one number, or (before, after) per axis with the last axis first."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from .. import functional as F
from ._layer import layer
from .conv import tuple_of

_AXES = {1: "last axis", 2: "last two axes", 3: "last three axes"}


def _complete(pad: Any) -> None:
    pad.padding = tuple_of(pad.padding, 2 * pad._axes)


def _widths(pad: Any) -> str:
    """The widths."""
    return f"{pad.padding}"


def _continued(self: Any, input: Tensor) -> Tensor:
    """The padded input; raises ValueError for another number of dimensions."""
    n = self._axes
    if input.ndim not in (n + 1, n + 2):
        raise ValueError(f"{type(self).__name__}: wanted {n + 1} or {n + 2} dimensions, got {input.ndim}")
    return F.pad(input, self.padding, "circular")  # type: ignore[no-any-return]


def _pads(base: type, how: str) -> Any:
    """The layers of a base that pad one, two and three axes."""
    name = base.__name__[1:-2]
    return (layer(f"{name}{n}d", None, None, f"The {axes} {how}.", base=base, _axes=n) for n, axes in _AXES.items())


_ConstantPadNd = layer(
    "_ConstantPadNd", "padding: Any, value: float",
    lambda self, input: F.pad(input, self.padding, "constant", self.value), "What the paddings by a number share.",
    shows=True, then=_complete,
)  # fmt: skip
_ReflectionPadNd = layer(
    "_ReflectionPadNd", "padding: Any", lambda self, input: F.pad(input, self.padding, "reflect"),
    "What the paddings by mirror images share.", shows=_widths, then=_complete,
)  # fmt: skip
_ReplicationPadNd = layer(
    "_ReplicationPadNd", "padding: Any", lambda self, input: F.pad(input, self.padding, "replicate"),
    "What the paddings by the end elements share.", shows=_widths, then=_complete,
)  # fmt: skip
_CircularPadNd = layer(
    "_CircularPadNd", "padding: Any", _continued, "What the periodic paddings share.", shows=_widths, then=_complete
)
ConstantPad1d, ConstantPad2d, ConstantPad3d = _pads(_ConstantPadNd, "padded with a number")
ZeroPad1d, ZeroPad2d, ZeroPad3d = (
    layer(
        f"ZeroPad{n}d", "padding: Any", None, f"The {_AXES[n]} padded with zeros.", base=base, fixed={"value": 0.0},
        shows=_widths,
    )
    for n, base in enumerate((ConstantPad1d, ConstantPad2d, ConstantPad3d), 1)
)  # fmt: skip
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _pads(_ReflectionPadNd, "padded with the mirror image")
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _pads(_ReplicationPadNd, "padded with the end elements")
CircularPad1d, CircularPad2d, CircularPad3d = _pads(_CircularPadNd, "continued periodically")

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip
