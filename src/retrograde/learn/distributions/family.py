"""What families of distributions, and maps between values, are: a name, parameters and formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

EULER = 0.57721566490153286060
HALF_LOG_TAU = math.log(math.sqrt(2 * math.pi))

F = Any
"""A dialect's functions, its vocabulary."""
V = Any
"""A value of the dialect."""
Formula = Callable[..., V]


class Formulas:
    """A name, what it stands for, and formulas; `parameters`: what they take after the vocabulary (and a value)."""

    def __init__(self, name: str, doc: str, parameters: str = "", **formulas: Formula) -> None:
        self.name, self.doc, self.parameters, self.formulas = name, doc, tuple(parameters.split()), formulas
        self.__dict__.update(formulas)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def ask(self, formula: str, f: F, p: Any) -> V:
        """A formula of the parameters, for something that has them as attributes."""
        return self.formulas[formula](f, *(getattr(p, name) for name in self.parameters))


class Family(Formulas):
    """A distribution: `log_prob`, `cdf` and `icdf` of a value and the parameters, `mean`, `mode`, `variance`, `stddev` and
    `entropy` of the parameters; exponential families have a `log_normaliser` of their `natural` parameters. A family has
    those that are known and used."""


class Map(Formulas):
    """`forward` of a value and the parameters, its `inverse`, and `log_slope`, the logarithm of the derivative's size, of a
    value, a function that gives its image, and the parameters."""
