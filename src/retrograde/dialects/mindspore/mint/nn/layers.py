"""The layers of `mindspore.mint.nn`: cells over the functions of `functional`, with torch-like parameters.

A class is called what MindSpore prints. What a layer without weights does, its function's docstring says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...._shared.documents import documented
from ...._shared.layers import Layers, shown
from ...._shared.spatial import classes_of_axes
from ..._api import missing
from ..._dtype import float32, int64
from ..._parameter import Parameter
from ..._sizes import per_axis
from ...common.initializer import Normal, Uniform, initializer
from ...nn._checks import positive_int
from ...nn.cell import Cell
from ...nn.layer import activation, basic, padding
from ...nn.layer.pooling import MaxUnpool2d
from . import functional as F

layer = Layers(Cell, forward="construct", text="extend_repr", functions=F, inputs="*tensors")

Identity, Linear = basic.Identity, basic.Linear
Hardshrink, Hardsigmoid, Hardswish = activation.HShrink, activation.HSigmoid, activation.HSwish
LogSigmoid, Mish, ReLU = activation.LogSigmoid, activation.Mish, activation.ReLU
Sigmoid, Softshrink, Tanh = activation.Sigmoid, activation.SoftShrink, activation.Tanh
Flatten, PixelShuffle, ZeroPad2d = basic.Flatten, padding.PixelShuffle, padding.ZeroPad2d
ConstantPad1d, ConstantPad2d, ConstantPad3d = padding.ConstantPad1d, padding.ConstantPad2d, padding.ConstantPad3d
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    padding.ReflectionPad1d, padding.ReflectionPad2d, padding.ReflectionPad3d
)  # fmt: skip
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    padding.ReplicationPad1d, padding.ReplicationPad2d, padding.ReplicationPad3d
)  # fmt: skip


ZeroPad1d, ZeroPad3d = (
    layer(f"ZeroPad{n}d", "padding: Any", None, f"Zeros added at the ends of the last {which}.", base=base, fixed={"value": 0})
    for n, which, base in ((1, "axis", ConstantPad1d), (3, "three axes", ConstantPad3d))
)


# ------------------------------------------------------------------------------------------ without weights


def _layers(name: str, options: str, f: str, axes: tuple[int, ...], shown: tuple[int, ...] = ()) -> Iterator[Any]:
    """Layers for so many axes; `shown`: those whose text says the size of the output."""
    return (
        layer(name.format(n), options, getattr(F, f"{f}{n}d"), shows="output_size" if n in shown else False) for n in axes
    )


_WINDOW = "stride=None, padding=0, ceil_mode=False, count_include_pad=True"
_INPLACE, _REDUCTION, _TARGET = "inplace: bool = False", "reduction: str = 'mean'", "size=None, scale_factor=None"
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = _layers(
    "AdaptiveAvgPool{}d", "output_size", "adaptive_avg_pool", (1, 2, 3), (1, 2)
)
AdaptiveMaxPool1d, AdaptiveMaxPool2d = _layers(
    "AdaptiveMaxPool{}d", "output_size, return_indices: bool = False", "adaptive_max_pool", (1, 2), (1,)
)
AvgPool1d = layer("AvgPool1dExt", f"kernel_size, {_WINDOW}", F.avg_pool1d)
AvgPool2d, AvgPool3d = _layers("AvgPool{}dExt", f"kernel_size, {_WINDOW}, divisor_override=None", "avg_pool", (2, 3))
MaxPool2d = layer(
    "MaxPool2dExt", "kernel_size=1, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
    F.max_pool2d,
)  # fmt: skip
Dropout = layer("DropoutExt", f"p: float = 0.5, {_INPLACE}", F.dropout, training=True)
Dropout2d = layer("Dropout2dExt", f"p: float = 0.5, {_INPLACE}", F.dropout2d, training=True)
ELU = layer("ELU", f"alpha: float = 1.0, {_INPLACE}", F.elu)
GELU = layer("GELU", "approximate: str = 'none'", F.gelu)
GLU = layer("GLU", "dim: int = -1", F.glu)
Hardtanh = layer("Hardtanh", f"min_val=-1.0, max_val=1.0, {_INPLACE}", F.hardtanh)
LogSoftmax = layer("LogSoftmaxExt", "dim=None", F.log_softmax)
ReLU6 = layer("ReLU6", _INPLACE, F.relu6)
SELU = layer("SELU", "", F.selu)
SiLU = layer("SiLU", _INPLACE, F.silu)
Softmax = layer("SoftmaxExt", "dim=None", F.softmax)
Threshold = layer("Threshold", f"threshold, value, {_INPLACE}", F.threshold)
Fold = layer("Fold", "output_size, kernel_size, dilation=1, padding=0, stride=1", F.fold)
Unfold = layer("UnfoldExt", "kernel_size, dilation=1, padding=0, stride=1", F.unfold)
Upsample = layer(
    "UpsampleExt", f"{_TARGET}, mode='nearest', align_corners=None, recompute_scale_factor=None", F.interpolate
)
UpsamplingBilinear2d = layer(
    "UpsamplingBilinear2d", _TARGET, lambda self, input: F.interpolate(input, self.size, self.scale_factor, "bilinear", True),
    "(N, C, H, W) resampled bilinearly with aligned corners.",
)  # fmt: skip
UpsamplingNearest2d = layer("UpsamplingNearest2d", _TARGET, F.interpolate)

BCELoss = layer("BCELoss", f"weight=None, {_REDUCTION}", F.binary_cross_entropy)
BCEWithLogitsLoss = layer(
    "BCEWithLogitsLoss", f"weight=None, {_REDUCTION}, pos_weight=None", F.binary_cross_entropy_with_logits
)
CosineEmbeddingLoss = layer("CosineEmbeddingLoss", f"margin: float = 0.0, {_REDUCTION}", F.cosine_embedding_loss)
CrossEntropyLoss = layer(
    "CrossEntropyLoss", f"weight=None, ignore_index=-100, {_REDUCTION}, label_smoothing=0.0", F.cross_entropy
)
KLDivLoss = layer("KLDivLoss", f"{_REDUCTION}, log_target=False", F.kl_div)
L1Loss = layer("L1LossExt", _REDUCTION, F.l1_loss)
MSELoss = layer("MSELoss", _REDUCTION, F.mse_loss)
NLLLoss = layer("NLLLoss", f"weight=None, ignore_index=-100, {_REDUCTION}", F.nll_loss)
SmoothL1Loss = layer("SmoothL1Loss", f"{_REDUCTION}, beta=1.0", F.smooth_l1_loss)
SoftMarginLoss = layer("SoftMarginLoss", _REDUCTION, F.soft_margin_loss)


# ------------------------------------------------------------------------------------------ with weights


class PReLUExt(Cell):
    """x above 0, a trained slope times x below: one slope, or one per channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = positive_int("PReLU", "num_parameters", num_parameters)
        self.weight = Parameter(initializer(float(init), [num_parameters], dtype or float32), name="weight")

    def construct(self, input: Any) -> Any:
        return F.prelu(input, self.weight)


