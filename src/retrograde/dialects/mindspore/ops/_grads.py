"""The Primitive classes that are derivatives of others: `ReluGrad`, `Conv2DBackpropFilter` and the like, as rows.

Where the derivative is by the operands, the row names the function and how a call gives its operands and the gradient of its
result: the engine does the rest. Where it is given the result instead, the row holds the derivative as a formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of
from ....ops import elementwise as ew
from ....ops import reduction as rd
from ....ops import structural as st
from ..._shared.axes import integers
from ..._shared.registry import defined
from .. import (
    _activations,
    _arithmetic,
    _binary,
    _creation,
    _diagonals,
    _gather,
    _joining,
    _losses,
    _normalization,
    _padding,
    _pooling,
    _reductions,
    _resample,
    _shape,
    _statistics,
    _unary,
)
from .._promote import tensor_argument
from .._recording import Recording, tensors_in
from .._tensor import from_array

Function = Callable[..., Any]


def _pulled(f: Function, primals: list[Any], dout: Any) -> list[Any]:
    """The gradients of the operands of `f` where its (first) result has the gradient `dout`."""
    call = Recording(f, primals, {}, None, [])
    outputs = tensors_in(call.out)[:1]
    if dtype_of(dout) != dtype_of(outputs[0]):
        dout = st.cast(dout, dtype=dtype_of(outputs[0]))
    return call.pull(outputs, [dout])


def _derivative(name: str, pattern: str, f: Function) -> Function:
    """The call of a class whose arguments are, letter by letter: d the result's gradient, o an operand with a gradient, c one
    without, s a shape of which `f` gets zeros, and _ what is not needed."""

    def run(*args: Any, **attrs: Any) -> Any:
        if len(args) > len(pattern):
            raise TypeError(f"{name}: wanted {len(pattern)} arguments, got {len(args)}")
        dout = tensor_argument(name, args[pattern.index("d")], "the gradient of the result")
        operands: list[Any] = []
        wanted: list[int] = []
        for letter, x in zip(pattern, args):
            if letter in "oc":
                operands.append(x)
            elif letter == "s":
                operands.append(from_array(np.zeros(_sizes(name, x), dtype_of(dout))))
            if letter in "os":
                wanted.append(len(operands) - 1)

        def of_wanted(*xs: Any) -> Any:
            full = list(operands)
            for i, x in zip(wanted, xs):
                full[i] = x
            return f(*full, **attrs)

        found = _pulled(of_wanted, [operands[i] for i in wanted], dout)
        return found[0] if len(found) == 1 else tuple(found)

    return defined(name, run)


def _sizes(op: str, shape: Any) -> tuple[int, ...]:
    if isinstance(shape, Value):
        shape = shape._concrete(op).tolist()
    return integers(op, "shape", shape)


def _of(function: Function, **renamed: str) -> Function:
    """A function with constructor arguments renamed; an empty name leaves one out."""

    def f(*args: Any, **attrs: Any) -> Any:
        for old, new in renamed.items():
            value = attrs.pop(old)
            if new:
                attrs[new] = value
        return function(*args, **attrs)

    return f


def _class(name: str) -> Function:
    """The Primitive class `name` as a function of its operands, with the constructor's arguments by name."""

    def f(*args: Any, **attrs: Any) -> Any:
        from ._table import find

        made = find(name)
        assert made is not None, name
        return made(**attrs)(*args)

    return f


def _weight_of_convolution(dout: Any, x: Any, shape: Any, **attrs: Any) -> Any:
    """Conv2DBackpropFilter: the derivative by the weight, which is known by its shape."""
    attrs.pop("pad_list", None)
    return _derivative("Conv2DBackpropFilter", "dsc", lambda w, x: _class("Conv2D")(x, w, **attrs))(dout, shape, x)


def _weight_of_convolution3d(x: Any, dout: Any, shape: Any, **attrs: Any) -> Any:
    return _derivative("Conv3DBackpropFilter", "dsc", lambda w, x: _class("Conv3D")(x, w, **attrs))(dout, shape, x)


def _input_of_convolution3d(w: Any, dout: Any, shape: Any, **attrs: Any) -> Any:
    return _derivative("Conv3DBackpropInput", "dsc", lambda x, w: _class("Conv3D")(x, w, **attrs))(dout, shape, w)


