"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from .....core.value import ndim_of
from .. import functional as F
from ..initializer import Constant
from ._simple import REQUIRED, layer_of
from .layers import Layer

ReLU = layer_of("ReLU", F.relu, "max(x, 0).", {})
ReLU6 = layer_of("ReLU6", F.relu6, "min(max(x, 0), 6).", {})
LeakyReLU = layer_of(
    "LeakyReLU", F.leaky_relu, "x where positive, a slope times x elsewhere.", {"negative_slope": 0.01}
)
ELU = layer_of("ELU", F.elu, "x where positive, alpha (exp(x) - 1) elsewhere.", {"alpha": 1.0})
CELU = layer_of("CELU", F.celu, "x where positive, alpha (exp(x / alpha) - 1) elsewhere.", {"alpha": 1.0})
SELU = layer_of(
    "SELU", F.selu, "ELU scaled so that layers keep mean 0 and variance 1.",
    {"scale": 1.0507009873554804934193349852946, "alpha": 1.6732632423543772848170429916717},
)  # fmt: skip
GELU = layer_of("GELU", F.gelu, "x times the normal distribution function of x.", {"approximate": False})
GLU = layer_of("GLU", F.glu, "The first half along an axis times the sigmoid of the second.", {"axis": -1})
Hardshrink = layer_of("Hardshrink", F.hardshrink, "x where |x| > threshold, 0 elsewhere.", {"threshold": 0.5})
Hardsigmoid = layer_of("Hardsigmoid", F.hardsigmoid, "x / 6 + 1/2 kept within [0, 1].", {})
Hardswish = layer_of("Hardswish", F.hardswish, "x min(max(x + 3, 0), 6) / 6.", {})
Hardtanh = layer_of("Hardtanh", F.hardtanh, "x kept within [min, max].", {"min": -1.0, "max": 1.0})
Sigmoid = layer_of("Sigmoid", F.sigmoid, "1 / (1 + exp(-x)).", {})
LogSigmoid = layer_of("LogSigmoid", F.log_sigmoid, "log(sigmoid(x)).", {})
Silu = layer_of("Silu", F.silu, "x sigmoid(x).", {"inplace": False})
SiLU = Silu
Softmax = layer_of("Softmax", F.softmax, "exp(x) / sum(exp(x)) along an axis.", {"axis": -1})
LogSoftmax = layer_of("LogSoftmax", F.log_softmax, "log(softmax(x)) along an axis.", {"axis": -1})
Softplus = layer_of("Softplus", F.softplus, "log(1 + exp(beta x)) / beta.", {"beta": 1, "threshold": 20})
Softshrink = layer_of("Softshrink", F.softshrink, "x moved towards 0 by the threshold.", {"threshold": 0.5})
Softsign = layer_of("Softsign", F.softsign, "x / (1 + |x|).", {})
Swish = layer_of("Swish", F.swish, "x sigmoid(x).", {})
Mish = layer_of("Mish", F.mish, "x tanh(softplus(x)).", {})
Tanh = layer_of("Tanh", F.tanh, "The hyperbolic tangent.", {})
Tanhshrink = layer_of("Tanhshrink", F.tanhshrink, "x - tanh(x).", {})
ThresholdedReLU = layer_of(
    "ThresholdedReLU", F.thresholded_relu, "x where it is above the threshold, `value` elsewhere.",
    {"threshold": 1.0, "value": 0.0},
)  # fmt: skip
Maxout = layer_of("Maxout", F.maxout, "The largest of `groups` neighbouring channels.", {"groups": REQUIRED, "axis": 1})


def _softmax_of_channels(x: Any) -> Any:
    if ndim_of(x) not in (3, 4):
        raise AssertionError(f"Softmax2D: wanted 3 or 4 dimensions, got {ndim_of(x)}")
    return F.softmax(x, axis=-3)


Softmax2D = layer_of("Softmax2D", _softmax_of_channels, "The softmax over the channels of (N, C, H, W).", {})


class PReLU(Layer):
    """x where positive, a trained slope times x elsewhere: one slope, or one per channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, weight_attr: Any = None, data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._num_parameters, self._init, self._data_format, self._name = num_parameters, init, data_format, name
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(float(init)))

    def forward(self, x: Any) -> Any:
        """The activation of x."""
        return F.prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        """The number of slopes and what they began with."""
        end = f", name={self._name}" if self._name else ""
        return (f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}, "
                f"dtype={self._dtype}{end}")  # fmt: skip


class RReLU(Layer):
    """x where positive, else a slope times x: drawn from [lower, upper) in training, else their mean."""

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower, self._upper, self._name = lower, upper, name

    def forward(self, x: Any) -> Any:
        """The activation of x."""
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        """The bounds of the slopes."""
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}"
