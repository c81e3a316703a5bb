"""`recompute`: compute again in the backward pass instead of keeping what it needs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .....transform.checkpoint import checkpoint
from ..._api import attributes as _attributes
from ...random import get_rng_state, set_rng_state


@contextlib.contextmanager
def _random_state(state: Any) -> Iterator[None]:
    """The random state of the first call, for as long as the second runs."""
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)`, whose saved tensors are computed again in the backward pass.

    preserve_rng_state: whether the second call draws the same random numbers (True by default). use_reentrant changes
    nothing: gradients of any order hold.
    """
    kwargs.pop("use_reentrant", None)
    if not kwargs.pop("preserve_rng_state", True):
        return checkpoint(function)(*args, **kwargs)
    state = get_rng_state()
    return checkpoint(function, recompute_context=lambda: _random_state(state))(*args, **kwargs)


__all__ = ["recompute"]

__getattr__ = _attributes(globals())
