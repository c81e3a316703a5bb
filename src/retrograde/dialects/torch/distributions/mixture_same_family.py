"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

from ... import torch
from . import constraints
from ._discrete import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last batch dimension of `component_distribution`, one drawn by
    `mixture_distribution`."""

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("MixtureSameFamily: mixture_distribution must be a Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("MixtureSameFamily: component_distribution must be a distribution")
        mixed, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for size1, size2 in zip(reversed(tuple(mixed)), reversed(tuple(batch))):
            if size1 not in (1, size2) and size2 != 1:
                raise ValueError(
                    f"MixtureSameFamily: the batch shapes {tuple(mixed)} of the mixture and {tuple(batch)} of the "
                    "components do not fit"
                )
        km, kc = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if km != kc:
            raise ValueError(f"MixtureSameFamily: the mixture has {km} probabilities, there are {kc} components")
        self._num_component = km
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        batch_shape = torch.Size(batch_shape)
        return self._expanded(
            MixtureSameFamily, batch_shape, _instance, _num_component=self._num_component, _event_ndims=self._event_ndims,
            _component_distribution=self._component_distribution.expand(batch_shape + (self._num_component,)),
            _mixture_distribution=self._mixture_distribution.expand(batch_shape),
        )  # fmt: skip

    @constraints.dependent_property
    def support(self) -> Any:
        """The components' support."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the component's index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @property
    def mean(self) -> Any:
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(probs * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        probs, dim = self._pad_mixture_dimensions(self.mixture_distribution.probs), -1 - self._event_ndims
        within = torch.sum(probs * self.component_distribution.variance, dim=dim)
        between = torch.sum(probs * (self.component_distribution.mean - self._pad(self.mean)).pow(2.0), dim=dim)
        return within + between

    def cdf(self, x: Any) -> Any:
        x = self._pad(x)
        return torch.sum(self.component_distribution.cdf(x) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Any) -> Any:
        if self._validate_args:
            self._validate_sample(x)
        components = self.component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(components + weights, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            index = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            wide = index.reshape(index.shape + (1,) * (len(self.event_shape) + 1))
            repeats = (1,) * len(index.shape) + (1,) + tuple(self.event_shape)
            return torch.gather(drawn, dim, wide.repeat(repeats)).squeeze(dim)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Any) -> Any:
        missing = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        xs = x.shape
        return x.reshape(xs[:-1] + (1,) * missing + xs[-1:] + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
