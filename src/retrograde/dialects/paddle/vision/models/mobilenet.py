"""Networks for small devices: MobileNet of three generations, ShuffleNet."""

from __future__ import annotations

import functools
from typing import Any

from ... import nn
from ..._joining import concat, split
from ._blocks import Chain, Classifier, ConvNormActivation, builder, divisible


def _separable(i: int, o1: int, o2: int, groups: int, stride: int, scale: float) -> Chain:
    """A convolution of each channel by itself, and one of the channels."""
    middle = int(o1 * scale)
    return Chain(
        _depthwise_conv=ConvNormActivation(i, middle, 3, stride, 1, int(groups * scale)),
        _pointwise_conv=ConvNormActivation(middle, int(o2 * scale), 1, 1, 0),
    )


class MobileNetV1(Classifier):
    """Thirteen separable convolutions (Howard et al., 2017)."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.scale, self.dwsl = scale, []
        self.conv1 = ConvNormActivation(3, int(32 * scale), 3, 2, 1)
        rows = [("2_1", 32, 32, 64, 1), ("2_2", 64, 64, 128, 2), ("3_1", 128, 128, 128, 1), ("3_2", 128, 128, 256, 2),
                ("4_1", 256, 256, 256, 1), ("4_2", 256, 256, 512, 2), *((f"5_{k}", 512, 512, 512, 1) for k in range(1, 6)),
                ("5_6", 512, 512, 1024, 2), ("6", 1024, 1024, 1024, 1)]  # fmt: skip
        for name, i, o1, o2, stride in rows:
            block = _separable(int(i * scale), o1, o2, i, stride, scale)
            self.dwsl.append(self.add_sublayer(f"conv{name}", block))
        self._head("pool2d_avg", "fc", lambda: nn.Linear(int(1024 * scale), num_classes))

    def forward(self, x: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        x = self.conv1(x)
        for block in self.dwsl:
            x = block(x)
        return self._scores(x)


class InvertedResidual(nn.Layer):
    """A wider convolution of each channel by itself between two of the channels, beside the input where the sizes agree."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int, norm_layer: Any = nn.BatchNorm2D) -> None:
        super().__init__()
        self.stride = stride
        hidden = round(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        conv = functools.partial(ConvNormActivation, norm_layer=norm_layer, activation_layer=nn.ReLU6)
        layers = [conv(inp, hidden, 1)] if expand_ratio != 1 else []
        layers += [conv(hidden, hidden, stride=stride, groups=hidden), nn.Conv2D(hidden, oup, 1, bias_attr=False),
                   norm_layer(oup)]  # fmt: skip
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """The output, with the input added where the sizes agree."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(Classifier):
    """Inverted residual blocks (Sandler et al., 2018)."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        channels, last = divisible(32 * scale), divisible(1280 * max(1.0, scale))
        features = [ConvNormActivation(3, channels, stride=2, activation_layer=nn.ReLU6)]
        rows = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
        for t, c, n, s in rows:
            out = divisible(c * scale)
            for k in range(n):
                features.append(InvertedResidual(channels, out, s if k == 0 else 1, t))
                channels = out
        features.append(ConvNormActivation(channels, last, 1, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*features)
        self._head("pool2d_avg", "classifier", lambda: nn.Sequential(nn.Dropout(0.2), nn.Linear(last, num_classes)))

    def forward(self, x: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        return self._scores(self.features(x))


class SqueezeExcitation(nn.Layer):
    """Channels scaled by what two small layers make of their means."""

    def __init__(
        self, input_channels: int, squeeze_channels: int, activation: Any = nn.ReLU, scale_activation: Any = nn.Sigmoid
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1, self.fc2 = nn.Conv2D(input_channels, squeeze_channels, 1), nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation, self.scale_activation = activation(), scale_activation()

    def forward(self, input: Any) -> Any:
        """The scaled channels."""
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input))))) * input


