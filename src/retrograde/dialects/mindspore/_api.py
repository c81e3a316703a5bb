"""How the mindspore dialect's names come about: its registry, and the rule for in-place results.

`FUNCTIONS` is what `mindspore.ops` offers in functional style; `METHODS` what `Tensor` offers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._errors import ShapeError
from ...core.value import Value, dtype_of
from .._shared.registry import Message, Registry, named, near, submodule
from ._dtype import FROM_NUMPY

__all__ = [
    "FUNCTIONS", "METHODS", "REGISTRY", "Message", "api", "attributes", "check_cast", "in_place_form", "missing",
    "named", "near", "row", "submodule", "value_errors",
]  # fmt: skip


def check_cast(name: str, result: Value, target: Value) -> None:
    """Raise TypeError where a result would lose its kind (float into int) in the target."""
    have, want = dtype_of(result), dtype_of(target)
    if have != want and FROM_NUMPY[have].category > FROM_NUMPY[want].category:
        raise TypeError(
            f"{name}: the result has dtype {FROM_NUMPY[have]}, which a tensor of dtype {FROM_NUMPY[want]} cannot hold; "
            "convert the tensor with astype() first, or use the out-of-place form"
        )


def value_errors(f: Callable[..., Any]) -> Callable[..., Any]:
    """Shapes and axes that do not fit raise ValueError in `f`, as users of MindSpore expect."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except (ShapeError, np.exceptions.AxisError) as error:
            raise ValueError(str(error)) from None

    return wrapper


REGISTRY = Registry("mindspore", "MindSpore", check_cast)
api, in_place_form, missing = REGISTRY.api, REGISTRY.in_place_form, REGISTRY.missing
attributes, row = REGISTRY.attributes, REGISTRY.row
FUNCTIONS = REGISTRY.functions
"""What `mindspore.ops` offers as functions, by name."""
METHODS = REGISTRY.methods
"""What `Tensor` offers, by name."""
