"""Distributions over vectors with a covariance, and over matrices."""

from __future__ import annotations

import math
from typing import Any

from ....learn.distributions import continuous as families
from ... import torch
from . import constraints as c
from ._continuous import Beta, Chi2
from ._rows import F, checked, mahalanobis, solve
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .kl import register_kl
from .utils import Number, alike, broadcast_all, lazy_property, one_of, standard_normal


def batch_mv(matrix: Any, vector: Any) -> Any:
    """Matrices times vectors, batches broadcast."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def half_log_det(factor: Any) -> Any:
    """The logarithm of the determinant of a triangular factor with a positive diagonal."""
    return families.MultivariateNormal.half_log_det(F, factor)


def precision_to_scale_tril(precision: Any) -> Any:
    """The lower Cholesky factor of the inverse of positive definite matrices."""
    flipped = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.transpose(torch.flip(flipped, (-2, -1)), -2, -1)
    return solve(inverse, torch.eye(precision.shape[-1], **alike(precision)))


_batch_mv, _batch_mahalanobis, _precision_to_scale_tril = batch_mv, mahalanobis, precision_to_scale_tril

MATRICES = {
    "covariance_matrix": c.positive_definite, "precision_matrix": c.positive_definite, "scale_tril": c.lower_cholesky,
}  # fmt: skip


class ByCovariance(Distribution):
    """Distributions with a covariance, its inverse or its lower Cholesky factor: the other two follow."""

    _unbroadcasted_scale_tril: Any

    def _given(self, covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> tuple[str, Any]:
        """The name of the matrix that was given, and the matrix."""
        name = type(self).__name__
        matrices = dict(zip(MATRICES, (covariance_matrix, precision_matrix, scale_tril)))
        given = one_of(name, **matrices)
        matrix = matrices[given]
        if matrix.dim() < 2:
            raise ValueError(f"{name}: {given} must have at least 2 dimensions, got {matrix.dim()}")
        return given, matrix

    def _take_factor(self, given: str, matrix: Any) -> None:
        if given == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif given == "covariance_matrix":
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    def _matrices(self, m: Any) -> Any:
        return m.expand(self._batch_shape + self._event_shape[-1:] * 2)

    def _expanded_matrices(self, batch_shape: Any) -> dict[str, Any]:
        shape = torch.Size(batch_shape) + self._event_shape[-1:] * 2
        return {name: self.__dict__[name].expand(shape) for name in MATRICES if name in self.__dict__}

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


class MultivariateNormal(ByCovariance):
    """Normal vectors with the mean `loc` and a covariance matrix, its inverse, or its lower Cholesky factor."""

    arg_constraints = {"loc": c.real_vector, **MATRICES}
    support = c.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal: loc must have at least 1 dimension, got a single number")
        given, m = self._given(covariance_matrix, precision_matrix, scale_tril)
        batch_shape = torch.broadcast_shapes(m.shape[:-2], loc.shape[:-1])
        setattr(self, given, m.expand(tuple(batch_shape) + (-1, -1)))
        self.loc = loc.expand(tuple(batch_shape) + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._take_factor(given, m)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(
            MultivariateNormal, batch_shape, _instance, ("loc",), self._event_shape,
            _unbroadcasted_scale_tril=self._unbroadcasted_scale_tril, **self._expanded_matrices(batch_shape),
        )  # fmt: skip

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Any:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        eps = standard_normal(self._extended_shape(sample_shape), **alike(self.loc))
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, eps)

    @checked
    def log_prob(self, value: Any) -> Any:
        return families.MultivariateNormal.log_prob(F, value, self.loc, self._unbroadcasted_scale_tril)

    def entropy(self) -> Any:
        entropy = families.MultivariateNormal.entropy(F, self.loc, self._unbroadcasted_scale_tril)
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)


def capacitance_tril(factor: Any, diagonal: Any) -> Any:
    """The Cholesky factor of `1 + W' D^-1 W`, the small matrix of Woodbury's identity."""
    m = factor.size(-1)
    k = torch.matmul(factor.mT / diagonal.unsqueeze(-2), factor).contiguous()
    return torch.linalg.cholesky(k + torch.eye(m, **alike(k)))


