"""`paddle.utils.dlpack`: the memory of tensors shared with other array libraries."""

from __future__ import annotations

from .._conversion import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
