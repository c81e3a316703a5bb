"""Groups of processes by their names, over MPI (backend/processes.py)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ....backend import launch, processes

WORLD = "hccl_world_group"
"""The name of the group of all: MindSpore's for the Ascend, which its functions have as their default."""
WORLDS = (WORLD, "nccl_world_group", "mccl_world_group", "world_group")
_GROUPS: dict[str, processes.Group] = {}


class GlobalComm:
    """What is known of the processes: the group of all, by name, and what they speak through."""

    BACKEND = ""
    WORLD_COMM_GROUP = WORLD
    INITED = False


def init(backend_name: str | None = None) -> None:
    """Connect the processes that were started together; whatever the backend's name, they speak MPI."""
    if backend_name not in (None, "hccl", "nccl", "mccl"):
        raise ValueError(f"init: backend_name must be hccl, nccl, mccl or None, got {backend_name!r}")
    every = processes.world()
    _GROUPS.update(dict.fromkeys(WORLDS, every))
    GlobalComm.BACKEND, GlobalComm.INITED = backend_name or "mccl", True


def release() -> None:
    """Forget all groups."""
    _GROUPS.clear()
    GlobalComm.INITED = False


def members(name: str, group: str | None) -> processes.Group:
    """A group by its name. Raises RuntimeError before `init()` where there are several processes, ValueError for no group."""
    if not isinstance(group, str) and group is not None:
        raise TypeError(f"{name}: group must be a string, got {group!r}")
    if not _GROUPS:
        if launch.started()[1] > 1:
            raise RuntimeError(f"{name}: call mindspore.communication.init() first")
        _GROUPS.update(dict.fromkeys(WORLDS, processes.world()))
    found = _GROUPS.get(WORLD if group is None else group)
    if found is None:
        raise ValueError(f"{name}: there is no group {group!r}; create_group makes one")
    return found


def get_rank(group: str = WORLD) -> int:
    """The place of this process in a group."""
    return members("get_rank", group).rank


def get_group_size(group: str = WORLD) -> int:
    """How many processes are in a group."""
    return members("get_group_size", group).size


def get_local_rank(group: str = WORLD) -> int:
    """The number of this process on its machine."""
    return int(os.environ.get("LOCAL_RANK", members("get_local_rank", group).rank))


def get_local_rank_size(group: str = WORLD) -> int:
    """How many processes of a group are on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", members("get_local_rank_size", group).size))


def create_group(group: str, rank_ids: Sequence[int], options: Any = None) -> None:
    """Make a group of some of the processes, by their numbers; every process makes every group, in one order."""
    every = members("create_group", None)
    if not rank_ids or any(r not in every.ranks for r in rank_ids) or len(set(rank_ids)) < len(rank_ids):
        raise ValueError(f"create_group: rank_ids {list(rank_ids)} of {every.size} processes")
    if group in _GROUPS:
        raise ValueError(f"create_group: there is a group {group!r} already; give another name")
    _GROUPS[group] = processes.group(list(rank_ids))


def destroy_group(group: str) -> None:
    """Forget a group; raises ValueError for that of all."""
    members("destroy_group", group)
    if group in WORLDS:
        raise ValueError("destroy_group: the group of all stays; release() forgets everything")
    del _GROUPS[group]


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The number among all of the process at a place of a group."""
    return members("get_world_rank_from_group_rank", group).ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The place in a group of a process with a number among all."""
    return members("get_group_rank_from_world_rank", group).root("get_group_rank_from_world_rank", world_rank_id)


def get_process_group_ranks(group: str = WORLD) -> list[int]:
    """The numbers of the processes in a group."""
    return list(members("get_process_group_ranks", group).ranks)
