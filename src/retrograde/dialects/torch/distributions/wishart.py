"""The Wishart distribution."""

from __future__ import annotations

import math
from typing import Any

from ... import torch
from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import half_log_det, precision_to_scale_tril
from .utils import Number, lazy_property, one_of

__all__ = ["Wishart"]


def _mvdigamma(x: Any, p: int) -> Any:
    """The derivative of the logarithm of the multivariate gamma function."""
    return torch.digamma(x.unsqueeze(-1) - torch.arange(p, dtype=x.dtype).div(2).expand(x.shape + (-1,))).sum(-1)


class Wishart(ExponentialFamily):
    """Sums of outer products of `df` normal vectors, of a covariance, its inverse, or its lower Cholesky factor."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> Any:
        """The degrees of freedom are bounded by the size of the matrices."""
        return {
            "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self.event_shape[-1] - 1),
        }  # fmt: skip

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given = one_of("Wishart", covariance_matrix=covariance_matrix, precision_matrix=precision_matrix,
                       scale_tril=scale_tril)  # fmt: skip
        m = covariance_matrix if scale_tril is None else scale_tril
        m = precision_matrix if m is None else m
        if m.dim() < 2:
            raise ValueError(f"Wishart: {given} must have at least 2 dimensions, got {m.dim()}")
        if isinstance(df, Number):
            batch_shape = torch.Size(m.shape[:-2])
            self.df = torch.tensor(df, dtype=m.dtype)
        else:
            batch_shape = torch.broadcast_shapes(m.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = m.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            bound = event_shape[-1] - 1
            raise ValueError(f"Wishart: df must be greater than {bound} (the matrices' size less one), got {df}")
        setattr(self, given, m.expand(tuple(batch_shape) + (-1, -1)))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._batch_dims = [-(x + 1) for x in range(len(self._batch_shape))]
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(precision_matrix)
        self._dist_chi2 = self._chi2(batch_shape)

    def _chi2(self, batch_shape: Any) -> Any:
        n = self._event_shape[-1]
        return Chi2(df=self.df.unsqueeze(-1) - torch.arange(n, dtype=self._unbroadcasted_scale_tril.dtype).expand(
            tuple(batch_shape) + (-1,)))  # fmt: skip

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Wishart, _instance)
        batch_shape = torch.Size(batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(batch_shape + self.event_shape)
        new.df = self.df.expand(batch_shape)
        new._batch_dims = [-(x + 1) for x in range(len(batch_shape))]
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(batch_shape + self.event_shape))
        super(Wishart, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._dist_chi2 = new._chi2(batch_shape)
        new._validate_args = self._validate_args
        return new

    def _matrices(self, m: Any) -> Any:
        return m.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        return self._matrices(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the vectors."""
        return self._matrices(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        identity = torch.eye(self._event_shape[-1], dtype=self._unbroadcasted_scale_tril.dtype)
        return self._matrices(torch.cholesky_solve(identity, self._unbroadcasted_scale_tril))

    def _column(self, x: Any) -> Any:
        return x.view(self._batch_shape + (1, 1))

    @property
    def mean(self) -> Any:
        return self._column(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor <= 0, torch.full_like(factor, torch.nan), factor)
        return self._column(factor) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._column(self.df) * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Any = ()) -> Any:
        p = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(p, p, offset=-1)
        noise[..., i, j] = torch.randn(
            torch.Size(sample_shape) + self._batch_shape + (int(p * (p - 1) / 2),), dtype=noise.dtype)  # fmt: skip
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """Samples by Bartlett's decomposition, those that rounding has made singular drawn again.

        As in PyTorch every sample that is not singular is drawn a second time at first: the numbers are the same.
        """
        sample = self._bartlett_sampling(torch.Size(sample_shape))
        again = self._per_draw(self.support.check(sample))
        for _ in range(3 if max_try_correction is None else max_try_correction):
            if not again.any():
                break
            fresh = self._bartlett_sampling(again[again].shape)
            sample = sample.clone()
            sample[again] = fresh
            singular = self._per_draw(~self.support.check(fresh))
            remaining = again.clone()
            remaining[again] = singular
            again = remaining
        return sample

    def _per_draw(self, mask: Any) -> Any:
        """Whether a mask is set anywhere in the batch."""
        return mask.amax(self._batch_dims) if self._batch_shape else mask

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril
        return (
            -nu * (p * math.log(2) / 2 + half_log_det(factor)) - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - torch.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2
        )  # fmt: skip

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * math.log(2) / 2 + half_log_det(self._unbroadcasted_scale_tril)) + torch.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p=p) + nu * p / 2
        )  # fmt: skip

    @property
    def _natural_params(self) -> Any:
        return self.df / 2, -self.precision_matrix / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._event_shape[-1]
        return x * (-torch.linalg.slogdet(-2 * y).logabsdet + p * math.log(2)) + torch.mvlgamma(x, p=p)
