"""Activation functions as cells, and `get_activation`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...._shared.axes import integers
from ... import _activations as F
from ..._api import FUNCTIONS
from ..._parameter import Parameter
from ..._stream import generator
from ..._tensor import Tensor, from_array
from .._checks import positive_int
from ..cell import Cell


def _plain(name: str, doc: str, f: Callable[..., Any]) -> type[Cell]:
    """A cell without options over a function of one tensor."""

    def init(self: Any) -> None:
        Cell.__init__(self)

    def construct(self: Any, x: Any) -> Any:
        return f(x)

    body = {"__init__": init, "construct": construct, "__doc__": doc, "__module__": __name__}
    return type(name, (Cell,), body)


ReLU = _plain("ReLU", "max(x, 0).", F.relu)
ReLU6 = _plain("ReLU6", "min(max(x, 0), 6).", F.relu6)
Sigmoid = _plain("Sigmoid", "1 / (1 + exp(-x)).", F.sigmoid)
Tanh = _plain("Tanh", "The hyperbolic tangent.", FUNCTIONS["tanh"])
Tanhshrink = _plain("Tanhshrink", "x - tanh(x).", F.tanhshrink)
SiLU = _plain("SiLU", "x sigmoid(x).", F.silu)
Mish = _plain("Mish", "x tanh(softplus(x)).", F.mish)
HSwish = _plain("HSwish", "x times hardsigmoid of x.", F.hardswish)
HSigmoid = _plain("HSigmoid", "x / 6 + 1/2, brought into [0, 1].", F.hardsigmoid)
LogSigmoid = _plain("LogSigmoid", "log(sigmoid(x)).", F.logsigmoid)
Softsign = _plain("Softsign", "x / (1 + |x|).", F.softsign)
SeLU = _plain("SeLU", "The scaled exponential linear unit.", F.selu)
FastGelu = _plain("FastGelu", "x sigmoid(1.702 x).", F.fast_gelu)


class Softmax(Cell):
    """exp(x) divided by its sum along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        integers(type(self).__name__, "axis", axis)
        self.axis = axis

    def construct(self, input: Any) -> Any:
        return F.softmax(input, self.axis)


class Softmin(Softmax):
    """softmax of -x."""

    def construct(self, x: Any) -> Any:
        return F.softmin(x, self.axis)


class LogSoftmax(Softmax):
    """The logarithm of softmax."""

    def construct(self, x: Any) -> Any:
        return F.log_softmax(x, self.axis)


class Softmax2d(Cell):
    """softmax over the channels of (N, C, H, W) or (C, H, W); raises ValueError for other shapes."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any) -> Any:
        if x.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: wanted (N, C, H, W) or (C, H, W), got shape {x.shape}")
        return F.softmax(x, -3)


class GELU(Cell):
    """x times the normal distribution function, or (`approximate`, the default) its approximation by tanh."""

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, x: Any) -> Any:
        return F.gelu(x, "tanh" if self.approximate else "none")


class ELU(Cell):
    """x above 0, alpha (exp(x) - 1) below; alpha is 1."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        return F.elu(x, self.alpha)


class CELU(Cell):
    """x above 0, alpha (exp(x / alpha) - 1) below."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        return F.celu(x, self.alpha)


class LeakyReLU(Cell):
    """x above 0, alpha x below."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float)):
            raise TypeError(f"LeakyReLU: alpha must be a number, got {type(alpha).__name__}")
        self.alpha = alpha

    def construct(self, x: Any) -> Any:
        return F.leaky_relu(x, self.alpha)


class RReLU(Cell):
    """x above 0, below it x times a slope: drawn per element from U(lower, upper)."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        if upper < lower:
            raise ValueError(f"RReLU: lower must not be above upper, got {lower} and {upper}")
        self.lower, self.upper = float(lower), float(upper)

    def construct(self, x: Any) -> Any:
        slopes = from_array(generator().uniform(self.lower, self.upper, x.shape).astype(x.dtype.np))
        return F.relu(x) - F.relu(-x) * slopes


class PReLU(Cell):
    """x above 0, below it x times a weight that is learnt: one, or one per channel (axis 1). `w` is its first value."""

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        positive_int("PReLU", "channel", channel)
        if isinstance(w, (int, float)) and not isinstance(w, bool):
            start = Tensor([float(w)] * channel)
        elif isinstance(w, (list, Tensor)):
            start = w if isinstance(w, Tensor) else Tensor(w)
            if start.shape != (channel,):
                raise ValueError(f"PReLU: w must have shape ({channel},), got {start.shape}")
        else:
            raise TypeError(f"PReLU: w must be a float, a list or a Tensor, got {type(w).__name__}")
        self.w = Parameter(start, name="a")

    def construct(self, x: Any) -> Any:
        return F.prelu(x, self.w)


class GLU(Cell):
    """The first half along an axis times the sigmoid of the second half."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Any) -> Any:
        return F.glu(x, self.axis)


class Hardtanh(Cell):
    """x brought into [min_val, max_val]."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val, self.max_val = min_val, max_val
        if max_val < min_val:
            raise ValueError(f"Hardtanh: min_val must not be above max_val, got {min_val} and {max_val}")

    def construct(self, x: Any) -> Any:
        return F.hardtanh(x, self.min_val, self.max_val)


class Threshold(Cell):
    """x above the threshold, `value` elsewhere."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x: Any) -> Any:
        return F.threshold(input_x, self.threshold, self.value)


class _Shrink(Cell):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd


class HShrink(_Shrink):
    """0 where |x| <= lambd, x elsewhere."""

    def construct(self, input_x: Any) -> Any:
        return F.hardshrink(input_x, self.lambd)


class SoftShrink(_Shrink):
    """0 where |x| <= lambd, x moved towards 0 by lambd elsewhere."""

    def construct(self, input_x: Any) -> Any:
        return F.softshrink(input_x, self.lambd)


_BY_NAME: dict[str, type[Cell]] = {
    "softmin": Softmin, "softmax": Softmax, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax, "relu": ReLU,
    "relu6": ReLU6, "rrelu": RReLU, "silu": SiLU, "tanh": Tanh, "tanhshrink": Tanhshrink, "hardtanh": Hardtanh,
    "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU, "sigmoid": Sigmoid, "softsign": Softsign, "prelu": PReLU,
    "leakyrelu": LeakyReLU, "hswish": HSwish, "hsigmoid": HSigmoid, "logsigmoid": LogSigmoid,
    "softshrink": SoftShrink, "hshrink": HShrink, "threshold": Threshold, "mish": Mish,
}  # fmt: skip


def get_activation(name: str | None, prim_name: str | None = None) -> Any:
    """The activation cell of a name, None for None; raises KeyError for an unknown name."""
    if name is None:
        return None
    if name not in _BY_NAME:
        raise KeyError(f"{prim_name or 'get_activation'}: there is no activation {name!r}; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]()
