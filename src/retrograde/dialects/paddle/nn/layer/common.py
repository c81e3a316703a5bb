"""Linear layers, embeddings, dropout, padding, resampling and reshaping as layers."""

from __future__ import annotations

from typing import Any

from .....core.value import shape_of
from ..._dtype import get_default_dtype
from .. import functional as F
from ._simple import REQUIRED, layer_of
from .layers import Layer


class Linear(Layer):
    """x weight + bias, with a trained weight (in_features, out_features)."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for what, n in (("in_features", in_features), ("out_features", out_features)):
            if not isinstance(n, int):
                raise TypeError(f"Linear: {what} must be an int, got {type(n).__name__}")
        self.in_features, self.out_features, self.name = in_features, out_features, name
        self._dtype = get_default_dtype()
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """x weight + bias."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The features and the dtype."""
        name = f", name={self.name}" if self.name else ""
        return f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._dtype}{name}"


class Bilinear(Layer):
    """x1ᵀ W x2 + bias for each of the trained matrices (out, in1, in2)."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._in1_features, self._in2_features, self._out_features = in1_features, in2_features, out_features
        self._name, self._dtype = name, get_default_dtype()
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """The bilinear forms of the two inputs."""
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The features and the dtype."""
        name = f", name={self._name}" if self._name else ""
        return (f"in1_features={self._in1_features}, in2_features={self._in2_features}, "
                f"out_features={self._out_features}, dtype={self._dtype}{name}")  # fmt: skip


class Embedding(Layer):
    """The rows of a trained table that integers name; the row `padding_idx` is zeros and stays so."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, sparse: bool = False,
        weight_attr: Any = None, name: str | None = None, *, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, _weight: Any = None, _freeze: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ValueError(f"Embedding: sizes must be positive, got {num_embeddings} and {embedding_dim}")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx must be in [{-num_embeddings}, {num_embeddings - 1}]")
        self._num_embeddings, self._embedding_dim = num_embeddings, embedding_dim
        self._sparse, self._name = sparse, name
        self._given, self._padding_idx = padding_idx, (
            None if padding_idx is None else padding_idx % num_embeddings)  # fmt: skip
        self._max_norm, self._norm_type, self._by_frequency = max_norm, norm_type, scale_grad_by_freq
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, dtype, device=device)
        if _weight is not None:
            if list(shape_of(_weight)) != [num_embeddings, embedding_dim]:
                raise AssertionError(f"Embedding: _weight has shape {list(shape_of(_weight))}")
            self.weight.set_value(_weight)
        elif self._padding_idx is not None:
            array = self.weight.numpy().copy()
            array[self._padding_idx] = 0.0
            self.weight.set_value(array)
        if _freeze:
            self.weight.stop_gradient = True

    def forward(self, x: Any) -> Any:
        """The rows that x names."""
        return F.embedding(
            x, self.weight, self._padding_idx, self._max_norm, self._norm_type, self._sparse, self._by_frequency
        )

    def extra_repr(self) -> str:
        """The sizes and the row of padding."""
        padding = f", padding_idx={self._given}" if self._given is not None else ""
        name = f", name={self._name}" if self._name else ""
        return (f"{self._num_embeddings}, {self._embedding_dim}{padding}, sparse={self._sparse}, "
                f"scale_grad_by_freq={self._by_frequency}{name}")  # fmt: skip


class Identity(Layer):
    """The input itself, whatever the layer is made with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class Dropout(Layer):
    """In training each element 0 with probability p; with `axis` whole slices."""

    def __init__(
        self, p: Any = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None,
        inplace: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.p, self.axis, self.mode, self.name, self.inplace = p, axis, mode, name, inplace

    def forward(self, input: Any) -> Any:
        """The input with elements dropped, in training."""
        return F.dropout(input, self.p, self.axis, self.training, self.mode, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}, inplace={self.inplace}{name}"


Dropout2D = layer_of(
    "Dropout2D", F.dropout2d, "Dropout of whole channels of (N, C, H, W).", {"p": 0.5, "data_format": "NCHW"},
    in_training=True,
)  # fmt: skip
Dropout3D = layer_of(
    "Dropout3D", F.dropout3d, "Dropout of whole channels of (N, C, D, H, W).", {"p": 0.5, "data_format": "NCDHW"},
    in_training=True,
)  # fmt: skip
AlphaDropout = layer_of(
    "AlphaDropout", F.alpha_dropout, "Dropout that keeps mean and deviation for SELU.", {"p": 0.5}, in_training=True
)
FeatureAlphaDropout = layer_of(
    "FeatureAlphaDropout", F.feature_alpha_dropout, "AlphaDropout of whole channels.", {"p": 0.5}, in_training=True
)


# ------------------------------------------------------------------------------------------ shapes


def _flatten(x: Any, start_axis: int, stop_axis: int) -> Any:
    return x.flatten(start_axis, stop_axis)


def _unflatten(x: Any, axis: int, shape: Any) -> Any:
    return x.unflatten(axis, shape)


Flatten = layer_of(
    "Flatten", _flatten, "The axes from start_axis to stop_axis as one.", {"start_axis": 1, "stop_axis": -1}, shown=(),
    show_name=False,
)  # fmt: skip
Unflatten = layer_of("Unflatten", _unflatten, "One axis as several.", {"axis": REQUIRED, "shape": REQUIRED})
Unfold = layer_of(
    "Unfold", F.unfold, "The patches of images as columns.",
    {"kernel_sizes": REQUIRED, "dilations": 1, "paddings": 0, "strides": 1},
)  # fmt: skip
Fold = layer_of(
    "Fold", F.fold, "Columns of patches added up to images.",
    {"output_sizes": REQUIRED, "kernel_sizes": REQUIRED, "dilations": 1, "paddings": 0, "strides": 1},
)  # fmt: skip


def _geometry_repr(self: Any) -> str:
    own = self.__dict__
    return (f"kernel_size={own['_kernel_sizes']}, dilation={own['_dilations']}, padding={own['_paddings']}, "
            f"stride={own['_strides']}")  # fmt: skip


Unfold.extra_repr = Fold.extra_repr = _geometry_repr


def _check_factor(name: str) -> Any:
    def check(data_format: str, **factor: Any) -> None:
        for what, value in factor.items():
            if not isinstance(value, int):
                raise TypeError(f"{name}: {what} must be an int, got {type(value).__name__}")
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"{name}: data_format must be 'NCHW' or 'NHWC', got {data_format!r}")

    return check


