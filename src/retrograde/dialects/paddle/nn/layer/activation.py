"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from .....core.value import ndim_of
from ...._shared.layers import shown
from .. import functional as F
from ..initializer import Constant
from ._row import layer
from .layers import Layer

ReLU = layer("ReLU", "", F.relu)
ReLU6 = layer("ReLU6", "", F.relu6)
LeakyReLU = layer("LeakyReLU", "negative_slope=0.01", F.leaky_relu)
ELU = layer("ELU", "alpha=1.0", F.elu)
CELU = layer("CELU", "alpha=1.0", F.celu)
SELU = layer("SELU", "scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717", F.selu)
GELU = layer("GELU", "approximate=False", F.gelu)
GLU = layer("GLU", "axis=-1", F.glu)
Hardshrink = layer("Hardshrink", "threshold=0.5", F.hardshrink)
Hardsigmoid = layer("Hardsigmoid", "", F.hardsigmoid)
Hardswish = layer("Hardswish", "", F.hardswish)
Hardtanh = layer("Hardtanh", "min=-1.0, max=1.0", F.hardtanh)
Sigmoid = layer("Sigmoid", "", F.sigmoid, "1 / (1 + exp(-x)).")
LogSigmoid = layer("LogSigmoid", "", F.log_sigmoid)
SiLU = Silu = layer("Silu", "inplace=False", F.silu)
Softmax = layer("Softmax", "axis=-1", F.softmax)
LogSoftmax = layer("LogSoftmax", "axis=-1", F.log_softmax)
Softplus = layer("Softplus", "beta=1, threshold=20", F.softplus)
Softshrink = layer("Softshrink", "threshold=0.5", F.softshrink)
Softsign = layer("Softsign", "", F.softsign)
Swish = layer("Swish", "", F.swish)
Mish = layer("Mish", "", F.mish)
Tanh = layer("Tanh", "", F.tanh, "The hyperbolic tangent.")
Tanhshrink = layer("Tanhshrink", "", F.tanhshrink)
ThresholdedReLU = layer("ThresholdedReLU", "threshold=1.0, value=0.0", F.thresholded_relu)
Maxout = layer("Maxout", "groups, axis=1", F.maxout)
RReLU = layer(
    "RReLU", "lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0", F.rrelu,
    "x where positive, else a slope times x: drawn from [lower, upper) in training, else their mean.", training=True,
    shows=lambda self: f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}",
)  # fmt: skip


def _softmax_of_channels(self: Any, x: Any) -> Any:
    if ndim_of(x) not in (3, 4):
        raise AssertionError(f"Softmax2D: wanted 3 or 4 dimensions, got {ndim_of(x)}")
    return F.softmax(x, axis=-3)


Softmax2D = layer("Softmax2D", "", _softmax_of_channels, "The softmax over the channels of (N, C, H, W).")


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

    extra_repr = shown("num_parameters, data_format, init, dtype, name?", private=True)

