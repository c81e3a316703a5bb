"""How the paddle dialect's names come about: its registry, and PaddlePaddle's rules for `out=` and in-place results."""

from __future__ import annotations

import warnings
from typing import Any

from ...core.value import Value, dtype_of, shape_of
from ...tape import inplace, mutation
from ...tensor.promotion import to_dtype
from .._shared.registry import Message, Registry, aliases, named, near, submodule
from ._dtype import FROM_NUMPY, can_cast

__all__ = [
    "FUNCTIONS", "METHODS", "REGISTRY", "Message", "VisibleDeprecationWarning", "aliases", "api", "attributes",
    "check_shape", "deprecated", "in_place", "in_place_form", "missing", "named", "near", "offered", "row", "submodule",
    "take_dtype", "take_over", "tensor_class", "to_dtype", "write_out",
]  # fmt: skip


class VisibleDeprecationWarning(UserWarning):
    """What PaddlePaddle warns with of functions that it has better ones for, so that it is seen."""


def deprecated(name: str, since: str, better: str) -> None:
    """Warn that a function is deprecated, where it is called."""
    warnings.warn(f"{name} is deprecated since PaddlePaddle {since}; use {better}", VisibleDeprecationWarning, stacklevel=3)


def take_dtype(name: str, result: Value, target: Value) -> bool:
    """Let the target of an in-place operation take the result's dtype where that is another; says whether it has.

    A target that shares its memory with a view keeps its dtype; TypeError where the result would lose its kind in it.
    """
    have, want = dtype_of(result), dtype_of(target)
    if have == want:
        return False
    check_shape(name, result, target)
    if target._base is None and not inplace.live_views(target):
        take_over(target, result)
        return True
    if not can_cast(FROM_NUMPY[have], FROM_NUMPY[want]):
        raise TypeError(
            f"{name}: the result has dtype {FROM_NUMPY[have]}, and a tensor of dtype {FROM_NUMPY[want]} that shares its "
            "memory with a view cannot change to it; convert the operand with astype(), or work on a clone()"
        )
    return False


def check_shape(name: str, result: Value, target: Value) -> None:
    """Raise ValueError where the result of an in-place operation has another shape than its target."""
    have, want = list(shape_of(result)), list(shape_of(target))
    if have != want:
        raise ValueError(f"{name}: the result has shape {have}, which a tensor of shape {want} cannot hold")


def take_over(target: Value, result: Value) -> None:
    """Let a tensor hold a result of any dtype in its place, history and all.

    Where that is in other memory, what was computed from the elements of before is refused its derivative from now on.
    """
    before = target._a
    changes = mutation.count(before)
    inplace.adopt(target, result)
    mutation.note(target._a, changes)
    if mutation.owner_of(before) is not mutation.owner_of(target._a):
        mutation.note(before)


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
    take_over(out, result)
    return out


REGISTRY = Registry(
    "paddle", "PaddlePaddle", take_dtype, write_out, in_place_functions=True,
    second_names={"input": "x", "other": "y", "dim": "axis"},
)  # fmt: skip
api, in_place_form, missing = REGISTRY.api, REGISTRY.in_place_form, REGISTRY.missing
attributes, row, offered, in_place = REGISTRY.attributes, REGISTRY.row, REGISTRY.offered, REGISTRY.in_place
FUNCTIONS = REGISTRY.functions
"""What the module `paddle` offers, by name."""
METHODS = REGISTRY.methods
"""What `Tensor` offers, by name."""


def tensor_class() -> Any:
    """The dialect's tensor class, for files that `_tensor.py` itself builds on."""
    return REGISTRY.tensor_class
