"""`paddle.tensor`: the functions on tensors under the module's older name, and, called, what `paddle.as_tensor` does."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .. import paddle as _paddle
from . import linalg
from ._api import FUNCTIONS, METHODS, missing, named
from ._tensor import Tensor as Tensor

_SECTIONS = ("attribute", "creation", "logic", "manipulation", "math", "ops", "random", "search", "stat")
"""What PaddlePaddle sorts the functions into: here each section offers all of them."""


class _Callable(ModuleType):
    """A module that makes a tensor when it is called."""

    def __call__(self, data: Any, *args: Any, **options: Any) -> Tensor:
        """A new tensor with a copy of the data, as `paddle.as_tensor` makes it."""
        return FUNCTIONS["as_tensor"](data, *args, **options)  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    if name in _SECTIONS:
        return sys.modules[__name__]
    if name in FUNCTIONS:
        return getattr(_paddle, name)
    if name in METHODS:
        return named(METHODS[name], name)
    if name in linalg.__all__:
        return getattr(linalg, name)
    raise missing("paddle.tensor", name, (*FUNCTIONS, *linalg.__all__))


sys.modules[__name__].__class__ = _Callable