def low_rank_log_det(diagonal: Any, capacitance: Any) -> Any:
    """The logarithm of the determinant of the covariance."""
    return 2 * half_log_det(capacitance) + diagonal.log().sum(-1)


def low_rank_mahalanobis(factor: Any, diagonal: Any, x: Any, capacitance: Any) -> Any:
    """The squared Mahalanobis length of x."""
    projected = batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - mahalanobis(capacitance, projected)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the mean `loc` and the covariance `cov_factor cov_factor' + diag(cov_diag)`."""

    arg_constraints = {
        "loc": c.real_vector, "cov_factor": c.independent(c.real, 2), "cov_diag": c.independent(c.positive, 1),
    }  # fmt: skip
    support = c.real_vector
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
        factor = self.cov_factor.expand(torch.Size(batch_shape) + self.cov_factor.shape[-2:])
        kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")
        return self._expanded(
            LowRankMultivariateNormal, batch_shape, _instance, ("loc", "cov_diag"), self._event_shape, cov_factor=factor,
            **{name: getattr(self, name) for name in kept},
        )  # fmt: skip

    _matrices, mean, mode = ByCovariance._matrices, MultivariateNormal.mean, MultivariateNormal.mode

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
        return self._matrices(root * torch.linalg.cholesky(k + torch.eye(self._event_shape[0], **alike(k))))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._matrices(torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, by Woodbury's identity."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        a = solve(self._capacitance_tril, scaled)
        return self._matrices(torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - a.mT @ a)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        eps_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], **alike(self.loc))
        eps_diag = standard_normal(shape, **alike(self.loc))
        moved = self.loc + batch_mv(self._unbroadcasted_cov_factor, eps_factor)
        return moved + self._unbroadcasted_cov_diag.sqrt() * eps_diag

    @checked
    def log_prob(self, value: Any) -> Any:
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        squares = low_rank_mahalanobis(factor, diagonal, value - self.loc, self._capacitance_tril)
        log_det = low_rank_log_det(diagonal, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + squares)

    def entropy(self) -> Any:
        log_det = low_rank_log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)


def _mvdigamma(x: Any, p: int) -> Any:
    """The derivative of the logarithm of the multivariate gamma function."""
    return torch.digamma(x.unsqueeze(-1) - torch.arange(p, **alike(x)).div(2).expand(x.shape + (-1,))).sum(-1)


class Wishart(ByCovariance, ExponentialFamily):
    """Sums of outer products of `df` normal vectors, of a covariance, its inverse, or its lower Cholesky factor."""

    support = c.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> Any:
        """The degrees of freedom are bounded by the size of the matrices."""
        return {**MATRICES, "df": c.greater_than(self.event_shape[-1] - 1)}

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given, m = self._given(covariance_matrix, precision_matrix, scale_tril)
        if isinstance(df, Number):
            batch_shape = torch.Size(m.shape[:-2])
            self.df = torch.tensor(df, **alike(m))
        else:
            batch_shape = torch.broadcast_shapes(m.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = m.shape[-2:]
        if self.df.le(event_shape[-1] - 1).any():
            bound = event_shape[-1] - 1
            raise ValueError(f"Wishart: df must be greater than {bound} (the matrices' size less one), got {df}")
        setattr(self, given, m.expand(tuple(batch_shape) + (-1, -1)))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        self._take_factor(given, m)
        self._dist_chi2 = self._chi2()

    def _chi2(self) -> Any:
        places = torch.arange(self._event_shape[-1], **alike(self._unbroadcasted_scale_tril))
        return Chi2(df=self.df.unsqueeze(-1) - places.expand(tuple(self._batch_shape) + (-1,)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        factor = self._unbroadcasted_scale_tril.expand(torch.Size(batch_shape) + self.event_shape)
        new = self._expanded(
            Wishart,
            batch_shape,
            _instance,
            ("df",),
            _unbroadcasted_scale_tril=factor,
            **self._expanded_matrices(batch_shape),
        )
        new._dist_chi2 = new._chi2()
        return new

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        identity = torch.eye(self._event_shape[-1], **alike(self._unbroadcasted_scale_tril))
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
        i, j = torch.tril_indices(p, p, offset=-1, device=noise.device)
        noise[..., i, j] = torch.randn(
            torch.Size(sample_shape) + self._batch_shape + (int(p * (p - 1) / 2),), **alike(noise))  # fmt: skip
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
        return mask.amax([-(x + 1) for x in range(len(self._batch_shape))]) if self._batch_shape else mask

    @checked
    def log_prob(self, value: Any) -> Any:
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
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-torch.linalg.slogdet(-2 * x).logabsdet + p * math.log(2)) + torch.mvlgamma(half, p=p)


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices with a density proportional to det^(concentration - 1)."""

    arg_constraints = {"concentration": c.positive}
    support = c.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: dim must be at least 2, got {dim}")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        marginal = self.concentration + 0.5 * (self.dim - 2)
        offset = torch.arange(self.dim - 1, **alike(self.concentration))
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        beta = self._beta.expand(torch.Size(batch_shape) + (self.dim,))
        return self._expanded(LKJCholesky, batch_shape, _instance, ("concentration",), dim=self.dim, _beta=beta)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples by the onion method: row by row a radius and a direction."""
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        directions = torch.randn(self._extended_shape(sample_shape), **alike(y)).tril(-1)
        directions = directions / directions.norm(dim=-1, keepdim=True)
        directions[..., 0, :].fill_(0.0)
        w = torch.sqrt(y) * directions
        diagonal = torch.clamp(1 - torch.sum(w**2, dim=-1), min=torch.finfo(w.dtype).tiny).sqrt()
        return w + torch.diag_embed(diagonal)

    @checked
    def log_prob(self, value: Any) -> Any:
        return families.LKJCholesky.log_prob(F, value, self.dim, self.concentration)


# ------------------------------------------------------------------------------------------ divergences


def _trace_of_squares(factor: Any, columns: Any) -> Any:
    """The sum of the squares of `factor^-1 columns`, batches broadcast."""
    return solve(factor, columns).pow(2).sum((-2, -1))


def _log_det(d: Any) -> Any:
    """The logarithm of the determinant of the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return low_rank_log_det(d._unbroadcasted_cov_diag, d._capacitance_tril)
    return 2 * half_log_det(d._unbroadcasted_scale_tril)


