"""`Parameter` and `Buffer`: tensors that a module owns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._state import state
from ....core.unwrap import share
from ....core.value import make
from ....tape import autograd as tape
from ..._shared.guard import kind_of
from ..._shared.tensor_class import TensorClass
from .. import _repr
from .._creation import np_dtype_of
from .._function_protocol import asks, never
from .._printing import tensor_repr
from .._size import check_device
from .._sparse_tensor import SparseTensor
from .._tensor import Tensor, from_array


class _ParameterMeta(TensorClass):
    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (
            cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)
        )


class Parameter(Tensor, metaclass=_ParameterMeta, result=Tensor):
    """A tensor that a module registers as its own when it is set as an attribute.

    Of a tensor of a subclass it makes another of that subclass, which counts as a Parameter.
    """

    __torch_function__ = staticmethod(never)  # type: ignore[assignment]
    _copied_bare = True

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = make(Tensor, np.zeros((0,), np.float32))
        if type(data) is SparseTensor:
            raise NotImplementedError("Parameter: a parameter is dense here; keep a sparse tensor as a buffer")
        if not isinstance(data, Tensor):
            raise AttributeError(f"Parameter: wanted a tensor, got {kind_of(data)}")
        if cls is Parameter and asks(data):
            x = data.detach()
            x._is_param = True  # type: ignore[attr-defined]
        else:
            x = make(cls, data._a, None, data._level)
            if type(data._a) is not np.ndarray and not data._level:
                share(x, data)
        if requires_grad:
            if data.dtype.category < 2:
                raise RuntimeError(
                    f"Parameter: only floating and complex tensors can require grad, not {data.dtype}; convert it with "
                    ".float()"
                )
            if data._inference and state.mark is None:
                raise RuntimeError("Parameter: an inference tensor takes no part in autograd; give a clone() of it")
            tape.leaf(x)
        return x

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """`__new__` does everything; a subclass's may take other arguments."""

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return _repr.format_parameter(tensor_repr(self), class_name=type(self).__name__)


class Buffer(Tensor, result=Tensor):
    """A tensor that a module registers as a buffer when it is set as an attribute."""

    __torch_function__ = staticmethod(never)  # type: ignore[assignment]

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = make(Tensor, np.zeros((0,), np.float32))
        x = make(cls, data._a, data._node, data._level)
        x.persistent = persistent
        return x

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As Parameter's."""


class UninitializedTensorMixin(Tensor, result=Tensor):
    """What tensors have in common that wait for their shape: they can be materialized, and little else."""

    _becomes: type

    @property
    def shape(self) -> Any:
        """Raises RuntimeError: there is no shape yet."""
        raise RuntimeError(
            f"{type(self).__name__} has no shape yet; call materialize(shape), or the lazy module that owns it once"
        )

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give the tensor a shape (and dtype): from now on it is an ordinary one, yet to be filled."""
        check_device("materialize", device)
        where = self.device if device is None else device
        wanted = self._a.dtype if dtype is None else dtype.np
        wants_grad = self.requires_grad
        self._a, self._node = from_array(np.zeros(tuple(int(n) for n in shape), wanted), device=where)._a, None
        self.__class__ = self._becomes  # type: ignore[assignment]
        if wants_grad:
            tape.leaf(self)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter, result=Tensor):
    """A parameter whose shape is not known yet, as lazy modules have them."""

    _becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        check_device("UninitializedParameter", device)
        x = make(cls, from_array(np.zeros((0,), np_dtype_of("UninitializedParameter", dtype)), device=device)._a)
        if requires_grad:
            tape.leaf(x)
        return x

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedBuffer(UninitializedTensorMixin, result=Tensor):
    """A buffer whose shape is not known yet."""

    _becomes = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        check_device("UninitializedBuffer", device)
        x = make(cls, from_array(np.zeros((0,), np_dtype_of("UninitializedBuffer", dtype)), device=device)._a)
        x.persistent = persistent
        return x

    def __init__(self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(device=self.device, dtype=self.dtype, persistent=self.persistent)  # type: ignore[attr-defined]
        return memo[id(self)]


def is_lazy(param: Any) -> bool:
    """Whether a tensor waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]
