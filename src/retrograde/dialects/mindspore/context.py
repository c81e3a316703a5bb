"""`mindspore.context`: the global settings under the name of their module."""

from __future__ import annotations

from typing import Any

from ._context import (
    COMPATIBLE,
    GRAPH_MODE,
    LAX,
    PYNATIVE_MODE,
    STRICT,
    ParallelMode,
    get_auto_parallel_context,
    get_context,
    reset_auto_parallel_context,
    set_auto_parallel_context,
    set_context,
)  # fmt: skip


class _Context:
    """The global options as attributes of one object."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return get_context(name)


_Context.__module__ = "mindspore.context"  # what programs print
K_CONTEXT = _Context()


def get_jit_config() -> dict[str, Any]:
    """The options of compilation that hold everywhere: none, `jit` takes them."""
    return {}


__all__ = [
    "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "STRICT", "ParallelMode", "get_auto_parallel_context",
    "get_context", "reset_auto_parallel_context", "set_auto_parallel_context", "set_context",
]  # fmt: skip
