"""Convolution and transposed convolution in 1 to 3 dimensions."""

from __future__ import annotations

from typing import Any

from .....core.value import Value, dtype_of, shape_of
from .....ops import convolution as cv
from ..._api import api
from ..._dtype import FROM_NUMPY
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES
from ..._shape import transposed
from ._sizes import batched, per_axis

NAMES.update(convolve="ConvolutionBackward0", convolve_transpose="ConvolutionBackward0")


def _check(op: str, input: Any, weight: Any, bias: Any, axes: int, channels: int, outputs: int, groups: int) -> None:
    """Raise RuntimeError where operands do not fit each other; `channels` and `outputs` are what the weight takes."""
    x, w = shape_of(input), shape_of(weight)
    if groups <= 0:
        raise RuntimeError(f"{op}: groups must be positive, got {groups}")
    if len(w) != axes + 2:
        raise RuntimeError(f"{op}: weight must have {axes + 2} dimensions, got shape {tuple(w)}")
    if len(x) not in (axes + 1, axes + 2):
        raise RuntimeError(
            f"{op}: input must have {axes + 2} dimensions (or {axes + 1} without a batch), got shape {tuple(x)}"
        )
    if w[0] % groups:
        raise RuntimeError(f"{op}: the first dimension of the weight, {w[0]}, is not divisible into {groups} groups")
    if x[-axes - 1] != channels:
        raise RuntimeError(
            f"{op}: a weight of shape {tuple(w)} with groups={groups} takes {channels} channels, but the input of "
            "shape "
            f"{tuple(x)} has {x[-axes - 1]}"
        )
    if bias is not None and tuple(shape_of(bias)) != (outputs,):
        raise RuntimeError(
            f"{op}: bias must have shape ({outputs},), one per output channel, got {tuple(shape_of(bias))}"
        )
    for name, other in (("weight", weight), ("bias", bias)):
        if other is not None and dtype_of(other) != dtype_of(input):
            raise RuntimeError(
                f"{op}: input and {name} must have one dtype, got {FROM_NUMPY[dtype_of(input)]} and "
                f"{FROM_NUMPY[dtype_of(other)]}"
            )


def _tensors(op: str, input: Any, weight: Any, bias: Any) -> None:
    tensor_argument(op, input)
    tensor_argument(op, weight, 2, "weight")
    if bias is not None and not isinstance(bias, Value):
        raise TypeError(f"{op}: bias must be a tensor or None, got {type(bias).__name__}")


def _positive(op: str, **sizes: tuple[int, ...]) -> None:
    for name, values in sizes.items():
        if any(n <= 0 for n in values):
            raise RuntimeError(f"{op}: {name} must be positive, got {values}")


