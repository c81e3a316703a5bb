"""`torch.nn.grad`: the derivatives of convolutions by input and weight as functions."""

from __future__ import annotations

from typing import Any

from ....core.value import dtype_of, shape_of
from ....learn.layers.windows import check_convolution
from ....ops import convolution as cv
from ..._shared.registry import defined
from .functional._sizes import per_axis, planned


def _geometry(op: str, axes: int, stride: Any, padding: Any, dilation: Any, groups: int) -> dict[str, Any]:
    return {
        "stride": per_axis(op, "stride", stride, axes),
        "padding": tuple((p, p) for p in per_axis(op, "padding", padding, axes)),
        "dilation": per_axis(op, "dilation", dilation, axes), "groups": groups,
    }  # fmt: skip


@planned
def _result(op: str, size: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> tuple[int, ...]:
    """The shape that the convolution gives."""
    check_convolution(op, size, weight, None, False, groups)
    return (size[0], weight[0], *cv.output_size(size[2:], weight[2:], stride, padding, dilation))


def _check(op: str, input_size: Any, weight_size: Any, other: Any, grad_output: Any, geometry: dict[str, Any]) -> None:
    size, weight, shape = tuple(input_size), tuple(weight_size), tuple(shape_of(grad_output))
    want = _result(op, size, weight, *geometry.values())
    if shape != want:
        raise RuntimeError(
            f"{op}: grad_output has shape {shape}; an input of shape {size} and a weight of shape {weight} give {want}"
        )
    if dtype_of(grad_output) != dtype_of(other):
        raise RuntimeError(f"{op}: the operands must have one dtype, got {other.dtype} and {grad_output.dtype}; convert one")


def _by_input(axes: int) -> Any:
    def derivative(input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                   groups: int = 1) -> Any:  # fmt: skip
        geometry = _geometry(f"conv{axes}d_input", axes, stride, padding, dilation, groups)
        _check(f"conv{axes}d_input", input_size, shape_of(weight), weight, grad_output, geometry)
        return cv.convolve_transpose(grad_output, weight, None, size=tuple(input_size)[-axes:], **geometry)

    return defined(f"conv{axes}d_input", derivative,
        f"The derivative of conv{axes}d by its input, of the shape `input_size`.")  # fmt: skip


def _by_weight(axes: int) -> Any:
    def derivative(input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                   groups: int = 1) -> Any:  # fmt: skip
        geometry = _geometry(f"conv{axes}d_weight", axes, stride, padding, dilation, groups)
        _check(f"conv{axes}d_weight", shape_of(input), weight_size, input, grad_output, geometry)
        return cv.convolve_weight(input, grad_output, kernel=tuple(weight_size)[-axes:], **geometry)

    return defined(f"conv{axes}d_weight", derivative,
        f"The derivative of conv{axes}d by its weight, of the shape `weight_size`.")  # fmt: skip


conv1d_input, conv2d_input, conv3d_input = map(_by_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_by_weight, (1, 2, 3))
