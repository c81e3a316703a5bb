"""The layers of `paddle.fluid.dygraph`: those of `paddle.nn` with the arguments of old programs."""

from __future__ import annotations

from typing import Any

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


def _convolution(stride: Any, padding: Any, dilation: Any, groups: int | None, weight: Any, bias: Any) -> dict[str, Any]:
    """The options of a convolution under the names of `paddle.nn`."""
    return {
        "stride": stride, "padding": padding, "dilation": dilation, "groups": groups or 1, "weight_attr": weight,
        "bias_attr": bias,
    }  # fmt: skip


class Linear(_Activated, _nn.Linear):
    """`paddle.nn.Linear` with the arguments of old programs: sizes, attributes, and an activation after it."""

    def __init__(
        self, input_dim: int, output_dim: int, param_attr: Any = None, bias_attr: Any = None, act: str | None = None,
        dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(input_dim, output_dim, weight_attr=param_attr, bias_attr=bias_attr)
        self._act = act


class _Convolution(_Activated):
    """What stands in front of a convolution: the arguments of old programs."""

    def __init__(
        self, num_channels: int, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
        use_cudnn: bool = True, act: str | None = None, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        options = _convolution(stride, padding, dilation, groups, param_attr, bias_attr)
        super().__init__(num_channels, num_filters, filter_size, **options)  # type: ignore[call-arg]
        self._act = act


class Conv2D(_Convolution, _nn.Conv2D):
    """`paddle.nn.Conv2D` with the arguments of old programs."""


class Conv3D(_Convolution, _nn.Conv3D):
    """`paddle.nn.Conv3D` with the arguments of old programs."""


class Conv2DTranspose(_Activated, _nn.Conv2DTranspose):
    """`paddle.nn.Conv2DTranspose` with the arguments of old programs."""

    def __init__(
        self, num_channels: int, num_filters: int, filter_size: Any, output_size: Any = None, padding: Any = 0,
        stride: Any = 1, dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
        use_cudnn: bool = True, act: str | None = None, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        options = _convolution(stride, padding, dilation, groups, param_attr, bias_attr)
        super().__init__(num_channels, num_filters, filter_size, **options)
        self._size, self._act = output_size, act

    def forward(self, input: Any) -> Any:
        """The transposed convolution, after which the activation is applied."""
        return super().forward(input, self._size)


class Conv3DTranspose(_Activated, _nn.Conv3DTranspose):
    """`paddle.nn.Conv3DTranspose` with the arguments of old programs."""

    def __init__(
        self, num_channels: int, num_filters: int, filter_size: Any, padding: Any = 0, stride: Any = 1,
        dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
        use_cudnn: bool = True, act: str | None = None, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        options = _convolution(stride, padding, dilation, groups, param_attr, bias_attr)
        super().__init__(num_channels, num_filters, filter_size, **options)
        self._act = act


class BilinearTensorProduct(_Activated, _nn.Bilinear):
    """`paddle.nn.Bilinear` with the arguments of old programs."""

    def __init__(
        self, input1_dim: int, input2_dim: int, output_dim: int, name: str | None = None, act: str | None = None,
        param_attr: Any = None, bias_attr: Any = None, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(input1_dim, input2_dim, output_dim, param_attr, bias_attr, name)
        self._act = act


class InstanceNorm(_nn.InstanceNorm2D):
    """`paddle.nn.InstanceNorm2D` with the arguments of old programs."""

    def __init__(
        self, num_channels: int, epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(num_channels, epsilon, weight_attr=param_attr, bias_attr=bias_attr)


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


class GroupNorm(_Activated, _nn.GroupNorm):
    """`paddle.nn.GroupNorm` with the arguments of old programs."""

    def __init__(
        self, channels: int, groups: int, epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None,
        act: str | None = None, data_layout: str = "NCHW", dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(groups, channels, epsilon, param_attr, bias_attr, data_layout)
        self._act = act


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


class Embedding(_nn.Embedding):
    """`paddle.nn.Embedding` with the arguments of old programs: the size as one list."""

    def __init__(
        self, size: Any, is_sparse: bool = False, is_distributed: bool = False, padding_idx: int | None = None,
        param_attr: Any = None, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(size[0], size[1], padding_idx=padding_idx, weight_attr=param_attr)


class LayerNorm(_Activated, _nn.LayerNorm):
    """`paddle.nn.LayerNorm` with the arguments of old programs."""

    def __init__(
        self, normalized_shape: Any, scale: bool = True, shift: bool = True, epsilon: float = 1e-05,
        param_attr: Any = None, bias_attr: Any = None, act: str | None = None, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(
            normalized_shape, epsilon=epsilon, weight_attr=param_attr if scale else False,
            bias_attr=bias_attr if shift else False,
        )  # fmt: skip
        self._act = act


class Dropout(_nn.Dropout):
    """`paddle.nn.Dropout` with the arguments of old programs: by default, inputs are scaled down outside training."""

    def __init__(self, p: float = 0.5, seed: int | None = None, dropout_implementation: str = "downgrade_in_infer",
                 is_test: bool = False) -> None:  # fmt: skip
        super().__init__(
            p, mode="upscale_in_train" if dropout_implementation == "upscale_in_train" else "downscale_in_infer"
        )
