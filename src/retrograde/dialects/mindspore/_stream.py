"""The streams of random numbers: the global one, which `set_seed` sets, and one for each seed given to a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.random import Followed, pcg64_state
from .._shared.axes import integer
from ._context import SEEDED

_streams: dict[Any, Any] = {}


def restarted(stream: Any, seed: int) -> Any:
    """A stream of a seed in place of another one: followed where that is."""
    live = np.random.default_rng(seed)
    return stream.set_state(pcg64_state(live)) if isinstance(stream, Followed) else live


def _reset(seed: int) -> None:
    usual = _streams.get(None)
    _streams.clear()
    _streams[None] = restarted(usual, seed)


SEEDED.append(_reset)


def generator(seed: Any = None) -> Any:
    """The stream of a seed, NumPy's generator or one that is followed; the global one for None; a stream itself."""
    if isinstance(seed, (np.random.Generator, Followed)):
        return seed
    if seed is not None:
        seed = integer("random numbers", "seed", seed)
        if seed < 0:
            raise ValueError(f"random numbers: seed must not be negative, got {seed}")
    found = _streams.get(seed)
    if found is None:
        found = _streams[seed] = np.random.default_rng(seed)
    return found


def drawn(seed: Any, method: str, shape: tuple[int, ...], dtype: Any, **arguments: Any) -> Any:
    """The array of a shape that a method of the stream of a seed draws, in a dtype."""
    stream = generator(seed)
    if isinstance(stream, Followed):
        return stream.drawn(method, shape, dtype, arguments)
    return np.asarray(getattr(stream, method)(**arguments), dtype)


def go_on_from(stream: Any) -> None:
    """Let another stream be the global one."""
    _streams[None] = stream