def _columns(d: Any) -> Any:
    """A matrix b with the covariance b b'."""
    if isinstance(d, LowRankMultivariateNormal):
        return torch.cat([d._unbroadcasted_cov_factor.expand(d._unbroadcasted_cov_diag.shape + (-1,)),
                          torch.diag_embed(d._unbroadcasted_cov_diag.sqrt())], -1)  # fmt: skip
    return d._unbroadcasted_scale_tril


def _kl_normals(p: Any, q: Any) -> Any:
    """For multivariate normals: log determinants, the trace of the one covariance in the other's units, the means."""
    if p.event_shape != q.event_shape:
        raise ValueError(f"kl_divergence: the event shapes {tuple(p.event_shape)} and {tuple(q.event_shape)} differ")
    n = p.event_shape[0]
    term1 = _log_det(q) - _log_det(p)
    if isinstance(q, LowRankMultivariateNormal):
        factor, diagonal, capacitance = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q._capacitance_tril
        columns = _columns(p)
        term3 = low_rank_mahalanobis(factor, diagonal, q.loc - p.loc, capacitance)
        scaled = torch.matmul(factor.mT / diagonal.unsqueeze(-2), columns)
        term2 = (columns.pow(2) / diagonal.unsqueeze(-1)).sum((-2, -1)) - _trace_of_squares(capacitance, scaled)
    else:
        term3 = mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
        term2 = _trace_of_squares(q._unbroadcasted_scale_tril, _columns(p))
    return 0.5 * (term1 + term2 + term3 - n)


for _left in (MultivariateNormal, LowRankMultivariateNormal):
    for _right in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_left, _right)(_kl_normals)
