"""`paddle.regularizer`: penalties on the size of parameters, which optimisers add to the gradients."""

from __future__ import annotations

from typing import Any

from ...ops import elementwise as ew
from ...ops import selection as sel
from .nn.functional._arguments import constant


class WeightDecayRegularizer:
    """Base of the penalties: calling one with a parameter gives the gradient of the penalty."""

    def __init__(self, coeff: float = 0.0) -> None:
        self._coeff = coeff

    def __call__(self, param: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no gradient")


class L1Decay(WeightDecayRegularizer):
    """coeff times the sum of magnitudes."""

    def __call__(self, param: Any) -> Any:
        """coeff sign(param)."""
        return ew.multiply(sel.sign(param, nan_to_zero=False), constant(self._coeff, param))

    def __str__(self) -> str:
        return f"L1Decay, coeff={self._coeff:f}"


class L2Decay(WeightDecayRegularizer):
    """coeff / 2 times the sum of squares."""

    def __call__(self, param: Any) -> Any:
        """coeff param."""
        return ew.multiply(param, constant(self._coeff, param))

    def __str__(self) -> str:
        return f"L2Decay, coeff={self._coeff:f}"


def coefficient_of(decay: Any) -> Any:
    """The number of an L2 penalty (0 for none), None for another kind."""
    if decay is None:
        return 0.0
    return float(decay._coeff) if type(decay) is L2Decay else None
