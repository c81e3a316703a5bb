"""`mindspore.communication.management`: an older path of what `mindspore.communication` offers."""

from __future__ import annotations

from ._groups import (
    GlobalComm,
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_process_group_ranks,
    get_rank,
    get_world_rank_from_group_rank,
    init,
    release,
)  # fmt: skip

__all__ = [
    "GlobalComm", "create_group", "destroy_group", "get_group_rank_from_world_rank", "get_group_size", "get_local_rank",
    "get_local_rank_size", "get_process_group_ranks", "get_rank", "get_world_rank_from_group_rank", "init", "release",
]  # fmt: skip
