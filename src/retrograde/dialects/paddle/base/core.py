"""`paddle.base.core`: the classes that old programs name there."""

from __future__ import annotations

from typing import Any

from .._api import missing as _missing
from .._device import CPUPlace, CUDAPlace, Place, is_compiled_with_cuda, is_compiled_with_xpu
from .._kernels import EnforceNotMet
from .._tensor import Tensor

VarBase = Tensor

__all__ = ["CPUPlace", "CUDAPlace", "EnforceNotMet", "Place", "VarBase", "is_compiled_with_cuda", "is_compiled_with_xpu"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.base.core", name, globals())
