"""The old names of tensors by dtype: `torch.FloatTensor`, `torch.LongTensor` and so on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.node import Accumulate
from ...core.value import Value, dtype_of, make, shape_of
from . import _dtype
from ._api import FUNCTIONS, api
from ._data import data_array, sizes
from ._shape import reshaped
from ._size import CPU, check_device, device
from ._tensor import Tensor, from_array


class LegacyType(type):
    """`isinstance(x, torch.FloatTensor)` asks for the dtype; calling makes a tensor of it."""

    dtype: _dtype.dtype
    place = "torch"
    """The module that offers them."""
    where = "cpu"
    """The kind of device that they are on."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return issubclass(type(instance), Tensor) and instance.dtype is cls.dtype and instance.device.type == cls.where

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        d, where = cls.dtype.np, CPU
        if cls.where != "cpu":
            check_device(cls.__name__, cls.where)
            where = device(cls.where)
        if len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray)) and not hasattr(args[0], "numel"):
            return from_array(data_array(args[0], d), device=where)
        if len(args) == 1 and isinstance(args[0], Value):
            if dtype_of(args[0]) != d:
                raise TypeError(f"{cls.__name__}: wanted a tensor of dtype {cls.dtype}, got {args[0].dtype}")
            return args[0]  # type: ignore[return-value]
        return from_array(np.zeros(sizes(cls.__name__, args) if args else (0,), d), device=where)

    @property
    def path(cls) -> str:
        """The dotted name."""
        return f"{cls.place}.{cls.__name__}"

    def __repr__(cls) -> str:
        return f"<class '{cls.path}'>"


NAMES = {
    "FloatTensor": _dtype.float32, "DoubleTensor": _dtype.float64, "HalfTensor": _dtype.float16,
    "BFloat16Tensor": _dtype.bfloat16, "LongTensor": _dtype.int64, "IntTensor": _dtype.int32,
    "ShortTensor": _dtype.int16, "CharTensor": _dtype.int8, "ByteTensor": _dtype.uint8, "BoolTensor": _dtype.bool_,
    "ComplexFloatTensor": _dtype.complex64, "ComplexDoubleTensor": _dtype.complex128,
}  # fmt: skip

TYPES: dict[str, type] = {
    name: LegacyType(name, (), {"dtype": d, "__doc__": f"Tensors of dtype {d.name}."}) for name, d in NAMES.items()
}
BY_DTYPE: dict[_dtype.dtype, str] = {d: f"torch.{name}" for name, d in NAMES.items()}
FUNCTIONS.update(TYPES)


@api(method=False)
def typename(obj: Any) -> str:
    """The full name of an object's type; for a tensor that of its legacy type, such as `torch.FloatTensor`."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    name = getattr(obj, "__qualname__", kind.__qualname__)
    module = getattr(obj, "__module__", None) or kind.__module__
    return name if module in ("builtins", "") else f"{module}.{name}"


@api(method=False)
def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype by the name or type of a tensor, such as `torch.DoubleTensor`."""
    name = (t.path if isinstance(t, LegacyType) else str(t)).removeprefix("torch.")
    kind = FUNCTIONS.get(name)
    if not name.endswith("Tensor") or kind is None or not kind.dtype.is_floating_point:
        raise TypeError(f"set_default_tensor_type: wanted a floating tensor type such as torch.DoubleTensor, got {t!r}")
    _dtype.set_default_dtype(kind.dtype)


@api(function=False)
def as_subclass(self: Tensor, cls: type) -> Any:
    """The same elements and history as a tensor of a subclass."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"as_subclass: wanted a subclass of Tensor, got {cls!r}")
    x = reshaped(self, tuple(shape_of(self)), "AliasBackward0") if type(self._node) is Accumulate else self
    return make(cls, x._a, x._node, x._level)
