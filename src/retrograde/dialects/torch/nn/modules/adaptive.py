"""The adaptive softmax for many classes of unequal frequency (Grave et al., 2017)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from .....core.unwrap import concrete
from .....learn.losses import adaptive_logs
from ... import _joining
from ..._tensor import Tensor
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of frequent classes from one layer, of rare ones from clusters with smaller layers.

    `cutoffs` are the class numbers at which clusters begin. Raises ValueError unless they are distinct, increasing
    and between 1 and n_classes - 1.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("AdaptiveLogSoftmaxWithLoss: cutoffs must have one entry at least")
        ordered = cutoffs == sorted(cutoffs) and len(set(cutoffs)) == len(cutoffs)
        if not ordered or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "AdaptiveLogSoftmaxWithLoss: cutoffs must be distinct increasing integers between 1 and "
                f"{n_classes - 1}, got {cutoffs}"
            )
        where = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(Linear(in_features, hidden, bias=False, **where), Linear(hidden, size, bias=False, **where))
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """The log probabilities (N,) of the targets and the mean loss, for (N, in_features), or (in_features,).

        Raises RuntimeError for shapes that do not fit or classes out of range.
        """
        op = "AdaptiveLogSoftmaxWithLoss"
        single = target_.dim() == 0
        if target_.dim() == 1:
            if input_.shape[0] != target_.shape[0]:
                raise RuntimeError(f"{op}: {input_.shape[0]} inputs, but {target_.shape[0]} targets")
        elif single:
            if input_.dim() != 1:
                raise RuntimeError(f"{op}: a single target needs an input of 1 dimension, got {input_.dim()}")
            input_, target_ = input_.unsqueeze(0), target_.unsqueeze(0)
        else:
            raise RuntimeError(f"{op}: target must have 0 or 1 dimensions, got {target_.dim()}")
        numbers = concrete(op, target_)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self.n_classes:
            raise RuntimeError(
                f"{op}: targets must lie in [0, {self.n_classes - 1}], got values from {numbers.min()} to {numbers.max()}"
            )
        output = adaptive_logs(input_, numbers, self.head(input_), list(self.tail), [0, *self.cutoffs])
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            cluster = F.log_softmax(self.tail[i](input), dim=1)
            parts.append(cluster + head[:, self.shortlist_size + i].unsqueeze(1))
        return _joining.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities (N, n_classes) of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class (N,) of each input."""
        head = self.head(input)
        output = head.argmax(1)
        outside = output >= self.shortlist_size
        if not outside.any():
            return output
        if outside.all():
            return self._get_full_log_prob(input, head).argmax(1)
        output[outside] = self._get_full_log_prob(input[outside], head[outside]).argmax(1)
        return output


__all__ = ["AdaptiveLogSoftmaxWithLoss"]
