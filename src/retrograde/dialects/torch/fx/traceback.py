"""`torch.fx.traceback`: metadata that new nodes get."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_current: dict[str, Any] = {}
_preserving = False


@contextlib.contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """A context in which an Interpreter that traces hands its nodes' metadata on to the nodes it makes."""
    global _preserving
    before, kept = _preserving, dict(_current)
    _preserving = enable
    try:
        yield
    finally:
        _preserving = before
        _current.clear()
        _current.update(kept)


def has_preserved_node_meta() -> bool:
    """Whether metadata are being handed on."""
    return _preserving


@contextlib.contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """A context in which new nodes carry `annotation_dict` under "custom" in their metadata."""
    before = dict(_current)
    _current["custom"] = {**_current.get("custom", {}), **annotation_dict}
    try:
        yield
    finally:
        _current.clear()
        _current.update(before)


@contextlib.contextmanager
def set_current_meta(node: Any, pass_name: str = "") -> Iterator[None]:
    """A context in which new nodes get the metadata of a node, where metadata are handed on."""
    before = dict(_current)
    if _preserving and node.meta:
        _current.clear()
        _current.update(node.meta)
    try:
        yield
    finally:
        _current.clear()
        _current.update(before)


def get_current_meta() -> dict[str, Any]:
    """What new nodes get now."""
    return _current
