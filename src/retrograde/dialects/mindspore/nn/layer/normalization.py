"""Normalisation layers. The weights are `gamma` and `beta`; a running statistic keeps `momentum` of what it was."""

from __future__ import annotations

import math
from typing import Any

from .....learn.layers import normalization as norms
from .....learn.layers.windows import channels_first, channels_last
from ...._shared.checks import check
from ...._shared.layers import shown
from ...._shared.spatial import classes_of_axes
from ... import _normalization
from ..._dtype import float32
from ..._parameter import Parameter
from ..._promote import tensor_argument
from ...common.initializer import initializer
from .._checks import a_bool, a_float, positive_int
from .._row import layer
from ..cell import Cell


def _vector(init: Any, shape: Any, dtype: Any, name: str, trained: bool = True) -> Parameter:
    return Parameter(initializer(init, shape, dtype), name=name, requires_grad=trained)


class _PerChannel(Cell):
    """What batch and instance normalisation share: gamma and beta, and running statistics, per channel."""

    def _set_up(
        self, num_features: int, eps: float, momentum: float, affine: bool, gamma: Any, beta: Any, dtype: Any,
        mean: Any = "zeros", variance: Any = "ones",
    ) -> None:  # fmt: skip
        name = type(self).__name__
        self.num_features = positive_int(name, "num_features", num_features)
        if not 0 <= a_float(name, "momentum", momentum) <= 1:
            raise ValueError(f"{name}: momentum must lie in [0, 1], got {momentum}")
        self.eps, self.momentum = eps, momentum
        self.moving_mean = _vector(mean, [num_features], dtype, "mean", False)
        self.moving_variance = _vector(variance, [num_features], dtype, "variance", False)
        self.gamma = _vector(gamma, [num_features], dtype, "gamma", affine)
        self.beta = _vector(beta, [num_features], dtype, "beta", affine)


class _BatchNorm(_PerChannel):
    _ranks: tuple[int, ...] = ()

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", moving_mean_init: Any = "zeros", moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None, data_format: str = "NCHW", dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        if use_batch_statistics is not None:
            a_bool(type(self).__name__, "use_batch_statistics", use_batch_statistics)
        self._set_up(num_features, eps, momentum, affine, gamma_init, beta_init, dtype, moving_mean_init, moving_var_init)
        self.momentum = 1 - momentum  # as MindSpore keeps it
        self.use_batch_statistics, self.format = use_batch_statistics, data_format

    def construct(self, x: Any) -> Any:
        tensor_argument(type(self).__name__, x, "the input")
        if x.ndim not in self._ranks:
            raise ValueError(
                f"{type(self).__name__}: wanted {' or '.join(map(str, self._ranks))} axes, got shape {x.shape}"
            )
        training = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        last = self.format == "NHWC"
        out = _normalization.batch_norm(
            channels_first(x) if last else x, self.moving_mean, self.moving_variance, self.gamma, self.beta, training,
            self.momentum, self.eps,
        )  # fmt: skip
        return channels_last(out) if last else out

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={1 - self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


BatchNorm1d, BatchNorm2d = classes_of_axes(
    _BatchNorm, "BatchNorm{}d", "Channels of {x} by the batch's statistics in training, by the running ones otherwise.",
    (1, 2), _ranks={1: (2, 3), 2: (4,)},
)  # fmt: skip


class SyncBatchNorm(_BatchNorm):
    """BatchNorm whose statistics would be shared by devices; there is one here."""

    _ranks = (2, 4)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", moving_mean_init: Any = "zeros", moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None, process_groups: Any = None, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
                         use_batch_statistics, dtype=dtype)  # fmt: skip


