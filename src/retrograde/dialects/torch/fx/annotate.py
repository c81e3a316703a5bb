"""`torch.fx.annotate`: the type of a value noted in its node."""

from __future__ import annotations

from typing import Any

from .proxy import Proxy


def annotate(val: Any, type: Any) -> Any:
    """The value; a traced one's node gets the type, or RuntimeError where it has one."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(f"annotate: {val.node} has the type {val.node.type} already")
        val.node.type = type
    return val
