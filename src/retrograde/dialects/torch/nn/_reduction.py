"""`torch.nn._reduction`: the numbers and old names of reductions, for losses that users write."""

from __future__ import annotations

from ....ops.loss import REDUCTIONS
from .functional._losses import old_reduction

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """The number of a reduction; raises ValueError for an unknown one."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
    return REDUCTIONS.index(reduction)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the old arguments mean."""
    return old_reduction(size_average, reduce, "mean", warn=emit_warning)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of the reduction that the old arguments mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
