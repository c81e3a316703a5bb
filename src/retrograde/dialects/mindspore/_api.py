"""How the mindspore dialect's names come about: its registry, and the rule for in-place results.

`FUNCTIONS` is what `mindspore.ops` offers in functional style; `METHODS` what `Tensor` offers.
"""

from __future__ import annotations

from typing import Any

from ...core.value import Value, dtype_of
from .._shared.names import Message, Registry, named, near, submodule
from ._dtype import FROM_NUMPY

__all__ = [
    "FUNCTIONS", "METHODS", "Message", "api", "check_cast", "in_place_form", "missing", "named", "near",
    "set_tensor_class", "submodule", "tensor_class",
]  # fmt: skip


def check_cast(name: str, result: Value, target: Value) -> None:
    """Raise TypeError where a result would lose its kind (float into int) in the target."""
    have, want = dtype_of(result), dtype_of(target)
    if have != want and FROM_NUMPY[have].category > FROM_NUMPY[want].category:
        raise TypeError(
            f"{name}: the result has dtype {FROM_NUMPY[have]}, which a tensor of dtype {FROM_NUMPY[want]} cannot hold; "
            "convert the tensor with astype() first, or use the out-of-place form"
        )


_REGISTRY = Registry("mindspore", "MindSpore", check_cast)
api, in_place_form, missing = _REGISTRY.api, _REGISTRY.in_place_form, _REGISTRY.missing
FUNCTIONS = _REGISTRY.functions
"""What `mindspore.ops` offers as functions, by name."""
METHODS = _REGISTRY.methods
"""What `Tensor` offers, by name."""

_tensor_class: list[Any] = []


def set_tensor_class(cls: Any) -> None:
    """Say what the dialect's tensor is; called once by _tensor.py, which stands above the files that ask."""
    _tensor_class[:] = [cls]


def tensor_class() -> Any:
    """The dialect's tensor class, for files that `_tensor.py` itself builds on."""
    return _tensor_class[0]
