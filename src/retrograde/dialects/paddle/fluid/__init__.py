"""`paddle.fluid`: the interface of PaddlePaddle before version 2, as far as dynamic programs use it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .._api import missing as _missing
from .._api import submodule as _submodule
from .._device import CPUPlace, CUDAPlace, get_device, is_compiled_with_cuda, set_device
from .._flags import get_flags, in_dynamic_mode, set_flags
from .._parameter import ParamAttr, WeightNormParamAttr, unique_name
from .._tensor import Tensor
from ..base import core, framework
from . import dygraph
from .dygraph import disable_dygraph, enable_dygraph

Variable = VarBase = Tensor
in_dygraph_mode = in_dynamic_mode
enable_imperative, disable_imperative = enable_dygraph, disable_dygraph


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """A name for what is computed inside; it is shown nowhere."""
    yield


__all__ = [
    "CPUPlace", "CUDAPlace", "ParamAttr", "Tensor", "VarBase", "Variable", "WeightNormParamAttr", "core",
    "disable_dygraph", "dygraph", "enable_dygraph", "framework", "get_device", "get_flags", "in_dygraph_mode",
    "is_compiled_with_cuda", "name_scope", "set_device", "set_flags", "unique_name",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # What needs the layers of paddle.nn is imported when it is asked for.
    if name in ("clip", "initializer", "layers", "optimizer", "regularizer"):
        return _submodule(__name__, name)
    if name in ("embedding", "one_hot"):
        return getattr(_submodule(__name__, "layers"), name)
    raise _missing("paddle.fluid", name, globals())
