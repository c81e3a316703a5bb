"""Convolution layers, plain and transposed, in one to three dimensions. Weights are (out, in / group, *kernel)."""

from __future__ import annotations

from typing import Any

from .....learn.layers.windows import channels_first, channels_last
from ...._shared.layers import parameters
from ...._shared.rows import constructor
from ... import _convolution
from ..._dtype import float32
from ..._promote import tensor_argument
from ..._sizes import pads as pads_of
from ..._tensor import Tensor
from ...common.initializer import Uniform
from .._checks import a_bool, one_of, positive_int
from ..cell import Cell
from .basic import DEFAULT_WEIGHT, bias_parameter, fan_in_bound, weight_parameter

_MODES = ("same", "valid", "pad")


def _sizes(op: str, name: str, value: Any, axes: int, least: int = 1) -> tuple[int, ...]:
    """An int for all axes, or a tuple of one per axis; raises TypeError or ValueError."""
    given = (value,) * axes if isinstance(value, int) else value
    if not isinstance(given, tuple) or any(isinstance(n, bool) or not isinstance(n, int) for n in given):
        raise TypeError(f"{op}: {name} must be an int or a tuple of ints, got {value!r}")
    if len(given) != axes:
        raise (ValueError if axes == 3 else TypeError)(f"{op}: {name} must be an int or {axes} of them, got {value!r}")
    if any(n < least for n in given):
        raise ValueError(f"{op}: {name} must be {least} or more, got {value!r}")
    return tuple(given)


