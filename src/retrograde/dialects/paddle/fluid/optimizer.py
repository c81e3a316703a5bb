"""`paddle.fluid.optimizer`: the optimisers under their old names and arguments."""

from __future__ import annotations

from typing import Any

from ... import paddle as _paddle
from ..._shared.registry import defined as _defined
from .._api import attributes as _attributes
from .dygraph.learning_rate_scheduler import LearningRateDecay

_new = _paddle.optimizer


def _old(name: str, cls: Any, options: dict[str, str]) -> Any:
    """An optimiser that takes `parameter_list`, `regularization` and what else its options were called."""
    renamed = {"parameter_list": "parameters", "regularization": "weight_decay", **options}

    class Old(cls):  # type: ignore[misc]
        def __init__(self, learning_rate: Any = 0.001, *args: Any, **given: Any) -> None:
            super().__init__(learning_rate, *args, **{renamed.get(k, k): v for k, v in given.items() if k != "name"})

        def step(self) -> None:
            """Change the parameters by their gradients, at the rate that is due now."""
            self._take_due_rate()
            super().step()

        def apply_gradients(self, params_grads: Any) -> Any:
            """Change parameters by the given gradients, at the rate that is due now."""
            self._take_due_rate()
            return super().apply_gradients(params_grads)

        def _take_due_rate(self) -> None:
            if isinstance(self._learning_rate, LearningRateDecay):
                self._learning_rate.advance()

        def clear_gradients(self) -> None:
            """Set the gradients of the parameters to zero."""
            self.clear_grad()

        def current_step_lr(self) -> float:
            """The learning rate of the last step, or of the first."""
            return float(self.get_lr())

    return _defined(name, Old, f"`paddle.optimizer.{cls.__name__}` with the arguments of old programs.")


SGD = SGDOptimizer = _old("SGDOptimizer", _new.SGD, {})
Momentum = MomentumOptimizer = _old("MomentumOptimizer", _new.Momentum, {})
Adam = AdamOptimizer = _old("AdamOptimizer", _new.Adam, {})
Adagrad = AdagradOptimizer = _old("AdagradOptimizer", _new.Adagrad, {})
Adadelta = AdadeltaOptimizer = _old("AdadeltaOptimizer", _new.Adadelta, {})
Adamax = AdamaxOptimizer = _old("AdamaxOptimizer", _new.Adamax, {})
RMSProp = RMSPropOptimizer = _old("RMSPropOptimizer", _new.RMSProp, {})
Lamb = LambOptimizer = _old("LambOptimizer", _new.Lamb, {})

__all__ = [
    "SGD", "Adadelta", "AdadeltaOptimizer", "Adagrad", "AdagradOptimizer", "Adam", "AdamOptimizer", "Adamax",
    "AdamaxOptimizer", "Lamb", "LambOptimizer", "Momentum", "MomentumOptimizer", "RMSProp", "RMSPropOptimizer", "SGDOptimizer",
]  # fmt: skip

__getattr__ = _attributes(globals())
