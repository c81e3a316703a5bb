"""Layer, group, RMS and local response normalisation."""

from __future__ import annotations

from typing import Any

from ...._shared.layers import shown
from ..._creation import empty
from ..._graph_nodes import show_as
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._layer import layer
from .module import Module


def _neighbours(norm: Any) -> str:
    """The options."""
    return f"{norm.size}, alpha={norm.alpha}, beta={norm.beta}, k={norm.k}"


LocalResponseNorm = layer(
    "LocalResponseNorm", "size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0", F.local_response_norm,
    shows=_neighbours,
)  # fmt: skip
CrossMapLRN2d = layer(
    "CrossMapLRN2d", "size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1",
    lambda self, input: show_as(
        F.local_response_norm(input, self.size, self.alpha, self.beta, self.k), "CrossMapLRN2dBackward"
    ), "The old form of LocalResponseNorm for (N, C, H, W).", shows=_neighbours,
)  # fmt: skip


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class _Scaling(Module):
    """A normalisation with a weight for each element or channel, and a bias, where it has them."""

    def _parametrise(self, shape: Any, weight: bool, bias: bool | None, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", weight), ("bias", bias)):
            if wanted is not None:
                self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class LayerNorm(_Scaling):
    """Normalisation over the last axes, whose shape is `normalized_shape` (Ba et al., 2016)."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._parametrise(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        parameters = self.__dict__["_parameters"]
        if "weight" in parameters and "bias" in parameters:  # not so under parametrizations, pruning, weight_norm
            return F.layer_norm(input, self.normalized_shape, parameters["weight"], parameters["bias"], self.eps)
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    extra_repr = shown("=normalized_shape, eps, elementwise_affine, bias!")


class GroupNorm(_Scaling):
    """Normalisation over groups of channels (Wu and He, 2018)."""

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels are not divisible into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._parametrise((num_channels,), affine, affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *size) normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    extra_repr = shown("=num_groups, =num_channels, eps, affine, bias!")


class RMSNorm(_Scaling):
    """Division by the root of the mean square over the last axes (Zhang and Sennrich, 2019)."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._parametrise(self.normalized_shape, elementwise_affine, None, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Of the input's shape."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    extra_repr = shown("=normalized_shape, eps, elementwise_affine")


__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]
