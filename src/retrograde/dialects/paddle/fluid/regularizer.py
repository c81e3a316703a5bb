"""`paddle.fluid.regularizer`: the penalties under their old names and arguments."""

from __future__ import annotations

from typing import Any

from .. import regularizer as _new
from .._api import missing as _missing


def L1Decay(regularization_coeff: float = 0.0) -> _new.L1Decay:
    """The coefficient times the sum of magnitudes."""
    return _new.L1Decay(regularization_coeff)


def L2Decay(regularization_coeff: float = 0.0) -> _new.L2Decay:
    """Half the coefficient times the sum of squares."""
    return _new.L2Decay(regularization_coeff)


L1DecayRegularizer, L2DecayRegularizer = L1Decay, L2Decay

__all__ = ["L1Decay", "L1DecayRegularizer", "L2Decay", "L2DecayRegularizer"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.fluid.regularizer", name, globals())
