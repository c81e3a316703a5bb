"""Random numbers: the generator behind `paddle.seed`, and what draws from it.

The numbers are reproducible from a seed, though not PaddlePaddle's own: NumPy's PCG64 draws them. A thread shares the
one generator of the process with the others, as there.
"""

from __future__ import annotations

import contextlib
import copy
import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import elementwise as ew
from ...ops import structural as st
from ...ops.random import GENERATORS, Followed, Kind, pcg64_resumed, pcg64_state, register_stream
from ...tape import inplace
from .._shared.axes import integer, length_of
from ._api import api, write_out
from ._data import number, sizes
from ._device import check_device
from ._dtype import FROM_NUMPY, as_dtype, default_dtype, float32, float64, int32, int64
from ._promote import tensor_argument
from ._tensor import Tensor, from_array

__all__ = ["Generator", "default_generator", "get_rng_state", "manual_seed", "seed", "set_rng_state"]


class Draws:
    """What functions draw from a generator: NumPy's numbers, in the framework's dtypes."""

    __slots__ = ("draw",)

    def __init__(self, draw: np.random.Generator) -> None:
        self.draw = draw

    def uniform(self, shape: tuple[int, ...], dtype: np.dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """Uniform numbers in [low, high) in a floating dtype."""
        array = np.asarray(self.draw.random(shape, np.float32 if dtype == np.float32 else np.float64))
        if low != 0 or high != 1:
            array = array * (high - low) + low
        return np.asarray(array.astype(dtype, copy=False))

    def normal(self, shape: tuple[int, ...], dtype: np.dtype, mean: Any = 0.0, std: Any = 1.0) -> np.ndarray:
        """Normal numbers in a floating dtype, or complex ones of the same total variance."""
        if dtype.kind == "c":
            both = self.draw.standard_normal((2, *shape)) * math.sqrt(0.5)
            return np.asarray((both[0] + 1j * both[1]) * std + mean).astype(dtype)
        array = np.asarray(self.draw.standard_normal(shape, np.float32 if dtype == np.float32 else np.float64))
        if type(mean) is not float or type(std) is not float or mean != 0 or std != 1:
            array = array * std + mean
        return np.asarray(array).astype(dtype, copy=False)

    def bernoulli(self, shape: tuple[int, ...], p: Any) -> np.ndarray:
        """True with the probability `p`, a number or an array of the shape."""
        return np.asarray(self.draw.random(shape) < p)

    def integers(self, shape: tuple[int, ...], dtype: np.dtype, low: int, high: int) -> np.ndarray:
        """Whole numbers in [low, high)."""
        return np.asarray(self.draw.integers(low, high, shape, dtype))

    def permutation(self, count: int, dtype: np.dtype) -> np.ndarray:
        """The numbers 0 to count - 1 in random order."""
        return np.asarray(self.draw.permutation(count).astype(dtype))


KIND = register_stream(Kind(
    "paddle", Draws, lambda state: Draws(pcg64_resumed(state)), lambda live: pcg64_state(live.draw),
    {"permutation": lambda given: ((given["count"],), given["dtype"]), "bernoulli": lambda given: (given["shape"], np.bool_)}, 6,
))  # fmt: skip
"""How a generator is drawn from by operations."""


class GeneratorState:
    """The state of a generator at one moment."""

    def __init__(self, seed: int, state: Any) -> None:
        self.current_seed, self._state = seed, state


class Generator:
    """A source of random numbers with a seed."""

    def __init__(self, place: Any = None) -> None:
        check_device("Generator", place)
        self.followed: Followed | None = None
        self.manual_seed(int(np.random.SeedSequence().entropy) % 2**63)  # type: ignore[arg-type]

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from a seed; returns the generator."""
        self._seed = operator.index(seed)
        self.draw = np.random.default_rng(self._seed % 2**64)
        if self.followed is not None:
            self.followed.set_state(pcg64_state(self.draw))
        return self

    @property
    def _a(self) -> Any:
        """The state as an array, as tensors have theirs; one of another library's is followed by operations."""
        return pcg64_state(self.draw) if self.followed is None else self.followed.state

    @_a.setter
    def _a(self, array: Any) -> None:
        self.followed = None if isinstance(array, np.ndarray) else Followed(KIND, array)
        if self.followed is None:
            self.draw = pcg64_resumed(array)

    @property
    def source(self) -> Any:
        """What functions draw from."""
        return self.followed or Draws(self.draw)

    def seed(self) -> int:
        """Start anew from a seed that the system chooses, which is returned."""
        return self.manual_seed(int(np.random.SeedSequence().entropy) % 2**63).initial_seed()  # type: ignore[arg-type]

    def initial_seed(self) -> int:
        """The seed that the generator started from."""
        return self._seed

    def random(self) -> int:
        """A random integer of 63 bits."""
        return int(self.draw.integers(2**63 - 1))

    def get_state(self) -> GeneratorState:
        """What `set_state` takes to draw the same numbers again."""
        if self.followed is not None:
            return GeneratorState(self._seed, self.followed.state)
        return GeneratorState(self._seed, copy.deepcopy(self.draw.bit_generator.state))

    def set_state(self, state: GeneratorState) -> None:
        """Draw on from a state that `get_state` gave."""
        if not isinstance(state, GeneratorState):
            raise TypeError(f"set_state: wanted a state from get_state(), got {type(state).__name__}")
        self._seed = state.current_seed
        if isinstance(state._state, dict):
            self.draw.bit_generator.state = copy.deepcopy(state._state)
            if self.followed is not None:
                self.followed.set_state(pcg64_state(self.draw))
        else:
            self._a = state._state


default_generator = Generator()
GENERATORS.append(default_generator)
"""The generator that all functions draw from."""


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw from a generator of that seed inside a `with` block; from the usual one for 0."""
    if not seed:
        yield
        return
    g = default_generator
    usual = g.draw, g.followed
    try:
        g.draw, g.followed = np.random.default_rng(operator.index(seed) % 2**64), None
        yield
    finally:
        g.draw, g.followed = usual


@api("seed", "manual_seed", method=False)
def seed(seed: int) -> Generator:
    """Seed the generator that all functions draw from, and return it."""
    if isinstance(seed, (str, bytes, float)):
        try:
            seed = int(seed)
        except ValueError:
            raise ValueError(f"seed: wanted an int, got {seed!r}") from None
    return default_generator.manual_seed(seed)


manual_seed = seed


@api("get_rng_state", "get_cuda_rng_state", method=False)
def get_rng_state(device: Any = None) -> list[GeneratorState]:
    """The states of all generators (here, of the one there is), as `set_rng_state` takes them."""
    check_device("get_rng_state", device)
    return [default_generator.get_state()]


@api("set_rng_state", "set_cuda_rng_state", method=False)
def set_rng_state(state_list: Any, device: Any = None) -> None:
    """Draw on from the states that `get_rng_state` gave."""
    check_device("set_rng_state", device)
    if not isinstance(state_list, (list, tuple)) or len(state_list) != 1:
        raise ValueError("set_rng_state: wanted the list that get_rng_state() returns")
    default_generator.set_state(state_list[0])


# ------------------------------------------------------------------------------------------ arrays


def uniform_array(shape: tuple[int, ...], dtype: np.dtype, low: float = 0.0, high: float = 1.0) -> Any:
    """Uniform numbers in [low, high) in a floating dtype."""
    return default_generator.source.uniform(shape, dtype, low, high)


def normal_array(shape: tuple[int, ...], dtype: np.dtype, mean: Any = 0.0, std: Any = 1.0) -> Any:
    """Normal numbers in a floating dtype, or complex ones of the same total variance."""
    return default_generator.source.normal(shape, dtype, mean, std)


def bernoulli_array(shape: tuple[int, ...], p: Any) -> Any:
    """True with the probability `p`, a number or an array of the shape."""
    return default_generator.source.bernoulli(shape, p)


def _floating(op: str, dtype: Any, others: str = "") -> np.dtype:
    d = default_dtype() if dtype is None else as_dtype(op, dtype)
    if d.np.kind not in "fV" + others:
        raise RuntimeError(f"{op}: wanted a floating dtype, got {d}")
    return d.np


def _sizes(op: str, shape: Any) -> tuple[int, ...]:
    return sizes(op, shape, RuntimeError)


def _made(op: str, array: np.ndarray, out: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    check_device(op, device)
    made = from_array(array, not requires_grad)
    return made if out is None else write_out(op, made, out)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------ functions


@api(method=False, seconds={"size": "shape"})
def rand(*sizes: Any, shape: Any = None, dtype: Any = None, name: Any = None, out: Any = None, device: Any = None,
         requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Uniform numbers in [0, 1), of a shape given as one argument or one by one."""
    shape, dtype = _shape_and_dtype("rand", sizes if shape is None else (shape, *sizes), dtype)
    return _made("rand", uniform_array(shape, _floating("rand", dtype)), out, device, requires_grad)


def _shape_and_dtype(op: str, args: tuple[Any, ...], dtype: Any) -> tuple[Any, Any]:
    """The shape (one argument, or sizes one by one), and a dtype that came behind it."""
    if args and isinstance(args[0], (list, tuple, Value, np.ndarray)):
        if len(args) > 3 or (len(args) > 1 and args[1] is not None and dtype is not None):
            raise TypeError(f"{op}: too many arguments behind the shape")
        return _sizes(op, args[0]), args[1] if len(args) > 1 and args[1] is not None else dtype
    return _sizes(op, args), dtype


@api("randn", "standard_normal", method=False, seconds={"size": "shape"})
def randn(*sizes: Any, shape: Any = None, dtype: Any = None, name: Any = None, out: Any = None, device: Any = None,
          requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Standard normal numbers, of a shape given as one argument or one by one."""
    shape, dtype = _shape_and_dtype("randn", sizes if shape is None else (shape, *sizes), dtype)
    return _made("randn", normal_array(shape, _floating("randn", dtype, "c")), out, device, requires_grad)


@api(method=False)
def rand_like(input: Any, name: Any = None, *, dtype: Any = None, device: Any = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Uniform numbers in [0, 1) in the shape of a tensor, and its dtype unless one is given."""
    tensor_argument("rand_like", input)
    d = _floating("rand_like", input.dtype if dtype is None else dtype)
    return _made("rand_like", uniform_array(tuple(shape_of(input)), d), None, device, requires_grad)


@api(method=False)
def randn_like(x: Any, dtype: Any = None, name: Any = None, *, device: Any = None,
               requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Standard normal numbers in the shape of a tensor, and its dtype unless one is given."""
    tensor_argument("randn_like", x)
    d = _floating("randn_like", x.dtype if dtype is None else dtype, "c")
    return _made("randn_like", normal_array(tuple(shape_of(x)), d), None, device, requires_grad)


@api(method=False)
def uniform(shape: Any, dtype: Any = None, min: float = 0, max: float = 1.0, seed: int = 0, name: Any = None, *,
            out: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Uniform numbers in [min, max); with a `seed` other than 0 the same in every call."""
    d = _floating("uniform", dtype)
    low, high = float(number("uniform", "min", min)), float(number("uniform", "max", max))
    with seeded(seed):
        array = uniform_array(_sizes("uniform", shape), d, low, high)
    return _made("uniform", array, out, device, requires_grad)


@api(method=False, seconds={"size": "shape"})
def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: Any = None, *, out: Any = None) -> Tensor:
    """Normal numbers of a mean and a standard deviation, which may be tensors: the result takes their shape then, and
    gradients reach them."""
    given = [x for x in (mean, std) if isinstance(x, Value)]
    if given:
        dims = np.broadcast_shapes(*(tuple(shape_of(x)) for x in given))
        drawn = from_array(normal_array(dims, dtype_of(given[0]))) * std + mean
        return drawn if out is None else write_out("normal", drawn, out)
    d = np.dtype(np.complex64) if isinstance(mean, complex) else _floating("normal", None)
    mean, std = number("normal", "mean", mean), number("normal", "std", std)
    return _made("normal", normal_array(_sizes("normal", [1] if shape is None else shape), d, mean, std), out)


@api(method=False)
def gaussian(shape: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = None,
             name: Any = None) -> Tensor:  # fmt: skip
    """Normal numbers of a mean and a standard deviation; with a `seed` other than 0 the same in every call."""
    with seeded(seed):
        array = normal_array(_sizes("gaussian", shape), _floating("gaussian", dtype, "c"), mean, std)
    return _made("gaussian", array)


@api(method=False)
def log_normal(mean: Any = 1.0, std: Any = 2.0, shape: Any = None, name: Any = None) -> Tensor:
    """The exponentials of normal numbers of a mean and a standard deviation."""
    return ew.exp(normal(mean, std, shape))  # type: ignore[no-any-return]


def _range(op: str, low: Any, high: Any) -> tuple[int, int]:
    low = number(op, "low", low)
    low, high = (0, low) if high is None else (low, number(op, "high", high))
    if low >= high:
        raise ValueError(f"{op}: low must be less than high, got {low} and {high}")
    return int(low), int(high)


@api(method=False)
def randint(low: Any = 0, high: Any = None, shape: Any = (1,), dtype: Any = None, name: Any = None) -> Tensor:
    """Whole numbers in [low, high), or in [0, low) where high is not given."""
    low, high = _range("randint", low, high)
    d = int64 if dtype is None else as_dtype("randint", dtype)
    if d not in (int32, int64):
        raise TypeError(f"randint: dtype must be int32 or int64, got {d}")
    return from_array(default_generator.source.integers(_sizes("randint", shape), d.np, low, high))


@api(method=False)
def randint_like(x: Any, low: Any = 0, high: Any = None, dtype: Any = None, name: Any = None) -> Tensor:
    """Whole numbers in [low, high) in the shape of a tensor, and its dtype unless one is given."""
    tensor_argument("randint_like", x)
    low, high = _range("randint_like", low, high)
    d = x.dtype if dtype is None else as_dtype("randint_like", dtype)
    return from_array(np.asarray(default_generator.draw.integers(low, high, tuple(shape_of(x)))).astype(d.np))


@api(method=False)
def randperm(n: int, dtype: Any = "int64", name: Any = None, *, out: Any = None, device: Any = None,
             requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """The numbers 0 to n - 1 in random order."""
    d = as_dtype("randperm", dtype)
    count = integer("randperm", "n", n)
    if count < 0 or d not in (int32, int64, float32, float64):
        raise RuntimeError(f"randperm: wanted n >= 0 and a dtype of 32 or 64 bits, got n={n} and {d}")
    array = default_generator.source.permutation(count, d.np)
    return _made("randperm", array, out, device, requires_grad)


def _plain(op: str, x: Any, kinds: str = "fV") -> np.ndarray:
    tensor_argument(op, x)
    if dtype_of(x).kind not in kinds:
        raise RuntimeError(f"{op}: not defined for {FROM_NUMPY[dtype_of(x)]}; convert the tensor with astype()")
    return np.asarray(x.numpy())


@api(method=False)
def bernoulli(x: Any, p: float | None = None, name: Any = None) -> Tensor:
    """1 with the probability that each element names (or with `p`), else 0."""
    given = _plain("bernoulli", x)
    return _like(x, bernoulli_array(given.shape, given if p is None else p).astype(given.dtype))


def _like(x: Any, array: np.ndarray) -> Tensor:
    """A drawn array in the dtype of the tensor that it is drawn for."""
    return from_array(array.astype(dtype_of(x), copy=False))


@api(out=True)
def multinomial(x: Any, num_samples: int = 1, replacement: bool = False, name: Any = None) -> Tensor:
    """Positions drawn with probabilities in proportion to the elements of each row."""
    weights = _plain("multinomial", x).astype(np.float64)
    rows = weights.reshape(-1, length_of("multinomial", weights.shape, -1))
    count = int(number("multinomial", "num_samples", num_samples))
    if (rows < 0).any() or not np.isfinite(rows).all() or not (rows.sum(1) > 0).all():
        raise ValueError("multinomial: the weights must not be negative and not all 0")
    if count < 1 or (not replacement and count > int((rows > 0).sum(1).min())):
        raise ValueError(f"multinomial: cannot draw {count} different elements; use replacement=True")
    share = rows / rows.sum(1, keepdims=True)
    draw = default_generator.draw
    found = np.stack([draw.choice(len(row), count, bool(replacement), row) for row in share])
    return from_array(found.reshape(*weights.shape[:-1], count).astype(np.int64))


@api(method=False)
def poisson(x: Any, name: Any = None) -> Tensor:
    """Poisson counts of the rates that the elements are."""
    return _like(x, np.asarray(default_generator.draw.poisson(_plain("poisson", x))))


@api(method=False)
def standard_gamma(x: Any, name: Any = None) -> Tensor:
    """Gamma numbers of the shapes that the elements are, at scale 1."""
    return _like(x, np.asarray(default_generator.draw.standard_gamma(_plain("standard_gamma", x))))


@api(method=False)
def binomial(count: Any, prob: Any, name: Any = None) -> Tensor:
    """How many of `count` trials succeed, each with the probability `prob`."""
    n, p = _plain("binomial", count, "iuf").astype(np.int64), _plain("binomial", prob)
    return from_array(np.asarray(default_generator.draw.binomial(n, p)).astype(np.int64))


# ------------------------------------------------------------------------------------------ in place


def _filled(op: str, x: Any, draw: Any, kinds: str = "fV") -> Any:
    """The tensor with new numbers `draw(shape)` written into it."""
    tensor_argument(op, x)
    if dtype_of(x).kind not in kinds:
        raise RuntimeError(f"{op}: not defined for {FROM_NUMPY[dtype_of(x)]}; convert the tensor with astype()")
    return inplace.update(op, x, lambda: st.replace(x, st.cast(draw(tuple(shape_of(x))), dtype=dtype_of(x))))


@api("uniform_")
def uniform_(x: Any, min: float = 0, max: float = 1.0, seed: int = 0, name: Any = None) -> Any:
    """Fill the tensor with uniform numbers in [min, max); with a `seed` other than 0 the same in every call."""
    with seeded(seed):
        return _filled("uniform_", x, lambda shape: uniform_array(shape, dtype_of(x), float(min), float(max)))


@api("normal_")
def normal_(x: Any, mean: Any = 0.0, std: float = 1.0, name: Any = None) -> Any:
    """Fill the tensor with normal numbers."""
    return _filled("normal_", x, lambda shape: normal_array(shape, dtype_of(x), mean, std), "fVc")


@api("log_normal_")
def log_normal_(x: Any, mean: float = 1.0, std: float = 2.0, name: Any = None) -> Any:
    """Fill the tensor with exponentials of normal numbers."""
    return _filled("log_normal_", x, lambda shape: np.exp(normal_array(shape, dtype_of(x), mean, std)))


@api("exponential_")
def exponential_(x: Any, lam: float = 1.0, name: Any = None) -> Any:
    """Fill the tensor with exponentially distributed numbers of rate `lam`."""
    return _filled("exponential_", x, lambda shape: default_generator.draw.exponential(1 / lam, shape))


@api("bernoulli_")
def bernoulli_(x: Any, p: Any = 0.5, name: Any = None) -> Any:
    """Fill the tensor with ones (with the probability `p`, a number or a tensor) and zeros."""
    chance = p.numpy() if isinstance(p, Value) else p
    return _filled("bernoulli_", x, lambda shape: bernoulli_array(shape, chance))


@api("cauchy_")
def cauchy_(x: Any, loc: float = 0, scale: float = 1, name: Any = None) -> Any:
    """Fill the tensor with numbers of a Cauchy distribution."""
    return _filled("cauchy_", x, lambda shape: default_generator.draw.standard_cauchy(shape) * scale + loc)


@api("geometric_")
def geometric_(x: Any, probs: Any, name: Any = None) -> Any:
    """Fill the tensor with numbers of a geometric distribution, on its continuous scale."""
    chance = probs.numpy() if isinstance(probs, Value) else probs
    return _filled("geometric_", x, lambda shape: np.log(1 - default_generator.draw.random(shape)) / np.log1p(-chance))


@api("random_", function=False)
def random_(x: Any, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Any:
    """Fill the tensor with whole numbers in [from_, to), or in [0, from_) where `to` is not given."""
    if to is None:
        top = 2 ** (np.finfo(dtype_of(x)).nmant + 1) if dtype_of(x).kind == "f" else np.iinfo(dtype_of(x)).max
        from_, to = (0, from_) if from_ else (0, int(top))
    if from_ >= to:
        raise ValueError(f"random_: from_ must be less than to, got {from_} and {to}")
    return _filled("random_", x, lambda shape: default_generator.draw.integers(from_, to, shape), "iufV")