class _V3Block(nn.Layer):
    def __init__(self, i: int, wide: int, o: int, kernel: int, stride: int, squeezed: bool, activation: Any) -> None:
        super().__init__()
        norm = functools.partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)
        conv = functools.partial(ConvNormActivation, norm_layer=norm)
        self.use_res_connect, self.use_se, self.expand = stride == 1 and i == o, squeezed, i != wide
        if self.expand:
            self.expand_conv = conv(i, wide, 1, activation_layer=activation)
        self.bottleneck_conv = conv(wide, wide, kernel, stride, kernel // 2, wide, activation_layer=activation)
        if squeezed:
            self.mid_se = SqueezeExcitation(wide, divisible(wide // 4), scale_activation=nn.Hardsigmoid)
        self.linear_conv = conv(wide, o, 1, activation_layer=None)

    def forward(self, x: Any) -> Any:
        y = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        y = self.linear_conv(self.mid_se(y) if self.use_se else y)
        return x + y if self.use_res_connect else y


class MobileNetV3(Classifier):
    """Blocks with squeeze and excitation (Howard et al., 2019).

    config: (in, kernel, expanded, out, squeezed, activation, stride) of each block, before channels are scaled.
    """

    def __init__(
        self, config: Any, last_channel: int, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__(num_classes, with_pool)
        norm = functools.partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)
        self.config, self.scale, self.last_channel = config, scale, last_channel
        first, last = divisible(config[0][0] * scale), divisible(config[-1][3] * scale)
        self.conv = ConvNormActivation(3, first, 3, 2, 1, norm_layer=norm, activation_layer=nn.Hardswish)
        self.blocks = nn.Sequential(*[
            _V3Block(divisible(i * scale), divisible(wide * scale), divisible(o * scale), kernel, stride, squeezed,
                     nn.ReLU if kind == "relu" else nn.Hardswish)
            for i, kernel, wide, o, squeezed, kind, stride in config
        ])  # fmt: skip
        self.lastconv = ConvNormActivation(last, 6 * last, 1, norm_layer=norm, activation_layer=nn.Hardswish)
        self._head("avgpool", "classifier", lambda: nn.Sequential(
            nn.Linear(6 * last, last_channel), nn.Hardswish(), nn.Dropout(p=0.2), nn.Linear(last_channel, num_classes)
        ))  # fmt: skip

    def forward(self, x: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        return self._scores(self.lastconv(self.blocks(self.conv(x))))


_R, _H = "relu", "hardswish"
_SMALL = (
    (16, 3, 16, 16, True, _R, 2), (16, 3, 72, 24, False, _R, 2), (24, 3, 88, 24, False, _R, 1),
    (24, 5, 96, 40, True, _H, 2), (40, 5, 240, 40, True, _H, 1), (40, 5, 240, 40, True, _H, 1),
    (40, 5, 120, 48, True, _H, 1), (48, 5, 144, 48, True, _H, 1), (48, 5, 288, 96, True, _H, 2),
    (96, 5, 576, 96, True, _H, 1), (96, 5, 576, 96, True, _H, 1),
)  # fmt: skip
_LARGE = (
    (16, 3, 16, 16, False, _R, 1), (16, 3, 64, 24, False, _R, 2), (24, 3, 72, 24, False, _R, 1),
    (24, 5, 72, 40, True, _R, 2), (40, 5, 120, 40, True, _R, 1), (40, 5, 120, 40, True, _R, 1),
    (40, 3, 240, 80, False, _H, 2), (80, 3, 200, 80, False, _H, 1), (80, 3, 184, 80, False, _H, 1),
    (80, 3, 184, 80, False, _H, 1), (80, 3, 480, 112, True, _H, 1), (112, 3, 672, 112, True, _H, 1),
    (112, 5, 672, 160, True, _H, 2), (160, 5, 960, 160, True, _H, 1), (160, 5, 960, 160, True, _H, 1),
)  # fmt: skip


class MobileNetV3Small(MobileNetV3):
    """The smaller MobileNetV3."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_SMALL, divisible(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """The larger MobileNetV3."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_LARGE, divisible(1280 * scale), scale, num_classes, with_pool)


def _scaled(name: str, cls: Any) -> Any:
    return builder(name, lambda scale=1.0, **options: cls(scale=scale, **options), f"A {cls.__name__}.")


mobilenet_v1, mobilenet_v2 = _scaled("mobilenet_v1", MobileNetV1), _scaled("mobilenet_v2", MobileNetV2)
mobilenet_v3_small = _scaled("mobilenet_v3_small", MobileNetV3Small)
mobilenet_v3_large = _scaled("mobilenet_v3_large", MobileNetV3Large)


class _Unit(nn.Layer):
    """Half of the channels through three convolutions (all of them through two branches at stride 2), then shuffled."""

    def __init__(self, i: int, o: int, stride: int, activation: Any) -> None:
        super().__init__()
        conv, half = functools.partial(ConvNormActivation, activation_layer=activation), o // 2
        plain = functools.partial(ConvNormActivation, activation_layer=None)
        self._stride = stride
        if stride == 2:
            self._conv_dw_1, self._conv_linear_1 = plain(i, i, 3, 2, 1, i), conv(i, half, 1, 1, 0)
        end = "_2" if stride == 2 else ""
        setattr(self, f"_conv_pw{end}", conv(i if stride == 2 else half, half, 1, 1, 0))
        setattr(self, f"_conv_dw{end}", plain(half, half, 3, stride, 1, half))
        setattr(self, f"_conv_linear{end}", conv(half, half, 1, 1, 0))

    def forward(self, x: Any) -> Any:
        if self._stride == 2:
            kept = self._conv_linear_1(self._conv_dw_1(x))
            made = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(x)))
        else:
            kept, made = split(x, 2, 1)
            made = self._conv_linear(self._conv_dw(self._conv_pw(made)))
        return nn.functional.channel_shuffle(concat([kept, made], 1), 2)


_CHANNELS = {
    0.25: (24, 24, 48, 96, 512), 0.33: (24, 32, 64, 128, 512), 0.5: (24, 48, 96, 192, 1024), 1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024), 2.0: (24, 224, 488, 976, 2048),
}  # fmt: skip


class ShuffleNetV2(Classifier):
    """Convolutions of half of the channels, which are shuffled between (Ma et al., 2018)."""

    def __init__(self, scale: float = 1.0, act: str = "relu", num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        if scale not in _CHANNELS:
            raise NotImplementedError(f"ShuffleNetV2: scale must be one of {', '.join(map(str, _CHANNELS))}, got {scale}")
        activation = {"relu": nn.ReLU, "swish": nn.Swish, None: None}[act]
        first, *stages, last = _CHANNELS[scale]
        self.scale = scale
        self._conv1 = ConvNormActivation(3, first, 3, 2, 1, activation_layer=activation)
        self._max_pool = nn.MaxPool2D(3, 2, 1)
        self._block_list = []
        channels = first
        for stage, (blocks, out) in enumerate(zip((4, 8, 4), stages)):
            for k in range(blocks):
                block = _Unit(channels, out, 2 if k == 0 else 1, activation)
                self._block_list.append(self.add_sublayer(f"stage_{stage + 2}_{k + 1}", block))
                channels = out
        self._last_conv = ConvNormActivation(channels, last, 1, 1, 0, activation_layer=activation)
        self._head("_pool2d_avg", "_fc", lambda: nn.Linear(last, num_classes))

    def forward(self, inputs: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        x = self._max_pool(self._conv1(inputs))
        for block in self._block_list:
            x = block(x)
        return self._scores(self._last_conv(x))


for _scale, _act in (*((s, "relu") for s in _CHANNELS), (1.0, "swish")):
    _name = "shufflenet_v2_swish" if _act == "swish" else f"shufflenet_v2_x{str(_scale).replace('.', '_')}"
    globals()[_name] = builder(
        _name, lambda _s=_scale, _a=_act, **options: ShuffleNetV2(scale=_s, act=_a, **options), "A ShuffleNetV2."
    )
