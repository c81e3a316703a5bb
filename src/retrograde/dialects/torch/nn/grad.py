"""`torch.nn.grad`: the derivatives of convolutions by input and weight as functions."""

from __future__ import annotations

from typing import Any

from ....core.value import shape_of
from ....ops import convolution as cv
from .functional._sizes import per_axis


def _geometry(op: str, axes: int, stride: Any, padding: Any, dilation: Any, groups: int) -> dict[str, Any]:
    return {
        "stride": per_axis(op, "stride", stride, axes),
        "padding": tuple((p, p) for p in per_axis(op, "padding", padding, axes)),
        "dilation": per_axis(op, "dilation", dilation, axes), "groups": groups,
    }  # fmt: skip


def _by_input(axes: int) -> Any:
    def derivative(input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                   groups: int = 1) -> Any:  # fmt: skip
        geometry = _geometry(f"conv{axes}d_input", axes, stride, padding, dilation, groups)
        return cv.convolve_transpose(grad_output, weight, None, size=tuple(input_size)[-axes:], **geometry)

    derivative.__name__ = derivative.__qualname__ = f"conv{axes}d_input"
    derivative.__doc__ = f"The derivative of conv{axes}d by its input, of the shape `input_size`."
    return derivative


def _by_weight(axes: int) -> Any:
    def derivative(input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                   groups: int = 1) -> Any:  # fmt: skip
        geometry = _geometry(f"conv{axes}d_weight", axes, stride, padding, dilation, groups)
        found = cv.convolve_weight(input, grad_output, kernel=tuple(weight_size)[-axes:], **geometry)
        if tuple(shape_of(found)) != tuple(weight_size):
            raise RuntimeError(f"conv{axes}d_weight: a weight of shape {tuple(weight_size)} does not fit the operands")
        return found

    derivative.__name__ = derivative.__qualname__ = f"conv{axes}d_weight"
    derivative.__doc__ = f"The derivative of conv{axes}d by its weight, of the shape `weight_size`."
    return derivative


conv1d_input, conv2d_input, conv3d_input = map(_by_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_by_weight, (1, 2, 3))
