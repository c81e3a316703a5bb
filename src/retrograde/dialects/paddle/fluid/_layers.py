"""The layers of `paddle.fluid.dygraph`: those of `paddle.nn` with the arguments of old programs."""

from __future__ import annotations

from typing import Any

from ..._shared.layers import written as _written
from ..._shared.option_rows import annotated as _annotated
from .. import nn as _nn
from . import layers as _layers

Layer = _nn.Layer
Sequential, LayerList, ParameterList = _nn.Sequential, _nn.LayerList, _nn.ParameterList
Flatten, SpectralNorm = _nn.Flatten, _nn.SpectralNorm


class _Activated:
    """Mixed in before a layer: its result goes through the activation named when it was made."""

    _act: str | None

    def forward(self, *inputs: Any) -> Any:
        """The layer's result, after which the activation is applied."""
        return _layers.activated(super().forward(*inputs), self._act)  # type: ignore[misc]


_TYPES = dict.fromkeys(("stride", "padding", "dilation"), "Any") | {"act": "str | None"}
_OLD = "`paddle.nn.{}` with the arguments of old programs{}."


def _old(name: str, base: Any, options: str, given: str, more: str = "", kept: str = "", **members: Any) -> Any:
    """A layer of `paddle.nn` whose constructor takes `options` and hands on `given`. An activation among them is applied to the
    result; `kept` are options that it keeps."""
    lines = [f"def __init__(self, {_annotated(options, _TYPES)}) -> None:", f"    _base.__init__(self, {given})"]
    lines.append(f"    self._act = {'act' if 'act=' in options else None}")
    lines += [f"    self._{option} = {option}" for option in kept.split()]
    place = f"<retrograde row paddle.fluid.dygraph.{name}>"
    constructor = _written("\n".join(lines), place, {"_base": base, "Any": Any}, "__init__")
    own = {"__init__": constructor, "__doc__": _OLD.format(base.__name__, more), "__module__": __name__}
    return type(name, (_Activated, base), {**own, **members})


_ATTRIBUTES = "param_attr=None, bias_attr=None, act=None, dtype='float32'"
_WEIGHTS = "weight_attr=param_attr, bias_attr=bias_attr"
_SIZES = "num_channels: int, num_filters: int, filter_size"
_DEVICE = "groups: int | None = None, param_attr=None, bias_attr=None, use_cudnn=True, act=None, dtype='float32'"
_FORWARD = f"{_SIZES}, stride=1, padding=0, dilation=1, {_DEVICE}"
_CONVOLUTION = (
    "num_channels, num_filters, filter_size, stride=stride, padding=padding, dilation=dilation, groups=groups or 1, "
    + _WEIGHTS
)
Conv2D, Conv3D = (_old(base.__name__, base, _FORWARD, _CONVOLUTION) for base in (_nn.Conv2D, _nn.Conv3D))
Conv2DTranspose = _old(
    "Conv2DTranspose", _nn.Conv2DTranspose, f"{_SIZES}, output_size=None, padding=0, stride=1, dilation=1, {_DEVICE}",
    _CONVOLUTION, kept="output_size", forward=lambda self, input: _Activated.forward(self, input, self._output_size),
)  # fmt: skip
Conv3DTranspose = _old(
    "Conv3DTranspose", _nn.Conv3DTranspose, f"{_SIZES}, padding=0, stride=1, dilation=1, {_DEVICE}", _CONVOLUTION
)
Linear = _old("Linear", _nn.Linear, "input_dim: int, output_dim: int, " + _ATTRIBUTES, "input_dim, output_dim, " + _WEIGHTS)
BilinearTensorProduct = _old(
    "BilinearTensorProduct", _nn.Bilinear,
    "input1_dim: int, input2_dim: int, output_dim: int, name=None, act=None, param_attr=None, bias_attr=None, dtype='float32'",
    "input1_dim, input2_dim, output_dim, param_attr, bias_attr, name",
)  # fmt: skip
InstanceNorm = _old(
    "InstanceNorm", _nn.InstanceNorm2D, "num_channels: int, epsilon=1e-05, param_attr=None, bias_attr=None, dtype='float32'",
    "num_channels, epsilon, " + _WEIGHTS,
)  # fmt: skip
GroupNorm = _old(
    "GroupNorm", _nn.GroupNorm,
    "channels: int, groups: int, epsilon=1e-05, param_attr=None, bias_attr=None, act=None, data_layout='NCHW', dtype='float32'",
    "groups, channels, epsilon, param_attr, bias_attr, data_layout",
)  # fmt: skip
LayerNorm = _old(
    "LayerNorm", _nn.LayerNorm, "normalized_shape, scale=True, shift=True, epsilon=1e-05, " + _ATTRIBUTES,
    "normalized_shape, epsilon=epsilon, weight_attr=param_attr if scale else False, bias_attr=bias_attr if shift else False",
)  # fmt: skip
Embedding = _old(
    "Embedding", _nn.Embedding,
    "size, is_sparse=False, is_distributed=False, padding_idx: int | None = None, param_attr=None, dtype='float32'",
    "size[0], size[1], padding_idx=padding_idx, weight_attr=param_attr", ": the size as one list",
)  # fmt: skip
Dropout = _old(
    "Dropout", _nn.Dropout,
    "p=0.5, seed: int | None = None, dropout_implementation='downgrade_in_infer', is_test=False",
    "p, mode='upscale_in_train' if dropout_implementation == 'upscale_in_train' else 'downscale_in_infer'",
    ": by default, inputs are scaled down outside training",
)  # fmt: skip


