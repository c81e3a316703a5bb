"""`mindspore.communication`: groups of processes that were started together (`retrograde run --processes N`)."""

from __future__ import annotations

from .._api import attributes
from ._groups import (
    WORLDS, GlobalComm, create_group, destroy_group, get_group_rank_from_world_rank, get_group_size, get_local_rank,
    get_local_rank_size, get_process_group_ranks, get_rank, get_world_rank_from_group_rank, init, release,
)  # fmt: skip

HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP = WORLDS[:3]

__getattr__ = attributes(globals(), "comm_func", "management")
