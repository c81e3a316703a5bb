"""Activations as modules. MultiheadAttention stands in attention.py."""

from __future__ import annotations

import warnings
from typing import Any

from ...._shared.layers import shown
from ..._api import owned
from ..._creation import empty
from ..._tensor import Tensor
from .. import functional as F
from .. import init as initialise
from ..parameter import Parameter
from ._layer import layer
from .attention import MultiheadAttention
from .module import Module

ReLU = layer("ReLU", "inplace: bool = False", F.relu, shows="inplace?")
SELU = layer("SELU", "inplace: bool = False", F.selu, shows="inplace?")
SiLU = layer("SiLU", "inplace: bool = False", F.silu, shows="inplace?")
Mish = layer("Mish", "inplace: bool = False", F.mish, shows="inplace?")
Hardsigmoid = layer("Hardsigmoid", "inplace: bool = False", F.hardsigmoid)
Hardswish = layer("Hardswish", "inplace: bool = False", F.hardswish)
Sigmoid = layer("Sigmoid", "", F.sigmoid, "1 / (1 + exp(-x)).")
Tanh = layer("Tanh", "", F.tanh, "The hyperbolic tangent.")
LogSigmoid = layer("LogSigmoid", "", F.logsigmoid, "log(sigmoid(x)).")
Softsign = layer("Softsign", "", F.softsign)
Tanhshrink = layer("Tanhshrink", "", F.tanhshrink)
Threshold = layer(
    "Threshold", "threshold: float, value: float, inplace: bool = False", F.threshold,
    shows="threshold, value, inplace?",
)  # fmt: skip
RReLU = layer(
    "RReLU", "lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False", F.rrelu,
    shows="lower, upper, inplace?", training=True,
)  # fmt: skip


class Hardtanh(Module):
    """x cut to [min_val, max_val]."""

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if min_value is not None:
            warnings.warn("Hardtanh: min_value is now min_val", FutureWarning, stacklevel=2)
            min_val = min_value
        if max_value is not None:
            warnings.warn("Hardtanh: max_value is now max_val", FutureWarning, stacklevel=2)
            max_val = max_value
        if max_val <= min_val:
            raise AssertionError(f"Hardtanh: max_val must be above min_val, got {max_val} and {min_val}")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    extra_repr = shown("min_val, max_val, inplace?")


ReLU6 = layer(
    "ReLU6", "inplace: bool = False", None, "x cut to [0, 6].", shows="inplace?", base=Hardtanh,
    fixed={"min_val": 0.0, "max_val": 6.0},
)  # fmt: skip
ELU = layer("ELU", "alpha: float = 1.0, inplace: bool = False", F.elu, shows="alpha, inplace?")
CELU = layer("CELU", "alpha: float = 1.0, inplace: bool = False", F.celu, shows="alpha, inplace?")
GELU = layer(
    "GELU", "approximate: str = 'none'", F.gelu,
    "x * Φ(x) with the normal distribution function Φ, or its approximation by tanh.",
    shows=lambda self: f"approximate={self.approximate!r}",
)  # fmt: skip
GLU = layer("GLU", "dim: int = -1", F.glu, shows="dim")
Hardshrink = layer(
    "Hardshrink", "lambd: float = 0.5", F.hardshrink, "x where |x| > lambd, else 0.", shows=lambda self: f"{self.lambd}"
)
Softshrink = layer(
    "Softshrink", "lambd: float = 0.5", F.softshrink, "x drawn to 0 by lambd.", shows=lambda self: f"{self.lambd}"
)
LeakyReLU = layer(
    "LeakyReLU", "negative_slope: float = 1e-2, inplace: bool = False", F.leaky_relu, shows="negative_slope, inplace?"
)
Softplus = layer("Softplus", "beta: float = 1.0, threshold: float = 20.0", F.softplus, shows=True)


class PReLU(Module):
    """x above 0, weight * x below, with one learned weight or one per channel (axis 1)."""

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all weights to their first value."""
        initialise.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.prelu(input, self.weight)

    extra_repr = shown("num_parameters")


class _AlongAxis(Module):
    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)


Softmax = layer(
    "Softmax", "dim: int | None = None", lambda self, input: F.softmax(input, self.dim, _stacklevel=5),
    "exp(x) divided by its sum along an axis.", shows="dim", base=_AlongAxis,
)  # fmt: skip
Softmin = layer(
    "Softmin", "dim: int | None = None", lambda self, input: F.softmin(input, self.dim, _stacklevel=5),
    "The softmax of -x along an axis.", shows="dim", base=_AlongAxis,
)  # fmt: skip
LogSoftmax = layer(
    "LogSoftmax", "dim: int | None = None", lambda self, input: F.log_softmax(input, self.dim, _stacklevel=5),
    "The logarithm of the softmax along an axis.", shows="dim", base=_AlongAxis,
)  # fmt: skip


class Softmax2d(Module):
    """The softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape; raises ValueError for other numbers of axes."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: wanted 3 or 4 axes, got {input.ndim}")
        return F.softmax(input, -3, _stacklevel=5)


__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "ReLU", "ReLU6", "RReLU", "SELU", "Sigmoid", "SiLU",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip
owned(globals(), ["MultiheadAttention"])
