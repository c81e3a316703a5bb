"""Activations as modules. MultiheadAttention stands in attention.py."""

from __future__ import annotations

import warnings
from typing import Any

from ..._api import owned
from ..._creation import empty
from ..._tensor import Tensor
from .. import functional as F
from .. import init as initialise
from ..parameter import Parameter
from .attention import MultiheadAttention
from .module import Module


def _inplace(inplace: bool, before: str = "") -> str:
    """The arguments of an activation for printing."""
    return before + ((", " if before else "") + "inplace=True" if inplace else "")


class _InPlace(Module):
    """An activation whose only option is to overwrite its input."""

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Whether it works in place."""
        return _inplace(self.inplace)


class ReLU(_InPlace):
    """max(x, 0)."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.relu(input, inplace=self.inplace)


class SELU(_InPlace):
    """scale * (max(x, 0) + min(alpha * (exp(x) - 1), 0)) with the self-normalising constants (Klambauer et al.,
    2017)."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.selu(input, self.inplace)


class SiLU(_InPlace):
    """x * sigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.silu(input, inplace=self.inplace)


class Mish(_InPlace):
    """x * tanh(softplus(x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.mish(input, inplace=self.inplace)


class Hardsigmoid(_InPlace):
    """x / 6 + 1/2, cut to [0, 1]."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing."""
        return ""


class Hardswish(_InPlace):
    """x * hardsigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing."""
        return ""


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.tanh(input)


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.tanhshrink(input)


class Threshold(Module):
    """x where it is above `threshold`, else `value`."""

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """The arguments."""
        return _inplace(self.inplace, f"threshold={self.threshold}, value={self.value}")


class RReLU(Module):
    """Leaky ReLU with slopes drawn from U(lower, upper) in training, and their mean in evaluation."""

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The arguments."""
        return _inplace(self.inplace, f"lower={self.lower}, upper={self.upper}")


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

    def extra_repr(self) -> str:
        """The arguments."""
        return _inplace(self.inplace, f"min_val={self.min_val}, max_val={self.max_val}")


class ReLU6(Hardtanh):
    """x cut to [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Whether it works in place."""
        return _inplace(self.inplace)


class ELU(Module):
    """x above 0, alpha * (exp(x) - 1) below."""

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """The arguments."""
        return _inplace(self.inplace, f"alpha={self.alpha}")


class CELU(ELU):
    """x above 0, alpha * (exp(x / alpha) - 1) below."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.celu(input, self.alpha, self.inplace)


class GELU(Module):
    """x * Φ(x) with the normal distribution function Φ, or its approximation by tanh."""

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The approximation."""
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The first half along an axis times the sigmoid of the second."""

    __constants__ = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Half as long along `dim`."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """The axis."""
        return f"dim={self.dim}"


class _Shrink(Module):
    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """The width of the gap."""
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x drawn to 0 by lambd."""

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.softshrink(input, self.lambd)


class LeakyReLU(Module):
    """x above 0, negative_slope * x below."""

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The arguments."""
        return _inplace(self.inplace, f"negative_slope={self.negative_slope}")


class Softplus(Module):
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above `threshold`."""

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """Elementwise."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"beta={self.beta}, threshold={self.threshold}"


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

    def extra_repr(self) -> str:
        """The number of weights."""
        return f"num_parameters={self.num_parameters}"


class _AlongAxis(Module):
    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self) -> str:
        """The axis."""
        return f"dim={self.dim}"


class Softmax(_AlongAxis):
    """exp(x) divided by its sum along an axis."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmin(_AlongAxis):
    """The softmax of -x along an axis."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The axis."""
        return f"dim={self.dim}"


class LogSoftmax(_AlongAxis):
    """The logarithm of the softmax along an axis."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The axis."""
        return f"dim={self.dim}"


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
