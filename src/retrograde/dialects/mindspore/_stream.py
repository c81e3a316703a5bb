"""The streams of random numbers: the global one, which `set_seed` sets, and one for each seed given to a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._shared.axes import integer
from ._context import SEEDED

_streams: dict[Any, np.random.Generator] = {}


def _reset(seed: int) -> None:
    _streams.clear()
    _streams[None] = np.random.default_rng(seed)


SEEDED.append(_reset)


def generator(seed: Any = None) -> np.random.Generator:
    """The stream of a seed; the global one for None; a stream itself."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is not None:
        seed = integer("random numbers", "seed", seed)
        if seed < 0:
            raise ValueError(f"random numbers: seed must not be negative, got {seed}")
    found = _streams.get(seed)
    if found is None:
        found = _streams[seed] = np.random.default_rng(seed)
    return found
