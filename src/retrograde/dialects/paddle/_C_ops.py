"""`paddle._C_ops`: operations by the names of PaddlePaddle's compiled part, called with everything by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _arithmetic, _conversion, _creation, _reductions, _unary
from ._api import FUNCTIONS as F
from ._api import METHODS, missing
from .nn import functional

_ORDERED: dict[str, Callable[..., Any]] = {
    "scale": lambda x, scale, bias, after=True: _unary.scale(x, scale, bias, after),
    "sum": lambda x, axis, dtype, keepdim=False: _reductions.sum(x, axis or None, dtype, keepdim),
    "mean": lambda x, axis, keepdim=False: _reductions.mean(x, axis or None, keepdim),
    "max": lambda x, axis, keepdim=False: _reductions.max(x, axis or None, keepdim),
    "min": lambda x, axis, keepdim=False: _reductions.min(x, axis or None, keepdim),
    "full": lambda shape, value, dtype, place=None: _creation.full(shape, value, dtype),
    "full_like": lambda x, value, dtype, place=None: _creation.full_like(x, value, dtype),
    "softmax": lambda x, axis=-1: functional.softmax(x, axis),
    "elementwise_pow": lambda x, y: _arithmetic.pow(x, y),
    "argmax": lambda x, axis, keepdim, flatten, dtype: _reductions.argmax(x, None if flatten else axis, keepdim, dtype),
    "argmin": lambda x, axis, keepdim, flatten, dtype: _reductions.argmin(x, None if flatten else axis, keepdim, dtype),
    "gelu": lambda x, approximate=False: functional.gelu(x, approximate),
    "cast": lambda x, dtype: _conversion.cast(x, dtype),
    "norm": lambda x, axis, epsilon, is_test=False: (functional.normalize(x, 2, axis, epsilon), None),
    "dropout": lambda x, seed, p, test, mode, *_: (functional.dropout(x, p, training=not test, mode=mode), None),
}
"""Those whose arguments stand in another order, or have other defaults, than those of the function of that name."""


def __getattr__(name: str) -> Any:
    own = name.removesuffix("_")
    found = _ORDERED.get(name) or F.get(name) or getattr(functional, name, None) if name[:1] != "_" else None
    if found is None and own != name:
        found = METHODS.get(name)
    if found is None:
        raise missing("paddle._C_ops", name, (*_ORDERED, *F))
    return found