PixelShuffle = layer_of(
    "PixelShuffle", F.pixel_shuffle, "Channels moved into space.",
    {"upscale_factor": REQUIRED, "data_format": "NCHW"}, shown=("upscale_factor",), check=_check_factor("PixelShuffle"),
)  # fmt: skip
PixelUnshuffle = layer_of(
    "PixelUnshuffle", F.pixel_unshuffle, "Space moved into channels.",
    {"downscale_factor": REQUIRED, "data_format": "NCHW"}, shown=("downscale_factor",),
    check=_check_factor("PixelUnshuffle"),
)  # fmt: skip
ChannelShuffle = layer_of(
    "ChannelShuffle", F.channel_shuffle, "The channels of groups dealt out in turn.",
    {"groups": REQUIRED, "data_format": "NCHW"}, shown=("groups",), check=_check_factor("ChannelShuffle"),
)  # fmt: skip
CosineSimilarity = layer_of(
    "CosineSimilarity", F.cosine_similarity, "The cosine of the angle between vectors.", {"axis": 1, "eps": 1e-8},
    show_name=False,
)  # fmt: skip
PairwiseDistance = layer_of(
    "PairwiseDistance", F.pairwise_distance, "The p-norm of the difference.",
    {"p": 2.0, "epsilon": 1e-6, "keepdim": False}, shown=("p",), changed=("epsilon", "keepdim"),
)  # fmt: skip


# ------------------------------------------------------------------------------------------ resampling