class PRelu(Layer):
    """x where positive, a trained slope times x elsewhere: one slope ("all"), one per channel, or one per element."""

    def __init__(
        self, mode: str, channel: int | None = None, input_shape: Any = None, param_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if mode == "channel" and channel is None:
            raise ValueError("PRelu: mode 'channel' wants the number of channels")
        if mode == "element" and input_shape is None:
            raise ValueError("PRelu: mode 'element' wants the input_shape")
        shapes = {"all": [1], "channel": [channel], "element": [1, *list(input_shape or ())[1:]]}
        if mode not in shapes:
            raise ValueError(f"PRelu: mode must be 'all', 'channel' or 'element', got {mode!r}")
        self._mode = mode
        self.weight = self.create_parameter(
            shapes[mode], param_attr, dtype, default_initializer=_nn.initializer.Constant(0.25)
        )

    def forward(self, input: Any) -> Any:
        """The activation of the input."""
        if self._mode != "element":
            return _nn.functional.prelu(input, self.weight)
        return _nn.functional.relu(input) - self.weight * _nn.functional.relu(-input)


class GRUUnit(Layer):
    """One step of a GRU on inputs that are multiplied with their weights already; `size` is 3 times the hidden size.

    With the gates u and r and the candidate m = act(x + (r h) W), the new state is (1 - u) h + u m; with `origin_mode`
    u and 1 - u change places.
    """

    def __init__(
        self, size: int, param_attr: Any = None, bias_attr: Any = None, activation: str = "tanh",
        gate_activation: str = "sigmoid", origin_mode: bool = False, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        self._hidden, self._origin = size // 3, origin_mode
        self._activations = (activation, gate_activation)
        self.weight = self.create_parameter([self._hidden, 3 * self._hidden], param_attr, dtype)
        self.bias = self.create_parameter([1, 3 * self._hidden], bias_attr, dtype, is_bias=True)

    def forward(self, input: Any, hidden: Any) -> tuple[Any, Any, Any]:
        """The new state, the reset old state and the gates, of (N, size) and (N, hidden size)."""
        n, (act, gate_act) = self._hidden, self._activations
        x = input if self.bias is None else input + self.bias
        gates = _layers.activated(x[:, : 2 * n] + hidden @ self.weight[:, : 2 * n], gate_act)
        update, reset = gates[:, :n], gates[:, n:] * hidden
        candidate = _layers.activated(x[:, 2 * n :] + reset @ self.weight[:, 2 * n :], act)
        kept = update if self._origin else 1 - update
        return kept * hidden + (1 - kept) * candidate, reset, _layers.concat([gates, candidate], 1)


class Pool2D(Layer):
    """Pooling of images with the arguments of old programs."""

    def __init__(
        self, pool_size: Any = -1, pool_type: str = "max", pool_stride: Any = 1, pool_padding: Any = 0,
        global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, exclusive: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._options = (pool_size, pool_type, pool_stride, pool_padding, global_pooling, ceil_mode, exclusive)

    def forward(self, input: Any) -> Any:
        """The largest or the mean of each window."""
        size, kind, stride, padding, everything, ceil_mode, exclusive = self._options
        return _layers.pool2d(input, size, kind, stride, padding, everything, ceil_mode=ceil_mode, exclusive=exclusive)


class BatchNorm(_nn.BatchNorm):
    """`paddle.nn.BatchNorm`, which has kept the arguments of old programs."""
