"""`paddle.base.framework` and `paddle.framework`: parameters, modes, and names that old programs take from there."""

from __future__ import annotations

from typing import Any

from .._api import missing as _missing
from .._device import CPUPlace, CUDAPlace
from .._dtype import get_default_dtype, set_default_dtype
from .._gradients import grad, no_grad
from .._parameter import EagerParamBase, ParamAttr, Parameter, create_parameter
from .._tensor import Tensor

Variable = Tensor


def in_dynamic_mode() -> bool:
    """True: programs run operation by operation."""
    return True


in_dygraph_mode = in_dynamic_or_pir_mode = in_dynamic_mode

__all__ = [
    "CPUPlace", "CUDAPlace", "EagerParamBase", "ParamAttr", "Parameter", "Variable", "create_parameter",
    "get_default_dtype", "grad", "in_dygraph_mode", "in_dynamic_mode", "in_dynamic_or_pir_mode", "no_grad",
    "set_default_dtype",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise _missing("paddle.framework", name, globals())
