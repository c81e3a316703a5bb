"""`paddle.special`: expm1, logsumexp and softmax."""

from __future__ import annotations

from ._api import FUNCTIONS, attributes

__all__ = ["expm1", "logsumexp", "softmax"]

expm1, logsumexp, softmax = FUNCTIONS["expm1"], FUNCTIONS["logsumexp"], FUNCTIONS["softmax"]

__getattr__ = attributes(globals())
