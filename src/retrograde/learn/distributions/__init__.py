"""Distributions: formulas, transforms and divergences, once for all dialects.

A family (`continuous.py`, `discrete.py`) is a row: its name, what it is, its parameters, and formulas by name. The first
argument of a formula is the dialect's vocabulary, the functions of the dialect by one set of names (`f.log`, `f.where`,
`f.sum`); the others are values of the dialect, numbers where the family allows them. So dtypes, errors and gradients are
the dialect's, and the operations, in their order, are the same:

    Normal.log_prob(f, x, loc, scale)

`f.times_log(a, x)` and `f.times_log1p(a, x)` are a log x and a log(1 + x), with what the framework makes of 0 log 0 and of an x
outside; where 0 is meant, formulas say `f.xlogy` and `f.xlog1py`.

`divergences.py` holds the Kullback-Leibler divergences by pairs of families, `transforms.py` maps with their inverses and
the logarithms of their slopes. Draws are not here: each dialect has its own random stream.
"""

from . import continuous, discrete, divergences, transforms
from .family import EULER, HALF_LOG_TAU, Family, Map

__all__ = ["EULER", "HALF_LOG_TAU", "Family", "Map", "continuous", "discrete", "divergences", "transforms"]
