"""`torch.utils.data._utils.collate`: the functions of `torch.utils.data` that make batches."""

from __future__ import annotations

from ..collate import default_collate, default_convert

__all__ = ["default_collate", "default_convert"]
