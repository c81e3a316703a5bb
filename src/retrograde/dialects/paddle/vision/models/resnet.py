"""Residual networks (He et al., 2015), with groups (ResNeXt) and wider ones; without the branches, VGG."""

from __future__ import annotations

from typing import Any

from ... import nn
from ._blocks import Classifier, builder


def _conv(i: int, o: int, kernel: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> Any:
    return nn.Conv2D(
        i, o, kernel, stride, dilation if kernel == 3 else 0, dilation=dilation, groups=groups, bias_attr=False
    )


class _Residual(nn.Layer):
    """Convolutions, each with its normalisation, beside the input itself (or what `downsample` makes of it).

    What a subclass says: `_convolutions` gives what each of them takes, of the constructor's options.
    """

    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: Any = None, groups: int = 1, base_width: int = 64,
        dilation: int = 1, norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._count = 0
        for options in self._convolutions(inplanes, planes, stride, groups, base_width, dilation):
            self._count += 1
            setattr(self, f"conv{self._count}", _conv(*options))
            setattr(self, f"bn{self._count}", (norm_layer or nn.BatchNorm2D)(options[1]))
            if self._count == self._relu_after:
                self.relu = nn.ReLU()
        self.downsample, self.stride = downsample, stride

    def forward(self, x: Any) -> Any:
        """The sum of both branches."""
        beside = x if self.downsample is None else self.downsample(x)
        for k in range(1, self._count + 1):
            x = getattr(self, f"bn{k}")(getattr(self, f"conv{k}")(x))
            x = self.relu(x + beside if k == self._count else x)
        return x


class BasicBlock(_Residual):
    """Two convolutions beside the input itself."""

    _relu_after = 1

    def _convolutions(self, i: int, o: int, stride: int, groups: int, width: int, dilation: int) -> Any:
        if dilation > 1:
            raise NotImplementedError("BasicBlock: the convolutions are not dilated; use BottleneckBlock")
        return (i, o, 3, stride), (o, o, 3)


class BottleneckBlock(_Residual):
    """Three convolutions, the middle one of few channels, beside the input itself."""

    expansion, _relu_after = 4, 3

    def _convolutions(self, i: int, o: int, stride: int, groups: int, width: int, dilation: int) -> Any:
        narrow = int(o * (width / 64.0)) * groups
        return (i, narrow, 1), (narrow, narrow, 3, stride, groups, dilation), (narrow, o * self.expansion, 1)


_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class ResNet(Classifier):
    """A residual network of some depth (18, 34, 50, 101, 152) made of one kind of block."""

    def __init__(
        self, block: Any, depth: int = 50, width: int = 64, num_classes: int = 1000, with_pool: bool = True, groups: int = 1
    ) -> None:  # fmt: skip
        super().__init__(num_classes, with_pool)
        self.groups, self.base_width, self.inplanes, self.dilation = groups, width, 64, 1
        self.conv1 = nn.Conv2D(3, 64, 7, 2, 3, bias_attr=False)
        self.bn1, self.relu, self.maxpool = nn.BatchNorm2D(64), nn.ReLU(), nn.MaxPool2D(3, 2, 1)
        for k, blocks in enumerate(_DEPTHS[depth]):
            setattr(self, f"layer{k + 1}", self._stage(block, 64 << k, blocks, 1 if k == 0 else 2))
        self._head("avgpool", "fc", lambda: nn.Linear(512 * block.expansion, num_classes), (1, 1))

    def _stage(self, block: Any, planes: int, blocks: int, stride: int) -> Any:
        out, downsample = planes * block.expansion, None
        if stride != 1 or self.inplanes != out:
            downsample = nn.Sequential(_conv(self.inplanes, out, 1, stride), nn.BatchNorm2D(out))
        layers = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width)]
        self.inplanes = out
        layers += [block(out, planes, groups=self.groups, base_width=self.base_width) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self._scores(self.layer4(self.layer3(self.layer2(self.layer1(x)))))


def _builders() -> dict[str, Any]:
    found = {}
    for depth in _DEPTHS:
        found[f"resnet{depth}"] = BasicBlock if depth < 50 else BottleneckBlock, depth, {}
    for depth, groups, width in ((50, 32, 4), (50, 64, 4), (101, 32, 4), (101, 64, 4), (152, 32, 4), (152, 64, 4)):
        found[f"resnext{depth}_{groups}x{width}d"] = BottleneckBlock, depth, {"groups": groups, "width": width}
    for depth in (50, 101):
        found[f"wide_resnet{depth}_2"] = BottleneckBlock, depth, {"width": 128}
    return {
        name: builder(name, lambda _b=block, _d=depth, _o=own, **options: ResNet(_b, _d, **{**_o, **options}),
                      f"A residual network of {depth} layers.")
        for name, (block, depth, own) in found.items()
    }  # fmt: skip


globals().update(_builders())


class VGG(Classifier):
    """Convolutions and pools one after the other (`features`), and three linear layers (Simonyan and Zisserman, 2014)."""

    def __init__(self, features: Any, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.features = features
        self._head("avgpool", "classifier", lambda: nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(),
            nn.Linear(4096, num_classes),
        ), (7, 7))  # fmt: skip

    def forward(self, x: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        return self._scores(self.features(x))


_STAGES = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def _features(depth: int, batch_norm: bool) -> Any:
    layers: list[Any] = []
    channels = 3
    for count, out in zip(_STAGES[depth], (64, 128, 256, 512, 512)):
        for _ in range(count):
            layers.append(nn.Conv2D(channels, out, 3, padding=1))
            layers += [nn.BatchNorm2D(out)] if batch_norm else []
            layers.append(nn.ReLU())
            channels = out
        layers.append(nn.MaxPool2D(2, 2))
    return nn.Sequential(*layers)


for _depth in _STAGES:
    globals()[f"vgg{_depth}"] = builder(
        f"vgg{_depth}", lambda batch_norm=False, _d=_depth, **options: VGG(_features(_d, batch_norm), **options),
        f"A VGG network of {_depth} layers, normalised after each convolution with `batch_norm=True`.",
    )
