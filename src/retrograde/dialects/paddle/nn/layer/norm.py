"""Normalisation layers."""

from __future__ import annotations

import math
from typing import Any

from .....core.value import ndim_of, shape_of
from .....learn.layers.reparametrise import as_matrix, power_iterations, spectral_norm
from ...._shared.layers import shown
from ...._shared.spatial import classes_of_axes
from ..._api import aliases
from ..._parameter import ParamAttr
from .. import functional as F
from ..initializer import Constant, Normal
from ._row import layer
from .layers import Layer

_RANKS, _FORMATS = ((), (2, 3), (4,), (5,)), ("NCHW", "NCL", "NCHW", "NCDHW")
"""How many dimensions a layer takes, and its layout, by the number of axes in space; with 0 it takes any number."""


def _check_rank(layer: Any, x: Any) -> None:
    """Raise ValueError for a number of dimensions that a layer does not take."""
    ranks = _RANKS[layer._axes]
    if ranks and ndim_of(x) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ValueError(f"{type(layer).__name__}: wanted {wanted} dimensions, got shape {list(shape_of(x))}")


class _BatchNorm(Layer):
    """What the batch normalisations share: (x - mean) / sqrt(var + epsilon) * weight + bias per channel.

    In training the running `_mean` and `_variance` become momentum * old + (1 - momentum) * the batch's.
    """

    _axes = 0

    def __init__(
        self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str | None = None, use_global_stats: bool | None = None,
        name: str | None = None, *, dtype: Any = None, _names: tuple[str | None, str | None] = (None, None),
    ) -> None:  # fmt: skip
        super().__init__()
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self._data_format = _FORMATS[self._axes] if data_format is None else data_format
        self._use_global_stats, self._name = use_global_stats, name
        shape = [num_features]
        self.weight = self.create_parameter(shape, weight_attr, dtype, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(shape, bias_attr, dtype, is_bias=True)
        mean, variance = (
            ParamAttr(own, Constant(value), trainable=False) for own, value in zip(_names, (0.0, 1.0))
        )  # fmt: skip
        self._mean = self.create_parameter(shape, mean, dtype)
        self._variance = self.create_parameter(shape, variance, dtype)

    def forward(self, input: Any) -> Any:
        """The normalised input; raises ValueError for another number of dimensions."""
        _check_rank(self, input)
        # From the first call on a layout only says whether the channels are last; the text of the layer shows it.
        last = self._data_format.endswith("C") and self._data_format != "NC"
        self._data_format = "NHWC" if last else "NCHW"
        return F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, self.training, self._momentum, self._epsilon,
            self._data_format if ndim_of(input) > 2 else "NC", self._use_global_stats,
        )  # fmt: skip

    extra_repr = shown("num_features, momentum, epsilon, data_format?'NCHW', name?", private=True)


BatchNorm1D, BatchNorm2D, BatchNorm3D = classes_of_axes(_BatchNorm, "BatchNorm{}D", "Batch normalisation of {x}.")


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all devices, of which there is one here."""

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with each BatchNorm1D, 2D and 3D in it as a SyncBatchNorm of the same parameters and statistics."""
        if isinstance(layer, (BatchNorm1D, BatchNorm2D, BatchNorm3D)):
            made = cls(
                layer._num_features, layer._momentum, layer._epsilon, layer._weight_attr, layer._bias_attr,
                layer._data_format, name=layer._name,
            )  # fmt: skip
            for name in ("weight", "bias", "_mean", "_variance"):
                if getattr(layer, name) is not None:
                    setattr(made, name, getattr(layer, name))
            return made
        for name, child in list(layer.named_children()):
            setattr(layer, name, cls.convert_sync_batchnorm(child))
        return layer


class BatchNorm(_BatchNorm):
    """Batch normalisation of any number of dimensions, with an activation behind it if `act` names one.

    in_place and do_model_average_for_mean_and_var change nothing.
    """

    def __init__(
        self, num_channels: int, act: str | None = None, is_test: bool = False, momentum: float = 0.9,
        epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None, dtype: Any = "float32",
        data_layout: str = "NCHW", in_place: bool = False, moving_mean_name: str | None = None,
        moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False, trainable_statistics: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            num_channels, momentum, epsilon, param_attr, bias_attr, data_layout, use_global_stats or None, dtype=dtype,
            _names=(moving_mean_name, moving_variance_name),
        )  # fmt: skip
        self._act, self._is_test, self._by_batch = act, is_test, trainable_statistics

    def forward(self, input: Any) -> Any:
        """The normalised input, activated."""
        training = (self.training or self._by_batch) and not self._is_test
        out = F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, training, self._momentum, self._epsilon,
            self._data_format if ndim_of(input) > 2 else "NC", self._use_global_stats,
        )  # fmt: skip
        return out if self._act is None else getattr(F, self._act)(out)

    def extra_repr(self) -> str:
        """Nothing: the text has the name only."""
        return ""


