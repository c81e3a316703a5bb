"""Parametrizations that come with PyTorch: orthogonal, weight_norm, spectral_norm."""

from __future__ import annotations

from typing import Any

from .....learn.layers import reparametrise as layers
from ... import _creation, _joining, random
from ..._creation import eye
from ..._tensor import Tensor
from ...linalg import _top_level
from ..modules.conv import _ConvTransposeNd
from ..modules.module import Module
from . import parametrize
from ._norms import _weight_norm, norm_without

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _linalg() -> Any:
    from ... import linalg

    return linalg


def _is_orthogonal(q: Tensor, eps: float) -> bool:
    n, k = q.shape[-2:]
    identity = eye(k, dtype=q.dtype, device=q.device)
    distance = _linalg().vector_norm(q.mH @ q - identity, float("inf"), dim=(-2, -1))
    return bool((distance < eps * max(n, k)).all())


def _orthogonal_factor(a: Tensor) -> Tensor:
    """The orthogonal factor of a tall matrix with a positive diagonal in the other factor."""
    q, r = _linalg().qr(a)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("orthogonal: the householder map is for real tensors only")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """The orthogonal matrix of X."""
        n, k = X.shape[-2:]
        transposed = n < k
        if transposed:
            X, n, k = X.mT, k, n
        if self.orthogonal_map in ("matrix_exp", "cayley"):
            X = X.tril()
            if n != k:
                X = _joining.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], -1)
            A = X - X.mH
            if self.orthogonal_map == "matrix_exp":
                Q = _top_level.matrix_exp(A)
            else:
                identity = eye(n, dtype=A.dtype, device=A.device)
                Q = _linalg().solve(identity - A * 0.5, identity + A * 0.5)
            if n != k:
                Q = Q[..., :k]
        else:
            A = X.tril(-1)
            tau = 2.0 / (1.0 + (A * A).sum(-2))
            Q = _linalg().householder_product(A, tau)
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if transposed else Q

    def right_inverse(self, Q: Tensor) -> Tensor:
        """A tensor that `forward` maps to Q; raises ValueError for another shape."""
        if Q.shape != self.shape:
            raise ValueError(f"orthogonal: wanted a tensor of shape {tuple(self.shape)}, got {tuple(Q.shape)}")
        given = Q
        n, k = Q.shape[-2:]
        transposed = n < k
        if transposed:
            Q, n, k = Q.mT, k, n
        if not hasattr(self, "base"):
            if self.orthogonal_map in ("cayley", "matrix_exp"):
                raise NotImplementedError("orthogonal: without trivialization only the householder map can be inverted")
            A, tau = _top_level.geqrf(Q)
            A.diagonal(dim1=-2, dim2=-1).sign_()
            A.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
            return A.mT if transposed else A
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q, 1e-4) else _orthogonal_factor(Q)
        else:
            # Completed to a square matrix by columns that are drawn.
            drawn = random.randn(*(*Q.shape[:-2], n, n - k), dtype=Q.dtype)
            Q = _orthogonal_factor(_joining.cat([Q, drawn], -1))
        self.base = Q
        # Every map takes this to the identity, so that forward starts from the base.
        start = _creation.zeros_like(given)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix orthogonal (its shorter side orthonormal) through "matrix_exp", "cayley" or "householder".

    Raises ValueError for another map or a tensor of fewer than two dimensions.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"orthogonal: {type(module).__name__} has no parameter or buffer {name!r}")
    if weight.ndim < 2:
        raise ValueError(f"orthogonal: wanted a tensor of 2 dimensions or more, got {weight.ndim}")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f"orthogonal: orthogonal_map {orthogonal_map!r} is not known")
    parametrization = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, parametrization, unsafe=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """g v / |v|."""
        return _weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Magnitude and direction."""
        return norm_without(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn a weight as magnitude (original0) and direction (original1) (Salimans and Kingma, 2016)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if dim >= weight.ndim or dim < -weight.ndim:
            raise IndexError(f"spectral_norm: dim {dim} is out of range for {weight.ndim} dimensions")
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations must be positive, got {n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps, self.n_power_iterations = eps, n_power_iterations
        if weight.ndim > 1:
            matrix = layers.as_matrix(weight.detach(), self.dim)
            height, width = matrix.shape
            u = matrix.new_empty(height).normal_(0, 1)
            v = matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", layers.unit(u, eps))
            self.register_buffer("_v", layers.unit(v, eps))
            layers.power_iterations(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        """The weight over its largest singular value."""
        if weight.ndim == 1:
            return layers.unit(weight, self.eps)
        matrix = layers.as_matrix(weight, self.dim)
        if self.training:
            layers.power_iterations(matrix, self._u, self._v, self.n_power_iterations, self.eps)
        return layers.spectral_norm(weight, matrix, self._u, self._v)

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: it is taken to be normalised."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value (Miyato et al., 2018); raises ValueError for a name not there."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"spectral_norm: {type(module).__name__} has no parameter or buffer {name!r}")
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
