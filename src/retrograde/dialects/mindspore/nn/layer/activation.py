"""Activation functions as cells, and `get_activation`."""

from __future__ import annotations

from typing import Any

from ...._shared.axes import integers
from ... import _activations as F
from ... import _unary
from ..._parameter import Parameter
from ..._stream import generator
from ..._tensor import Tensor, from_array
from .._checks import positive_int
from .._row import layer
from ..cell import Cell


def _check_axis(cell: Any) -> None:
    integers(type(cell).__name__, "axis", cell.axis)


def _check_slope(cell: Any) -> None:
    if isinstance(cell.alpha, bool) or not isinstance(cell.alpha, (int, float)):
        raise TypeError(f"LeakyReLU: alpha must be a number, got {type(cell.alpha).__name__}")


def _check_slopes(cell: Any) -> None:
    if cell.upper < cell.lower:
        raise ValueError(f"RReLU: lower must not be above upper, got {cell.lower} and {cell.upper}")
    cell.lower, cell.upper = float(cell.lower), float(cell.upper)


def _check_bounds(cell: Any) -> None:
    if cell.max_val < cell.min_val:
        raise ValueError(f"Hardtanh: min_val must not be above max_val, got {cell.min_val} and {cell.max_val}")


def _of_channels(self: Any, x: Any) -> Any:
    if x.ndim not in (3, 4):
        raise ValueError(f"Softmax2d: wanted (N, C, H, W) or (C, H, W), got shape {x.shape}")
    return F.softmax(x, -3)


def _with_drawn_slopes(self: Any, x: Any) -> Any:
    slopes = from_array(generator().uniform(self.lower, self.upper, x.shape).astype(x.dtype.np))
    return F.relu(x) - F.relu(-x) * slopes


ReLU = layer("ReLU", "", F.relu)
ReLU6 = layer("ReLU6", "", F.relu6)
Sigmoid = layer("Sigmoid", "", F.sigmoid, "1 / (1 + exp(-x)).")
Tanh = layer("Tanh", "", _unary.tanh, "The hyperbolic tangent.")
Tanhshrink = layer("Tanhshrink", "", F.tanhshrink)
SiLU = layer("SiLU", "", F.silu, "x sigmoid(x).")
Mish = layer("Mish", "", F.mish, "x tanh(softplus(x)).")
HSwish = layer("HSwish", "", F.hardswish)
HSigmoid = layer("HSigmoid", "", F.hardsigmoid)
LogSigmoid = layer("LogSigmoid", "", F.logsigmoid, "log(sigmoid(x)).")
Softsign = layer("Softsign", "", F.softsign)
SeLU = layer("SeLU", "", F.selu)
FastGelu = layer("FastGelu", "", F.fast_gelu)
Softmax = layer("Softmax", "axis: int = -1", F.softmax, inputs="input", then=_check_axis)
Softmin = layer("Softmin", None, F.softmin, base=Softmax)
LogSoftmax = layer("LogSoftmax", None, F.log_softmax, base=Softmax)
Softmax2d = layer(
    "Softmax2d", "", _of_channels,
    "softmax over the channels of (N, C, H, W) or (C, H, W); raises ValueError for other shapes.",
)  # fmt: skip
GELU = layer(
    "GELU", "approximate: bool = True", lambda self, x: F.gelu(x, "tanh" if self.approximate else "none"),
    "x times the normal distribution function, or (`approximate`, the default) its approximation by tanh.",
)  # fmt: skip
ELU = layer("ELU", "alpha: float = 1.0", F.elu)
CELU = layer("CELU", "alpha: float = 1.0", F.celu)
LeakyReLU = layer("LeakyReLU", "alpha: float = 0.2", F.leaky_relu, then=_check_slope)
RReLU = layer(
    "RReLU", "lower: float = 1.0 / 8, upper: float = 1.0 / 3", _with_drawn_slopes,
    "x above 0, below it x times a slope: drawn per element from U(lower, upper).", then=_check_slopes,
)  # fmt: skip
GLU = layer("GLU", "axis: int = -1", F.glu)
Hardtanh = layer("Hardtanh", "min_val: float = -1.0, max_val: float = 1.0", F.hardtanh, then=_check_bounds)
Threshold = layer(
    "Threshold", "threshold: float, value: float",
    lambda self, input_x: F.threshold(input_x, self.threshold, self.value), "x above the threshold, `value` elsewhere.",
)  # fmt: skip
HShrink = layer("HShrink", "lambd: float = 0.5", F.hardshrink, inputs="input_x")
SoftShrink = layer("SoftShrink", "lambd: float = 0.5", F.softshrink, inputs="input_x")


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
