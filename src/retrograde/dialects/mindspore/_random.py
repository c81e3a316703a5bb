"""Random numbers: `ops.rand`, `normal`, `dropout`'s masks and the like, from one generator that `set_seed` sets.

A seed given to a function makes a stream of its own, whose next call goes on where the last one stopped, as
MindSpore's kernels do. The numbers are NumPy's, not MindSpore's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of
from ...ops.comparison import greater_equal
from ...ops.indexing import take
from .._shared.axes import integer, integers, length_of, spread
from ._api import api
from ._arguments import function
from ._assign import write
from ._dtype import as_dtype, float32, int32, int64
from ._generator import stream_of
from ._promote import FLOATING, single, tensor_argument
from ._stream import drawn, generator
from ._tensor import from_array


def keep_mask(shape: tuple[int, ...], p: float, seed: Any) -> Any:
    """For each element whether dropout keeps it: False with probability p."""
    return from_array(greater_equal(drawn(seed, "random", shape, np.float64, size=shape), p))


def _float_dtype(op: str, dtype: Any) -> np.dtype:
    d = float32 if dtype is None else as_dtype(dtype, op)
    if d.category != 2:
        raise ValueError(f"{op}: dtype must be floating, got {d}")
    return d.np


def _sizes(op: str, shape: Any) -> tuple[int, ...]:
    sizes = integers(op, "shape", shape) if shape != () else ()
    if any(n < 0 for n in sizes):
        raise ValueError(f"{op}: a shape has no negative sizes, got {sizes}")
    return sizes


@api(method=False)
def rand(*size: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Uniform numbers in [0, 1)."""
    sizes = spread("rand", size, "size") if size else ()
    return from_array(drawn(seed, "random", sizes, _float_dtype("rand", dtype), size=sizes))


