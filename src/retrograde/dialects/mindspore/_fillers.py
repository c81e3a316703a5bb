"""The initialisers of `mindspore.common.initializer`: each is called with an array and fills it.

NumPy's global stream is drawn from where MindSpore draws from it, and as much."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...learn import initialise
from .._shared.option_rows import Calls, Row

Shape = tuple[int, ...]


def _stream() -> np.random.Generator:
    """The stream of one array: its seed is one draw from NumPy's global stream, as in MindSpore.

    So what a program draws from NumPy after it has built its network is what it draws there.
    """
    return np.random.default_rng(np.random.randint(1, 1 << 63, dtype=np.int64))


def _uniform(shape: tuple[int, ...], low: float, high: float, stream: np.random.Generator | None = None) -> np.ndarray:
    drawn = (stream or _stream()).random(shape, np.float32)
    return np.asarray(drawn * np.float32(high - low) + np.float32(low))


def _normal(
    shape: tuple[int, ...], mean: float = 0.0, deviation: float = 1.0, stream: np.random.Generator | None = None
) -> np.ndarray:
    drawn = (stream or _stream()).standard_normal(shape, np.float32)
    return np.asarray(drawn * np.float32(deviation) + np.float32(mean))


class Initializer:
    """Base of initialisers: a subclass fills an array in `_initialize(arr)`."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def _set_up(self, row: Row, options: dict[str, Any]) -> None:
        """Make the initialiser of a row."""
        row.check(options)
        self._kwargs = options
        self.__dict__.update({name: options[name] for name in row.names})

    def __call__(self, arr: np.ndarray) -> None:
        self._initialize(arr)

    def _initialize(self, arr: np.ndarray) -> None:
        raise NotImplementedError(f"{type(self).__name__}: _initialize(arr) has to be defined")


# ------------------------------------------------------------------------------------------ what they fill with


def _identity(shape: Shape) -> Any:
    if len(shape) != 2:
        raise ValueError(f"Identity: wanted a matrix, got shape {shape}")
    return np.eye(*shape)


def _gaussian(shape: Shape, *, sigma: float, mean: float) -> Any:
    if sigma < 0:
        raise ValueError(f"Normal: sigma must not be negative, got {sigma}")
    return _normal(shape, mean, sigma)


def _truncated(shape: Shape, *, mean: float, sigma: float, a: float, b: float) -> np.ndarray:
    stream = _stream()
    return initialise.truncated_normal(
        lambda m, s: _normal(shape, m, s, stream), lambda low, high: _uniform(shape, low, high, stream), mean, sigma, a, b
    )


def _fans(shape: Shape) -> tuple[int, int]:
    if len(shape) < 2:
        raise ValueError(f"initializer: a weight needs two axes or more to have inputs and outputs, got shape {shape}")
    return initialise.fans(shape)


def _fan(shape: Shape, mode: str) -> float:
    fan_in, fan_out = _fans(shape)
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError(f"initializer: mode must be 'fan_in' or 'fan_out', got {mode!r}")
    return {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]


def _glorot(shape: Shape, *, gain: float) -> float:
    return initialise.glorot_std(*_fans(shape), gain)


def _he(shape: Shape, *, negative_slope: float, mode: str, nonlinearity: str) -> float:
    gain = initialise.leaky_relu_gain(negative_slope) if nonlinearity == "leaky_relu" else initialise.GAINS.get(nonlinearity)
    if gain is None:
        raise ValueError(f"initializer: there is no gain for the nonlinearity {nonlinearity!r}")
    return initialise.scaling_std(_fan(shape, mode), gain)


def _uniform_of(std: Callable[..., float]) -> Callable[..., Any]:
    """Uniform numbers around 0 of the deviation that a function gives."""

    @functools.wraps(std)
    def values(shape: Shape, **options: Any) -> Any:
        bound = initialise.uniform_bound(std(shape, **options))
        return _uniform(shape, -bound, bound)

    return values


def _normal_of(std: Callable[..., float]) -> Callable[..., Any]:
    """Normal numbers around 0 of the deviation that a function gives."""
    return functools.wraps(std)(lambda shape, **options: _normal(shape, 0.0, std(shape, **options)))


def _scaled(shape: Shape, *, scale: float, mode: str, distribution: str) -> Any:
    std = math.sqrt(scale / max(1.0, _fan(shape, mode)))
    if distribution == "uniform":
        bound = initialise.uniform_bound(std)
        return _uniform(shape, -bound, bound)
    if distribution == "untruncated_normal":
        return _normal(shape, 0.0, std)
    # The deviation of a standard normal variable cut to two deviations: what is drawn has the one asked for.
    wide = std / 0.87962566103423978
    return _truncated(shape, mean=0.0, sigma=wide, a=-2 * wide, b=2 * wide)


def _orthogonal(shape: Shape, *, gain: float) -> Any:
    if len(shape) < 2:
        raise ValueError(f"Orthogonal: wanted two axes or more, got shape {shape}")
    return initialise.orthogonal(_normal((shape[0], math.prod(shape[1:]))), gain).reshape(shape)


