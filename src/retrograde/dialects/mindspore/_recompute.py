"""`recompute`: a Cell whose intermediate values are computed again in the backward pass instead of kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ...transform.checkpoint import checkpoint
from ._recording import depth, nested


@contextlib.contextmanager
def _differentiated(edges: list[tuple[Any, Any]], nesting: int) -> Iterator[None]:
    """The parameters as they were in the forward pass, and inside as many gradient functions: by the backward pass, none
    holds them."""
    before = [p._node for p, _ in edges]
    for p, node in edges:
        p._node = node
    try:
        with nested(nesting):
            yield
    finally:
        for (p, _), node in zip(edges, before):
            p._node = node


def recomputed(cell: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)`, computed again when the backward pass needs what it would have kept."""
    edges = [(p, p._node) for p in cell.get_parameters() if p._node is not None]
    nesting = depth()
    return checkpoint(function, recompute_context=lambda: _differentiated(edges, nesting))(*args, **kwargs)
