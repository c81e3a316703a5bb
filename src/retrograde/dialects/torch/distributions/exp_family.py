"""Exponential families: the entropy from the log normaliser."""

from __future__ import annotations

from typing import Any

from ... import torch
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution of density h(x) exp(<theta, t(x)> - F(theta)) with natural parameters theta."""

    @property
    def _natural_params(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._log_normalizer")

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError(f"{type(self).__name__}._mean_carrier_measure")

    def entropy(self) -> Any:
        """F(theta) - <theta, dF/dtheta> minus the mean of log h (Nielsen and Nock 2010)."""
        result = -self._mean_carrier_measure
        parameters = [p.detach().requires_grad_() for p in self._natural_params]
        normaliser = self._log_normalizer(*parameters)
        gradients = torch.autograd.grad(normaliser.sum(), parameters, create_graph=True)
        result = result + normaliser
        for parameter, gradient in zip(parameters, gradients):
            result = result - (parameter * gradient).reshape(tuple(self._batch_shape) + (-1,)).sum(-1)
        return result
