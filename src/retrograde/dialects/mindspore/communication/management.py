"""`mindspore.communication.management`: an older path of what `mindspore.communication` offers."""

from __future__ import annotations

from . import GlobalComm, get_group_size, get_local_rank, get_rank, init, release

__all__ = ["GlobalComm", "get_group_size", "get_local_rank", "get_rank", "init", "release"]
