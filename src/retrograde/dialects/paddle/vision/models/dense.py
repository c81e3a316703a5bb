"""Networks whose layers see several before them: DenseNet, GoogLeNet, Inception v3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import nn
from ..._joining import concat
from ..._shape import flatten, reshape, squeeze
from ._blocks import Chain, Classifier, ConvNormActivation, builder


def _norm_conv(i: int, o: int, kernel: int, padding: int) -> Chain:
    """A normalisation, relu, and a convolution."""
    return Chain(_batch_norm=nn.BatchNorm(i, act="relu"), _conv=nn.Conv2D(i, o, kernel, 1, padding, bias_attr=False))


class _DenseLayer(nn.Layer):
    """What two convolutions make of all channels before, behind these."""

    def __init__(self, i: int, growth: int, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = _norm_conv(i, width * growth, 1, 0)
        self.bn_ac_func2 = _norm_conv(width * growth, growth, 3, 1)
        if dropout:
            self.dropout_func = nn.Dropout(dropout, mode="downscale_in_infer")

    def forward(self, x: Any) -> Any:
        y = self.bn_ac_func2(self.bn_ac_func1(x))
        return concat([x, self.dropout_func(y) if self.dropout else y], 1)


class _DenseBlock(nn.Layer):
    def __init__(self, name: str, i: int, count: int, growth: int, width: int, dropout: float) -> None:
        super().__init__()
        self.dense_layer_func = [
            self.add_sublayer(f"{name}_{k + 1}", _DenseLayer(i + k * growth, growth, width, dropout)) for k in range(count)
        ]

    def forward(self, x: Any) -> Any:
        for layer in self.dense_layer_func:
            x = layer(x)
        return x


_DENSE = {121: (64, 32, (6, 12, 24, 16)), 161: (96, 48, (6, 12, 36, 24)), 169: (64, 32, (6, 12, 32, 32)),
          201: (64, 32, (6, 12, 48, 32)), 264: (64, 32, (6, 12, 64, 48))}  # fmt: skip


class DenseNet(Classifier):
    """Blocks in which each layer sees what all before it made (Huang et al., 2016)."""

    def __init__(
        self, layers: int = 121, bn_size: int = 4, dropout: float = 0.0, num_classes: int = 1000, with_pool: bool = True
    ) -> None:  # fmt: skip
        super().__init__(num_classes, with_pool)
        if layers not in _DENSE:
            raise AssertionError(f"DenseNet: layers must be one of {', '.join(map(str, _DENSE))}, got {layers}")
        channels, growth, counts = _DENSE[layers]
        self.conv1_func = Chain(
            _conv=nn.Conv2D(3, channels, 7, 2, 3, bias_attr=False), _batch_norm=nn.BatchNorm(channels, act="relu")
        )
        self.pool2d_max = nn.MaxPool2D(3, 2, 1)
        self.dense_block_func_list, self.transition_func_list = [], []
        for k, count in enumerate(counts):
            block = _DenseBlock(f"conv{k + 2}", channels, count, growth, bn_size, dropout)
            self.dense_block_func_list.append(self.add_sublayer(f"db_conv_{k + 2}", block))
            channels += count * growth
            if k < 3:
                between = Chain(conv_ac_func=_norm_conv(channels, channels // 2, 1, 0), pool2d_avg=nn.AvgPool2D(2, 2, 0))
                self.transition_func_list.append(self.add_sublayer(f"tr_conv{k + 2}_blk", between))
                channels //= 2
        self.batch_norm = nn.BatchNorm(channels, act="relu")
        self._head("pool2d_avg", "out", lambda: nn.Linear(channels, num_classes))

    def forward(self, input: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        x = self.pool2d_max(self.conv1_func(input))
        for k, block in enumerate(self.dense_block_func_list):
            x = block(x)
            if k < 3:
                x = self.transition_func_list[k](x)
        return self._scores(self.batch_norm(x))


for _layers in _DENSE:
    globals()[f"densenet{_layers}"] = builder(
        f"densenet{_layers}", lambda _n=_layers, **options: DenseNet(layers=_n, **options), f"A DenseNet of {_layers} layers."
    )


def _plain(i: int, o: int, kernel: int, stride: int = 1) -> Chain:
    return Chain(_conv=nn.Conv2D(i, o, kernel, stride, (kernel - 1) // 2, bias_attr=False))


class _Inception(nn.Layer):
    """Convolutions of three sizes and a pool side by side."""

    def __init__(self, i: int, f1: int, f3r: int, f3: int, f5r: int, f5: int, proj: int) -> None:
        super().__init__()
        self._conv1, self._conv3r, self._conv3 = _plain(i, f1, 1), _plain(i, f3r, 1), _plain(f3r, f3, 3)
        self._conv5r, self._conv5 = _plain(i, f5r, 1), _plain(f5r, f5, 5)
        self._pool, self._convprj = nn.MaxPool2D(3, 1, 1), _plain(i, proj, 1)

    def forward(self, x: Any) -> Any:
        parts = [self._conv1(x), self._conv3(self._conv3r(x)), self._conv5(self._conv5r(x)), self._convprj(self._pool(x))]
        return nn.functional.relu(concat(parts, 1))


class GoogLeNet(Classifier):
    """Nine inception blocks, and two classifiers in between (Szegedy et al., 2014): three outputs."""

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self._conv, self._pool = _plain(3, 64, 7, 2), nn.MaxPool2D(3, 2)
        self._conv_1, self._conv_2 = _plain(64, 64, 1), _plain(64, 192, 3)
        for name, sizes in (
            ("3a", (192, 64, 96, 128, 16, 32, 32)), ("3b", (256, 128, 128, 192, 32, 96, 64)),
            ("4a", (480, 192, 96, 208, 16, 48, 64)), ("4b", (512, 160, 112, 224, 24, 64, 64)),
            ("4c", (512, 128, 128, 256, 24, 64, 64)), ("4d", (512, 112, 144, 288, 32, 64, 64)),
            ("4e", (528, 256, 160, 320, 32, 128, 128)), ("5a", (832, 256, 160, 320, 32, 128, 128)),
            ("5b", (832, 384, 192, 384, 48, 128, 128)),
        ):  # fmt: skip
            setattr(self, f"_ince{name}", _Inception(*sizes))
        if with_pool:
            self._pool_5, self._pool_o1, self._pool_o2 = nn.AdaptiveAvgPool2D(1), nn.AvgPool2D(5, 3), nn.AvgPool2D(5, 3)
        if num_classes > 0:
            self._drop, self._fc_out = nn.Dropout(0.4, mode="downscale_in_infer"), nn.Linear(1024, num_classes)
            for k, channels in ((1, 512), (2, 528)):
                setattr(self, f"_conv_o{k}", _plain(channels, 128, 1))
                setattr(self, f"_fc_o{k}", nn.Linear(1152, 1024))
                setattr(self, f"_drop_o{k}", nn.Dropout(0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{k}", nn.Linear(1024, num_classes))

    def _aside(self, k: int, x: Any) -> Any:
        x = getattr(self, f"_pool_o{k}")(x) if self.with_pool else x
        if self.num_classes <= 0:
            return x
        x = getattr(self, f"_fc_o{k}")(flatten(getattr(self, f"_conv_o{k}")(x), 1))
        if k == 1:  # the second one has none there
            x = nn.functional.relu(x)
        return getattr(self, f"_out{k}")(getattr(self, f"_drop_o{k}")(x))

    def forward(self, inputs: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W): of the last layer and of the two in between."""
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        first = x = self._ince4a(x)
        second = x = self._ince4d(self._ince4c(self._ince4b(x)))
        x = self._ince5b(self._ince5a(self._pool(self._ince4e(x))))
        x = self._pool_5(x) if self.with_pool else x
        if self.num_classes > 0:
            x = self._fc_out(squeeze(self._drop(x), [2, 3]))
        return [x, self._aside(1, first), self._aside(2, second)]


