"""The rules of a proof: what each says, where it holds, and what the functions are that terms name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

END = "from the end of "
"""The function of labels that may be negative starts with this; how many elements there are comes behind."""

FLAT = frozenset(
    ("positive", "nonzero", "greater", "less", "greater_equal", "less_equal", "equal", "not_equal", "sign")
)
"""Functions without a derivative, or of which it is 0."""



class Rule(NamedTuple):
    """What a rule says, and where."""

    statement: str
    domain: str
    condition: str = "none"
    """On shapes."""


RULES: dict[str, Rule] = {
    "add": Rule("terms are added monomial by monomial", "reals"),
    "mul": Rule("products are distributed over sums", "reals"),
    "power": Rule("(c·m)^e = c^e·m^e; (a^2)^e = |a|^2e; whole powers of sums are products; a sum keeps other powers, but for "
                  "its first coefficient; 1/(1 + exp(a)) = sigmoid(-a)",
                  "where both sides are defined: bases of roots are not negative"),
    "exp": Rule("exp(a + b) = exp(a)·exp(b); exp(log(a)) = a; exp(a - inf) = 0", "reals, a > 0 under a logarithm; a number of "
                "-1e8 or below is written for minus infinity, beside which a is small"),
    "log": Rule("log(a·b^e) = log(a) + e·log(b); log(exp(a)) = a", "a > 0, b > 0"),
    "function": Rule("odd and even functions take the sign out; sigmoid(-a) = 1 - sigmoid(a); f(-a) = f(a) - a for softplus and "
                     "max(a, 0), which takes a factor out", "reals"),
    "gate": Rule("what is 0 where a is not positive: multiples of a are those of max(a, 0)", "reals"),
    "sum": Rule("a sum over an index is linear; what does not have the index comes before it; sums of products fall apart into "
                "products of sums; an index that is read as a quotient and a rest is two", "reals",
                "the divisor of a quotient divides the length of the axis"),
    "top": Rule("the largest element over an index; max(a + c) = max(a) + c where c does not have the index", "reals"),
    "case": Rule("a condition on indices is a factor of 1 or 0: what always holds is left out, an equation is put in; "
                 "neighbours with the same factor, or with factors of one form, are one; functions are taken case by case",
                 "whole numbers", "cases lie within the lengths of the axes"),
    "fold": Rule("what is added of one form, for one place after the other, is a sum over these", "reals"),
    "index": Rule("an index is put in the place of another", "whole numbers", "within the length of the axis"),
    "stop": Rule("a function of what is stopped is stopped; what has no derivative anyway is not changed", "values, derivatives"),
}  # fmt: skip
"""The rules by name."""


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("log", "tanh", "sin", "cos", "tan", "absolute", "sign", "sinh", "cosh", "equal")},
    "erf": np.vectorize(math.erf, otypes=[float]), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0), "relu": lambda x: np.maximum(x, 0),
    "positive": lambda x: x > 0, "nonzero": lambda x: x != 0, "where": lambda c, x, y: np.where(c != 0, x, y),
}  # fmt: skip
"""What is known of functions by name; of others only that they are functions."""


class TooLarge(Exception):
    """A term has grown beyond what is looked at."""


class Step(NamedTuple):
    """One application of a rule: to these arguments it gives this."""

    rule: str
    arguments: tuple[Any, ...]
    result: Any


def applied(name: str, values: Sequence[np.ndarray]) -> np.ndarray:
    """The values of a function that is known by name; of another, those of one that stands for it."""
    known = FUNCTIONS.get(name)
    if known is not None:
        return np.asarray(known(*values) * 1.0)
    if name.startswith(END):
        return np.where(values[0] < 0, values[0] + int(name[len(END) :]), values[0])
    total: Any = np.float64(0.1 * (sum(ord(c) * (k + 1) for k, c in enumerate(name)) % 97))
    for k, x in enumerate(values):  # of a function that is not known, only that it is one
        total = total + np.tanh(x) * math.sqrt(2.0 + k)
    return np.asarray(1.5 + np.sin(total))
