"""`torch.utils.data._utils`: where older programs find the collate functions."""

from __future__ import annotations

from . import collate, worker

__all__ = ["collate", "worker"]