googlenet = builder("googlenet", GoogLeNet, "A GoogLeNet.")

# ------------------------------------------------------------------------------------------ Inception v3

_Branch = Sequence[tuple[Any, ...]]


class _Beside(nn.Layer):
    """Branches of convolutions side by side, each a list of attributes with what their convolutions take; and a pool."""

    def __init__(self, branches: dict[str, _Branch], pool: Any, order: Sequence[Any]) -> None:
        super().__init__()
        self._order = order
        for name, layers in branches.items():
            for attribute, i, o, kernel, stride, padding in layers:
                setattr(self, attribute, ConvNormActivation(i, o, kernel, stride, padding))
            self.__dict__["_b_" + name] = [attribute for attribute, *_ in layers]
        self._pooling = pool

    def _run(self, name: str, x: Any) -> Any:
        for attribute in self.__dict__["_b_" + name]:
            x = getattr(self, attribute)(x)
        return x

    def forward(self, x: Any) -> Any:
        parts = []
        for step in self._order:
            source, *ends = step if isinstance(step, tuple) else (step,)
            y = self._pooling(x) if source == "pool" else self._run(source, x)
            parts += [self._run(end, y) for end in ends] or [y]
        return concat(parts, 1)


def _mean_pool() -> Any:
    return nn.AvgPool2D(3, 1, 1, exclusive=False)


