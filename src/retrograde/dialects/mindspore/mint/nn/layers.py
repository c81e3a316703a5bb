"""The layers of `mindspore.mint.nn`: cells over the functions of `functional`, with torch-like parameters.

`_layer` makes those without weights from the signature of their constructor; a class is called what MindSpore prints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._dtype import float32, int64
from ..._layers import per_axis
from ..._parameter import Parameter
from ...common.initializer import Normal, Uniform, initializer
from ...nn._checks import positive_int
from ...nn.cell import Cell
from ...nn.layer import activation, basic, padding
from ...nn.layer.pooling import MaxUnpool2d
from ...ops.primitive import binder
from . import functional as F

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


class ZeroPad1d(padding.ConstantPad1d):
    """Zeros added at the ends of the last axis."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class ZeroPad3d(padding.ConstantPad3d):
    """Zeros added at the ends of the last three axes."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


# ------------------------------------------------------------------------------------------ without weights


def _layer(
    name: str, signature: str, f: Callable[..., Any], *, training: bool = False, shown: tuple[str, ...] = ()
) -> type[Cell]:
    """A cell over a function of tensors, which gets the options of the constructor by name, and the flag `training`.

    shown: the options that its text names.
    """
    bound = binder(name, signature)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Cell.__init__(self)
        options = bound(*args, **kwargs)
        self.__dict__.update(options, _options=options)

    def construct(self: Any, *tensors: Any) -> Any:
        return f(*tensors, **self._options, **({"training": self.training} if training else {}))

    def extend_repr(self: Any) -> str:
        return ", ".join(f"{key}={self._options[key]}" for key in shown)

    return type(name, (Cell,), {
        "__init__": __init__, "construct": construct, "extend_repr": extend_repr, "__module__": __name__,
        "__doc__": f"`{name}({signature})`: see functional.{f.__name__}.",
    })  # fmt: skip


def _between_corners(input: Any, size: Any, scale_factor: Any) -> Any:
    return F.interpolate(input, size, scale_factor, "bilinear", True)


AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = (
    _layer(f"AdaptiveAvgPool{n}d", "output_size", getattr(F, f"adaptive_avg_pool{n}d"), shown=("output_size",) * (n < 3))
    for n in (1, 2, 3)
)
AdaptiveMaxPool1d, AdaptiveMaxPool2d = (
    _layer(
        f"AdaptiveMaxPool{n}d", "output_size, return_indices=False", getattr(F, f"adaptive_max_pool{n}d"),
        shown=("output_size",) * (n < 2),
    )
    for n in (1, 2)
)  # fmt: skip
AvgPool1d = _layer(
    "AvgPool1dExt", "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True", F.avg_pool1d
)
AvgPool2d, AvgPool3d = (
    _layer(
        f"AvgPool{n}dExt",
        "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None", f,
    )
    for n, f in ((2, F.avg_pool2d), (3, F.avg_pool3d))
)  # fmt: skip
MaxPool2d = _layer(
    "MaxPool2dExt", "kernel_size=1, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
    F.max_pool2d,
)  # fmt: skip
Dropout = _layer("DropoutExt", "p=0.5, inplace=False", F.dropout, training=True)
Dropout2d = _layer("Dropout2dExt", "p=0.5, inplace=False", F.dropout2d, training=True)
ELU = _layer("ELU", "alpha=1.0, inplace=False", F.elu)
GELU = _layer("GELU", "approximate='none'", F.gelu)
GLU = _layer("GLU", "dim=-1", F.glu)
Hardtanh = _layer("Hardtanh", "min_val=-1.0, max_val=1.0, inplace=False", F.hardtanh)
LogSoftmax = _layer("LogSoftmaxExt", "dim=None", F.log_softmax)
ReLU6 = _layer("ReLU6", "inplace=False", F.relu6)
SELU = _layer("SELU", "", F.selu)
SiLU = _layer("SiLU", "inplace=False", F.silu)
Softmax = _layer("SoftmaxExt", "dim=None", F.softmax)
Threshold = _layer("Threshold", "threshold, value, inplace=False", F.threshold)
Fold = _layer("Fold", "output_size, kernel_size, dilation=1, padding=0, stride=1", F.fold)
Unfold = _layer("UnfoldExt", "kernel_size, dilation=1, padding=0, stride=1", F.unfold)
Upsample = _layer(
    "UpsampleExt", "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
    F.interpolate,
)  # fmt: skip
UpsamplingBilinear2d = _layer("UpsamplingBilinear2d", "size=None, scale_factor=None", _between_corners)
UpsamplingNearest2d = _layer("UpsamplingNearest2d", "size=None, scale_factor=None", F.interpolate)

BCELoss = _layer("BCELoss", "weight=None, reduction='mean'", F.binary_cross_entropy)
BCEWithLogitsLoss = _layer(
    "BCEWithLogitsLoss", "weight=None, reduction='mean', pos_weight=None", F.binary_cross_entropy_with_logits
)
CosineEmbeddingLoss = _layer("CosineEmbeddingLoss", "margin=0.0, reduction='mean'", F.cosine_embedding_loss)
CrossEntropyLoss = _layer(
    "CrossEntropyLoss", "weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0", F.cross_entropy
)
KLDivLoss = _layer("KLDivLoss", "reduction='mean', log_target=False", F.kl_div)
L1Loss = _layer("L1LossExt", "reduction='mean'", F.l1_loss)
MSELoss = _layer("MSELoss", "reduction='mean'", F.mse_loss)
NLLLoss = _layer("NLLLoss", "weight=None, ignore_index=-100, reduction='mean'", F.nll_loss)
SmoothL1Loss = _layer("SmoothL1Loss", "reduction='mean', beta=1.0", F.smooth_l1_loss)
SoftMarginLoss = _layer("SoftMarginLoss", "reduction='mean'", F.soft_margin_loss)


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

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, padding={self.padding}, dilation={self.dilation}, groups={self.groups}, "
            f"bias={self.bias is not None}"
        )


class Conv1d(_Conv):
    """The convolution of (N, C, L); padding is an int, 'valid' or 'same'."""

    _axes = 1


class Conv2d(_Conv):
    """The convolution of (N, C, H, W); padding is an int, one per axis, 'valid' or 'same'."""


class Conv3d(_Conv):
    """The convolution of (N, C, D, H, W); padding is an int, one per axis, 'valid' or 'same'."""

    _axes = 3


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

    def extend_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, padding_idx={self.padding_idx}, "
            f"max_norm={self.max_norm}, norm_type={self.norm_type}, scale_grad_by_freq={self.scale_grad_by_freq}, "
            f"dtype={self.dtype}"
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

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


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

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"


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

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) by the batch's statistics in training, by the running ones otherwise."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) by the batch's statistics in training, by the running ones otherwise."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Each channel of (N, C, D, H, W) by the batch's statistics in training, by the running ones otherwise."""

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation on the one device that there is, of any number of axes."""

    _ranks = (2, 3, 4, 5)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: str | None = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)


Embedding, LayerNorm, PReLU = EmbeddingExt, LayerNormExt, PReLUExt

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