class _Conv(Cell):
    _axes = 2
    _transposed = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name, axes = type(self).__name__, self._axes
        for label, value in (("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups)):
            positive_int(name, label, value)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{name}: {in_channels} and {out_channels} channels are not divisible into {groups} groups")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"{name}: padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular', got {padding_mode!r}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_axis(name, "kernel_size", kernel_size, axes)
        self.stride, self.dilation = per_axis(name, "stride", stride, axes), per_axis(name, "dilation", dilation, axes)
        self.padding = padding if isinstance(padding, str) else per_axis(name, "padding", padding, axes)
        self.padding_mode = padding_mode
        channels = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        self.weight = basic.weight_parameter(None, (*channels, *self.kernel_size), dtype or float32)
        bound = Uniform(basic.fan_in_bound(self.weight.shape))
        self.bias: Any = basic.bias_parameter(bound, out_channels, dtype or float32) if bias else None

    def construct(self, input: Any) -> Any:
        padding: Any = self.padding
        if self.padding_mode != "zeros" and not isinstance(padding, str):
            input = F.pad(input, [n for p in reversed(padding) for n in (p, p)], mode=self.padding_mode)
            padding = 0
        f = getattr(F, f"conv{self._axes}d")
        return f(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    extend_repr = shown(
        "input_channels:in_channels, output_channels:out_channels, kernel_size, stride, padding, dilation, groups, bias!",
        "extend_repr",
    )


Conv1d, Conv2d, Conv3d = classes_of_axes(
    _Conv, "Conv{}d", "The convolution of {x}; padding is an int, one per axis, 'valid' or 'same'."
)


class ConvTranspose2d(_Conv):
    """The transposed convolution of (N, C, H, W); raises ValueError for a padding_mode other than 'zeros'."""

    _transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f"ConvTranspose2d: padding_mode must be 'zeros', got {padding_mode!r}")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, "zeros", dtype)
        self.output_padding = per_axis("ConvTranspose2d", "output_padding", output_padding, 2)

    def construct(self, input: Any) -> Any:
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


class EmbeddingExt(Cell):
    """The rows of a table (num_embeddings, embedding_dim) that integers name; that at padding_idx gets no gradient."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if sparse:
            raise NotImplementedError("Embedding: sparse gradients are not supported; use sparse=False")
        self.num_embeddings = positive_int("Embedding", "num_embeddings", num_embeddings)
        self.embedding_dim = positive_int("Embedding", "embedding_dim", embedding_dim)
        self.dtype = dtype or float32
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx {padding_idx} is out of range for {num_embeddings} rows")
        shape = (num_embeddings, embedding_dim)
        if _weight is not None and _weight.shape != shape:
            raise ValueError(f"Embedding: _weight must have shape {shape}, got {_weight.shape}")
        start = initializer(Normal(1.0, 0.0) if _weight is None else _weight, shape, self.dtype)
        self.weight = Parameter(start, name="weight", requires_grad=not _freeze)
        if padding_idx is not None and _weight is None:
            self.weight._a[padding_idx] = 0

    def construct(self, input: Any) -> Any:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )

    extend_repr = shown(
        "num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, dtype", "extend_repr"
    )


def _scale_and_shift(self: Any, shape: tuple[int, ...], dtype: Any, scaled: bool, shifted: bool) -> None:
    self.weight = Parameter(initializer("ones", shape, dtype or float32), name="weight") if scaled else None
    self.bias = Parameter(initializer("zeros", shape, dtype or float32), name="bias") if shifted else None


class LayerNormExt(Cell):
    """By the statistics over the last axes, which have the shape given."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        _scale_and_shift(self, shape, dtype, elementwise_affine, elementwise_affine and bias)

    def construct(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    extend_repr = shown("normalized_shape, eps, elementwise_affine", "extend_repr")


class GroupNorm(Cell):
    """By the statistics of groups of channels."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_groups = positive_int("GroupNorm", "num_groups", num_groups)
        self.num_channels = positive_int("GroupNorm", "num_channels", num_channels)
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels are not divisible into {num_groups} groups")
        self.eps, self.affine = eps, affine
        _scale_and_shift(self, (num_channels,), dtype, affine, affine)

    def construct(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    extend_repr = shown("num_groups, num_channels, eps, affine", "extend_repr")


class _BatchNorm(Cell):
    _ranks: tuple[int, ...] = ()

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features = positive_int(type(self).__name__, "num_features", num_features)
        self.eps, self.momentum, self.affine, self.track_running_stats = eps, momentum, affine, track_running_stats
        shape = (num_features,)
        _scale_and_shift(self, shape, dtype, affine, affine)
        for name, init, sizes, kind in (
            ("running_mean", "zeros", shape, dtype or float32), ("running_var", "ones", shape, dtype or float32),
            ("num_batches_tracked", "zeros", (), int64),
        ):  # fmt: skip
            kept = Parameter(initializer(init, sizes, kind), name=name, requires_grad=False) if track_running_stats else None
            setattr(self, name, kept)

    def construct(self, input: Any) -> Any:
        if input.ndim not in self._ranks:
            raise ValueError(
                f"{type(self).__name__}: wanted {' or '.join(map(str, self._ranks))} axes, got shape {input.shape}"
            )
        share = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.set_data(self.num_batches_tracked + 1)
            if share is None:  # the mean over all batches
                share = 1.0 / int(self.num_batches_tracked)
        return F.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, share or 0.0, self.eps,
        )  # fmt: skip

    extend_repr = shown("num_features, eps, momentum, affine, track_running_stats", "extend_repr")


BatchNorm1d, BatchNorm2d, BatchNorm3d = classes_of_axes(
    _BatchNorm, "BatchNorm{}d", "Each channel of {x} by the batch's statistics in training, by the running ones otherwise.",
    _ranks={1: (2, 3), 2: (4,), 3: (5,)},
)  # fmt: skip


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation on the one device that there is, of any number of axes."""

    _ranks = (2, 3, 4, 5)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: str | None = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)


Embedding, LayerNorm, PReLU = EmbeddingExt, LayerNormExt, PReLUExt


def __getattr__(name: str) -> Any:
    if name.endswith("Ext") and name[:-3] in globals():  # what a pickle calls the class
        return globals()[name[:-3]]
    raise missing("mindspore.mint.nn.layers", name, globals())


__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AvgPool1d", "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d",
    "BatchNorm3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Conv1d", "Conv2d", "Conv3d",
    "ConvTranspose2d", "CosineEmbeddingLoss", "CrossEntropyLoss", "Dropout", "Dropout2d", "ELU", "Embedding",
    "Flatten", "Fold", "GELU", "GLU", "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity",
    "KLDivLoss", "L1Loss", "LayerNorm", "Linear", "LogSigmoid", "LogSoftmax", "MSELoss", "MaxPool2d", "MaxUnpool2d",
    "Mish", "NLLLoss", "PReLU", "PixelShuffle", "ReLU", "ReLU6", "ReflectionPad1d", "ReflectionPad2d",
    "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "SELU", "SiLU", "Sigmoid",
    "SmoothL1Loss", "SoftMarginLoss", "Softmax", "Softshrink", "SyncBatchNorm", "Tanh", "Threshold", "Unfold",
    "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

documented(globals(), [name for name in globals() if name[0].isupper()], Cell)