class BatchNorm3d(Cell):
    """Channels of (N, C, D, H, W), by a BatchNorm2d called `bn2d`."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", moving_mean_init: Any = "zeros", moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.bn2d = BatchNorm2d(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init,
                                moving_var_init, use_batch_statistics, dtype=dtype)  # fmt: skip

    def construct(self, input_x: Any) -> Any:
        if input_x.ndim != 5:
            raise ValueError(f"BatchNorm3d: wanted (N, C, D, H, W), got shape {input_x.shape}")
        n, c, d, h, w = input_x.shape
        return self.bn2d(input_x.reshape((n, c, d * h, w))).reshape((n, c, d, h, w))


class LayerNorm(Cell):
    """By the statistics over the axes from `begin_norm_axis` on; gamma and beta have the shape given."""

    def __init__(
        self, normalized_shape: Any, begin_norm_axis: int = -1, begin_params_axis: int = -1, gamma_init: Any = "ones",
        beta_init: Any = "zeros", epsilon: float = 1e-7, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        check("LayerNorm", "normalized_shape: list", locals())
        if not normalized_shape:
            raise ValueError("LayerNorm: normalized_shape must have one size or more")
        self.normalized_shape = normalized_shape  # printed as it was given
        self.begin_norm_axis, self.begin_params_axis, self.epsilon = begin_norm_axis, begin_params_axis, epsilon
        self.gamma = _vector(gamma_init, tuple(normalized_shape), dtype, "gamma")
        self.beta = _vector(beta_init, tuple(normalized_shape), dtype, "beta")

    @property
    def layer_norm(self) -> Any:
        """The operation behind this layer: of (x, gamma, beta) it gives the result, the means and the variances."""
        from ...ops import operations

        return operations.LayerNorm(self.begin_norm_axis, self.begin_params_axis, self.epsilon)

    def construct(self, input_x: Any) -> Any:
        first = self.begin_norm_axis % input_x.ndim
        if self.begin_norm_axis == self.begin_params_axis or first == self.begin_params_axis % input_x.ndim:
            return _normalization.layer_norm(input_x, input_x.shape[first:], self.gamma, self.beta, self.epsilon)
        plain = norms.layer_norm(input_x, None, None, input_x.ndim - first, self.epsilon)
        return plain * self.gamma + self.beta

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"
        )


class GroupNorm(Cell):
    """By the statistics of each of `num_groups` groups of channels."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_groups = positive_int("GroupNorm", "num_groups", num_groups)
        self.num_channels = positive_int("GroupNorm", "num_channels", num_channels)
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels are not divisible into {num_groups} groups")
        self.eps = a_float("GroupNorm", "eps", eps)
        a_bool("GroupNorm", "affine", affine)
        self.gamma = _vector(gamma_init, [num_channels], dtype, "gamma", affine)
        self.beta = _vector(beta_init, [num_channels], dtype, "beta", affine)

    def construct(self, x: Any) -> Any:
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise ValueError(f"GroupNorm: axis 1 must have {self.num_channels} channels, got shape {x.shape}")
        return _normalization.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    extend_repr = shown("num_groups, num_channels", "extend_repr")


class _InstanceNorm(_PerChannel):
    _axes: int

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set_up(num_features, eps, momentum, affine, gamma_init, beta_init, dtype)

    def construct(self, x: Any) -> Any:
        name = type(self).__name__
        if x.ndim != self._axes + 2 or x.shape[1] != self.num_features:
            raise ValueError(f"{name}: wanted {self._axes + 2} axes and {self.num_features} channels, got shape {x.shape}")
        if self.training and math.prod(x.shape[2:]) == 1:
            raise ValueError(f"{name}: training needs more than one value per channel, got shape {x.shape}")
        return norms.instance_norm(x, self.gamma, self.beta, self.eps)

    extend_repr = shown("num_features, eps, momentum, gamma, beta, moving_mean, moving_variance", "extend_repr")


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = classes_of_axes(
    _InstanceNorm, "InstanceNorm{}d", "Each channel of each element of {x} by its own statistics."
)


LRN = layer(
    "LRN", "depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, "
    "norm_region: str = 'ACROSS_CHANNELS'", _normalization.lrn, "Local response normalisation over neighbouring channels.",
)  # fmt: skip
