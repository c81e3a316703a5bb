"""`torch.nn.parallel`: DataParallel, which on one device calls the module it holds."""

from __future__ import annotations

from .data_parallel import DataParallel, DistributedDataParallel, data_parallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
