"""`paddle._legacy_C_ops`: operations called with tensors by position, then the name and the value of each attribute in turn."""

from __future__ import annotations

from typing import Any

from .._shared.registry import defined
from . import _C_ops
from ._api import FUNCTIONS as F

_ATTRIBUTES = {"trans_x": "transpose_x", "trans_y": "transpose_y", "dim": "axis", "keep_dim": "keepdim", "out_dtype": "dtype"}
"""Attributes that the functions here have under another name."""
_NAMES = {"elementwise_add": "add", "elementwise_sub": "subtract", "elementwise_mul": "multiply", "elementwise_div": "divide",
          "elementwise_max": "maximum", "elementwise_min": "minimum", "elementwise_pow": "pow", "matmul_v2": "matmul",
          "reduce_sum": "sum", "reduce_mean": "mean", "reduce_max": "max", "reduce_min": "min", "reshape2": "reshape",
          "transpose2": "transpose", "fill_constant": "full", "mul": "matmul"}  # fmt: skip


def __getattr__(name: str) -> Any:
    f = F.get(_NAMES.get(name, name)) or getattr(_C_ops, _NAMES.get(name, name))

    def call(*args: Any) -> Any:
        first = next((k for k, x in enumerate(args) if isinstance(x, str)), len(args))
        attributes = dict(zip(args[first::2], args[first + 1 :: 2]))
        if attributes.pop("reduce_all", False):
            attributes["dim"] = None
        given = {_ATTRIBUTES.get(key, key): value for key, value in attributes.items()}
        return f(*args[:first], **given)

    return defined(name, call)
