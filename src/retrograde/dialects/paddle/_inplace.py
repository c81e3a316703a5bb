"""In-place functions that change a tensor's shape or dtype: it takes another array, and its history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.value import shape_of
from ...ops import structural as st
from ...tape import inplace
from ._api import FUNCTIONS, METHODS, take_over


def become(name: str, target: Any, result: Any, undo: Any = None) -> Any:
    """Make `target` the tensor `result`, a rearrangement of it in the same memory; returns it.

    undo: the operation that leads back, `(primitive, parameters)`, for views that were taken before.
    """
    inplace.check(name, target)
    if target._base is not None:
        target._base, target._view_steps = result._base, result._view_steps
    elif undo is not None:
        for view in inplace.live_views(target):
            if view is not result:
                view._view_steps = (undo, *view._view_steps)
    take_over(target, result)
    return target


def rearranging(name: str, f: Callable[..., Any]) -> None:
    """Register `NAME_`, which rearranges a tensor as `f` does; its shape may change."""

    def method(x: Any, *args: Any, **options: Any) -> Any:
        back = (st.reshape, (("shape", tuple(shape_of(x))),))
        return become(name + "_", x, f(x, *args, **options), back)

    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"`{name}` in place: the tensor takes the new shape; returns it."
    METHODS[name + "_"] = FUNCTIONS[name + "_"] = method