def _dirac(shape: Shape, *, groups: int) -> Any:
    if len(shape) not in (3, 4, 5):
        raise ValueError(f"Dirac: wanted 3 to 5 axes, got shape {shape}")
    if groups <= 0 or shape[0] % groups:
        raise ValueError(f"Dirac: {shape[0]} output channels are not divisible into {groups} groups")
    return initialise.dirac(shape, groups)


def _sparse(shape: Shape, *, sparsity: float, sigma: float) -> Any:
    if len(shape) != 2:
        raise ValueError(f"Sparse: wanted a matrix, got shape {shape}")
    rows, columns = shape
    drawn, zeros = _normal(shape, 0.0, sigma), math.ceil(sparsity * rows)
    for column in range(columns):
        drawn[np.random.permutation(rows)[:zeros], column] = 0
    return drawn


# ------------------------------------------------------------------------------------------ rows

initialiser = Calls(Initializer, method="_initialize(self, arr)", call="arr[...] = _function(arr.shape{})")
_HE = "negative_slope: float = 0, mode='fan_in', nonlinearity='leaky_relu'"
Zero = initialiser("Zero", "**kwargs: Any", lambda shape: 0, "Zeros.")
One = initialiser("One", "**kwargs: Any", lambda shape: 1, "Ones.")
Constant = initialiser("Constant", "value", lambda shape, *, value: value, "One value everywhere.")
Identity = initialiser("Identity", "**kwargs: Any", _identity, "Ones on the diagonal of a matrix; ValueError for other shapes.")
Normal = initialiser(
    "Normal", "sigma=0.01, mean=0.0", _gaussian, "The normal distribution with mean `mean` and deviation `sigma`.",
)  # fmt: skip
Uniform = initialiser(
    "Uniform", "scale=0.07", lambda shape, *, scale: _uniform(shape, -scale, scale),
    "The uniform distribution on [-scale, scale].",
)  # fmt: skip
TruncatedNormal = initialiser(
    "TruncatedNormal", "sigma=0.01, mean=0.0, a=-2.0, b=2.0", _truncated,
    "The normal distribution cut to [a, b] deviations (or numbers, for a mean) around 0.",
)  # fmt: skip
XavierUniform = initialiser(
    "XavierUniform", "gain: float = 1", _uniform_of(_glorot),
    "U(-b, b) with b = gain sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010).",
)  # fmt: skip
XavierNormal = initialiser(
    "XavierNormal", "gain: float = 1", _normal_of(_glorot),
    "N(0, s) with s = gain sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010).",
)  # fmt: skip
HeUniform = initialiser("HeUniform", _HE, _uniform_of(_he), "U(-b, b) with b = gain sqrt(3 / fan) (He et al. 2015).")
HeNormal = initialiser("HeNormal", _HE, _normal_of(_he), "N(0, s) with s = gain / sqrt(fan) (He et al. 2015).")
VarianceScaling = initialiser(
    "VarianceScaling", "scale=1.0, mode='fan_in', distribution='truncated_normal'", _scaled,
    'A distribution of variance scale / fan: "truncated_normal", "untruncated_normal" or "uniform".',
    checks="scale > 0; mode in {fan_in, fan_out, fan_avg}; distribution in {uniform, truncated_normal, untruncated_normal}",
)  # fmt: skip
Orthogonal = initialiser(
    "Orthogonal", "gain=1.0", _orthogonal,
    "Orthonormal rows or columns times `gain`, later axes flattened into the columns (Saxe et al. 2014).",
)  # fmt: skip
Dirac = initialiser(
    "Dirac", "groups=1", _dirac, "Convolution weights that pass channels on unchanged, per group; ValueError for other shapes."
)  # fmt: skip
Sparse = initialiser(
    "Sparse", "sparsity: float, sigma=0.01", _sparse,
    "A matrix with N(0, sigma), of which a share `sparsity` of each column is 0 (Martens 2010).",
)  # fmt: skip

_CLASSES: tuple[type[Initializer], ...] = (
    Constant, Dirac, HeNormal, HeUniform, Identity, Normal, One, Orthogonal, Sparse, TruncatedNormal, Uniform,
    VarianceScaling, XavierNormal, XavierUniform, Zero,
)  # fmt: skip
_ALIASES: dict[str, type[Initializer]] = {cls.__name__.lower(): cls for cls in _CLASSES}
_ALIASES.update(
    zeros=Zero, ones=One, xavier_uniform=XavierUniform, xavier_normal=XavierNormal, he_uniform=HeUniform,
    he_normal=HeNormal,
)  # fmt: skip
del _ALIASES["constant"]
for _cls in (Initializer, *_CLASSES):
    _cls.__module__ = f"{__package__}.common.initializer"  # what programs print


def resolved(op: str, init: Any) -> Initializer:
    """What a string, a number or an initialiser stands for; raises ValueError for an unknown name, TypeError."""
    if isinstance(init, Initializer):
        return init
    if isinstance(init, str):
        cls = _ALIASES.get(init.lower())
        if cls is None:
            raise ValueError(f"{op}: there is no initialiser {init!r}; there are {', '.join(sorted(_ALIASES))}")
        return cls()
    if isinstance(init, (int, float)) and not isinstance(init, bool):
        return Constant(init)
    raise TypeError(f"{op}: wanted a Tensor, a number, a name or an Initializer, got {type(init).__name__}")
