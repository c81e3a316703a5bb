"""`Parameter` and `Buffer`: tensors that a module owns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import make
from ....tape import autograd as tape
from .. import _repr
from .._printing import tensor_repr
from .._tensor import Tensor, _TensorMeta


class _ParameterMeta(_TensorMeta):
    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (
            cls is Parameter and isinstance(instance, Tensor) and getattr(type(instance), "_is_param_class", False)
        )


class Parameter(Tensor, metaclass=_ParameterMeta, result=Tensor):
    """A tensor that a module registers as its own when it is set as an attribute."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = make(Tensor, np.zeros((0,), np.float32))
        if not isinstance(data, Tensor):
            raise AttributeError(f"Parameter: wanted a tensor, got {type(data).__name__}")
        x = make(cls, data._a, None, data._level)
        if requires_grad:
            if data.dtype.category < 2:
                raise RuntimeError(f"Parameter: only floating and complex tensors can require grad, not {data.dtype}")
            tape.leaf(x)
        return x

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        plain = make(Tensor, self._a, self._node, self._level)
        return _repr.format_parameter(tensor_repr(plain), class_name=type(self).__name__)


class Buffer(Tensor, result=Tensor):
    """A tensor that a module registers as a buffer when it is set as an attribute."""

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = make(Tensor, np.zeros((0,), np.float32))
        x = make(cls, data._a, data._node, data._level)
        x.persistent = persistent
        return x

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        pass


class UninitializedParameter:
    """Not offered: lazy modules."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("lazy modules are not part of retrograde's torch dialect; give the sizes")


__all__ = ["Buffer", "Parameter", "UninitializedParameter"]