def _bias(dout: Any, *, data_format: str) -> Any:
    axis = dout.ndim - 1 if data_format == "NHWC" else 1
    return rd.sum(dout, axis=tuple(i for i in range(dout.ndim) if i != axis), keepdims=False)


def _batch_norm(dout: Any, x: Any, scale: Any, mean: Any, variance: Any, reserve: Any = None, *, is_training: bool,
                epsilon: float, data_format: str) -> tuple[Any, ...]:  # fmt: skip
    def normal(x: Any, scale: Any, bias: Any) -> Any:
        middle, spread = (None, None) if is_training else (mean, variance)
        return _normalization.batch_norm(x, middle, spread, scale, bias, is_training, 0.1, epsilon)

    return tuple(_pulled(normal, [x, scale, _creation.zeros_like(scale)], dout))


def _layer_norm(x: Any, dout: Any, variance: Any, mean: Any, gamma: Any, *, begin_norm_axis: int,
                begin_params_axis: int) -> tuple[Any, ...]:  # fmt: skip
    def normal(x: Any, gamma: Any, beta: Any) -> Any:
        return _normalization.layer_norm_with_statistics(x, gamma, beta, begin_norm_axis, begin_params_axis, 1e-7)[0]

    return tuple(_pulled(normal, [x, gamma, _creation.zeros_like(gamma)], dout))


def _strided(x: Any, begin: Any, end: Any, strides: Any, **masks: int) -> Any:
    return _class("StridedSlice")(x, *(_sizes("StridedSliceGrad", v) for v in (begin, end, strides)), **masks)


def _nll(x: Any, labels: Any, weight: Any, *, reduction: str, ignore_index: int) -> Any:
    return _losses.nll_loss(x, labels, weight, ignore_index, reduction)


def _scattered(x: Any, at: Any) -> Any:
    """The elements at flat places within each channel, as max pooling gives them."""
    flat = st.reshape(x, shape=(*x.shape[:2], -1))
    return st.reshape(_gather.gather_elements(flat, 2, st.reshape(at, shape=(*at.shape[:2], -1))), shape=at.shape)


