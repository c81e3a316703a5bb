"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

from ... import torch
from . import constraints
from ._parameters import OfCategorical
from .binomial import Binomial
from .categorical import Categorical
from .utils import broadcast_all, one_of

__all__ = ["Multinomial"]


class Multinomial(OfCategorical):
    """How often each category comes up in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        one_of("Multinomial", probs=probs, logits=logits)
        if not isinstance(total_count, int):
            raise NotImplementedError("Multinomial: total_count must be an int, the same for the whole batch")
        self.total_count = total_count
        self._take(Categorical(probs=probs, logits=logits), validate_args)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded_categorical(Multinomial, batch_shape, _instance)
        new.total_count = self.total_count
        new._binomial = Binomial(total_count=self.total_count, probs=new.probs)
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts that add up to the total."""
        return constraints.multinomial(self.total_count)

    def sample(self, sample_shape: Any = ()) -> Any:
        sample_shape = torch.Size(sample_shape)
        drawn = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
        order = list(range(drawn.dim()))
        order.append(order.pop(0))
        drawn = drawn.permute(*order)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, drawn, torch.ones_like(drawn))
        return counts.type_as(self.probs)

    def entropy(self) -> Any:
        n = torch.tensor(self.total_count)
        categorical = self._categorical.entropy()
        values = self._binomial.enumerate_support(expand=False)[1:]
        probabilities = torch.exp(self._binomial.log_prob(values))
        weight = (probabilities * torch.lgamma(values + 1)).sum((0, -1))
        return n * categorical - torch.lgamma(n + 1) + weight

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        never = (value == 0) & (logits == -torch.inf)
        logits = torch.where(never, torch.zeros_like(logits), logits)
        return ways + (logits * value).sum(-1)
