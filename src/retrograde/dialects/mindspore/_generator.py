"""`Generator` and the functions that set the global stream of random numbers: `manual_seed`, `seed`, the stream's state."""

from __future__ import annotations

import json
import secrets
from typing import Any

import numpy as np

from ...core.unwrap import bare
from ...ops.random import GENERATORS, PCG64, Followed, pcg64_state, state_of, stream_with
from . import _stream
from ._context import SEEDED
from ._stream import restarted
from ._tensor import Tensor, from_array


class Generator:
    """A stream of random numbers; `Generator.default` is the one that functions without a seed of their own draw from."""

    default: Generator

    def __init__(self) -> None:
        self._seed = 0
        self._stream: Any = np.random.default_rng(0)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream anew; returns the generator. Raises TypeError for no int, ValueError for a negative one."""
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise TypeError(f"manual_seed: wanted an int, got {type(seed).__name__}")
        if seed < 0:
            raise ValueError(f"manual_seed: wanted a non-negative number, got {seed}")
        self._seed = seed
        self._start(seed)
        return self

    def _start(self, seed: int) -> None:
        self._put(restarted(self._numbers(), seed))

    def _numbers(self) -> Any:
        return self._stream

    def _put(self, stream: Any) -> None:
        self._stream = stream

    @property
    def _a(self) -> Any:
        """The state as an array, as tensors have theirs; one of another library's is followed by operations."""
        return state_of(PCG64, self._numbers())

    @_a.setter
    def _a(self, array: Any) -> None:
        self._put(stream_with(PCG64, array))

    def seed(self) -> int:
        """Start the stream anew somewhere; returns the seed."""
        seed = secrets.randbits(32)
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream was started with."""
        return self._seed

    def get_state(self) -> Tensor:
        """Where the stream stands, for `set_state`."""
        if isinstance(self._numbers(), Followed):
            return from_array(self._a)
        text = json.dumps(self._numbers().bit_generator.state)
        return from_array(np.frombuffer(text.encode(), np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        """Go on where `get_state` was called; raises TypeError for anything else."""
        if not isinstance(state, Tensor):
            raise TypeError(f"set_state: wanted what get_state returned, got {type(state).__name__}")
        array = bare(state)
        if not isinstance(array, np.ndarray):
            self._a = array
            return
        numbers = self._numbers()
        live = np.random.default_rng(0) if isinstance(numbers, Followed) else numbers
        live.bit_generator.state = json.loads(array.tobytes())
        if live is not numbers:
            numbers.set_state(pcg64_state(live))


class _Global(Generator):
    """The stream of functions without a seed of their own."""

    def _start(self, seed: int) -> None:
        for f in SEEDED:
            f(seed)

    def _numbers(self) -> Any:
        return _stream.generator()

    def _put(self, stream: Any) -> None:
        _stream.go_on_from(stream)


default_generator = Generator.default = _Global()
GENERATORS.append(default_generator)


def stream_of(op: str, generator: Any) -> np.random.Generator:
    """What `generator=` of a function stands for: a Generator's stream, for None the global one; raises TypeError."""
    if generator is None:
        generator = default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"{op}: generator must be a mindspore.Generator, got {type(generator).__name__}")
    return generator._numbers()


def _seeded(seed: int) -> None:
    default_generator._seed = seed


SEEDED.append(_seeded)


def manual_seed(seed: int) -> Generator:
    """Start the global stream anew; returns its generator."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the global stream anew somewhere; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the global stream was started with."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the global stream stands."""
    return default_generator.get_state()


def set_rng_state(state: Any) -> None:
    """Go on where the global stream stood."""
    default_generator.set_state(state)