class Upsample(Layer):
    """Images resampled to a size or by a factor."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False,
        align_mode: int = 0, data_format: str | None = None, name: str | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode.lower()
        self.align_corners, self.align_mode, self.data_format = align_corners, align_mode, data_format
        self.recompute_scale_factor, self._name = recompute_scale_factor, name

    def forward(self, x: Any) -> Any:
        """The resampled image; a layout that was not given is the usual one of the input's dimensions from now on."""
        if self.data_format is None:
            self.data_format = {3: "NCW", 4: "NCHW", 5: "NCDHW"}.get(len(shape_of(x)))
        return F.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.align_mode, self.data_format,
            self.recompute_scale_factor,
        )  # fmt: skip

    def _target(self) -> str:
        return f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}"

    def extra_repr(self) -> str:
        """The size or factor and the options."""
        return (f"{self._target()}, mode={self.mode}, align_corners={self.align_corners}, "
                f"align_mode={self.align_mode}, data_format={self.data_format}")  # fmt: skip


class UpsamplingNearest2D(Upsample):
    """Images resampled by the nearest element."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(size, scale_factor, "nearest", False, 0, data_format, name)

    def extra_repr(self) -> str:
        """The size or factor."""
        return f"{self._target()}, data_format={self.data_format}"


class UpsamplingBilinear2D(UpsamplingNearest2D):
    """Images resampled bilinearly with aligned corners."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(size, scale_factor, data_format, name)
        self.mode, self.align_corners = "bilinear", True


# ------------------------------------------------------------------------------------------ padding


class _Pad(Layer):
    """What the paddings share."""

    _axes: int
    _default_format: str

    def __init__(
        self, padding: Any, mode: str = "constant", value: float = 0.0, data_format: str | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._pad = [padding] * (2 * self._axes) if isinstance(padding, int) else padding
        self._mode, self._value, self._name = mode, value, name
        self._data_format = self._default_format if data_format is None else data_format

    def forward(self, x: Any) -> Any:
        """The padded input."""
        return F.pad(x, self._pad, self._mode, self._value, self._data_format)

    def extra_repr(self) -> str:
        """The widths and the mode."""
        name = f", name={self._name}" if self._name else ""
        return (f"padding={self._pad}, mode={self._mode}, value={self._value}, "
                f"data_format={self._data_format}{name}")  # fmt: skip


class Pad1D(_Pad):
    """Signals (N, C, L) with elements added at their ends."""

    _axes, _default_format = 1, "NCL"


class Pad2D(_Pad):
    """Images (N, C, H, W) with elements added around them."""

    _axes, _default_format = 2, "NCHW"


class Pad3D(_Pad):
    """Volumes (N, C, D, H, W) with elements added around them."""

    _axes, _default_format = 3, "NCDHW"


def _padding(prefix: str, base: type[_Pad], mode: str) -> Any:
    """A padding whose mode is fixed."""
    if prefix == "Constant":

        def __init__(self: Any, padding: Any, value: float, data_format: str | None = None,
                     name: str | None = None) -> None:  # fmt: skip
            base.__init__(self, padding, mode, value, data_format, name)
    else:

        def __init__(self: Any, padding: Any, data_format: str | None = None,  # type: ignore[misc]
                     name: str | None = None) -> None:  # fmt: skip
            base.__init__(self, padding, mode, 0.0, data_format, name)

    text = f"`{base.__name__}` with mode {mode!r}."
    return type(prefix + base.__name__, (base,), {"__init__": __init__, "__doc__": text, "__module__": __name__})


ZeroPad1D, ZeroPad2D, ZeroPad3D = (_padding("Zero", base, "constant") for base in (Pad1D, Pad2D, Pad3D))
ConstantPad1D, ConstantPad2D, ConstantPad3D = (_padding("Constant", base, "constant") for base in (Pad1D, Pad2D, Pad3D))
ReflectionPad1D, ReflectionPad2D, ReflectionPad3D = (
    _padding("Reflection", base, "reflect") for base in (Pad1D, Pad2D, Pad3D)
)
ReplicationPad1D, ReplicationPad2D, ReplicationPad3D = (
    _padding("Replication", base, "replicate") for base in (Pad1D, Pad2D, Pad3D)
)
CircularPad1D, CircularPad2D, CircularPad3D = (_padding("Circular", base, "circular") for base in (Pad1D, Pad2D, Pad3D))
