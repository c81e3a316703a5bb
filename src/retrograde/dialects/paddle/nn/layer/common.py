"""Linear layers, embeddings, dropout, padding, resampling and reshaping as layers."""

from __future__ import annotations

from typing import Any

from .....core.value import shape_of
from ...._shared.layers import shown
from ..._dtype import get_default_dtype
from .. import functional as F
from ._row import layer, public
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

    extra_repr = shown("in_features, out_features, dtype:_dtype, name?")


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

    extra_repr = shown("in1_features, in2_features, out_features, dtype, name?", private=True)


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

    extra_repr = shown(
        "=num_embeddings, =embedding_dim, padding_idx:given?None, sparse, scale_grad_by_freq:by_frequency, name?", private=True
    )


class Identity(Layer):
    """The input itself, whatever the layer is made with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


_RATE = "p: Any = 0.5"
Dropout = public(
    "Dropout", f"{_RATE}, axis: Any = None, mode: str = 'upscale_in_train', name: str | None = None, inplace: bool = False",
    lambda self, input: F.dropout(input, self.p, self.axis, self.training, self.mode, self.inplace),
    "In training each element 0 with probability p; with `axis` whole slices.", named=False,
)  # fmt: skip
Dropout2D = layer("Dropout2D", f"{_RATE}, data_format='NCHW'", F.dropout2d, training=True)
Dropout3D = layer("Dropout3D", f"{_RATE}, data_format='NCDHW'", F.dropout3d, training=True)
AlphaDropout = layer("AlphaDropout", _RATE, F.alpha_dropout, training=True)
FeatureAlphaDropout = layer("FeatureAlphaDropout", _RATE, F.feature_alpha_dropout, training=True)


# ------------------------------------------------------------------------------------------ shapes


def _geometry(self: Any) -> str:
    """The window."""
    return (f"kernel_size={self._kernel_sizes}, dilation={self._dilations}, padding={self._paddings}, "
            f"stride={self._strides}")  # fmt: skip


def _check_factor(shuffle: Any) -> None:
    name, factor = type(shuffle).__name__, getattr(shuffle, "_" + shuffle._factor)
    if not isinstance(factor, int):
        raise TypeError(f"{name}: {shuffle._factor} must be an int, got {type(factor).__name__}")
    if shuffle._data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"{name}: data_format must be 'NCHW' or 'NHWC', got {shuffle._data_format!r}")


def _shuffle(name: str, factor: str, f: Any, doc: str) -> Any:
    return layer(name, f"{factor}, data_format='NCHW'", f, doc, shows=factor, then=_check_factor, _factor=factor)


Flatten = layer(
    "Flatten", "start_axis=1, stop_axis=-1", lambda self, x: x.flatten(self._start_axis, self._stop_axis),
    "The axes from start_axis to stop_axis as one.", shows=False, named=False,
)  # fmt: skip
Unflatten = layer(
    "Unflatten", "axis, shape", lambda self, x: x.unflatten(self._axis, self._shape), "One axis as several."
)
Unfold = layer("Unfold", "kernel_sizes, dilations=1, paddings=0, strides=1", F.unfold, shows=_geometry)
Fold = layer("Fold", "output_sizes, kernel_sizes, dilations=1, paddings=0, strides=1", F.fold, shows=_geometry)
PixelShuffle = _shuffle("PixelShuffle", "upscale_factor", F.pixel_shuffle, "Channels moved into space.")
PixelUnshuffle = _shuffle("PixelUnshuffle", "downscale_factor", F.pixel_unshuffle, "Space moved into channels.")
ChannelShuffle = _shuffle("ChannelShuffle", "groups", F.channel_shuffle, "The channels of groups dealt out in turn.")
CosineSimilarity = layer("CosineSimilarity", "axis=1, eps=1e-8", F.cosine_similarity, named=False)
PairwiseDistance = layer(
    "PairwiseDistance", "p=2.0, epsilon=1e-6, keepdim=False", F.pairwise_distance, shows="p, epsilon?, keepdim?"
)


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


def _upsampling(name: str, doc: str, **fixed: Any) -> Any:
    return layer(
        name, "size: Any = None, scale_factor: Any = None, data_format: str = 'NCHW'", None, doc, base=Upsample,
        fixed=fixed, shows=lambda self: f"{self._target()}, data_format={self.data_format}",
    )  # fmt: skip


UpsamplingNearest2D = _upsampling("UpsamplingNearest2D", "Images resampled by the nearest element.", mode="nearest")
UpsamplingBilinear2D = _upsampling(
    "UpsamplingBilinear2D", "Images resampled bilinearly with aligned corners.", mode="bilinear", align_corners=True
)


# ------------------------------------------------------------------------------------------ padding


def _complete(pad: Any) -> None:
    own, padding = pad.__dict__, pad.__dict__.pop("_padding")
    own["_pad"] = [padding] * (2 * pad._axes) if isinstance(padding, int) else padding
    own["_data_format"] = own["_data_format"] or pad._layout


def _widths(pad: Any) -> str:
    """The widths and the mode."""
    name = f", name={pad._name}" if pad._name else ""
    return f"padding={pad._pad}, mode={pad._mode}, value={pad._value}, data_format={pad._data_format}{name}"


Pad1D, Pad2D, Pad3D = (
    layer(
        f"Pad{n}D", "padding: Any, mode: str = 'constant', value: float = 0.0, data_format: str | None = None",
        lambda self, x: F.pad(x, self._pad, self._mode, self._value, self._data_format), doc, shows=_widths,
        then=_complete, _axes=n, _layout=layout,
    )
    for n, layout, doc in (
        (1, "NCL", "Signals (N, C, L) with elements added at their ends."),
        (2, "NCHW", "Images (N, C, H, W) with elements added around them."),
        (3, "NCDHW", "Volumes (N, C, D, H, W) with elements added around them."),
    )
)  # fmt: skip


def _padding(prefix: str, mode: str, value: str = "") -> Any:
    """The paddings whose mode is fixed."""
    fixed = {"mode": mode} if value else {"mode": mode, "value": 0.0}
    return (
        layer(
            prefix + base.__name__, f"padding: Any, {value}data_format: str | None = None", None,
            f"`{base.__name__}` with mode {mode!r}.", base=base, fixed=fixed, shows=_widths,
        )
        for base in (Pad1D, Pad2D, Pad3D)
    )  # fmt: skip


ZeroPad1D, ZeroPad2D, ZeroPad3D = _padding("Zero", "constant")
ConstantPad1D, ConstantPad2D, ConstantPad3D = _padding("Constant", "constant", "value: float, ")
ReflectionPad1D, ReflectionPad2D, ReflectionPad3D = _padding("Reflection", "reflect")
ReplicationPad1D, ReplicationPad2D, ReplicationPad3D = _padding("Replication", "replicate")
CircularPad1D, CircularPad2D, CircularPad3D = _padding("Circular", "circular")