def _pads(op: str, padding: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """(before, after) per axis of a number, a tuple, "valid" or "same"."""
    if isinstance(padding, str):
        if padding == "valid":
            return ((0, 0),) * len(kernel)
        if padding != "same":
            raise RuntimeError(f"{op}: padding must be 'valid', 'same', an int or a tuple, got {padding!r}")
        if any(s != 1 for s in stride):
            raise RuntimeError(f"{op}: padding='same' needs a stride of 1, got {stride}")
        total = [d * (k - 1) for d, k in zip(dilation, kernel)]
        return tuple((n // 2, n - n // 2) for n in total)
    pads = per_axis(op, "padding", padding, len(kernel))
    if any(p < 0 for p in pads):
        raise RuntimeError(f"{op}: padding cannot be negative, got {pads}")
    return tuple((p, p) for p in pads)


def _conv(
    op: str, axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    _tensors(op, input, weight, bias)
    w = tuple(shape_of(weight))
    _check(op, input, weight, bias, axes, w[1] * groups if len(w) > 1 else 0, w[0] if w else 0, groups)
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    _positive(op, stride=stride, dilation=dilation)
    pads = _pads(op, padding, w[2:], stride, dilation)
    for n, k, d, (lo, hi) in zip(shape_of(input)[-axes:], w[2:], dilation, pads):
        if n + lo + hi < d * (k - 1) + 1:
            raise RuntimeError(
                f"{op}: a kernel of size {w[2:]} (dilation {dilation}) is larger than the padded input of size "
                f"{tuple(m + a + b for m, (a, b) in zip(shape_of(input)[-axes:], pads))}"
            )
    return batched(op, input, axes, lambda x: cv.convolve(
        x, weight, bias, stride=stride, padding=pads, dilation=dilation, groups=groups))  # fmt: skip


@api(method=False)
def conv1d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Any:  # fmt: skip
    """The cross-correlation of (N, C, L) with (O, C/groups, K); padding may be "same" or "valid"."""
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@api(method=False)
def conv2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Any:  # fmt: skip
    """The cross-correlation of (N, C, H, W) with (O, C/groups, KH, KW); padding may be "same" or "valid"."""
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@api(method=False)
def conv3d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1) -> Any:  # fmt: skip
    """The cross-correlation of (N, C, D, H, W) with (O, C/groups, KD, KH, KW); padding may be "same" or "valid"."""
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(
    op: str, axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any,
    groups: int, dilation: Any,
) -> Any:  # fmt: skip
    _tensors(op, input, weight, bias)
    w = tuple(shape_of(weight))
    _check(op, input, weight, bias, axes, w[0] if w else 0, w[1] * groups if len(w) > 1 else 0, groups)
    stride, dilation = per_axis(op, "stride", stride, axes), per_axis(op, "dilation", dilation, axes)
    _positive(op, stride=stride, dilation=dilation)
    pads = _pads(op, per_axis(op, "padding", padding, axes), w[2:], stride, dilation)
    extra = per_axis(op, "output_padding", output_padding, axes)
    for e, s, d in zip(extra, stride, dilation):
        if e < 0 or (e >= s and e >= d):
            raise RuntimeError(
                f"{op}: output_padding must be smaller than the stride or the dilation, got output_padding={extra}, "
                f"stride={stride}, dilation={dilation}"
            )
    size = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, s, (p, _), d, k, e in zip(shape_of(input)[-axes:], stride, pads, dilation, w[2:], extra)
    )
    if any(n <= 0 for n in size):
        raise RuntimeError(f"{op}: an input of shape {tuple(shape_of(input))} would give an output of size {size}")
    return batched(op, input, axes, lambda x: cv.convolve_transpose(
        x, weight, bias, size=size, stride=stride, padding=pads, dilation=dilation, groups=groups))  # fmt: skip


@api(method=False)
def conv_transpose1d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:  # fmt: skip
    """The transpose of conv1d: (N, O, L) with (O, C/groups, K)."""
    return _conv_transpose(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@api(method=False)
def conv_transpose2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:  # fmt: skip
    """The transpose of conv2d: (N, O, H, W) with (O, C/groups, KH, KW)."""
    return _conv_transpose(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@api(method=False)
def conv_transpose3d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:  # fmt: skip
    """The transpose of conv3d: (N, O, D, H, W) with (O, C/groups, KD, KH, KW)."""
    return _conv_transpose(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@api(method=False)
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """conv1d for (time, batch, channels) and a weight (K, C, O)."""
    x = transposed(tensor_argument("conv_tbc", input), (1, 2, 0))
    w = transposed(tensor_argument("conv_tbc", weight, 2, "weight"), (2, 1, 0))
    return transposed(_conv("conv_tbc", 1, x, w, bias, 1, pad, 1, 1), (2, 0, 1))


@api(method=False)
def convolution(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int) -> Any:  # fmt: skip
    """Any of the convolutions above, by the number of dimensions."""
    axes = len(shape_of(tensor_argument("convolution", weight, 2, "weight"))) - 2
    if transposed:
        return _conv_transpose(
            "convolution", axes, input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return _conv("convolution", axes, input, weight, bias, stride, padding, dilation, groups)
