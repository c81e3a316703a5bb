"""`paddle.tensor`: the functions on tensors under the module's older name, and, called, what `paddle.as_tensor` does."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .. import paddle as _paddle
from . import linalg
from ._api import FUNCTIONS, METHODS, named
from ._paths import otherwise
from ._tensor import Tensor as Tensor


class _Callable(ModuleType):
    """A module that makes a tensor when it is called."""

    def __call__(self, data: Any, *args: Any, **options: Any) -> Tensor:
        """A new tensor with a copy of the data, as `paddle.as_tensor` makes it."""
        return _paddle.as_tensor(data, *args, **options)  # type: ignore[no-any-return]


def fill_constant(shape: Any, dtype: Any, value: Any, force_cpu: bool = False, out: Any = None, name: Any = None) -> Tensor:
    """A tensor with every element `value`, a number or one spelled out."""
    return _paddle.full(shape, value, dtype, out=out)  # type: ignore[no-any-return]


def create_array(dtype: Any, initialized_list: Any = None) -> list[Tensor]:
    """A list for tensors, as loops of static programs fill it."""
    return list(initialized_list or ())


def array_length(array: list[Tensor]) -> int:
    """How many tensors a list holds."""
    return len(array)


def _place(i: Any) -> int:
    return int(i.item()) if isinstance(i, Tensor) else int(i)


def array_read(array: list[Tensor], i: Any) -> Tensor:
    """A tensor of a list."""
    return array[_place(i)]


def array_write(x: Tensor, i: Any, array: list[Tensor] | None = None) -> list[Tensor]:
    """Put a tensor into a list, at a place that it has or at its end; raises AssertionError for one further on."""
    found, at = [] if array is None else array, _place(i)
    if at > len(found):
        raise AssertionError(f"array_write: place {at} lies beyond the end of a list of {len(found)}")
    found[at : at + 1] = [x]
    return found


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        return getattr(_paddle, name)
    if name in METHODS:
        return named(METHODS[name], name)
    if name in linalg.__all__:
        return getattr(linalg, name)
    return otherwise("paddle.tensor", name, (*FUNCTIONS, *linalg.__all__))


sys.modules[__name__].__class__ = _Callable
