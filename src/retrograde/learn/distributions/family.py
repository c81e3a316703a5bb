"""What families of distributions have in common."""

from __future__ import annotations

import math
from typing import Any

EULER = 0.57721566490153286060
HALF_LOG_TAU = math.log(math.sqrt(2 * math.pi))

F = Any
"""A dialect's functions, its vocabulary."""
V = Any
"""A value of the dialect."""


class Family:
    """A distribution's formulas: `log_prob`, `cdf` and `icdf` of a value and the parameters, `mean`, `mode`, `variance`,
    `stddev` and `entropy` of the parameters; those of exponential families by `natural` parameters have a
    `log_normaliser`. A family defines those that are known and used."""

    parameters: tuple[str, ...] = ()

    @classmethod
    def ask(cls, formula: str, f: F, p: Any) -> V:
        """A formula of the parameters, for something that has them as attributes."""
        return getattr(cls, formula)(f, *(getattr(p, name) for name in cls.parameters))
