"""Random numbers from keys: what is drawn is a function of the key, whatever was drawn before, and of nothing else.

Arrays in blocks draw each block from a stream of its own, which the key and the block's place name, so that the numbers depend
neither on the scheduler nor on the number of workers, and a task that is computed again draws the same ones. The streams are
NumPy's Philox; a key is two words of 64 bits.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from ..backend import backend_of
from ..backend.dtypes import is_floating, is_half
from ..core.arrays import of_library
from ..core.value import Value, dtype_of, shape_of
from ._values import new, shape_tuple
from .conversion import value
from .dtypes import as_dtype


class Key(NamedTuple):
    """The name of a stream. Use each for one draw; `split` and `fold_in` make more of it.

    Examples
    --------
    >>> import retrograde as rg
    >>> isinstance(rg.random.key(0), rg.random.Key)
    True
    """

    first: int
    second: int


def key(seed: int) -> Key:
    """The key of a seed, an integer that is not negative.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.random.normal(rg.random.key(0), (3,)).shape
    (3,)
    """
    return _key(np.random.SeedSequence(operator.index(seed)))


def split(key: Key, num: int = 2) -> tuple[Key, ...]:
    """`num` keys of one, whose streams have nothing to do with each other or with its own.

    Examples
    --------
    >>> import retrograde as rg
    >>> len(rg.random.split(rg.random.key(0), 3))
    3
    """
    return tuple(_key(np.random.SeedSequence(key, spawn_key=(0, i))) for i in range(num))


def fold_in(key: Key, number: int) -> Key:
    """A key of a key and a number that is not negative, such as a step's or a process's.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.random.fold_in(rg.random.key(0), 7) == rg.random.fold_in(rg.random.key(0), 7)
    True
    """
    return _key(np.random.SeedSequence(key, spawn_key=(1, operator.index(number))))


def _key(sequence: np.random.SeedSequence) -> Key:
    return Key(*map(int, sequence.generate_state(2, np.uint64)))


class _Draw(NamedTuple):
    """What a block of a draw is: in a class, since it goes to other processes."""

    key: Key
    method: str
    options: tuple[tuple[str, Any], ...]
    dtype: np.dtype

    def __call__(self, block: int, shape: tuple[int, ...]) -> np.ndarray:
        stream = np.random.Generator(np.random.Philox(key=self.key, counter=(0, 0, 0, block)))
        return np.asarray(getattr(stream, self.method)(size=shape, **dict(self.options))).astype(self.dtype, copy=False)


def _drawn(name: str, key: Key, method: str, shape: Any, wanted: np.dtype, like: Any, **options: Any) -> Any:
    if not isinstance(key, Key):
        raise TypeError(f"random.{name}: wanted a key, as random.key(seed) makes, got {type(key).__name__}")
    if shape is None and like is None:
        raise TypeError(f"random.{name}: give a shape, or an array to draw numbers like (like=)")
    shape = shape_tuple(shape_of(like) if shape is None else shape)
    make = _Draw(key, method, tuple(options.items()), wanted)
    array = None if like is None else of_library(like)
    return new(make(0, shape) if array is None else backend_of(array).in_blocks(make, shape, wanted, array))


def _floating(name: str, dtype: Any, like: Any) -> tuple[np.dtype, Any]:
    """The dtype of numbers and that in which NumPy draws them."""
    wanted = np.dtype(np.float64) if like is None or not is_floating(dtype_of(like)) else dtype_of(like)
    if dtype is not None:
        wanted = as_dtype(dtype)
    if not is_floating(wanted):
        raise TypeError(f"random.{name}: wanted a real floating dtype, got {wanted}")
    return wanted, np.float32 if is_half(wanted) else wanted


def _like(like: Any) -> Any:
    return like if like is None or isinstance(like, Value) else value(like)


def uniform(key: Key, shape: Any = None, *, low: float = 0.0, high: float = 1.0, dtype: Any = None, like: Any = None) -> Any:
    """Numbers from [low, high), all equally likely.

    With `like`, a tensor or an array, they have its shape and dtype unless others are given, its library, device and blocks.

    Raises TypeError for a key that is none, a dtype that is not floating, or where neither a shape nor `like` is given.

    Examples
    --------
    >>> import dask.array as da
    >>> import retrograde as rg
    >>> x = rg.asarray(da.ones((6, 2), chunks=(3, 2)))
    >>> keep = rg.random.uniform(rg.random.key(0), like=x) < 0.9
    >>> rg.where(keep, x / 0.9, 0).data.numblocks
    (2, 1)
    """
    like = _like(like)
    wanted, drawn = _floating("uniform", dtype, like)
    numbers = _drawn("uniform", key, "random", shape, wanted, like, dtype=drawn)
    return numbers if (low, high) == (0.0, 1.0) else numbers * (high - low) + low


def normal(key: Key, shape: Any = None, *, mean: float = 0.0, std: float = 1.0, dtype: Any = None, like: Any = None) -> Any:
    """Normally distributed numbers; arguments as for `uniform`.

    Examples
    --------
    >>> import retrograde as rg
    >>> first, second = rg.random.split(rg.random.key(1))
    >>> bool(rg.all(rg.random.normal(first, (4,)) != rg.random.normal(second, (4,))))
    True
    """
    like = _like(like)
    wanted, drawn = _floating("normal", dtype, like)
    numbers = _drawn("normal", key, "standard_normal", shape, wanted, like, dtype=drawn)
    return numbers if (mean, std) == (0.0, 1.0) else numbers * std + mean


def bernoulli(key: Key, p: float = 0.5, shape: Any = None, *, like: Any = None) -> Any:
    """Truths, each with probability `p`; the other arguments as for `uniform`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.random.bernoulli(rg.random.key(0), 0.5, (3,)).shape
    (3,)
    """
    return uniform(key, shape, dtype=np.float64, like=like) < p


def integers(key: Key, low: int, high: int, shape: Any = None, *, dtype: Any = None, like: Any = None) -> Any:
    """Integers from low to before high, all equally likely; of int64 unless `dtype` says otherwise.

    The other arguments are those of `uniform`. Raises TypeError for a dtype that is not one of integers.

    Examples
    --------
    >>> import retrograde as rg
    >>> bool(rg.all(rg.random.integers(rg.random.key(0), 0, 10, (3,)) < 10))
    True
    """
    wanted = np.dtype(np.int64) if dtype is None else as_dtype(dtype)
    if wanted.kind not in "iu":
        raise TypeError(f"random.integers: wanted a dtype of integers, got {wanted}")
    return _drawn("integers", key, "integers", shape, wanted, _like(like), low=low, high=high, dtype=wanted)


def permutation(key: Key, n: int) -> Any:
    """The numbers from 0 to before `n` in an order that the key names.

    The shape is (n,).

    Examples
    --------
    >>> import retrograde as rg
    >>> sorted(rg.random.permutation(rg.random.key(0), 4).tolist())
    [0, 1, 2, 3]
    """
    return new(np.random.Generator(np.random.Philox(key=key)).permutation(n))
