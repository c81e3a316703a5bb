"""Convolution and transposed convolution in 1 to 3 dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...learn.deformable import deformable_convolution, result_size
from ...learn.layers import windows
from ...ops import convolution as cv
from ...ops import structural as st
from .._shared.axes import integer, integers
from .._shared.spatial import of_axes
from ._api import api, value_errors
from ._promote import FLOATING, same_dtype, single, tensor_argument
from ._sizes import pads, per_axis

Function = Callable[..., Any]


def convolve(
    op: str, axes: int, x: Any, w: Any, bias: Any, stride: Any, pad_mode: Any, padding: Any, dilation: Any, groups: Any
) -> Any:
    """A convolution over the last axes of (N, C, *space)."""
    x, w = single(op, x, FLOATING), single(op, w, FLOATING)
    same_dtype(op, x, w)
    if x.ndim != axes + 2 or w.ndim != axes + 2:
        raise ValueError(f"{op}: wanted input and weight with {axes + 2} axes, got shapes {x.shape} and {w.shape}")
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    padding = pads(op, pad_mode, padding, x.shape[2:], w.shape[2:], stride, dilation)
    groups = integer(op, "groups", groups)
    if x.shape[1] != w.shape[1] * groups and not w.shape[0] % groups:
        raise (ValueError if axes == 3 else RuntimeError)(
            f"{op}: a weight of shape {w.shape} with {groups} groups takes {w.shape[1] * groups} channels, but the input of "
            f"shape {x.shape} has {x.shape[1]}{windows.misplaced_channels(x.shape, w.shape[1] * groups)}"
        )
    b = None if bias is None else tensor_argument(op, bias, "bias")
    plan = windows.convolution(op, x.shape, w.shape, None if b is None else b.shape, stride, padding, dilation,
                               groups)  # fmt: skip
    return cv.convolve(x, w, b, **plan)


def _convolution(op: str, axes: int) -> Function:
    def f(input: Any, weight: Any, bias: Any = None, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
          dilation: Any = 1, groups: int = 1) -> Any:  # fmt: skip
        per_axis(op, "padding", padding, axes)
        return convolve_checked(op, axes, input, weight, bias, stride, pad_mode, padding, dilation, groups)

    return f

convolve_checked = value_errors(convolve)

conv1d, conv2d, conv3d = of_axes("conv{}d", "The convolution of {x} with a weight.", _convolution, api(method=False))


@value_errors
def convolve_transposed(
    op: str, axes: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any,
    output_padding: Any = 0, size: Any = None,
) -> Any:  # fmt: skip
    """A transposed convolution; `padding` as pairs, and `size` the size of the result where it is known."""
    x, w = single(op, x, FLOATING), single(op, w, FLOATING)
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    extra = per_axis(op, "output_padding", output_padding, axes)
    if size is not None:
        plain = windows.transposed_size(x.shape[2:], w.shape[2:], stride, padding, dilation, (0,) * axes)
        extra = tuple(a - b for a, b in zip(size, plain))
    b = None if bias is None else tensor_argument(op, bias, "bias")
    plan = windows.transposed_convolution(op, x.shape, w.shape, None if b is None else b.shape, stride, padding,
                                          dilation, integer(op, "groups", groups), extra)  # fmt: skip
    return cv.convolve_transpose(x, w, b, **plan)


@api(method=False)
def conv_transpose2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:  # fmt: skip
    """The transposed convolution of (N, C, H, W) with a weight."""
    padding = tuple((n, n) for n in per_axis("conv_transpose2d", "padding", padding, 2))
    return convolve_transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, dilation, groups, output_padding
    )


@api(method=False)
def conv3d_transpose(inputs: Any, weight: Any, pad_mode: str = "valid", padding: Any = 0, stride: Any = 1,
                     dilation: Any = 1, group: int = 1, output_padding: Any = 0) -> Any:  # fmt: skip
    """The transposed convolution of (N, C, D, H, W) with a weight."""
    weight = tensor_argument("conv3d_transpose", weight, "weight")
    given = pads("conv3d_transpose", pad_mode, padding, (), weight.shape[2:], (1,) * 3, (1,) * 3)
    return convolve_transposed("conv3d_transpose", 3, inputs, weight, None, stride, given, dilation, group,
                               output_padding)  # fmt: skip


def convolve_backprop_input(
    op: str, dout: Any, weight: Any, input_size: Any, stride: Any, pad_mode: str, pad: Any, dilation: Any, group: int
) -> Any:
    """The input's gradient of a convolution whose result has the gradient `dout`."""
    sizes = integers(op, "input_size", input_size)
    stride, dilation = per_axis(op, "stride", stride, 2), per_axis(op, "dilation", dilation, 2)
    padding = pads(op, pad_mode, pad, sizes[2:], weight.shape[2:], stride, dilation)
    return convolve_transposed(op, 2, dout, weight, None, stride, padding, dilation, group, 0, sizes[2:])


@api(method=False)
def deformable_conv2d(
    x: Any, weight: Any, offsets: Any, kernel_size: Any, strides: Any, padding: Any, bias: Any = None,
    dilations: Any = (1, 1, 1, 1), groups: int = 1, deformable_groups: int = 1, modulated: bool = True,
) -> Any:  # fmt: skip
    """A convolution that reads beside its grid: `offsets` (N, 3 · deformable_groups · kh · kw, h, w) say how far across and
    down, and with which weight.

    Raises ValueError for padding that differs between the sides of an axis, and for offsets of another shape.
    """
    op = "deformable_conv2d"
    x, weight, moved = (single(op, v, FLOATING) for v in (x, weight, offsets))
    if modulated is not True:
        raise ValueError(f"{op}: modulated must be True, got {modulated!r}")
    kernel, steps, apart = (integers(op, "kernel_size", kernel_size), integers(op, "strides", strides)[2:],
                            integers(op, "dilations", dilations)[2:])  # fmt: skip
    top, bottom, left, right = integers(op, "padding", padding)
    if top != bottom or left != right:
        raise ValueError(f"{op}: padding must be the same on both sides of an axis, got {padding}")
    pads, taps = (top, left), kernel[0] * kernel[1]
    size = result_size(x.shape[2:], kernel, steps, pads, apart)
    wanted = (x.shape[0], 3 * deformable_groups * taps, *size)
    if moved.shape != wanted:
        raise ValueError(f"{op}: offsets must have the shape {wanted}, got {moved.shape}")
    parts = st.reshape(moved, shape=(x.shape[0], 3, deformable_groups * taps, *size))
    across, down, mask = (st.getitem(parts, index=(slice(None), k)) for k in range(3))
    pairs = st.reshape(st.stack(down, across, axis=2), shape=(x.shape[0], 2 * deformable_groups * taps, *size))
    out = deformable_convolution(x, pairs, weight, mask, steps, pads, apart, groups, deformable_groups)
    return out if bias is None else out + st.reshape(bias, shape=(1, bias.size, 1, 1))
