"""`mindspore.communication` for programs that run in one process: there is one rank, and nothing to start."""

from __future__ import annotations

from typing import Any

from .._api import missing

GlobalComm = type("GlobalComm", (), {"WORLD_COMM_GROUP": "world_group", "BACKEND": "", "__doc__": "The group of all."})


def init(backend_name: str | None = None) -> None:
    """Raises RuntimeError: there is one process only."""
    raise RuntimeError("init: retrograde runs in one process; leave out communication.init() and data-parallel settings")


def get_rank(group: str = "world_group") -> int:
    """The number of this process: 0."""
    return 0


def get_group_size(group: str = "world_group") -> int:
    """The number of processes: 1."""
    return 1


def get_local_rank(group: str = "world_group") -> int:
    """The number of this process on this machine: 0."""
    return 0


def release() -> None:
    """Nothing: there was nothing to start."""


def __getattr__(name: str) -> Any:
    raise missing("mindspore.communication", name, globals())
