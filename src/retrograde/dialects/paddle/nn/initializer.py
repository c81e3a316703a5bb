"""`paddle.nn.initializer`: initial values of parameters. An initialiser is called with the parameter that it fills."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn import initialise
from .._tensor import from_array
from ..random import normal_array, uniform_array

__all__ = [
    "Assign", "Bilinear", "Constant", "Dirac", "Initializer", "KaimingNormal", "KaimingUniform", "Normal", "Orthogonal",
    "TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform", "calculate_gain", "set_global_initializer",
]  # fmt: skip

Shape = tuple[int, ...]

of_all: dict[bool, Any] = {False: None, True: None}
"""The initialisers of weights (False) and biases (True) whose ParamAttr has none."""


def set_global_initializer(weight_init: Any, bias_init: Any = None) -> None:
    """Set the initialisers of parameters whose ParamAttr has none; None takes them away."""
    of_all.update({False: weight_init, True: bias_init})


class Initializer:
    """Base of the initialisers: `values(shape, dtype)` gives an array."""

    def __call__(self, param: Any, block: Any = None) -> Any:
        """Fill the parameter; returns it."""
        array = np.asarray(self.values(tuple(shape_of(param)), dtype_of(param)))
        param.data = from_array(array.astype(dtype_of(param), copy=False))
        return param

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The values of a parameter of this shape; every initialiser defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no values")


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The recommended factor of the deviation of weights before a nonlinearity; ValueError for an unknown one.

    >>> calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        return initialise.leaky_relu_gain(0.01 if param is None else float(param))
    names = {f"conv{n}d_transpose": f"conv_transpose{n}d" for n in (1, 2, 3)}
    name = names.get(nonlinearity, nonlinearity)
    if name not in initialise.GAINS:
        raise ValueError(f"calculate_gain: {nonlinearity!r} is not known; there are {', '.join(initialise.GAINS)}")
    return initialise.GAINS[name]


def fans(shape: Shape) -> tuple[int, int]:
    """Fan-in and fan-out: of a matrix (in, out), of convolution weights (out, in, *field)."""
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    return initialise.fans(shape, out_first=len(shape) > 2)


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: float = 0.0) -> None:
        if value is None:
            raise AssertionError("Constant: the value must not be None")
        self._value = value

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The constant."""
        return np.full(shape, self._value, dtype)


class Assign(Initializer):
    """Given values: a tensor, an array or a list."""

    def __init__(self, value: Any, name: str | None = None) -> None:
        if not isinstance(value, (Value, np.ndarray, list, tuple)):
            raise AssertionError(f"Assign: wanted a Tensor, an array or a list, got {type(value).__name__}")
        self._value = value

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The values, in the parameter's shape."""
        array = np.array(self._value.numpy() if isinstance(self._value, Value) else self._value)
        if array.shape != shape:
            raise ValueError(f"Assign: values of shape {list(array.shape)} for a parameter of shape {list(shape)}")
        return array.astype(dtype)


class Uniform(Initializer):
    """Uniform numbers in [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        if low > high:
            raise AssertionError(f"Uniform: low must not exceed high, got {low} and {high}")
        self._low, self._high = low, high

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        return uniform_array(shape, dtype, self._low, self._high)


class Normal(Initializer):
    """Normal numbers."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        for what, value in (("mean", mean), ("std", std)):
            if not isinstance(value, (int, float, complex, np.number)):
                raise TypeError(f"Normal: {what} must be a number, got {type(value).__name__}")
        self._mean, self._std = mean, std

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        return normal_array(shape, dtype, self._mean, self._std)


class TruncatedNormal(Initializer):
    """Normal numbers within [a, b]."""

    def __init__(
        self, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, name: str | None = None
    ) -> None:
        self._mean, self._std, self._a, self._b = mean, std, a, b

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        return initialise.truncated_normal(
            lambda mean, std: normal_array(shape, dtype, float(mean), float(std)),
            lambda low, high: uniform_array(shape, dtype, low, high),
            float(self._mean), float(self._std), float(self._a), float(self._b),
        )  # fmt: skip


class _Xavier(Initializer):
    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0, name: str | None = None
    ) -> None:
        self._fan_in, self._fan_out, self._gain = fan_in, fan_out, gain

    def _std(self, shape: Shape) -> float:
        first, second = fans(shape)
        fan_in = first if self._fan_in is None else self._fan_in
        fan_out = second if self._fan_out is None else self._fan_out
        return initialise.glorot_std(fan_in, fan_out, self._gain) if fan_in + fan_out else 0.0


class XavierUniform(_Xavier):
    """Uniform numbers whose variance is 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        bound = initialise.uniform_bound(self._std(shape))
        return uniform_array(shape, dtype, -bound, bound)


class XavierNormal(_Xavier):
    """Normal numbers whose variance is 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        return normal_array(shape, dtype, 0.0, self._std(shape))


class _Kaiming(Initializer):
    def __init__(
        self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:  # fmt: skip
        if mode not in ("fan_in", "fan_out"):
            raise ValueError(f"{type(self).__name__}: mode must be 'fan_in' or 'fan_out', got {mode!r}")
        self._fan_in, self._slope, self._nonlinearity, self._mode = fan_in, negative_slope, nonlinearity, mode

    def _std(self, shape: Shape) -> float:
        fan: float = fans(shape)[self._mode == "fan_out"]
        if self._fan_in is not None and self._mode == "fan_in":
            fan = self._fan_in
        return initialise.scaling_std(fan, calculate_gain(self._nonlinearity, self._slope)) if fan else 0.0


class KaimingUniform(_Kaiming):
    """Uniform numbers whose variance is gain² / fan (He et al. 2015)."""

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        bound = initialise.uniform_bound(self._std(shape))
        return uniform_array(shape, dtype, -bound, bound)


class KaimingNormal(_Kaiming):
    """Normal numbers whose variance is gain² / fan (He et al. 2015)."""

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        return normal_array(shape, dtype, 0.0, self._std(shape))


class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns times a gain (Saxe et al. 2014); further axes count as one."""

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self._gain = gain

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The numbers drawn."""
        if len(shape) < 2:
            raise AssertionError(f"Orthogonal: wanted 2 dimensions or more, got shape {list(shape)}")
        drawn = normal_array((shape[0], math.prod(shape[1:])), dtype)
        return initialise.orthogonal(drawn, self._gain).reshape(shape)


class Dirac(Initializer):
    """Convolution weights that pass as many channels as possible on unchanged."""

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if not isinstance(groups, int) or groups <= 0:
            raise AssertionError(f"Dirac: groups must be a positive int, got {groups!r}")
        self._groups = groups

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The weights."""
        if len(shape) not in (3, 4, 5) or shape[0] % self._groups:
            raise AssertionError(f"Dirac: shape {list(shape)} is none of convolution weights of {self._groups} groups")
        return initialise.dirac(shape, self._groups)


class Bilinear(Initializer):
    """Weights of a transposed convolution that magnifies bilinearly."""

    def values(self, shape: Shape, dtype: np.dtype) -> Any:
        """The weights."""
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ValueError(f"Bilinear: wanted shape (out, in, k, k), got {list(shape)}")
        return initialise.bilinear(shape)
