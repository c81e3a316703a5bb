"""`torch.nn.parallel.distributed`: where packages look for `DistributedDataParallel`."""

from __future__ import annotations

from typing import Any

from ..._api import missing
from .data_parallel import DistributedDataParallel as DistributedDataParallel


def __getattr__(name: str) -> Any:
    raise missing("torch.nn.parallel.distributed", name, globals())
