"""The computations that weight_norm and spectral_norm share in their old and new forms."""

from __future__ import annotations

from typing import Any

from .....core.value import shape_of
from ..._api import METHODS, api
from .. import functional as F


def norm_without(v: Any, dim: int, power: float = 2) -> Any:
    """The norm over all axes but one, which are kept with length 1; over all axes for dim = -1."""
    rank = len(shape_of(v))
    if dim == -1:
        return METHODS["norm"](v, power)
    axis = dim % rank
    shape = [1] * rank
    shape[axis] = shape_of(v)[axis]
    moved = METHODS["reshape"](METHODS["transpose"](v, 0, axis), (shape_of(v)[axis], -1))
    return METHODS["view"](METHODS["norm"](moved, power, 1), *shape)


@api(method=False)
def norm_except_dim(v: Any, pow: float = 2, dim: int = 0) -> Any:
    """The norm of `v` over all dimensions but `dim`, which keep length 1."""
    return norm_without(v, dim, pow)


@api(method=False)
def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """g v / |v|, the norm taken over all dimensions but `dim`."""
    return v * (g / norm_without(v, dim))


def as_matrix(weight: Any, dim: int) -> Any:
    """A weight with axis `dim` in front and the others as one."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.reshape(weight.shape[0], -1)


def unit(x: Any, eps: float) -> Any:
    """A vector divided by its length."""
    return F.normalize(x, dim=0, eps=eps)
