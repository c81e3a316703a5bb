"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ... import torch
from . import constraints
from .distribution import Distribution
from .utils import lazy_property, one_of, standard_normal

__all__ = ["MultivariateNormal"]


def batch_mv(matrix: Any, vector: Any) -> Any:
    """Matrices times vectors, batches broadcast."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(factor: Any, x: Any) -> Any:
    """The squared lengths of `factor^-1 x` for lower triangular factors, batches broadcast."""
    if factor.dim() == 2 and x.dim() > 1:  # one factor for all: one solve with many columns
        solved = torch.linalg.solve_triangular(factor, x.reshape(-1, x.size(-1)).mT, upper=False)
        return solved.pow(2).sum(-2).reshape(x.shape[:-1])
    return torch.linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False).pow(2).sum(-2).squeeze(-1)


def half_log_det(factor: Any) -> Any:
    """The logarithm of the determinant of a triangular factor with a positive diagonal."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision: Any) -> Any:
    """The lower Cholesky factor of the inverse of positive definite matrices."""
    flipped = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.transpose(torch.flip(flipped, (-2, -1)), -2, -1)
    identity = torch.eye(precision.shape[-1], dtype=precision.dtype)
    return torch.linalg.solve_triangular(inverse, identity, upper=False)


_batch_mv, _batch_mahalanobis, _precision_to_scale_tril = batch_mv, batch_mahalanobis, precision_to_scale_tril


class MultivariateNormal(Distribution):
    """Normal vectors with the mean `loc` and a covariance matrix, its inverse, or its lower Cholesky factor."""

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal: loc must have at least 1 dimension, got a single number")
        given = one_of("MultivariateNormal", covariance_matrix=covariance_matrix, scale_tril=scale_tril,
                       precision_matrix=precision_matrix)  # fmt: skip
        m = covariance_matrix if scale_tril is None else scale_tril
        m = precision_matrix if m is None else m
        if m.dim() < 2:
            raise ValueError(f"MultivariateNormal: {given} must have at least 2 dimensions, got {m.dim()}")
        batch_shape = torch.broadcast_shapes(m.shape[:-2], loc.shape[:-1])
        setattr(self, given, m.expand(tuple(batch_shape) + (-1, -1)))
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(precision_matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MultivariateNormal, _instance)
        batch_shape = torch.Size(batch_shape)
        new.loc = self.loc.expand(batch_shape + self.event_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(batch_shape + self.event_shape + self.event_shape))
        super(MultivariateNormal, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _matrices(self, m: Any) -> Any:
        return m.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        return self._matrices(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self._matrices(torch.matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._matrices(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        eps = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        squares = batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        normaliser = half_log_det(self._unbroadcasted_scale_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares) - normaliser

    def entropy(self) -> Any:
        normaliser = half_log_det(self._unbroadcasted_scale_tril)
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + normaliser
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)
