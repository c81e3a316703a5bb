"""The old names of tensors by dtype: `torch.FloatTensor`, `torch.LongTensor` and so on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of
from . import _dtype
from ._api import FUNCTIONS
from ._data import data_array, sizes
from ._tensor import Tensor, from_array


class _TypeMeta(type):
    """`isinstance(x, torch.FloatTensor)` asks for the dtype; calling makes a tensor of it."""

    dtype: _dtype.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        d = cls.dtype.np
        if len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray)) and not hasattr(args[0], "numel"):
            return from_array(data_array(args[0], d))
        if len(args) == 1 and isinstance(args[0], Value):
            if dtype_of(args[0]) != d:
                raise TypeError(f"{cls.__name__}: wanted a tensor of dtype {cls.dtype}, got {args[0].dtype}")
            return args[0]  # type: ignore[return-value]
        return from_array(np.zeros(sizes(cls.__name__, args) if args else (0,), d))

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"

    def __str__(cls) -> str:
        return f"torch.{cls.__name__}"


_NAMES = {
    "FloatTensor": _dtype.float32, "DoubleTensor": _dtype.float64, "HalfTensor": _dtype.float16,
    "BFloat16Tensor": _dtype.bfloat16, "LongTensor": _dtype.int64, "IntTensor": _dtype.int32,
    "ShortTensor": _dtype.int16, "CharTensor": _dtype.int8, "ByteTensor": _dtype.uint8, "BoolTensor": _dtype.bool_,
    "ComplexFloatTensor": _dtype.complex64, "ComplexDoubleTensor": _dtype.complex128,
}  # fmt: skip

TYPES: dict[str, type] = {
    name: _TypeMeta(name, (), {"dtype": d, "__doc__": f"Tensors of dtype {d.name}."}) for name, d in _NAMES.items()
}
BY_DTYPE: dict[_dtype.dtype, str] = {d: f"torch.{name}" for name, d in _NAMES.items()}
FUNCTIONS.update(TYPES)