def _resized(mode: str) -> Function:
    resize = _resample.resizing(mode)

    def f(x: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
        return resize(x, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers)

    return f


def _resize_grad(mode: str) -> Function:
    def run(dout: Any, image: Any, **how: Any) -> Any:
        return _pulled(lambda x: _resized(mode)(x, dout.shape[2:], **how), [image], dout)[0]

    return run


def _nearest_grad(dout: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    shape = (*dout.shape[:2], *_sizes("ResizeNearestNeighborGrad", size))
    image = from_array(np.zeros(shape, dtype_of(dout)))
    return _pulled(lambda x: _resample.interpolate(x, dout.shape[2:]), [image], dout)[0]


def _mirrored(dout: Any, paddings: Any, *, mode: str) -> Any:
    widths = np.asarray(paddings._concrete("MirrorPadGrad"))
    shape = [int(n - a - b) for n, (a, b) in zip(dout.shape, widths)]
    return _derivative("MirrorPadGrad", "ds", lambda x: _padding.mirror_pad(x, paddings, mode))(dout, shape)


def _upsampled(name: str) -> Function:
    def run(dout: Any, input_size: Any, output_size: Any = None, scales: Any = None, **how: Any) -> Any:
        return _derivative(name, "ds", lambda x: _class(name)(x, output_size, scales, **how))(dout, input_size)

    return run


def _adaptive(axes: int, pool: Function) -> Function:
    def run(dout: Any, shape: Any) -> Any:
        return _derivative(pool.__name__, "ds", lambda x: pool(x, dout.shape[-axes:]))(dout, shape)

    return run


def _scaled(f: Function) -> Function:
    """A derivative given as a factor of the gradient: `f(known)` times it, the known one first."""
    return lambda known, dout: f(known) * dout


_POOL = 'kernel_size=1, strides=1, pad_mode="VALID", data_format="NCHW"'
_POOL_3D = 'kernel_size=1, strides=1, pad_mode="VALID", pad_list=0, data_format="NCDHW"'
_CONV = (
    'out_channel, kernel_size, pad_mode="valid", pad=0, pad_list=(0, 0, 0, 0), mode=1, stride=1, dilation=1, group=1, '
    'data_format="NCHW"'
)
_CONV_3D = 'out_channel, kernel_size, mode=1, pad_mode="valid", pad=0, stride=1, dilation=1, group=1, data_format="NCDHW"'
_MASKS = "begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0"
_BOTH = "grad_x=True, grad_y=True"
_MEAN = 'reduction="mean"'
_RESIZE = "align_corners=False, half_pixel_centers=False"

# name -> (constructor, arguments of a call, the function that it is the derivative of)
_DERIVATIVES: dict[str, tuple[str, str, Function]] = {
    "ReluGrad": ("", "do", _activations.relu), "ReLU6Grad": ("", "do", _activations.relu6),
    "AbsGrad": ("", "od", _arithmetic.absolute), "ACosGrad": ("", "od", _unary.acos),
    "AsinGrad": ("", "od", _unary.asin), "AtanGrad": ("", "od", _unary.atan),
    "FastGeLUGrad": ("", "do", _activations.fast_gelu), "GeLUGrad": ("", "do_", lambda x: _activations.gelu(x, "tanh")),
    "HSigmoidGrad": ("", "do", _activations.hardsigmoid), "HSwishGrad": ("", "do", _activations.hardswish),
    "SiLUGrad": ("", "do", _activations.silu), "SoftplusGrad": ("", "do", _activations.softplus),
    "MishGradExt": ("", "do", _activations.mish),
    "PReLUGrad": ("", "doo", _activations.prelu), "HShrinkGrad": ("lambd=0.5", "do", _activations.hardshrink),
    "SoftShrinkGrad": ("lambd=0.5", "do", _activations.softshrink), "GluGrad": ("axis", "do", _activations.glu),
    "LogitGrad": ("eps=-1.0", "do", _unary.logit), "MvlgammaGrad": ("p", "do", _unary.mvlgamma),
    "BinaryCrossEntropyGrad": (_MEAN, "ocdc", _losses.binary_cross_entropy), "SoftMarginLossGrad": (
        _MEAN, "ocd", _losses.soft_margin_loss),
    "SmoothL1LossGrad": ('beta=1.0, reduction="none"', "ocd", _losses.smooth_l1_loss),
    "KLDivLossGrad": (_MEAN, "doc", _losses.kl_div), "MultiMarginLossGrad": (
        'p=1, margin=1.0, reduction="mean"', "docc", _class("MultiMarginLoss")),
    "MultilabelMarginLossGrad": (_MEAN, "doc_", _losses.multilabel_margin_loss),
    "NLLLossGrad": ('reduction="mean", ignore_index=-100', "odcc_", _nll),
    "SigmoidCrossEntropyWithLogitsGrad": ("", "ocd", _class("SigmoidCrossEntropyWithLogits")),
    "MaxPoolGrad": (_POOL, "o_d", _class("MaxPool")), "MaxPoolGradV1": (_POOL, "o_d", _class("MaxPool")),
    "AvgPoolGrad": (_POOL, "o_d", _class("AvgPool")), "AvgPoolGradV1": (_POOL, "sd", _class("AvgPool")),
    "MaxPool3DGrad": (_POOL_3D, "o_d", _class("MaxPool3D")),
    "AvgPool3DGrad": (
        ('kernel_size=1, strides=1, pads=0, ceil_mode=False, count_include_pad=True, divisor_override=0, data_format="NCDHW", '
        'pad_mode="pad"'), "sd", lambda x, *, pads, **how: _class("AvgPool3D")(x, pad=pads, **how)),
    "MaxPoolGradWithArgmaxV2": (
        "kernel_size, strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=int64", "odc",
        lambda x, at, **_: _scattered(x, at)),
    "AdaptiveMaxPool2DGrad": ("", "doc", _scattered), "AdaptiveMaxPool3DGrad": ("", "doc", _scattered),
    "L2NormalizeGrad": ("axis=0, epsilon=0.0001", "o_d", _class("L2Normalize")),
    "LRNGrad": ("depth_radius=5, bias=1.0, alpha=1.0, beta=0.5", "do_", _normalization.lrn),
    "RmsNormGrad": ("", "do_o", lambda x, gamma: _normalization.rms_norm(x, gamma)[0]),
    "FlattenGrad": ("", "ds", _shape.flatten), "SliceGrad": ("", "docc", _joining.slice_),
    "StridedSliceGrad": (_MASKS, "dsccc", _strided), "TraceGrad": ("", "ds", _diagonals.trace),
    "MaskedSelectGrad": ("", "ocd", _gather.masked_select), "GatherDGradV2": ("", "occd", _gather.gather_elements),
    "CdistGrad": ("p=2.0", "doc_", _statistics.cdist), "PdistGrad": ("p=2.0", "do_", _statistics.pdist),
    "MedianGrad": ("global_median=False, axis=0, keep_dims=False", "do__",
                   lambda x, **how: _class("Median")(x, **how)[0]),
    "MaximumGrad": (_BOTH, "ood", lambda x, y, **_: _binary.maximum(x, y)),
    "MinimumGrad": (_BOTH, "ood", lambda x, y, **_: _binary.minimum(x, y)),
    "GridSampler2DGrad": ('interpolation_mode="bilinear", padding_mode="zeros", align_corners=False, output_mask=(1, 1)',
                          "doo", _of(_resample.grid_sample, interpolation_mode="mode", output_mask="")),
    "GridSampler3DGrad": ('interpolation_mode="bilinear", padding_mode="zeros", align_corners=False, output_mask=(1, 1)',
                          "doo", _of(_resample.grid_sample, interpolation_mode="mode", output_mask="")),
}  # fmt: skip

ROWS: dict[str, tuple[str, Function]] = {
    **{name: (signature, _derivative(name, pattern, f)) for name, (signature, pattern, f) in _DERIVATIVES.items()},
    "AdaptiveAvgPool2DGrad": ("", _adaptive(2, _pooling.adaptive_avg_pool2d)),
    "AdaptiveAvgPool3DGrad": ("", _adaptive(3, _pooling.adaptive_avg_pool3d)),
    "SigmoidGrad": ("", _scaled(lambda y: y * (1.0 - y))), "TanhGrad": ("", _scaled(lambda y: 1.0 - y * y)),
    "ReciprocalGrad": ("", _scaled(lambda y: -(y * y))), "InvGrad": ("", _scaled(lambda y: -(y * y))),
    "RsqrtGrad": ("", _scaled(lambda y: y * y * y * -0.5)), "SqrtGrad": ("", _scaled(lambda y: 0.5 / y)),
    "AsinhGrad": ("", _scaled(lambda y: 1.0 / ew.cosh(y))), "AcoshGrad": ("", _scaled(lambda y: 1.0 / ew.sinh(y))),
    "EluGrad": ("", lambda dout, y: _gather.where(y > 0, dout, dout * (y + 1.0))),
    "LogSoftmaxGrad": ("axis=-1", lambda y, dout, *, axis: dout - ew.exp(y) * _reductions.sum(dout, axis, True)),
    "SoftmaxGrad": ("", lambda y, dout: y * (dout - _reductions.sum(y * dout, -1, True))),
    "DropoutGrad": ("keep_prob=0.5", lambda dout, mask, *, keep_prob: dout * mask / keep_prob),
    "Conv2DBackpropFilter": (_CONV, _weight_of_convolution), "Conv3DBackpropFilter": (_CONV_3D, _weight_of_convolution3d),
    "Conv3DBackpropInput": (_CONV_3D, _input_of_convolution3d), "BiasAddGrad": ('data_format="NCHW"', _bias),
    "BatchNormGrad": ('is_training=False, epsilon=1e-05, data_format="NCHW"', _batch_norm),
    "LayerNormGrad": ("begin_norm_axis=1, begin_params_axis=1", _layer_norm),
    "MirrorPadGrad": ('mode="REFLECT"', _mirrored), "UpsampleNearest3DGrad": ("", _upsampled("UpsampleNearest3D")),
    "UpsampleTrilinear3DGrad": ("align_corners=False", _upsampled("UpsampleTrilinear3D")),
    "ROIAlignGrad": ("pooled_height, pooled_width, spatial_scale, sample_num=2",
                     lambda dout, rois, shape, **how: _derivative("ROIAlignGrad", "dsc", _class("ROIAlign"))(
                         dout, shape, rois, **how)),
    "ResizeBilinearGrad": (_RESIZE, _resize_grad("bilinear")), "ResizeBicubicGrad": (_RESIZE, _resize_grad("bicubic")),
    "ResizeNearestNeighborGrad": (_RESIZE, _nearest_grad), "ResizeNearestNeighborV2Grad": (_RESIZE, _nearest_grad),
}  # fmt: skip
