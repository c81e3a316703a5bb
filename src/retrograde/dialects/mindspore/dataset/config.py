"""`mindspore.dataset.config`: the seed of shuffling. What concerns workers is kept and read back; there are none here."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

_settings: dict[str, Any] = {"seed": None, "num_parallel_workers": 8, "prefetch_size": 16}


class Shuffle(enum.StrEnum):
    """How much is shuffled; without files there is one way."""

    GLOBAL = "global"
    FILES = "files"
    INFILE = "infile"


def set_seed(seed: int) -> None:
    """Shuffle from now on as this seed says; raises TypeError or ValueError for what is no seed."""
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"set_seed: the seed must be an int, got {type(seed).__name__}")
    if not 0 <= seed < 2**32:
        raise ValueError(f"set_seed: the seed must lie in [0, 2**32), got {seed}")
    _settings["seed"] = seed


def get_seed() -> int:
    """The seed of shuffling; 5489 if none was set."""
    return 5489 if _settings["seed"] is None else _settings["seed"]


def generator() -> np.random.RandomState:
    """What a shuffle draws from: the same each time where a seed was set, here or with mindspore.set_seed()."""
    if _settings["seed"] is not None:
        return np.random.RandomState(_settings["seed"])
    from .. import get_seed as global_seed

    return np.random.RandomState(global_seed())


def set_num_parallel_workers(num: int) -> None:
    """Keep a number of workers; rows are made in this process whatever it is."""
    if not isinstance(num, int) or isinstance(num, bool):
        raise TypeError(f"set_num_parallel_workers: wanted an int, got {type(num).__name__}")
    if num <= 0:
        raise ValueError(f"set_num_parallel_workers: wanted a number above 0, got {num}")
    _settings["num_parallel_workers"] = num


def get_num_parallel_workers() -> int:
    """The number of workers that was set."""
    return int(_settings["num_parallel_workers"])


def set_prefetch_size(size: int) -> None:
    """Keep a queue size; there is no queue here."""
    if not isinstance(size, int) or isinstance(size, bool):
        raise TypeError(f"set_prefetch_size: wanted an int, got {type(size).__name__}")
    if not 0 < size < 2**31:
        raise ValueError(f"set_prefetch_size: wanted a number from 1 to before 2**31, got {size}")
    _settings["prefetch_size"] = size


def get_prefetch_size() -> int:
    """The queue size that was set."""
    return int(_settings["prefetch_size"])
