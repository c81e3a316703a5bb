"""`torch.fx.traceback`: metadata that new nodes get."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_current: dict[str, Any] = {}
_preserving = False


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Put back what new nodes got before."""
    before = dict(_current)
    try:
        yield
    finally:
        _current.clear()
        _current.update(before)


@contextlib.contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """A context in which an Interpreter that traces hands its nodes' metadata on to the nodes it makes."""
    global _preserving
    before, _preserving = _preserving, enable
    try:
        with _restored():
            yield
    finally:
        _preserving = before


def has_preserved_node_meta() -> bool:
    """Whether metadata are being handed on."""
    return _preserving


@contextlib.contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """A context in which new nodes carry `annotation_dict` under "custom" in their metadata."""
    with _restored():
        _current["custom"] = {**_current.get("custom", {}), **annotation_dict}
        yield


@contextlib.contextmanager
def set_current_meta(node: Any, pass_name: str = "") -> Iterator[None]:
    """A context in which new nodes get the metadata of a node, where metadata are handed on."""
    with _restored():
        if _preserving and node.meta:
            _current.clear()
            _current.update(node.meta)
        yield


def get_current_meta() -> dict[str, Any]:
    """What new nodes get now."""
    return _current
