"""What distributions have in common whose parameter is given in one of two ways, or by a categorical distribution."""

from __future__ import annotations

from typing import Any

from ... import torch
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, one_of, probs_to_logits

__all__ = ["BinaryParameter", "OfCategorical"]


class BinaryParameter(Distribution):
    """A distribution over trials that succeed with probability `probs`, or log odds `logits`."""

    total_count: Any

    def _take(self, probs: Any, logits: Any) -> str:
        """Keep the parameter that was given; returns its name."""
        given = one_of(type(self).__name__, probs=probs, logits=logits)
        setattr(self, given, broadcast_all(probs if given == "probs" else logits)[0])
        return given

    def _take_counted(self, total_count: Any, probs: Any, logits: Any) -> None:
        """Keep the parameter that was given, and how many trials there are, as numbers of its dtype."""
        given = self._take(probs, logits)
        count, parameter = broadcast_all(total_count, self.__dict__[given])
        setattr(self, given, parameter)
        self.total_count = count.type_as(parameter)

    @property
    def _param(self) -> Any:
        given = self.__dict__.get("probs")
        return self.logits if given is None else given

    @lazy_property
    def logits(self) -> Any:
        """The log odds of a success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probability of a success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    def _enumerated(self, count: int, expand: bool) -> Any:
        """The numbers below `count` along a new first dimension."""
        values = torch.arange(count, dtype=self._param.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values


class OfCategorical(Distribution):
    """A distribution over vectors with an element for each index of a categorical distribution."""

    _categorical: Any

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def logits(self) -> Any:
        """Normalised log probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape
