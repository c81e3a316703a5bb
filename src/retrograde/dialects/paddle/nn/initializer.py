"""`paddle.nn.initializer`: initial values of parameters. An initialiser is called with the parameter that it fills."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn import initialise
from ..._shared.option_rows import Calls, Row
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

    def _set_up(self, row: Row, options: dict[str, Any]) -> None:
        """Make the initialiser of a row; `_name` is what `name` was given as."""
        row.check(options)
        self.__dict__.update({f"_{name}": value for name, value in options.items()})
        if row.then is not None:
            row.then(self)

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


# ------------------------------------------------------------------------------------------ what they give

Values = Callable[..., Any]


def _constant(shape: Shape, dtype: np.dtype, *, value: float) -> Any:
    return np.full(shape, value, dtype)


def _assign(shape: Shape, dtype: np.dtype, *, value: Any) -> Any:
    array = np.array(value.numpy() if isinstance(value, Value) else value)
    if array.shape != shape:
        raise ValueError(f"Assign: values of shape {list(array.shape)} for a parameter of shape {list(shape)}")
    return array.astype(dtype)


def _uniform(shape: Shape, dtype: np.dtype, *, low: float, high: float) -> Any:
    return uniform_array(shape, dtype, low, high)


def _normal(shape: Shape, dtype: np.dtype, *, mean: float, std: float) -> Any:
    return normal_array(shape, dtype, mean, std)


def _truncated(shape: Shape, dtype: np.dtype, *, mean: float, std: float, a: float, b: float) -> Any:
    return initialise.truncated_normal(
        lambda mean, std: normal_array(shape, dtype, float(mean), float(std)),
        lambda low, high: uniform_array(shape, dtype, low, high), float(mean), float(std), float(a), float(b),
    )  # fmt: skip


def _glorot(shape: Shape, *, fan_in: float | None, fan_out: float | None, gain: float) -> float:
    first, second = fans(shape)
    first, second = first if fan_in is None else fan_in, second if fan_out is None else fan_out  # type: ignore[assignment]
    return initialise.glorot_std(first, second, gain) if first + second else 0.0


def _he(shape: Shape, *, fan_in: float | None, negative_slope: float, nonlinearity: str, mode: str) -> float:
    fan: float = fans(shape)[mode == "fan_out"] if fan_in is None or mode == "fan_out" else fan_in
    return initialise.scaling_std(fan, calculate_gain(nonlinearity, negative_slope)) if fan else 0.0


def _uniform_of(std: Values) -> Values:
    """Uniform numbers around 0 of the deviation that a function gives."""

    @functools.wraps(std)
    def values(shape: Shape, dtype: np.dtype, **options: Any) -> Any:
        bound = initialise.uniform_bound(std(shape, **options))
        return uniform_array(shape, dtype, -bound, bound)

    return values


def _normal_of(std: Values) -> Values:
    """Normal numbers around 0 of the deviation that a function gives."""

    @functools.wraps(std)
    def values(shape: Shape, dtype: np.dtype, **options: Any) -> Any:
        return normal_array(shape, dtype, 0.0, std(shape, **options))

    return values


def _orthogonal(shape: Shape, dtype: np.dtype, *, gain: float) -> Any:
    if len(shape) < 2:
        raise AssertionError(f"Orthogonal: wanted 2 dimensions or more, got shape {list(shape)}")
    return initialise.orthogonal(normal_array((shape[0], math.prod(shape[1:])), dtype), gain).reshape(shape)


def _dirac(shape: Shape, dtype: np.dtype, *, groups: int) -> Any:
    if len(shape) not in (3, 4, 5) or shape[0] % groups:
        raise AssertionError(f"Dirac: shape {list(shape)} is none of convolution weights of {groups} groups")
    return initialise.dirac(shape, groups)


def _bilinear(shape: Shape, dtype: np.dtype) -> Any:
    if len(shape) != 4 or shape[2] != shape[3]:
        raise ValueError(f"Bilinear: wanted shape (out, in, k, k), got {list(shape)}")
    return initialise.bilinear(shape)


# ------------------------------------------------------------------------------------------ rows

initialiser = Calls(
    Initializer, method="values(self, shape, dtype)", call="return _function(shape, dtype{})", reads="self._{}",
    types={"name": "str | None", "fan_in": "float | None", "fan_out": "float | None"},
    asserts="value given; groups: int > 0", checks="mode in {fan_in, fan_out}",
)  # fmt: skip


def _check_value(self: Any) -> None:
    if not isinstance(self._value, (Value, np.ndarray, list, tuple)):
        raise AssertionError(f"Assign: wanted a Tensor, an array or a list, got {type(self._value).__name__}")


def _check_order(self: Any) -> None:
    if self._low > self._high:
        raise AssertionError(f"Uniform: low must not exceed high, got {self._low} and {self._high}")


def _check_numbers(self: Any) -> None:
    for what, value in (("mean", self._mean), ("std", self._std)):
        if not isinstance(value, (int, float, complex, np.number)):
            raise TypeError(f"Normal: {what} must be a number, got {type(value).__name__}")


_XAVIER = "fan_in=None, fan_out=None, gain=1.0, name=None"
_KAIMING = "fan_in=None, negative_slope=0.0, nonlinearity='relu', mode='fan_in'"
Constant = initialiser("Constant", "value=0.0", _constant, "One value everywhere.")
Assign = initialiser(
    "Assign", "value, name=None", _assign, "Given values: a tensor, an array or a list.", then=_check_value,
)  # fmt: skip
Uniform = initialiser(
    "Uniform", "low=-1.0, high=1.0, name=None", _uniform, "Uniform numbers in [low, high).", then=_check_order,
)  # fmt: skip
Normal = initialiser("Normal", "mean=0.0, std=1.0, name=None", _normal, "Normal numbers.", then=_check_numbers)
TruncatedNormal = initialiser(
    "TruncatedNormal", "mean=0.0, std=1.0, a=-2.0, b=2.0, name=None", _truncated, "Normal numbers within [a, b].",
)  # fmt: skip
XavierUniform = initialiser(
    "XavierUniform", _XAVIER, _uniform_of(_glorot),
    "Uniform numbers whose variance is 2 / (fan_in + fan_out) (Glorot and Bengio 2010).",
)  # fmt: skip
XavierNormal = initialiser(
    "XavierNormal", _XAVIER, _normal_of(_glorot),
    "Normal numbers whose variance is 2 / (fan_in + fan_out) (Glorot and Bengio 2010).",
)  # fmt: skip
KaimingUniform = initialiser(
    "KaimingUniform", _KAIMING, _uniform_of(_he), "Uniform numbers whose variance is gain² / fan (He et al. 2015).",
)  # fmt: skip
KaimingNormal = initialiser(
    "KaimingNormal", _KAIMING, _normal_of(_he), "Normal numbers whose variance is gain² / fan (He et al. 2015).",
)  # fmt: skip
Orthogonal = initialiser(
    "Orthogonal", "gain=1.0, name=None", _orthogonal,
    "A matrix with orthonormal rows or columns times a gain (Saxe et al. 2014); further axes count as one.",
)  # fmt: skip
Dirac = initialiser(
    "Dirac", "groups=1, name=None", _dirac, "Convolution weights that pass as many channels as possible on unchanged.",
)  # fmt: skip
Bilinear = initialiser("Bilinear", "", _bilinear, "Weights of a transposed convolution that magnifies bilinearly.")
