"""What optimisers keep in tensors, in PyTorch's dtypes; everything else on values is in `retrograde.learn.bridge`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.number import as_float
from ....core.value import dtype_of, make
from ....learn import bridge
from .._dtype import float64, get_default_dtype
from .._tensor import Tensor


def wrap(array: np.ndarray) -> Tensor:
    """A plain tensor around an array, shared."""
    return make(Tensor, array)


def scalar(value: float) -> Tensor:
    """A 0-d tensor for a count or coefficient in the state: float32, or float64 where that is the default."""
    return wrap(np.array(value, _scalar_dtype()))


def set_scalar(tensor: Tensor, value: Any) -> None:
    """Put a number into a 0-d tensor of the state, rounded as `scalar` would hold it; or what stands for one in a trace."""
    bridge.put(tensor, value if isinstance(value, Tensor) else _scalar_dtype()(value))


def _scalar_dtype() -> type[np.floating[Any]]:
    return np.float64 if get_default_dtype() is float64 else np.float32


def full_like(p: Tensor, value: float) -> Tensor:
    """A constant of the shape and dtype of a parameter; for complex ones in both parts."""
    return bridge.full_like(p, complex(value, value) if dtype_of(p).kind == "c" else value)


def number(value: Any, differentiable: bool = False) -> Any:
    """An option as a Python float; a tensor stays one where it wants a gradient, in a
    differentiable group, and where its array is not NumPy's."""
    if isinstance(value, Tensor) and (type(value._a) is not np.ndarray or (differentiable and value.requires_grad)):
        return value
    return as_float(value)
