"""`paddle.special`: expm1, logsumexp and softmax."""

from __future__ import annotations

from ._api import attributes
from ._api import offered as _offered
from ._reductions import logsumexp as _logsumexp
from ._unary import expm1 as _expm1
from ._unary import softmax as _softmax

__all__ = ["expm1", "logsumexp", "softmax"]

expm1, logsumexp, softmax = _offered(_expm1), _offered(_logsumexp), _offered(_softmax)

__getattr__ = attributes(globals())
