"""How the mindspore dialect's names come about: its registry, and the rule for in-place results.

`FUNCTIONS` is what `mindspore.ops` offers in functional style; `METHODS` what `Tensor` offers.
"""

from __future__ import annotations

import numpy as np

from ..._errors import ShapeError
from ...core.value import Value, dtype_of
from .._shared.arguments import raising
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


value_errors = raising(ValueError, ShapeError, np.exceptions.AxisError)
"""Let shapes and axes that do not fit raise ValueError in a function, as users of MindSpore expect."""

REGISTRY = Registry("mindspore", "MindSpore", check_cast)
api, in_place_form, missing = REGISTRY.api, REGISTRY.in_place_form, REGISTRY.missing
attributes, row = REGISTRY.attributes, REGISTRY.row
FUNCTIONS = REGISTRY.functions
"""What `mindspore.ops` offers as functions, by name."""
METHODS = REGISTRY.methods
"""What `Tensor` offers, by name."""