def _a(i: int, features: int) -> Any:
    return _Beside(
        {"1": [("branch1x1", i, 64, 1, 1, 0)],
         "5": [("branch5x5_1", i, 48, 1, 1, 0), ("branch5x5_2", 48, 64, 5, 1, 2)],
         "3": [("branch3x3dbl_1", i, 64, 1, 1, 0), ("branch3x3dbl_2", 64, 96, 3, 1, 1), ("branch3x3dbl_3", 96, 96, 3, 1, 1)],
         "p": [("branch_pool", i, features, 1, 1, 0)]}, _mean_pool(), ["1", "5", "3", ("pool", "p")],
    )  # fmt: skip


def _b(i: int) -> Any:
    return _Beside(
        {"3": [("branch3x3", i, 384, 3, 2, 0)],
         "d": [("branch3x3dbl_1", i, 64, 1, 1, 0), ("branch3x3dbl_2", 64, 96, 3, 1, 1), ("branch3x3dbl_3", 96, 96, 3, 2, 0)]},
        nn.MaxPool2D(3, 2), ["3", "d", "pool"],
    )  # fmt: skip


def _c(i: int, c: int) -> Any:
    across, down = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    return _Beside(
        {"1": [("branch1x1", i, 192, 1, 1, 0)],
         "7": [("branch7x7_1", i, c, 1, 1, 0), ("branch7x7_2", c, c, *across), ("branch7x7_3", c, 192, *down)],
         "d": [("branch7x7dbl_1", i, c, 1, 1, 0), ("branch7x7dbl_2", c, c, *down), ("branch7x7dbl_3", c, c, *across),
               ("branch7x7dbl_4", c, c, *down), ("branch7x7dbl_5", c, 192, *across)],
         "p": [("branch_pool", i, 192, 1, 1, 0)]}, _mean_pool(), ["1", "7", "d", ("pool", "p")],
    )  # fmt: skip


def _d(i: int) -> Any:
    return _Beside(
        {"3": [("branch3x3_1", i, 192, 1, 1, 0), ("branch3x3_2", 192, 320, 3, 2, 0)],
         "7": [("branch7x7x3_1", i, 192, 1, 1, 0), ("branch7x7x3_2", 192, 192, (1, 7), 1, (0, 3)),
               ("branch7x7x3_3", 192, 192, (7, 1), 1, (3, 0)), ("branch7x7x3_4", 192, 192, 3, 2, 0)]},
        nn.MaxPool2D(3, 2), ["3", "7", "pool"],
    )  # fmt: skip


def _e(i: int) -> Any:
    across, down = ((1, 3), 1, (0, 1)), ((3, 1), 1, (1, 0))
    return _Beside(
        {"1": [("branch1x1", i, 320, 1, 1, 0)], "3": [("branch3x3_1", i, 384, 1, 1, 0)],
         "3a": [("branch3x3_2a", 384, 384, *across)], "3b": [("branch3x3_2b", 384, 384, *down)],
         "d": [("branch3x3dbl_1", i, 448, 1, 1, 0), ("branch3x3dbl_2", 448, 384, 3, 1, 1)],
         "da": [("branch3x3dbl_3a", 384, 384, *across)], "db": [("branch3x3dbl_3b", 384, 384, *down)],
         "p": [("branch_pool", i, 192, 1, 1, 0)]},
        _mean_pool(), ["1", ("3", "3a", "3b"), ("d", "da", "db"), ("pool", "p")],
    )  # fmt: skip


class _Stem(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        conv = ConvNormActivation
        self.conv_1a_3x3, self.conv_2a_3x3 = conv(3, 32, 3, 2, 0), conv(32, 32, 3, 1, 0)
        self.conv_2b_3x3, self.max_pool = conv(32, 64, 3, 1, 1), nn.MaxPool2D(3, 2, 0)
        self.conv_3b_1x1, self.conv_4a_3x3 = conv(64, 80, 1, 1, 0), conv(80, 192, 3, 1, 0)

    def forward(self, x: Any) -> Any:
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionV3(Classifier):
    """Eleven blocks of convolutions side by side (Szegedy et al., 2015)."""

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.inception_stem = _Stem()
        self.inception_block_list = nn.LayerList([
            _a(192, 32), _a(256, 64), _a(288, 64), _b(288), _c(768, 128), _c(768, 160), _c(768, 160), _c(768, 192), _d(768),
            _e(1280), _e(2048),
        ])  # fmt: skip
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout, self.fc = nn.Dropout(0.2, mode="downscale_in_infer"), nn.Linear(2048, num_classes)

    def forward(self, x: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        x = self.avg_pool(x) if self.with_pool else x
        return self.fc(self.dropout(reshape(x, [-1, 2048]))) if self.num_classes > 0 else x


inception_v3 = builder("inception_v3", InceptionV3, "An Inception v3.")
