"""Multivariate normal distributions whose covariance is of low rank plus a diagonal."""

from __future__ import annotations

import math
from typing import Any

from ... import torch
from . import constraints
from .distribution import Distribution
from .multivariate_normal import batch_mahalanobis, batch_mv, half_log_det
from .utils import lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def capacitance_tril(factor: Any, diagonal: Any) -> Any:
    """The Cholesky factor of `1 + W' D^-1 W`, the small matrix of Woodbury's identity."""
    m = factor.size(-1)
    k = torch.matmul(factor.mT / diagonal.unsqueeze(-2), factor).contiguous()
    return torch.linalg.cholesky(k + torch.eye(m, dtype=k.dtype))


def low_rank_log_det(diagonal: Any, capacitance: Any) -> Any:
    """The logarithm of the determinant of the covariance."""
    return 2 * half_log_det(capacitance) + diagonal.log().sum(-1)


def low_rank_mahalanobis(factor: Any, diagonal: Any, x: Any, capacitance: Any) -> Any:
    """The squared Mahalanobis length of x."""
    projected = batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - batch_mahalanobis(capacitance, projected)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the mean `loc` and the covariance `cov_factor cov_factor' + diag(cov_diag)`."""

    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        name = "LowRankMultivariateNormal"
        if loc.dim() < 1:
            raise ValueError(f"{name}: loc must have at least 1 dimension, got a single number")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2 or cov_factor.shape[-2:-1] != event_shape:
            rows, got = event_shape[0], tuple(cov_factor.shape)
            raise ValueError(f"{name}: cov_factor must be matrices of {rows} rows, got the shape {got}")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"{name}: cov_diag must be vectors of {event_shape[0]}, got {tuple(cov_diag.shape)}")
        try:
            batch = tuple(torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        except RuntimeError as error:
            raise ValueError(
                f"{name}: the batch shapes of loc {tuple(loc.shape)}, cov_factor {tuple(cov_factor.shape)} and "
                f"cov_diag {tuple(cov_diag.shape)} do not broadcast"
            ) from error
        self.loc, self.cov_diag = loc.expand(batch + (-1,)), cov_diag.expand(batch + (-1,))
        self.cov_factor = cov_factor.expand(batch + (-1, -1))
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(LowRankMultivariateNormal, _instance)
        batch_shape = torch.Size(batch_shape)
        shape = batch_shape + self.event_shape
        new.loc, new.cov_diag = self.loc.expand(shape), self.cov_diag.expand(shape)
        new.cov_factor = self.cov_factor.expand(shape + self.cov_factor.shape[-1:])
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril
        super(LowRankMultivariateNormal, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _matrices(self, m: Any) -> Any:
        return m.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        k = torch.matmul(scaled, scaled.mT).contiguous()
        return self._matrices(root * torch.linalg.cholesky(k + torch.eye(self._event_shape[0], dtype=k.dtype)))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._matrices(torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, by Woodbury's identity."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        a: Any = torch.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._matrices(torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - a.mT @ a)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        eps_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype)
        eps_diag = standard_normal(shape, self.loc.dtype)
        moved = self.loc + batch_mv(self._unbroadcasted_cov_factor, eps_factor)
        return moved + self._unbroadcasted_cov_diag.sqrt() * eps_diag

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        squares = low_rank_mahalanobis(factor, diagonal, value - self.loc, self._capacitance_tril)
        log_det = low_rank_log_det(diagonal, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + squares)

    def entropy(self) -> Any:
        log_det = low_rank_log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)

