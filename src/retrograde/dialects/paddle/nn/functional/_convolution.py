"""Convolution and transposed convolution in 1 to 3 dimensions."""

from __future__ import annotations

from typing import Any

from .....core.value import shape_of
from .....learn.layers import windows as win
from .....ops import convolution as cv
from ...._shared.spatial import of_axes
from ..._api import aliases
from ._arguments import LAYOUTS, Sizes, channels_first, channels_last, floating, paddings, per_axis, shaped


def _operands(op: str, x: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    x, weight = floating(op, x), floating(op, weight, "weight")
    if weight.dtype is not x.dtype:
        raise ValueError(f"{op}: x and weight must have one dtype, got {x.dtype} and {weight.dtype}")
    return x, weight, None if bias is None else floating(op, bias, "bias")


def _shapes(op: str, x: Any, weight: Any, axes: int) -> tuple[Sizes, Sizes]:
    size, w = tuple(shape_of(x)), tuple(shape_of(weight))
    for name, shape in (("x", size), ("weight", w)):
        if len(shape) != axes + 2:
            raise ValueError(
                f"{op}: {name} must have {axes + 2} dimensions, got shape {list(shape)}"
                + ("; give a single image a batch with unsqueeze(0)" if name == "x" and len(shape) == axes + 1 else "")
            )
    return size, w


def _shape(bias: Any) -> Sizes | None:
    return None if bias is None else tuple(shape_of(bias))


def _around(pads: Any, size: Sizes, w: Sizes, steps: Sizes, apart: Sizes) -> tuple[Any, Sizes]:
    """Padding as pairs, and the dilation, which does not count where the padding is "SAME"."""
    if pads == "VALID":
        return ((0, 0),) * len(steps), apart
    if pads == "SAME":
        once = (1,) * len(steps)
        return win.same_padding(size[2:], w[2:], steps, once), once
    return pads, apart


def _conv(op: str, axes: int) -> Any:
    def conv(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        data_format: str = LAYOUTS[axes][0], name: str | None = None,
    ) -> Any:  # fmt: skip
        x, weight, bias = _operands(op, x, weight, bias)
        last = channels_last(op, data_format, axes)
        steps, spread = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
        pads = paddings(op, padding, axes, last)

        def compute(x: Any) -> Any:
            size, w = _shapes(op, x, weight, axes)
            around, apart = _around(pads, size, w, steps, spread)
            plan = win.convolution(op, size, w, _shape(bias), steps, around, apart, groups)
            return cv.convolve(x, weight, bias, **plan)

        return channels_first(compute, x, last) if last else compute(x)

    return conv


conv1d, conv2d, conv3d = of_axes(
    "conv{}d", "The cross-correlation of {x} with a weight (O, C/groups, {k}).", _conv, shaped, aliases(input="x")
)


def _extra(op: str, natural: Sizes, steps: Sizes, output_padding: Any, output_size: Any) -> Sizes:
    """What is added at the end of a transposed convolution's natural size."""
    given = per_axis(op, "output_padding", output_padding, len(natural))
    if output_size is None:
        return given
    if any(given):
        raise ValueError(f"{op}: output_padding and output_size cannot both be given")
    size = per_axis(op, "output_size", output_size, len(natural))
    for m, n, s in zip(size, natural, steps):
        if not n <= m < n + s:
            raise ValueError(
                f"{op}: output_size must be at least {list(natural)} and less than a stride more, got {list(size)}"
            )
    return tuple(m - n for m, n in zip(size, natural))


def _conv_transpose(op: str, axes: int) -> Any:
    def conv(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1, output_size: Any = None, data_format: str = LAYOUTS[axes][0],
        name: str | None = None,
    ) -> Any:  # fmt: skip
        x, weight, bias = _operands(op, x, weight, bias)
        last = channels_last(op, data_format, axes)
        steps, apart = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
        pads = paddings(op, padding, axes, last)

        def compute(x: Any) -> Any:
            size, w = _shapes(op, x, weight, axes)
            around, spread = _around(pads, size, w, steps, apart)
            natural = win.transposed_size(size[2:], w[2:], steps, around, spread, (0,) * axes)
            extra = _extra(op, natural, steps, output_padding, output_size)
            plan = win.transposed_convolution(op, size, w, _shape(bias), steps, around, spread, groups, extra)
            return cv.convolve_transpose(x, weight, bias, **plan)

        return channels_first(compute, x, last) if last else compute(x)

    return conv


conv1d_transpose, _conv2d_transpose, conv3d_transpose = of_axes(
    "conv{}d_transpose", "The transpose of conv{n}d: {x} with a weight (C, O/groups, {k}).", _conv_transpose, shaped
)


def conv2d_transpose(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    dilation: Any = 1, groups: int = 1, output_size: Any = None, data_format: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The transpose of conv2d: (N, C, H, W) with a weight (C, O/groups, KH, KW); dilation and groups change places."""
    return _conv2d_transpose(x, weight, bias, stride, padding, output_padding, groups, dilation, output_size, data_format)
