"""The initialisers of `mindspore.common.initializer`: each is called with an array and fills it.

NumPy's global stream is drawn from where MindSpore draws from it, and as much."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...learn import initialise


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

    def __call__(self, arr: np.ndarray) -> None:
        self._initialize(arr)

    def _initialize(self, arr: np.ndarray) -> None:
        raise NotImplementedError(f"{type(self).__name__}: _initialize(arr) has to be defined")


class Zero(Initializer):
    """Zeros."""

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = 0


class One(Initializer):
    """Ones."""

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = 1


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = self.value


class Identity(Initializer):
    """Ones on the diagonal of a matrix; raises ValueError for other shapes."""

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(f"Identity: wanted a matrix, got shape {arr.shape}")
        arr[...] = np.eye(*arr.shape)


class Normal(Initializer):
    """The normal distribution with mean `mean` and deviation `sigma`."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def _initialize(self, arr: np.ndarray) -> None:
        if self.sigma < 0:
            raise ValueError(f"Normal: sigma must not be negative, got {self.sigma}")
        arr[...] = _normal(arr.shape, self.mean, self.sigma)


class Uniform(Initializer):
    """The uniform distribution on [-scale, scale]."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = _uniform(arr.shape, -self.scale, self.scale)


class TruncatedNormal(Initializer):
    """The normal distribution cut to [a, b] deviations (or numbers, for a mean) around 0."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = _truncated(arr.shape, self.mean, self.sigma, self.a, self.b)


def _truncated(shape: tuple[int, ...], mean: float, sigma: float, low: float, high: float) -> np.ndarray:
    stream = _stream()
    return initialise.truncated_normal(
        lambda m, s: _normal(shape, m, s, stream), lambda a, b: _uniform(shape, a, b, stream), mean, sigma, low, high
    )


def _fans(op: str, shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) < 2:
        raise ValueError(f"{op}: a weight needs two axes or more to have inputs and outputs, got shape {shape}")
    return initialise.fans(shape)


def _fan(op: str, shape: tuple[int, ...], mode: str) -> float:
    fan_in, fan_out = _fans(op, shape)
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError(f"{op}: mode must be 'fan_in' or 'fan_out', got {mode!r}")
    return {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]


class XavierUniform(Initializer):
    """U(-b, b) with b = gain sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        bound = initialise.uniform_bound(initialise.glorot_std(*_fans("XavierUniform", arr.shape), self.gain))
        arr[...] = _uniform(arr.shape, -bound, bound)


class XavierNormal(Initializer):
    """N(0, s) with s = gain sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        std = initialise.glorot_std(*_fans("XavierNormal", arr.shape), self.gain)
        arr[...] = _normal(arr.shape, 0.0, std)


class _He(Initializer):
    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _std(self, shape: tuple[int, ...]) -> float:
        name = type(self).__name__
        if self.nonlinearity == "leaky_relu":
            gain = initialise.leaky_relu_gain(self.negative_slope)
        elif self.nonlinearity in initialise.GAINS:
            gain = initialise.GAINS[self.nonlinearity]
        else:
            raise ValueError(f"{name}: there is no gain for the nonlinearity {self.nonlinearity!r}")
        return initialise.scaling_std(_fan(name, shape, self.mode), gain)


class HeUniform(_He):
    """U(-b, b) with b = gain sqrt(3 / fan) (He et al. 2015)."""

    def _initialize(self, arr: np.ndarray) -> None:
        bound = initialise.uniform_bound(self._std(arr.shape))
        arr[...] = _uniform(arr.shape, -bound, bound)


class HeNormal(_He):
    """N(0, s) with s = gain / sqrt(fan) (He et al. 2015)."""

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = _normal(arr.shape, 0.0, self._std(arr.shape))


class VarianceScaling(Initializer):
    """A distribution of variance scale / fan: "truncated_normal", "untruncated_normal" or "uniform"."""

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        if scale <= 0:
            raise ValueError(f"VarianceScaling: scale must be above 0, got {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"VarianceScaling: mode must be 'fan_in', 'fan_out' or 'fan_avg', got {mode!r}")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                "VarianceScaling: distribution must be 'uniform', 'truncated_normal' or 'untruncated_normal', "
                f"got {distribution!r}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def _initialize(self, arr: np.ndarray) -> None:
        std = math.sqrt(self.scale / max(1.0, _fan("VarianceScaling", arr.shape, self.mode)))
        if self.distribution == "uniform":
            bound = initialise.uniform_bound(std)
            arr[...] = _uniform(arr.shape, -bound, bound)
        elif self.distribution == "untruncated_normal":
            arr[...] = _normal(arr.shape, 0.0, std)
        else:
            # The deviation of a standard normal variable cut to two deviations: what is drawn has the one asked for.
            wide = std / 0.87962566103423978
            arr[...] = _truncated(arr.shape, 0.0, wide, -2 * wide, 2 * wide)


class Orthogonal(Initializer):
    """Orthonormal rows or columns times `gain`, later axes flattened into the columns (Saxe et al. 2014)."""

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim < 2:
            raise ValueError(f"Orthogonal: wanted two axes or more, got shape {arr.shape}")
        drawn = _normal((arr.shape[0], math.prod(arr.shape[1:])))
        arr[...] = initialise.orthogonal(drawn, self.gain).reshape(arr.shape)


class Dirac(Initializer):
    """Convolution weights that pass channels on unchanged, per group; raises ValueError for other shapes."""

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        self.groups = groups

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim not in (3, 4, 5):
            raise ValueError(f"Dirac: wanted 3 to 5 axes, got shape {arr.shape}")
        if self.groups <= 0 or arr.shape[0] % self.groups:
            raise ValueError(f"Dirac: {arr.shape[0]} output channels are not divisible into {self.groups} groups")
        arr[...] = initialise.dirac(arr.shape, self.groups)


class Sparse(Initializer):
    """A matrix with N(0, sigma), of which a share `sparsity` of each column is 0 (Martens 2010)."""

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(f"Sparse: wanted a matrix, got shape {arr.shape}")
        rows, columns = arr.shape
        drawn, zeros = _normal(arr.shape, 0.0, self.sigma), math.ceil(self.sparsity * rows)
        for column in range(columns):
            drawn[np.random.permutation(rows)[:zeros], column] = 0
        arr[...] = drawn


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