class _Conv(Cell):
    _axes: int
    _transposed: bool
    _format: str

    def _prepare(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, pad_mode: str, padding: Any,
        dilation: Any, group: int, has_bias: bool, weight_init: Any, bias_init: Any, data_format: str, dtype: Any,
    ) -> None:  # fmt: skip
        name, axes = type(self).__name__, self._axes
        for label, value in (("in_channels", in_channels), ("out_channels", out_channels), ("group", group)):
            positive_int(name, label, value)
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"{name}: in_channels and out_channels must be divisible by group, got {in_channels}, {out_channels} "
                f"and {group}"
            )
        if not isinstance(pad_mode, str):
            raise TypeError(f"{name}: pad_mode must be a str, got {type(pad_mode).__name__}")
        one_of(name, "pad_mode", pad_mode, _MODES)
        a_bool(name, "has_bias", has_bias)
        self.in_channels, self.out_channels, self.group = in_channels, out_channels, group
        if axes == 1:
            for label, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
                if not isinstance(value, int):
                    raise TypeError(f"{name}: {label} must be an int, got {type(value).__name__}")
        self.kernel_size = _sizes(name, "kernel_size", kernel_size, axes)
        self.stride, self.dilation = (
            _sizes(name, "stride", stride, axes), _sizes(name, "dilation", dilation, axes)
        )  # fmt: skip
        self.pad_mode, self.padding, self.has_bias, self.format = pad_mode, padding, has_bias, data_format
        if data_format not in (self._format, self._format.replace("C", "") + "C"):
            raise ValueError(f"{name}: data_format must be {self._format!r}, got {data_format!r}")
        if isinstance(padding, (tuple, list)) and len(padding) != 2 * axes:
            raise ValueError(f"{name}: padding must be an int or {2 * axes} of them, got {padding}")
        pads_of(name, pad_mode, padding, self.kernel_size, self.kernel_size, self.stride, self.dilation)
        channels = (in_channels, out_channels // group) if self._transposed else (out_channels, in_channels // group)
        # One axis is the second of two: so the weights of nn.Conv1d have four axes, as MindSpore's have.
        inner = (1, *self.kernel_size) if axes == 1 else self.kernel_size
        self.weight_init = DEFAULT_WEIGHT if weight_init is None else weight_init
        if axes == 1 and isinstance(weight_init, Tensor):  # but they are given with three
            if weight_init.ndim != 3:
                raise ValueError(f"{name}: weight_init must have 3 axes, got shape {weight_init.shape}")
            self.weight_init = weight_init.reshape((*weight_init.shape[:2], 1, weight_init.shape[2]))
        self.weight = weight_parameter(self.weight_init, (*channels, *inner), dtype)
        self.bias_init = Uniform(fan_in_bound(self.weight.shape)) if has_bias and bias_init is None else bias_init
        self.bias: Any = bias_parameter(self.bias_init, out_channels, dtype) if has_bias else None

    def _checked(self, x: Any) -> None:
        tensor_argument(type(self).__name__, x, "the input")
        if x.ndim != self._axes + 2:
            raise ValueError(
                f"{type(self).__name__}: wanted {self._axes + 2} axes (batch, channels, *space), got shape {x.shape}"
            )
        axis = 1 if self.format == self._format else -1
        channels = x.shape[axis]
        if channels != self.in_channels:
            raise (ValueError if self._axes == 3 else RuntimeError)(
                f"{type(self).__name__}: in_channels is {self.in_channels}, but the input of shape {x.shape} has {channels}; "
                f"make the layer with in_channels={channels}, or move the channels to axis {axis}"
            )

    def construct(self, x: Any) -> Any:
        name, weight = type(self).__name__, self.weight
        self._checked(x)
        if self._axes == 1:
            weight = weight.reshape((*weight.shape[:2], weight.shape[3]))
        last = self.format != self._format
        x = channels_first(x) if last else x
        if self._transposed:
            out = self._transpose(x, weight)
        else:
            out = _convolution.convolve_checked(
                name, self._axes, x, weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation,
                self.group,
            )  # fmt: skip
        return channels_last(out) if last else out

    def _transpose(self, x: Any, weight: Any) -> Any:
        size, extra = None, getattr(self, "output_padding", 0)
        if self.pad_mode == "pad":
            pads = pads_of(
                type(self).__name__, "pad", self.padding, (), self.kernel_size, self.stride, self.dilation
            )
        elif self.pad_mode == "same":
            size = tuple(n * s for n, s in zip(x.shape[2:], self.stride))
            pads = tuple(
                (total // 2, total - total // 2)
                for total in (max(d * (k - 1) + 1 - s, 0) for d, k, s in zip(self.dilation, self.kernel_size, self.stride))
            )
        else:
            size = tuple(
                n * s + max(d * (k - 1) + 1 - s, 0)
                for n, s, d, k in zip(x.shape[2:], self.stride, self.dilation, self.kernel_size)
            )
            pads = ((0, 0),) * self._axes
        return _convolution.convolve_transposed(
            type(self).__name__, self._axes, x, weight, self.bias, self.stride, pads, self.dilation, self.group, extra,
            size,
        )  # fmt: skip

    def extend_repr(self) -> str:
        kernel, stride, dilation, padding = self.kernel_size, self.stride, self.dilation, self.padding
        if self._axes == 1:  # as MindSpore shows it: a kernel of one row
            kernel, stride, dilation = (1, *kernel), (1, *stride), (1, *dilation)
            padding = (0, 0, padding, padding) if isinstance(padding, int) else (0, 0, *padding)
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={kernel}, "
            f"stride={stride}, pad_mode={self.pad_mode}, padding={padding}, dilation={dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, bias_init={self.bias_init}, "
            f"format={self.format if self._axes > 1 else 'NCHW'}"
        )


def _convolution_of(
    name: str, axes: int, doc: str, last: str = "", *, first: str = "", middle: str = "", transposed: bool = False
) -> Any:
    """The convolution over some axes. first, middle, last: options before `dilation`, `has_bias` and `dtype`."""
    per_axis = ": int" if axes == 1 else ": Any"
    options = (
        f"in_channels: int, out_channels: int, kernel_size{per_axis}, stride{per_axis} = 1, pad_mode: str = 'same', padding=0, "
        f"{first}dilation{per_axis} = 1, group: int = 1, {middle}has_bias: bool = False, weight_init=None, bias_init=None, "
        f"{last}dtype=float32"
    )
    names = [a.arg for a in parameters(options).args]
    layout = ("NCL", "NCHW", "NCDHW")[axes - 1]

    def made(self: Any, *given: Any) -> None:
        found = dict(zip(names, given))
        Cell.__init__(self)
        kept = {"output_padding": found.pop("output_padding")} if "output_padding" in found else {}
        self._prepare(**{"data_format": layout, **found})
        self.__dict__.update(kept)

    own = {"_axes": axes, "_format": layout, "_transposed": transposed, "__doc__": doc, "__module__": __name__}
    return type(name, (_Conv,), {**own, "__init__": constructor(name, options, made, float32=float32)})


_PADS = 'pad_mode: "same", "valid", or "pad" by `padding`'
_SAME = 'the result of "same" is stride times the size of the input.'
_LAST = "data_format: str = '{}', "
Conv1d = _convolution_of("Conv1d", 1, f"The convolution of (N, C, L). {_PADS}.")
Conv2d = _convolution_of(
    "Conv2d", 2, f"The convolution of (N, C, H, W). {_PADS} (one, two or four ints).", _LAST.format("NCHW")
)
Conv3d = _convolution_of(
    "Conv3d", 3, f"The convolution of (N, C, D, H, W). {_PADS} (one, three or six ints).", _LAST.format("NCDHW")
)
Conv1dTranspose = _convolution_of("Conv1dTranspose", 1, "The transposed convolution of (N, C, L).", transposed=True)
Conv2dTranspose = _convolution_of(
    "Conv2dTranspose", 2, f"The transposed convolution of (N, C, H, W); {_SAME}", first="output_padding=0, ", transposed=True
)
Conv3dTranspose = _convolution_of(
    "Conv3dTranspose", 3, f"The transposed convolution of (N, C, D, H, W); {_SAME}", _LAST.format("NCDHW"),
    middle="output_padding=0, ", transposed=True,
)  # fmt: skip
