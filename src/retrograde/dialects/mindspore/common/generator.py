"""`mindspore.common.generator`: an older path of `Generator` and what belongs to it."""

from __future__ import annotations

from .._generator import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__all__ = ["Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]