@api(method=False)
def randn(*size: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Standard normal numbers."""
    sizes = spread("randn", size, "size") if size else ()
    return from_array(drawn(seed, "standard_normal", sizes, _float_dtype("randn", dtype), size=sizes))


rand_like = function("rand_like", "input: Tensor, seed = None, *, dtype = None",
    lambda x, seed, dtype: rand(x.shape, dtype=dtype or x.dtype, seed=seed),
    "Uniform numbers in [0, 1) in the shape of a tensor.",
    method=False)  # fmt: skip
randn_like = function("randn_like", "input: Tensor, seed = None, *, dtype = None",
    lambda x, seed, dtype: randn(x.shape, dtype=dtype, seed=seed),
    "Standard normal numbers in the shape of a tensor, float32 unless another dtype is given.", method=False)  # fmt: skip


@api(method=False)
def randint(low: int, high: int, size: Any, seed: Any = None, *, dtype: Any = None) -> Any:
    """Whole numbers in [low, high)."""
    low, high = integer("randint", "low", low), integer("randint", "high", high)
    if low >= high:
        raise RuntimeError(f"randint: low must be below high, got {low} and {high}")
    d = int64 if dtype is None else as_dtype(dtype, "randint")
    sizes = _sizes("randint", size)
    return from_array(drawn(seed, "integers", sizes, d.np, low=low, high=high, size=sizes))


randint_like = function("randint_like", "input: Tensor, low: int, high: int, seed = None, *, dtype = None",
    lambda x, low, high, seed, dtype: randint(low, high, x.shape, seed, dtype=dtype or x.dtype),
    "Whole numbers in [low, high) in the shape of a tensor.", method=False)  # fmt: skip


@api(method=False)
def randperm(n: int, seed: Any = 0, offset: int = 0, dtype: Any = int64) -> Any:
    """The numbers below n in random order."""
    if integer("randperm", "n", n) < 0:
        raise ValueError(f"randperm: n must not be negative, got {n}")
    return from_array(drawn(seed or None, "permutation", (n,), as_dtype(dtype).np, x=n))


def _arrays(op: str, values: tuple[Any, ...]) -> list[np.ndarray]:
    return [np.asarray(v._concrete(op) if isinstance(v, Value) else v, np.float64) for v in values]


def _parameters(op: str, shape: Any, *values: Any) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """The shape of the samples (that of the broadcast parameters behind the one asked for), and the parameters."""
    arrays = _arrays(op, values)
    return (*_sizes(op, shape), *np.broadcast_shapes(*(a.shape for a in arrays))), arrays


def _together(op: str, shape: Any, *values: Any) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """The shape that the one asked for and those of the parameters broadcast to, and the parameters."""
    arrays = _arrays(op, values)
    try:
        return np.broadcast_shapes(_sizes(op, shape), *(a.shape for a in arrays)), arrays
    except ValueError:
        shapes = [a.shape for a in arrays]
        raise ValueError(f"{op}: the shape {shape} does not broadcast with the parameters' shapes, {shapes}") from None


@api(method=False)
def uniform(shape: Any, minval: Any, maxval: Any, seed: Any = None, dtype: Any = float32) -> Any:
    """Uniform numbers in [minval, maxval), floating or whole as `dtype` says."""
    d = as_dtype(dtype, "uniform")
    sizes, (low, high) = _together("uniform", shape, minval, maxval)
    if d.category == 1:
        low, high = low.astype(np.int64), high.astype(np.int64)
        return from_array(drawn(seed, "integers", sizes, d.np, low=low, high=high, size=sizes))
    return from_array(drawn(seed, "uniform", sizes, d.np, low=low, high=high, size=sizes))


@api(method=False)
def normal(shape: Any, mean: Any, stddev: Any, seed: Any = None) -> Any:
    """Normal numbers with a mean and a standard deviation."""
    sizes, (center, scale) = _together("normal", shape, mean, stddev)
    return from_array(drawn(seed, "normal", sizes, np.float32, loc=center, scale=scale, size=sizes))


@api(method=False)
def standard_normal(shape: Any, seed: Any = None) -> Any:
    """Standard normal numbers."""
    sizes = _sizes("standard_normal", shape)
    return from_array(drawn(seed, "standard_normal", sizes, np.float32, size=sizes))


@api(method=False)
def standard_laplace(shape: Any, seed: Any = None) -> Any:
    """Numbers of the Laplace distribution of mean 0 and scale 1."""
    sizes = _sizes("standard_laplace", shape)
    return from_array(drawn(seed, "laplace", sizes, np.float32, size=sizes))


@api(method=False)
def laplace(shape: Any, mean: Any, lambda_param: Any, seed: Any = None) -> Any:
    """Numbers of the Laplace distribution of a mean and a scale."""
    sizes, (center, scale) = _together("laplace", shape, mean, lambda_param)
    return from_array(drawn(seed, "laplace", sizes, np.float32, loc=center, scale=scale, size=sizes))


@api(method=False)
def gamma(shape: Any, alpha: Any, beta: Any, seed: Any = None) -> Any:
    """Numbers of the gamma distribution of shape alpha and rate beta."""
    for name, x in (("alpha", alpha), ("beta", beta)):
        tensor_argument("gamma", x, name)
    sizes, (a, rate) = _parameters("gamma", shape, alpha, beta)
    return from_array(np.asarray(generator(seed).gamma(a, 1 / rate, sizes), np.float32))


@api(method=False)
def random_gamma(shape: Any, alpha: Any, seed: Any = None) -> Any:
    """Numbers of the gamma distribution of shape alpha."""
    d = dtype_of(single("random_gamma", alpha, FLOATING))
    sizes, (a,) = _parameters("random_gamma", shape, alpha)
    return from_array(np.asarray(generator(seed).gamma(a, size=sizes), d))


@api(method=False)
def poisson(shape: Any, mean: Any, seed: Any = None) -> Any:
    """Poisson counts of a mean."""
    sizes, (rate,) = _parameters("poisson", shape, mean)
    return from_array(np.asarray(generator(seed).poisson(rate, sizes), np.float32))


@api(method=False)
def random_poisson(shape: Any, rate: Any, seed: Any = None, dtype: Any = float32) -> Any:
    """Poisson counts of a rate."""
    sizes, (mean,) = _parameters("random_poisson", shape, rate)
    return from_array(np.asarray(generator(seed).poisson(mean, sizes), as_dtype(dtype).np))


@api(method=False)
def bernoulli(input: Any, p: Any = 0.5, seed: Any = None) -> Any:
    """1 with probability p, else 0, in the shape and dtype of a tensor."""
    x = tensor_argument("bernoulli", input)
    chance = p._concrete("bernoulli") if isinstance(p, Value) else p
    if np.any((np.asarray(chance) < 0) | (np.asarray(chance) > 1)):
        raise ValueError(f"bernoulli: p must lie in [0, 1], got {p}")
    return from_array((generator(seed).random(x.shape) < chance).astype(dtype_of(x)))


@api()
def multinomial(input: Any, num_samples: int, replacement: bool = True, seed: Any = None) -> Any:
    """Positions drawn from each row with the probabilities (up to a factor) that it holds."""
    x = tensor_argument("multinomial", input)
    rows = np.atleast_2d(np.asarray(x._concrete("multinomial"), np.float64))
    if integer("multinomial", "num_samples", num_samples) <= 0:
        raise ValueError(f"multinomial: num_samples must be positive, got {num_samples}")
    if (rows < 0).any() or not rows.sum(axis=1).all():
        raise ValueError("multinomial: probabilities must not be negative, nor all of them 0")
    if not replacement and (np.count_nonzero(rows, axis=1) < num_samples).any():
        raise ValueError(f"multinomial: there are fewer than {num_samples} positions to draw without replacement")
    stream = generator(seed)
    drawn = [stream.choice(len(row), num_samples, replace=replacement, p=row / row.sum()) for row in rows]
    out = np.asarray(drawn, int32.np)
    return from_array(out if x.ndim > 1 else out[0])


@api()
def random_categorical(logits: Any, num_sample: int, seed: int = 0, dtype: Any = int64) -> Any:
    """Positions drawn from each row with the probabilities of its softmax."""
    x = np.asarray(tensor_argument("random_categorical", logits)._concrete("random_categorical"), np.float64)
    if x.ndim != 2:
        raise ValueError(f"random_categorical: logits must have two axes, got shape {x.shape}")
    num_sample = integer("random_categorical", "num_sample", num_sample)
    noise = generator(seed or None).gumbel(size=(x.shape[0], num_sample, x.shape[1]))
    return from_array((x[:, None] + noise).argmax(axis=2).astype(as_dtype(dtype).np))


@api(method=False)
def shuffle(x: Any, seed: Any = None) -> Any:
    """The slices along the first axis in random order."""
    x = tensor_argument("shuffle", x, "x")
    return take(x, generator(seed).permutation(length_of("shuffle", x.shape, 0)), axis=0)


@api(method=False)
def choice_with_mask(input_x: Any, count: int = 256, seed: Any = None) -> tuple[Any, Any]:
    """`count` places where a bool tensor is true, in random order (0 where there are fewer), and which ones are."""
    places = np.argwhere(tensor_argument("choice_with_mask", input_x)._concrete("choice_with_mask"))
    chosen = generator(seed).permutation(places)[:count]
    out = np.zeros((count, places.shape[1]), np.int32)
    out[: len(chosen)] = chosen
    return from_array(out), from_array(np.arange(count) < len(chosen))


def uniform_like(x: Any) -> np.ndarray:
    """Uniform numbers in the shape and dtype of a tensor, as an array."""
    return generator().random(x.shape).astype(dtype_of(x))


def _drawn(name: str, draw: Any) -> None:
    def method(self: Any, *args: Any, generator: Any = None, **options: Any) -> Any:
        drawn = draw(stream_of(name, generator), self.shape, *args, **options)
        return write(name, self, np.asarray(drawn, dtype_of(self)))

    method.__doc__ = "Random numbers written everywhere; returns the tensor."
    api(name, function=False)(method)


_drawn("uniform_", lambda stream, shape, from_=0.0, to=1.0: stream.uniform(from_, to, shape))


_drawn("normal_", lambda stream, shape, mean=0.0, std=1.0: stream.normal(mean, std, shape))


_drawn("exponential_", lambda stream, shape, lambd=1.0: stream.exponential(1 / lambd, shape))


_drawn("bernoulli_", lambda stream, shape, p=0.5: stream.random(shape) < p)


_drawn("random_", lambda stream, shape, from_=0, to=None: stream.integers(from_ if to else 0, to or from_ or 2**24, shape))


@api("bernoulli", function=False)
def bernoulli_method(self: Any, *, generator: Any = None) -> Any:
    """1 with the probability that an element is, else 0."""
    return bernoulli(self, self, stream_of("bernoulli", generator))
