"""Small and early networks: LeNet, AlexNet, SqueezeNet."""

from __future__ import annotations

from typing import Any

from ... import nn
from ..._joining import concat
from ..._shape import flatten, squeeze
from ._blocks import Chain, Classifier, builder


class LeNet(nn.Layer):
    """Two convolutions and three linear layers for images of 28 by 28 (LeCun et al., 1998)."""

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, 1, 1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5, 1, 0), nn.ReLU(), nn.MaxPool2D(2, 2)
        )
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, inputs: Any) -> Any:
        """The scores (N, num_classes) of images (N, 1, 28, 28)."""
        x = self.features(inputs)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


def _conv_pool(*options: int) -> Chain:
    """A convolution and the largest of each window, relu of which is the same after as before."""
    return Chain(nn.functional.relu, _conv=nn.Conv2D(*options), _pool=nn.MaxPool2D(3, 2, 0))


class AlexNet(nn.Layer):
    """Five convolutions and three linear layers (Krizhevsky et al., 2012)."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1, self._conv2 = _conv_pool(3, 64, 11, 4, 2), _conv_pool(64, 192, 5, 1, 2)
        self._conv3, self._conv4 = nn.Conv2D(192, 384, 3, 1, 1), nn.Conv2D(384, 256, 3, 1, 1)
        self._conv5 = _conv_pool(256, 256, 3, 1, 1)
        if num_classes > 0:
            self._drop1, self._drop2 = (nn.Dropout(0.5, mode="downscale_in_infer") for _ in range(2))
            self._fc6, self._fc7 = nn.Linear(256 * 6 * 6, 4096), nn.Linear(4096, 4096)
            self._fc8 = nn.Linear(4096, num_classes)

    def forward(self, inputs: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, 224, 224)."""
        relu = nn.functional.relu
        x = self._conv2(self._conv1(inputs))
        x = self._conv5(relu(self._conv4(relu(self._conv3(x)))))
        if self.num_classes > 0:
            x = relu(self._fc6(self._drop1(flatten(x, 1))))
            x = self._fc8(relu(self._fc7(self._drop2(x))))
        return x


class _Fire(nn.Layer):
    """A narrow convolution, and two side by side behind it."""

    def __init__(self, i: int, narrow: int, wide: int) -> None:
        super().__init__()
        self._conv = _convolution(i, narrow, 1, 0)
        self._conv_path1, self._conv_path2 = _convolution(narrow, wide, 1, 0), _convolution(narrow, wide, 3, 1)

    def forward(self, x: Any) -> Any:
        x = self._conv(x)
        return concat([self._conv_path1(x), self._conv_path2(x)], 1)


def _convolution(i: int, o: int, kernel: int, padding: int) -> Chain:
    return Chain(nn.functional.relu, _conv=nn.Conv2D(i, o, kernel, padding=padding))


class SqueezeNet(Classifier):
    """Eight `fire` blocks of narrow and wide convolutions, version "1.0" or "1.1" (Iandola et al., 2016)."""

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        if version not in ("1.0", "1.1"):
            raise ValueError(f"SqueezeNet: the version must be '1.0' or '1.1', got {version!r}")
        self.version = version
        first = version == "1.0"
        self._conv = nn.Conv2D(3, 96, 7, 2) if first else nn.Conv2D(3, 64, 3, 2, 1)
        self._pool = nn.MaxPool2D(3, 2, 0)
        channels = 96 if first else 64
        self._pools = (3, 7) if first else (2, 4)
        for k in range(8):
            narrow = 16 * (1 + k // 2)
            wide = 4 * narrow
            setattr(self, f"_conv{k + 1}", _Fire(channels, narrow, wide))
            channels = 2 * wide
        self._drop = nn.Dropout(0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(512, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs: Any) -> Any:
        """The scores (N, num_classes) of images (N, 3, H, W)."""
        x = self._pool(nn.functional.relu(self._conv(inputs)))
        for k in range(1, 9):
            x = getattr(self, f"_conv{k}")(x)
            if k in self._pools:
                x = self._pool(x)
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
        if self.with_pool:
            x = squeeze(self._avg_pool(nn.functional.relu(x)), [2, 3])
        return x


alexnet = builder("alexnet", AlexNet, "An AlexNet.")
squeezenet1_0 = builder("squeezenet1_0", lambda **options: SqueezeNet("1.0", **options), "A SqueezeNet 1.0.")
squeezenet1_1 = builder("squeezenet1_1", lambda **options: SqueezeNet("1.1", **options), "A SqueezeNet 1.1.")
