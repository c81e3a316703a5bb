"""The parameters of distributions and bijectors: numbers and sequences become tensors; what they are is checked once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....._errors import UnsupportedError
from .....core.value import Value
from ..._data import data_array
from ..._dtype import Number, as_dtype
from ..._promote import to_dtype
from ..._tensor import from_array


def parameter(op: str, name: str, value: Any, dtype: Number) -> Any:
    """A parameter as a tensor of a dtype; None stays None. Raises TypeError for what is no number, sequence or tensor."""
    if value is None:
        return None
    if isinstance(value, Value):
        return to_dtype(value, dtype)
    if isinstance(value, str):
        raise TypeError(f"{op}: {name} must be a number, a sequence of numbers or a Tensor, got a str")
    return from_array(data_array(value, dtype.np, op))


def given(op: str, name: str, value: Any, dtype: Number | None) -> Any:
    """A tensor handed to a method, in the dtype of the computation; raises TypeError for anything else."""
    if not isinstance(value, Value):
        raise TypeError(f"{op}: {name} must be a Tensor, got {type(value).__name__}")
    return value if dtype is None else to_dtype(value, dtype)


def floating(op: str, dtype: Any) -> Number:
    """A floating dtype; raises TypeError for others."""
    found = as_dtype(dtype, op)
    if found.category != 2:
        raise TypeError(f"{op}: dtype must be floating, got {found}")
    return found


def concrete(value: Any) -> np.ndarray | None:
    """The elements of a parameter, where there are any to look at."""
    if value is None:
        return None
    try:
        found: np.ndarray = value._concrete("check")
    except (RuntimeError, UnsupportedError):  # inside a transform
        return None
    return found


def above(op: str, name: str, value: Any, low: float) -> None:
    """Raise ValueError for elements that are not above a bound."""
    a = concrete(value)
    if a is not None and not (a > low).all():
        raise ValueError(f"{op}: {name} must be above {low:g}, got {value}")


def below(op: str, name: str, value: Any, high: float) -> None:
    """Raise ValueError for elements that are not below a bound."""
    a = concrete(value)
    if a is not None and not (a < high).all():
        raise ValueError(f"{op}: {name} must be below {high:g}, got {value}")


def with_axes(op: str, name: str, value: Any) -> None:
    """Raise TypeError for a parameter without axes, where a distribution wants some."""
    if value is not None and not value.ndim:
        raise TypeError(f"{op}: {name} must have at least one axis; give a sequence or a Tensor such as Tensor([2.0])")
