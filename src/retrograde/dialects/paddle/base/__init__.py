"""`paddle.base`: what dynamic programs use of PaddlePaddle's lower layer."""

from __future__ import annotations

from .._api import attributes as _attributes
from .._device import CPUPlace, CUDAPinnedPlace, CUDAPlace, is_compiled_with_cuda, is_compiled_with_xpu
from .._flags import get_flags, set_flags
from .._parameter import ParamAttr, WeightNormParamAttr, unique_name
from ..nn.initializer import set_global_initializer
from .._tensor import Tensor
from . import core, dygraph, framework

Variable = Tensor
in_dygraph_mode = framework.in_dygraph_mode
enable_dygraph, disable_dygraph = dygraph.enable_dygraph, dygraph.disable_dygraph

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "ParamAttr", "Tensor", "Variable", "WeightNormParamAttr", "core",
    "disable_dygraph", "dygraph", "enable_dygraph", "framework", "get_flags", "in_dygraph_mode", "is_compiled_with_cuda",
    "is_compiled_with_xpu", "set_flags", "set_global_initializer", "unique_name",
]  # fmt: skip

__getattr__ = _attributes(globals())
