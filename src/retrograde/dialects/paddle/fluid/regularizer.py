"""`paddle.fluid.regularizer`: the penalties under their old names and arguments."""

from __future__ import annotations

from .. import regularizer as _new
from .._api import attributes as _attributes


def L1Decay(regularization_coeff: float = 0.0) -> _new.L1Decay:
    """The coefficient times the sum of magnitudes."""
    return _new.L1Decay(regularization_coeff)


def L2Decay(regularization_coeff: float = 0.0) -> _new.L2Decay:
    """Half the coefficient times the sum of squares."""
    return _new.L2Decay(regularization_coeff)


L1DecayRegularizer, L2DecayRegularizer = L1Decay, L2Decay

__all__ = ["L1Decay", "L1DecayRegularizer", "L2Decay", "L2DecayRegularizer"]

__getattr__ = _attributes(globals())
