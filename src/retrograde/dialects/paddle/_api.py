"""How the paddle dialect's names come about: its registry, and PaddlePaddle's rules for `out=` and in-place results."""

from __future__ import annotations

from typing import Any

from ...core.value import Value, dtype_of, shape_of
from ...tape import inplace
from ...tensor.promotion import to_dtype
from .._shared.names import Message, Registry, aliases, named, near, submodule
from ._dtype import FROM_NUMPY, can_cast

__all__ = [
    "FUNCTIONS", "METHODS", "REGISTRY", "Message", "aliases", "api", "check_cast", "in_place_form", "missing", "named",
    "near", "submodule", "tensor_class", "to_dtype", "write_out",
]  # fmt: skip


def check_cast(name: str, result: Value, target: Value) -> None:
    """Raise TypeError where an in-place result would lose its kind (float into int) in the target."""
    have, want = dtype_of(result), dtype_of(target)
    if have != want and not can_cast(FROM_NUMPY[have], FROM_NUMPY[want]):
        raise TypeError(
            f"{name}: the result has dtype {FROM_NUMPY[have]}, which a tensor of dtype {FROM_NUMPY[want]} cannot hold; "
            "convert the tensor with astype() first, or use the out-of-place form"
        )


def write_out(name: str, result: Any, out: Any) -> Any:
    """Write a result (or a tuple of them) into `out`, history and all; `out` takes the result's shape and dtype."""
    if isinstance(result, (tuple, list)):
        outs = tuple(out)
        if len(outs) != len(result):
            raise ValueError(f"{name}: out= needs {len(result)} tensors, got {len(outs)}")
        return type(result)([write_out(name, part, target) for part, target in zip(result, outs)])
    if not isinstance(out, Value):
        raise TypeError(f"{name}: out= must be a Tensor, got {type(out).__name__}")
    if tuple(shape_of(out)) == tuple(shape_of(result)) and dtype_of(out) == dtype_of(result):
        return inplace.update(name, out, lambda: result)
    inplace.check(name, out)
    out._a, out._node, out._level = result._a, result._node, result._level
    return out


REGISTRY = Registry(
    "paddle", "PaddlePaddle", check_cast, write_out, in_place_functions=True,
    second_names={"input": "x", "other": "y", "dim": "axis"},
)  # fmt: skip
api, in_place_form, missing = REGISTRY.api, REGISTRY.in_place_form, REGISTRY.missing
FUNCTIONS = REGISTRY.functions
"""What the module `paddle` offers, by name."""
METHODS = REGISTRY.methods
"""What `Tensor` offers, by name."""


def tensor_class() -> Any:
    """The dialect's tensor class, for files that `_tensor.py` itself builds on."""
    return REGISTRY.tensor_class
