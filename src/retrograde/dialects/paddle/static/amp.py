"""`paddle.static.amp`: what dynamic programs touch of mixed precision in static ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._api import attributes


@contextlib.contextmanager
def fp16_guard() -> Iterator[None]:
    """Marks operations that a static program computes in half precision; a dynamic one goes on as it is."""
    yield


__getattr__ = attributes(globals())
