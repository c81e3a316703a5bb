"""`mindspore.context`: the global settings under the name of their module."""

from __future__ import annotations

from ._context import (
    GRAPH_MODE,
    PYNATIVE_MODE,
    ParallelMode,
    get_auto_parallel_context,
    get_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
    set_context,
)

__all__ = [
    "GRAPH_MODE", "PYNATIVE_MODE", "ParallelMode", "get_auto_parallel_context", "get_context",
    "reset_auto_parallel_context", "set_auto_parallel_context", "set_context",
]  # fmt: skip
