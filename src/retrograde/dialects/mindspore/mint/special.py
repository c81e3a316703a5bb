"""`mindspore.mint.special`."""

from __future__ import annotations

from typing import Any

from .._activations import log_softmax as _log_softmax
from .._promote import to_dtype as _to_dtype
from .._unary import erfc, exp2, expm1, log1p, round, sinc

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]


def log_softmax(input: Any, dim: Any = None, *, dtype: Any = None) -> Any:
    """The logarithm of softmax along an axis."""
    return _log_softmax(input if dtype is None else _to_dtype(input, dtype), -1 if dim is None else dim)
