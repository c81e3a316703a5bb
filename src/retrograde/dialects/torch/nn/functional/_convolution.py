"""Convolution and transposed convolution in 1 to 3 dimensions."""

from __future__ import annotations

from typing import Any

from .....core.value import Value, dtype_of, shape_of
from .....learn.layers import windows
from .....ops import convolution as cv
from ...._shared.spatial import of_axes
from ..._api import api
from ..._dtype import FROM_NUMPY
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES
from ..._memory import in_format_of
from ..._shape import transposed
from ._sizes import per_axis, planned, squeezed, unsqueezed

NAMES.update(convolve="ConvolutionBackward0", convolve_transpose="ConvolutionBackward0")


def _shapes(op: str, input: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """The shapes of tensors of one dtype; raises TypeError for anything else, RuntimeError for several dtypes."""
    d = dtype_of(tensor_argument(op, input))
    for name, other in (("weight", weight), ("bias", bias)):
        if other is None and name == "bias":
            continue
        if not isinstance(other, Value):
            raise TypeError(f"{op}: {name} must be a tensor, got {type(other).__name__}")
        if dtype_of(other) != d:
            raise RuntimeError(
                f"{op}: input and {name} must have one dtype, got {FROM_NUMPY[d]} and {FROM_NUMPY[dtype_of(other)]}"
            )
    return tuple(shape_of(input)), tuple(shape_of(weight)), None if bias is None else tuple(shape_of(bias))


def _pads(op: str, padding: Any, size: Any, kernel: Any, stride: Any, dilation: Any) -> windows.Pads:
    """(before, after) per axis of a number, a tuple, "valid" or "same"."""
    if isinstance(padding, str):
        if padding == "valid":
            return ((0, 0),) * len(kernel)
        if padding != "same":
            raise RuntimeError(f"{op}: padding must be 'valid', 'same', an int or a tuple, got {padding!r}")
        if any(s != 1 for s in stride):
            raise RuntimeError(f"{op}: padding='same' needs a stride of 1, got {stride}")
        return windows.same_padding(size, kernel, stride, dilation)
    pads = per_axis(op, "padding", padding, len(kernel))
    if any(p < 0 for p in pads):
        raise RuntimeError(f"{op}: padding cannot be negative, got {pads}")
    return tuple((p, p) for p in pads)


def _rank(op: str, w: Any, axes: int) -> None:
    if len(w) != axes + 2:
        raise RuntimeError(f"{op}: weight must have {axes + 2} dimensions, got shape {w}")


@planned
def _plan(
    op: str, axes: int, x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> dict[str, Any]:
    """The parameters of a convolution; raises RuntimeError where something does not fit."""
    _rank(op, w, axes)
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    pads = _pads(op, padding, x[-axes:], w[2:], stride, dilation)
    return windows.convolution(op, x, w, b, stride, pads, dilation, groups)


@planned
def _plan_transpose(
    op: str, axes: int, x: Any, w: Any, b: Any, stride: Any, padding: Any, output_padding: Any, groups: int,
    dilation: Any,
) -> dict[str, Any]:  # fmt: skip
    """The parameters of a transposed convolution; raises RuntimeError where something does not fit."""
    _rank(op, w, axes)
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    pads = _pads(op, per_axis(op, "padding", padding, axes), x[-axes:], w[2:], stride, dilation)
    extra = per_axis(op, "output_padding", output_padding, axes)
    return windows.transposed_convolution(op, x, w, b, stride, pads, dilation, groups, extra)


def _conv(
    op: str, axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    shapes = _shapes(op, input, weight, bias)
    plan = _plan(op, axes, *shapes, stride, padding, dilation, groups)
    if len(shapes[0]) == axes + 2:
        out = cv.convolve(input, weight, bias, **plan)
        return out if axes == 1 else in_format_of(input, out)
    return squeezed(cv.convolve(unsqueezed(input, 0), weight, bias, **plan), 0)


def _plain(op: str, axes: int) -> Any:
    def conv(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
             groups: int = 1) -> Any:  # fmt: skip
        return _conv(op, axes, input, weight, bias, stride, padding, dilation, groups)

    return conv


conv1d, conv2d, conv3d = of_axes(
    "conv{}d", 'The cross-correlation of {x} with (O, C/groups, {k}); padding may be "same" or "valid".', _plain,
    api(method=False),
)  # fmt: skip


def _conv_transpose(
    op: str, axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any,
    groups: int, dilation: Any,
) -> Any:  # fmt: skip
    shapes = _shapes(op, input, weight, bias)
    plan = _plan_transpose(op, axes, *shapes, stride, padding, output_padding, groups, dilation)
    if len(shapes[0]) == axes + 2:
        out = cv.convolve_transpose(input, weight, bias, **plan)
        return out if axes == 1 else in_format_of(input, out)
    return squeezed(cv.convolve_transpose(unsqueezed(input, 0), weight, bias, **plan), 0)


def _transpose(op: str, axes: int) -> Any:
    def conv(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
             output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:  # fmt: skip
        return _conv_transpose(op, axes, input, weight, bias, stride, padding, output_padding, groups, dilation)

    return conv


conv_transpose1d, conv_transpose2d, conv_transpose3d = of_axes(
    "conv_transpose{}d", "The transpose of conv{n}d: {x} with (C, O/groups, {k}).", _transpose, api(method=False)
)


@api(method=False)
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """conv1d for (time, batch, channels) and a weight (K, C, O)."""
    x = transposed(tensor_argument("conv_tbc", input), (1, 2, 0))
    w = transposed(tensor_argument("conv_tbc", weight, "weight"), (2, 1, 0))
    return transposed(_conv("conv_tbc", 1, x, w, bias, 1, pad, 1, 1), (2, 0, 1))


@api(method=False)
def convolution(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int) -> Any:  # fmt: skip
    """Any of the convolutions above, by the number of dimensions."""
    axes = len(shape_of(tensor_argument("convolution", weight, "weight"))) - 2
    if transposed:
        return _conv_transpose(
            "convolution", axes, input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return _conv("convolution", axes, input, weight, bias, stride, padding, dilation, groups)
