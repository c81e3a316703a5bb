"""Size arguments of layers: one number for all axes, or one per axis."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ....._errors import ShapeError
from .....core.value import dtype_of, shape_of
from ...._shared.arguments import sizes_per_axis
from ..._axes import integer
from ..._dtype import FROM_NUMPY
from ..._shape import reshaped

F = TypeVar("F", bound=Callable[..., Any])


def check_kind(op: str, x: Any, *, integers: bool = False) -> None:
    """Raise NotImplementedError for a tensor that is not floating (or an integer one, where these are taken)."""
    d = FROM_NUMPY[dtype_of(x)]
    if d.category != 2 and not (integers and d.category == 1):
        raise NotImplementedError(f"{op}: tensors of {d} are not taken; convert the input to a floating dtype")


per_axis = sizes_per_axis(integer, RuntimeError)


def planned(f: F) -> F:
    """Remember what a function of sizes gives: a network asks for few different ones, again and again.

    Its result is shared and must not be changed. Sequences that cannot be remembered are taken as tuples. What does not
    fit raises RuntimeError.
    """
    remembered = functools.lru_cache(maxsize=1024, typed=True)(f)

    @functools.wraps(f)
    def plan(*args: Any) -> Any:
        try:
            try:
                return remembered(*args)
            except TypeError:
                pass
            return f(*args)
        except ShapeError as error:
            raise RuntimeError(str(error)) from None

    return plan  # type: ignore[return-value]


def unsqueezed(x: Any, axis: int) -> Any:
    """A view of `x` with an axis of length one."""
    shape = tuple(shape_of(x))
    return reshaped(x, (*shape[:axis], 1, *shape[axis:]), "UnsqueezeBackward0")


def squeezed(x: Any, axis: int) -> Any:
    """A view of `x` without an axis of length one."""
    shape = tuple(shape_of(x))
    return reshaped(x, (*shape[:axis], *shape[axis + 1 :]), "SqueezeBackward1")
