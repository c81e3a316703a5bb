"""Functions of a row, an image or a space, which differ in the number of axes only: `conv1d`, `conv2d`, `conv3d`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .registry import defined

Function = Callable[..., Any]

_TENSORS = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_KERNELS = {1: "K", 2: "KH, KW", 3: "KD, KH, KW"}
_FLAT = {1: "", 2: " in the flattened image", 3: " in the flattened space"}


def of_axes(
    name: str, doc: str, make: Callable[[str, int], Function], *decorators: Callable[[Function], Function],
    axes: tuple[int, ...] = (1, 2, 3),
) -> tuple[Any, ...]:  # fmt: skip
    """The functions `name` ("conv{}d") for each number of axes, which `make(name, axes)` makes; then they are decorated.

    doc: what they are, where {x} is the shape of what they take, {k} a kernel's sizes, {flat} in what its places count.
    """
    found = []
    for n in axes:
        f = defined(name.format(n), make(name.format(n), n), _filled(doc, n))
        for decorate in decorators:
            f = decorate(f)
        found.append(f)
    return tuple(found)


def classes_of_axes(base: Any, name: str, doc: str, axes: tuple[int, ...] = (1, 2, 3), **members: Any) -> tuple[Any, ...]:
    """The classes `name` ("Conv{}d") for each number of axes, which `_axes` says to what the base does.

    doc: as in `of_axes`. members: of the classes; where one is a dict, its value for the number of axes.
    """
    module = sys._getframe(1).f_globals["__name__"]
    return tuple(
        type(base)(name.format(n), (base,), {
            "__module__": module, "__qualname__": name.format(n), "__doc__": _filled(doc, n), "_axes": n,
            **{key: value[n] if isinstance(value, dict) else value for key, value in members.items()},
        }) for n in axes
    )  # fmt: skip


def _filled(doc: str, n: int) -> str:
    return doc.format(x=_TENSORS[n], k=_KERNELS[n], flat=_FLAT[n], n=n)
