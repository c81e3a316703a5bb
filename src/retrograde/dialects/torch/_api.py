"""How the torch dialect's names come about: its registry, and PyTorch's rules for `out=` and in-place results."""

from __future__ import annotations

from typing import Any

from ...core.dual import DualArray
from ...core.notation import called
from ...core.value import Value, dtype_of
from ...tape import inplace
from .._shared.registry import Message, Registry, named, near, owned, submodule
from ._dtype import FROM_NUMPY, can_cast

__all__ = [
    "FUNCTIONS", "METHODS", "REGISTRY", "Message", "api", "attributes", "check_cast", "in_place", "in_place_form",
    "missing", "named", "near", "offered", "owned", "row", "submodule", "with_out", "write_out",
]  # fmt: skip


def check_cast(name: str, result: Value, target: Value) -> None:
    """Raise RuntimeError where a result would lose its kind (float into int) in the target."""
    have, want = dtype_of(result), dtype_of(target)
    if have != want and not can_cast(FROM_NUMPY[have], FROM_NUMPY[want]):
        raise RuntimeError(
            f"{called(name)}: the result has dtype {FROM_NUMPY[have]!r}, which cannot be stored in a tensor of dtype "
            f"{FROM_NUMPY[want]!r}; convert the tensor first, or use the out-of-place form"
        )


def write_out(name: str, result: Any, out: Any) -> Any:
    """Write a result (or a tuple of them) into `out`, resized where its shape differs."""
    if isinstance(result, tuple):
        outs = tuple(out)
        if len(outs) != len(result):
            raise RuntimeError(f"{name}: out= needs {len(result)} tensors, got {len(outs)}")
        for part, target in zip(result, outs):
            write_out(name, part, target)
        return type(result)(outs) if not hasattr(result, "_make") else result._make(outs)
    if not isinstance(out, Value):
        raise TypeError(f"{name}: out= must be a tensor, got {type(out).__name__}")
    if result.requires_grad or out.requires_grad:
        raise RuntimeError(
            f"{name}: out= does not record gradients, and one of the tensors requires grad; "
            "assign the result instead, or use no_grad()"
        )
    if DualArray in (type(result._a), type(out._a)):
        raise NotImplementedError(f"{name}: out= does not go with forward-mode derivatives; assign the result instead")
    check_cast(name, result, out)
    if tuple(out._a.shape) != tuple(result._a.shape):
        out._a = result._a.astype(out._a.dtype)
        return out
    return inplace.update(name, out, lambda: result)


REGISTRY = Registry("torch", "PyTorch", check_cast, write_out)
api, in_place_form, with_out, missing = REGISTRY.api, REGISTRY.in_place_form, REGISTRY.with_out, REGISTRY.missing
offered, in_place = REGISTRY.offered, REGISTRY.in_place
attributes, row = REGISTRY.attributes, REGISTRY.row
FUNCTIONS = REGISTRY.functions
"""What the module `torch` offers, by name."""
METHODS = REGISTRY.methods
"""What `Tensor` offers, by name."""