class _InstanceNorm(Layer):
    """What the instance normalisations share: each channel of each element by its own statistics.

    There are no running statistics, so `momentum` changes nothing.
    """

    _axes = 0

    def __init__(
        self, num_features: int, epsilon: float = 1e-05, momentum: float = 0.9, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise AssertionError(f"{type(self).__name__}: weight_attr and bias_attr must both be False, or neither")
        self._num_features, self._epsilon = num_features, epsilon
        self._data_format, self._name = _FORMATS[self._axes] if data_format is None else data_format, name
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """The normalised input; raises ValueError for another number of dimensions."""
        _check_rank(self, input)
        return F.instance_norm(
            input, weight=self.scale, bias=self.bias, eps=self._epsilon,
            data_format=self._data_format if ndim_of(input) > 2 else "NC",
        )  # fmt: skip

    extra_repr = shown("num_features, epsilon", private=True)


InstanceNorm1D, InstanceNorm2D, InstanceNorm3D = classes_of_axes(
    _InstanceNorm, "InstanceNorm{}D", "Instance normalisation of {x}."
)


class LayerNorm(Layer):
    """(x - mean) / sqrt(var + epsilon) * weight + bias over the last axes; weight and bias are flat."""

    @aliases(eps="epsilon")
    def __init__(
        self, normalized_shape: Any, epsilon: float = 1e-05, weight_attr: Any = None, bias_attr: Any = None,
        name: str | None = None, *, elementwise_affine: bool = True, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        if not all(isinstance(n, int) for n in sizes):
            raise TypeError(f"LayerNorm: normalized_shape must be an int or a list of them, got {normalized_shape!r}")
        self._normalized_shape, self._epsilon = sizes, epsilon
        count = [math.prod(sizes)]
        with_bias = elementwise_affine and bias
        self.weight = self.create_parameter(
            count, weight_attr if elementwise_affine else False, dtype, False, Constant(1.0), device
        )
        self.bias = self.create_parameter(count, bias_attr if with_bias else False, dtype, True, device=device)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    extra_repr = shown("normalized_shape, epsilon", private=True)


class GroupNorm(Layer):
    """(x - mean) / sqrt(var + epsilon) * weight + bias, the statistics over groups of channels."""

    @aliases(eps="epsilon")
    def __init__(
        self, num_groups: int, num_channels: int, epsilon: float = 1e-05, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str = "NCHW", name: str | None = None, *, affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._num_groups, self._num_channels, self._epsilon = num_groups, num_channels, epsilon
        self._data_format = data_format
        self.weight = self.create_parameter(
            [num_channels], weight_attr if affine else False, dtype, False, Constant(1.0), device
        )
        self.bias = self.create_parameter([num_channels], bias_attr if affine else False, dtype, True, device=device)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    extra_repr = shown("num_groups, num_channels, epsilon", private=True)


LocalResponseNorm = layer(
    "LocalResponseNorm", "size, alpha=0.0001, beta=0.75, k=1.0, data_format='NCHW'", F.local_response_norm,
    shows="size, alpha, beta, k",
)  # fmt: skip


class SpectralNorm(Layer):
    """A weight over its largest singular value, which power iteration estimates: called with the weight."""

    def __init__(
        self, weight_shape: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: Any = "float32"
    ) -> None:
        super().__init__()
        self._shape, self._dim, self._power_iters, self._eps = tuple(weight_shape), dim, power_iters, eps
        if not -len(self._shape) <= dim < len(self._shape):
            raise AssertionError(f"SpectralNorm: dim {dim} is out of range for a weight of {len(self._shape)} axes")
        rows = self._shape[dim]
        columns = math.prod(self._shape) // rows
        for name, n in (("weight_u", rows), ("weight_v", columns)):
            attr = ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
            setattr(self, name, self.create_parameter([n], attr, dtype))

    def forward(self, x: Any) -> Any:
        """The weight over its largest singular value."""
        if tuple(shape_of(x)) != self._shape:
            raise ValueError(f"SpectralNorm: wanted a weight of shape {list(self._shape)}, got {list(shape_of(x))}")
        matrix = as_matrix(x, self._dim % len(self._shape))
        power_iterations(matrix, self.weight_u, self.weight_v, self._power_iters, self._eps, left_first=False)
        return spectral_norm(x, matrix, self.weight_u.detach(), self.weight_v.detach())
