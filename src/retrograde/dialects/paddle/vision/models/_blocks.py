"""What the image models share: a convolution with normalisation and activation, the end of a classifier, and no downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...._shared.registry import defined
from ... import nn
from ..._shape import flatten


class ConvNormActivation(nn.Sequential):
    """A convolution that keeps the size (at stride 1), a normalisation and an activation; either may be None."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int = 3, stride: int = 1, padding: Any = None, groups: int = 1,
        norm_layer: Any = nn.BatchNorm2D, activation_layer: Any = nn.ReLU, dilation: int = 1, bias: bool | None = None,
    ) -> None:  # fmt: skip
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        bias = norm_layer is None if bias is None else bias
        layers: list[Any] = [
            nn.Conv2D(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups,
                      bias_attr=None if bias else False)
        ]  # fmt: skip
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)


class Chain(nn.Layer):
    """Layers one after the other, under names of their own; then a function, if one is given."""

    def __init__(self, then: Callable[[Any], Any] | None = None, **layers: Any) -> None:
        super().__init__()
        self._then = then
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x: Any) -> Any:
        """What the last one gives."""
        for layer in self.children():
            x = layer(x)
        return x if self._then is None else self._then(x)


class Classifier(nn.Layer):
    """Base of models: `num_classes` outputs (none of them, and no last layer, where it is 0), pooled first if `with_pool`."""

    def __init__(self, num_classes: int, with_pool: bool) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool

    def _head(self, pool: str, last: str, classifier: Callable[[], Any], size: Any = 1) -> None:
        """Make the pool and the last layer, under these names, as far as they are wanted."""
        self._ends = pool, last
        if self.with_pool:
            setattr(self, pool, nn.AdaptiveAvgPool2D(size))
        if self.num_classes > 0:
            setattr(self, last, classifier())

    def _scores(self, x: Any) -> Any:
        """What these make of features."""
        pool, last = self._ends
        if self.with_pool:
            x = getattr(self, pool)(x)
        return getattr(self, last)(flatten(x, 1)) if self.num_classes > 0 else x


def divisible(value: float, divisor: int = 8, least: int | None = None) -> int:
    """The multiple of a number that is nearest to a number of channels, and not more than a tenth below it."""
    found = max(least or divisor, int(value + divisor / 2) // divisor * divisor)
    return found + divisor if found < 0.9 * value else found


def builder(name: str, make: Callable[..., Any], text: str) -> Callable[..., Any]:
    """A function that makes a model: `f(pretrained=False, **options)`. Weights are read with `set_state_dict`, never fetched."""

    def function(pretrained: bool = False, **options: Any) -> Any:
        if pretrained:
            raise NotImplementedError(
                f"{name}: retrograde fetches no weights; make the model without pretrained=True and give it yours: "
                "model.set_state_dict(paddle.load(path))"
            )
        return make(**options)

    return defined(name, function, text)
