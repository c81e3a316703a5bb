"""`nn.LARS`: another optimiser's step with gradients scaled by the norms of parameter and gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....learn import proximal
from ..._tensor import from_array
from .._checks import a_bool, positive_float
from ..cell import Cell
from .optimizer import RuleOptimizer


def _plain_layers(p: Any) -> bool:
    return "LayerNorm" not in p.name and "bias" not in p.name


class LARS(RuleOptimizer):
    """Layer-wise adaptive rate scaling (You, Gitman and Ginsburg 2017) around another optimizer.

    lars_filter: says of a parameter whether its gradient is scaled. use_clip: the scale is limited so that the step is
    at most the plain one's.
    """

    def __init__(
        self, optimizer: Any, epsilon: float = 1e-5, coefficient: float = 0.001, use_clip: bool = False,
        lars_filter: Callable[[Any], bool] = _plain_layers,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, RuleOptimizer):
            raise TypeError(f"LARS: wanted an optimizer, got {type(optimizer).__name__}")
        Cell.__init__(self, auto_prefix=False)
        self.opt = optimizer
        self.epsilon = positive_float("LARS", "epsilon", epsilon)
        self.coefficient = positive_float("LARS", "coefficient", coefficient)
        self.use_clip = a_bool("LARS", "use_clip", use_clip)
        self._scaled = [bool(lars_filter(p)) for p in optimizer.parameters]
        self.parameters, self.loss_scale = optimizer.parameters, optimizer.loss_scale
        self.global_step = optimizer.global_step

    def get_lr(self) -> Any:
        """The learning rate of the coming step."""
        return self.opt.get_lr()

    def construct(self, gradients: Any) -> Any:
        """Scale the gradients, with weight decay in them, and make the optimizer's step."""
        opt = self.opt
        gradients = opt.scale_grad(opt._checked(gradients))
        scaled = []
        for i, (p, g) in enumerate(zip(opt.parameters, gradients)):
            if self._scaled[i]:
                limit = float(opt._rate_of(opt._rates[i])) if self.use_clip else None
                g = from_array(proximal.lars_gradient(
                    p.asnumpy(), g.asnumpy(), weight_decay=opt._decays[i], coefficient=self.coefficient,
                    eps=self.epsilon, limit=limit,
                ))  # fmt: skip
            scaled.append(g)
        decays, need_scale = opt._decays, opt.need_scale
        opt._decays = [0.0 if done else d for d, done in zip(decays, self._scaled)]
        opt.need_scale = False
        try:
            return opt(tuple(scaled))
        finally:
            opt._decays, opt.need_scale = decays, need_scale
