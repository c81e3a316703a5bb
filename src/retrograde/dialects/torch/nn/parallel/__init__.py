"""`torch.nn.parallel`: modules of which there are copies: DataParallel on one device, DistributedDataParallel in each process."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .data_parallel import DataParallel, data_parallel

if _TYPE_CHECKING:
    from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def __getattr__(name: str) -> _Any:
    if name != "DistributedDataParallel":
        raise AttributeError(f"module 'torch.nn.parallel' has no attribute {name!r}")
    from .distributed import DistributedDataParallel

    return DistributedDataParallel
