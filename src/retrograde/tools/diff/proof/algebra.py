"""Elements of tensors as terms, in a normal form: sums of products of powers, over the indices of the tensor.

A term (`Poly`, known by a number) is a sum of monomials with coefficients; a monomial is a product of factors with exponents; a
factor is an element of a tensor that is not looked into, the exponential of a monomial, a function of terms, or a sum over
indices. Layouts, broadcasts and reductions are substitutions of indices and sums, so that nothing has to be known of how
transposes pass through products. Every application of a rule is written down (`steps`), for check.py.

Rules hold for real numbers, without rounding, where both sides are defined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..policy import POLICY

Index = tuple[Any, ...]
"""A whole number as (constant, ((variable or quotient or rest, coefficient), ...))."""

LARGEST = 600
"""How many factors a term may have in all, those within factors included."""

CASES = 40
"""Into how many cases a term may fall."""

STEPS = 60_000
"""How many applications of rules a proof may have."""


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

END = "from the end of "
"""The function of labels that may be negative starts with this; how many elements there are comes behind."""

FAR = 100.0
"""The exponential of a number beyond is not computed."""

FLAT = frozenset(
    ("positive", "nonzero", "greater", "less", "greater_equal", "less_equal", "equal", "not_equal", "sign")
)
"""Functions without a derivative, or of which it is 0."""


class TooLarge(Exception):
    """A term has grown beyond what is looked at."""


class Step(NamedTuple):
    """One application of a rule: to these arguments it gives this."""

    rule: str
    arguments: tuple[Any, ...]
    result: Any


def variable(axis: int, size: int) -> tuple[str, int, int]:
    """The index of an axis of a tensor."""
    return ("v", axis, size)


def index(atom: Any, coefficient: int = 1, constant: int = 0) -> Index:
    """A variable, or what else an index is made of, as an index."""
    if atom[0] in "vb" and atom[2] == 1:
        return (constant, ())
    return (constant, ((atom, coefficient),))


def plus(*parts: tuple[Index, int]) -> Index:
    """The sum of indices, each times a whole number."""
    constant, found = 0, dict[Any, int]()
    for (c, terms), factor in parts:
        constant += c * factor
        for atom, k in terms:
            found[atom] = found.get(atom, 0) + k * factor
    return (constant, tuple(sorted(((a, k) for a, k in found.items() if k), key=repr)))


def solved(x: Index, atom: Any, value: int) -> Index | None:
    """What an atom is where an index is a number; None where that is not a whole number for all other atoms."""
    k = next((k for a, k in x[1] if a == atom), 0)
    if abs(k) != 1:
        return None
    return plus((x, -k), (index(atom), 1), ((k * value, ()), 1))


class Algebra:
    """Terms, known by numbers, and the rules by which they are made."""

    ZERO = 0

    def __init__(self) -> None:
        self.steps: dict[tuple[Any, ...], Step] = {}
        self._numbers: dict[Any, int] = {}
        self.terms: list[dict[tuple[Any, ...], float]] = []
        """The monomials of a term, with their coefficients."""
        self._factor_numbers: dict[Any, int] = {}
        self.factors: list[Any] = []
        self._sizes: list[int] = []
        self._cases: set[int] = set()
        """The factors that are conditions on indices."""
        self.whole: set[Any] = set()
        """The tensors that hold whole numbers."""
        self.limits: dict[Any, list[tuple[tuple[tuple[float, float], ...], int, int, int | None]]] = {}
        """Tensors of labels -> of which places it is known between what they lie, or what else they are: an operation of one of
        the programs refuses others."""
        self.names: set[Any] = set()
        """What was taken for one value before, and may be computed at another place, too: in the first of its layouts, shape and
        term."""
        self.noted: set[Any] = set()
        """The same, found in this round, for the next one."""
        self.begun: dict[Any, list[Any]] = {}
        """The limits with which the round has begun."""
        self.numbered: dict[Any, int] = {}
        """Numbers of tensors that are not looked into, by what they are known by."""
        self._special: set[int] = set()
        """The factors of which products are more than exponents: cases, signs and absolute values."""
        self._within: dict[int, bool] = {}
        self._free: dict[tuple[str, int], frozenset[Any]] = {}
        self._moving: dict[int, bool] = {}
        self._counter = itertools.count()
        self.stopped: dict[Any, Any] = {}
        """Tensors that stand for a term -> those that stand for it stopped."""
        self.moving_atoms: set[Any] = set()
        """The tensors that derivatives are taken with respect to."""
        self.number(0.0)

    # ------------------------------------------------------------------------------------------ interning

    def term(self, monomials: dict[tuple[Any, ...], float]) -> int:
        """The number of a term; coefficients count to seven digits, which single precision has."""
        largest = max(map(abs, monomials.values()), default=0.0)
        kept = {m: c for m, c in monomials.items() if abs(c) > POLICY.lost * largest}
        if len(kept) > 1 and self._cases and any(f in self._cases for m in kept for f, _ in m):
            kept = self._joined(kept)
        if sum(1 + sum(self._sizes[f] for f, _ in m) for m in kept) > LARGEST:
            raise TooLarge
        key = tuple(sorted((m, f"{c:.{POLICY.digits}g}") for m, c in kept.items()))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.terms)
            self.terms.append(kept)
        return number

    def factor(self, *key: Any) -> int:
        """The number of a factor."""
        number = self._factor_numbers.get(key)
        if number is None:
            number = self._factor_numbers[key] = len(self.factors)
            self.factors.append(key)
            if key[0] == "case":
                self._cases.add(number)
            if key[0] == "case" or (key[0] == "function" and key[1] in ("positive", "absolute", "sigmoid")):
                self._special.add(number)
            self._sizes.append(1 + sum(self._size(part) for part in self._parts(key)))
        return number

    def _parts(self, key: Any) -> list[tuple[Any, ...]]:
        """The monomials that a factor is made of."""
        if key[0] in ("exp", "sum"):
            return [key[-1]]
        inner = key[2:] if key[0] in ("function", "top") else key[1:2] if key[0] == "power" else ()
        return [m for p in inner for m in self.terms[p]]

    def _size(self, m: tuple[Any, ...]) -> int:
        return 1 + sum(self._sizes[f] for f, _ in m)

    def single(self, factor: int, exponent: float = 1.0) -> int:
        """A factor as a term."""
        return self.term({((factor, exponent),): 1.0})

    def number(self, x: float) -> int:
        """A number as a term."""
        if math.isnan(x):
            raise TooLarge
        if math.isinf(x):
            return self.term({((self.factor("infinite"), 1.0),): math.copysign(1.0, x)})
        return self.term({(): float(x)} if x else {})

    def element(self, tensor: Any, indices: Sequence[Index]) -> int:
        """An element of a tensor that is not looked into."""
        return self.single(self.factor("at", tensor, tuple(indices)))

    def constant(self, p: int) -> float | None:
        """The number that a term is; None for one that is none."""
        terms = self.terms[p]
        return 0.0 if not terms else terms[()] if terms.keys() == {()} else None

    def _logged(self, rule: str, *arguments: Any) -> Any:
        key = (rule, *arguments)
        step = self.steps.get(key)
        if step is None:
            if len(self.steps) > STEPS or len(self.factors) > 4 * STEPS:
                raise TooLarge
            step = self.steps[key] = Step(rule, arguments, getattr(self, f"_{rule}")(*arguments))
        return step.result

    def case(self, x: Index, low: float, high: float) -> int:
        """1 where an index is at least `low` and below `high`, 0 elsewhere."""
        return int(self._logged("case", x, low, high))

    def add(self, p: int, q: int) -> int:
        """p + q"""
        return int(self._logged("add", p, q))

    def mul(self, p: int, q: int) -> int:
        """p · q"""
        return int(self._logged("mul", p, q))

    def power(self, p: int, e: float) -> int:
        """p to the power of a number"""
        return int(self._logged("power", p, float(e)))

    def exp(self, p: int) -> int:
        """The exponential."""
        return int(self._logged("exp", p))

    def log(self, p: int) -> int:
        """The logarithm."""
        return int(self._logged("log", p))

    def gate(self, p: int, q: int) -> int:
        """q where p is positive, 0 elsewhere."""
        return int(self._logged("gate", p, q))

    def function(self, name: str, *arguments: int) -> int:
        """Another function of terms."""
        return int(self._logged("function", name, *arguments))

    def sum(self, p: int, atom: Any) -> int:
        """The sum over an index."""
        return int(self._logged("sum", p, atom))

    def top(self, p: int, atom: Any) -> int:
        """The largest over an index."""
        return int(self._logged("top", p, atom))

    def index(self, p: int, places: dict[Any, Index]) -> int:
        """A term with other indices."""
        moved = tuple(sorted(((a, x) for a, x in places.items() if x != index(a)), key=repr))
        return int(self._logged("index", p, moved)) if moved else p

    def stop(self, p: int) -> int:
        """A term of which no derivative is taken."""
        return int(self._logged("stop", p))

    def subtract(self, p: int, q: int) -> int:
        """p - q"""
        return self.add(p, self.mul(self.number(-1.0), q))

    def divide(self, p: int, q: int) -> int:
        """p / q"""
        return self.mul(p, self.power(q, -1.0))

    # ------------------------------------------------------------------------------------------ the rules

    def _add(self, p: int, q: int) -> int:
        found = dict(self.terms[p])
        for m, c in self.terms[q].items():
            found[m] = found.get(m, 0.0) + c
            if abs(found[m]) <= POLICY.cancelled * abs(c):
                del found[m]
        return self.term(found)

    def _product(self, m: tuple[Any, ...], n: tuple[Any, ...]) -> tuple[Any, ...]:
        """The product of monomials that have no cases."""
        found = dict(m)
        for f, e in n:
            found[f] = round(found.get(f, 0.0) + e, 9)
            if not found[f]:
                del found[f]
        return tuple(sorted(found.items()))

    def _times(self, m: tuple[Any, ...], n: tuple[Any, ...]) -> int:
        """The product of monomials, as a term."""
        product = self._product(m, n)
        if not self._special or not any(f in self._special for f, _ in product):
            return self.term({product: 1.0})
        return self._tidied(product)

    def _tidied(self, m: tuple[Any, ...]) -> int:
        """A monomial with factors of which products are more than exponents, as a term."""
        more, plain = self.number(1.0), []
        present = {f for f, _ in m}
        for f, e in m:
            key = self.factors[f]
            if key[:2] == ("function", "positive") and e > 0:
                if self._factor_numbers.get(("function", "relu", key[2])) in present:
                    continue
                e = 1.0
            elif key[:2] == ("function", "sigmoid") and e >= 1:
                grows = self._beside(dict(m), key[2])
                if grows:
                    return self._without_exponential(m, f, grows)
            elif key[:2] == ("function", "absolute") and e == int(e) and abs(e) > 1:
                more = self.mul(more, self.power(key[2], e - math.fmod(e, 2)))
                e = math.fmod(e, 2)
            if e:
                plain.append((f, e))
        kept = tuple(plain)
        found = self._in_case(kept) if any(f in self._cases for f, _ in kept) else self.term({kept: 1.0})
        return found if more == self.number(1.0) else self.mul(found, more)

    def _beside(self, m: dict[int, float], p: int) -> int:
        """1 where exp(p) is in a monomial, -1 where exp(-p) is, 0 where neither is."""
        shares = {m.get(self._factor_numbers.get(("exp", n), -1), 0.0) / c for n, c in self.terms[p].items() if n}
        if not shares or () in self.terms[p]:
            return 0
        return 1 if min(shares) >= 1 else -1 if max(shares) <= -1 else 0

    def _without_exponential(self, m: tuple[Any, ...], f: int, grows: int) -> int:
        """exp(a)·sigmoid(a) = exp(a) - sigmoid(a); exp(-a)·sigmoid(a) = 1 - sigmoid(a)"""
        p = self.factors[f][2]
        power = tuple((self.factor("exp", n), c * grows) for n, c in self.terms[p].items())
        rest = self._product(m, (*((g, -e) for g, e in power), (f, -1.0)))
        found = self.subtract(self.term({tuple(sorted(power)): 1.0}) if grows > 0 else self.number(1.0), self.single(f))
        return self.mul(self.term({rest: 1.0}), found)

    def _mul(self, p: int, q: int) -> int:
        found: dict[tuple[Any, ...], float] = {}
        if len(self.terms[p]) * len(self.terms[q]) > LARGEST:
            raise TooLarge
        special = self._special
        for m, c in self.terms[p].items():
            for n, d in self.terms[q].items():
                product = self._product(m, n)
                parts = {product: 1.0}
                if special and any(f in special for f, _ in product):
                    parts = self.terms[self._tidied(product)]
                for product, x in parts.items():
                    x *= c * d
                    found[product] = found.get(product, 0.0) + x
                    if abs(found[product]) <= POLICY.cancelled * abs(x):
                        del found[product]
        # (a sum of several monomials)^-1 times that sum is found where powers of it meet: see _power
        return self.term(found)

    def _power(self, p: int, e: float) -> int:
        terms = self.terms[p]
        if e == 0.0:
            return self.number(1.0)
        if e == 1.0:
            return p
        if not terms and e > 0:
            return p
        runs = self._runs(p)
        if runs:
            return self._by_cases(runs, lambda q: self.power(q, e))
        if len(terms) == 1:
            ((m, c),) = terms.items()
            if e == int(e):
                return self.term({tuple((f, round(k * e, 9)) for f, k in m): c**e})
            if c > 0 and all(self._is_positive(f, k) for f, k in m):
                found: dict[int, float] = {}
                for f, k in m:
                    positive = self._is_positive(f, 1.0 if k % 2 == 0 else k)
                    base = f if positive else self.factor("function", "absolute", self.single(f))
                    found[base] = found.get(base, 0.0) + round(k * e, 9)
                return self.term({tuple(sorted(found.items())): c**e})
            if c > 0:
                return self.term({((self.factor("power", self.term({m: 1.0})), e),): c**e})
            return self.single(self.factor("power", p), e)
        if e == int(e) and 1 <= e <= 4:
            product = p
            for _ in range(int(e) - 1):
                product = self.mul(product, p)
            return product
        if not terms:
            return self.single(self.factor("power", p), e)
        # The first coefficient comes out, so that multiples of one sum are powers of one factor; so do common factors.
        first = min(terms)
        c = terms[first] if e == int(e) else abs(terms[first])
        common = dict(first)
        for m in terms:
            own = dict(m)
            common = {f: min(k, own[f]) for f, k in common.items() if f in own and (k > 0) == (own[f] > 0)
                      and (e == int(e) or self._is_positive(f, 1.0))}  # fmt: skip
        out = tuple(sorted(common.items()))
        inverse = tuple((f, -k) for f, k in out)
        rest = self.term({self._product(m, inverse): x / c for m, x in terms.items()})
        grown = self._exponent(rest)
        if grown is not None:  # 1 / (1 + exp(a)) = sigmoid(-a)
            opposite = self.function("sigmoid", self.mul(self.number(-1.0), grown))
            return self.mul(self.term({tuple((f, round(k * e, 9)) for f, k in out): c**e}), self.power(opposite, -e))
        return self.term(
            {self._product(tuple((f, round(k * e, 9)) for f, k in out), ((self.factor("power", rest), e),)): c**e}
        )

    def _exponent(self, p: int) -> int | None:
        """a, of 1 + exp(a); None for another term."""
        terms = self.terms[p]
        if len(terms) != 2 or terms.get(()) != 1.0:
            return None
        ((m, c),) = [(m, c) for m, c in terms.items() if m]
        if c != 1.0 or any(self.factors[f][0] != "exp" for f, _ in m):
            return None
        inner: dict[Any, float] = {}
        for f, e in m:
            inner[self.factors[f][1]] = inner.get(self.factors[f][1], 0.0) + e
        return self.term(inner)

    def _is_positive(self, factor: int, exponent: float) -> bool:
        """Whether a power of a factor is not negative for all values."""
        kind = self.factors[factor][0]
        if kind == "function" and self.factors[factor][1] in ("absolute", "sigmoid", "softplus", "relu"):
            return True
        return kind == "exp" or exponent % 2 == 0 or (kind == "power" and exponent != int(exponent)) or (
            kind == "sum" and all(self._is_positive(f, k) for f, k in self.factors[factor][2])
        )  # fmt: skip

    def _exp(self, p: int) -> int:
        runs = self._runs(p)
        if runs:
            return self._by_cases(runs, self.exp)
        monomial: tuple[Any, ...] = ()
        c = 1.0
        for m, k in self.terms[p].items():
            if any(self.factors[f][0] == "infinite" for f, _ in m):
                if len(m) > 1 or k > 0:
                    raise TooLarge
                return self.ZERO
            if m == () and k <= POLICY.masked:  # what is written for minus infinity
                return self.ZERO
            if m == () and abs(k) < FAR:
                c *= math.exp(k)
            elif len(m) == 1 and m[0][1] == 1.0 and self.factors[m[0][0]][:2] == ("function", "log"):
                inner = self.terms[self.power(self.factors[m[0][0]][2], k)]
                if len(inner) != 1:
                    raise TooLarge
                ((n, d),) = inner.items()
                monomial, c = self._product(monomial, n), c * d
            else:
                monomial = self._product(monomial, ((self.factor("exp", m), k),))
        return self.term({monomial: c})

    def _log(self, p: int) -> int:
        runs = self._runs(p)
        if runs:
            return self._by_cases(runs, self.log)
        terms = self.terms[p]
        if len(terms) == 1:
            ((m, c),) = terms.items()
            if c > 0:
                found = self.number(math.log(c))
                for f, e in m:
                    kind, *rest = self.factors[f]
                    if kind == "exp":
                        part = self.term({rest[0]: e})
                    elif kind == "function" and rest[0] == "sigmoid":
                        u = rest[1]
                        part = self.mul(self.number(e), self.subtract(u, self.function("softplus", u)))
                    elif kind == "power":
                        part = self.mul(self.number(e), self._log_of(rest[0]))
                    else:
                        part = self.mul(self.number(e), self.single(self.factor("function", "log", self.single(f))))
                    found = self.add(found, part)
                return found
        return self._log_of(p)

    def _log_of(self, p: int) -> int:
        terms = self.terms[p]
        grown = self._exponent(p)
        if grown is not None:  # log(1 + exp(a))
            return self.function("softplus", grown)
        if len(terms) == 2 and terms.get(()) == 1.0:
            ((m, c),) = [(m, c) for m, c in terms.items() if m]
            kinds = [self.factors[f] for f, _ in m]
            if (
                c == -1.0 and len(m) == 1 and m[0][1] == 1.0 and kinds[0][:2] == ("function", "sigmoid")
            ):  # log(1 - sigmoid(a))
                return self.mul(self.number(-1.0), self.function("softplus", kinds[0][2]))
        return self.single(self.factor("function", "log", p))

    def _function(self, name: str, *arguments: int) -> int:
        runs = self._runs(*arguments)
        if runs:
            return self._by_cases(runs, lambda *parts: self.function(name, *parts))
        c = self.constant(arguments[0]) if name == "nonzero" else None
        if c is not None:
            return self.number(float(c != 0))
        if name in ("relu", "positive"):
            terms = self.terms[arguments[0]]
            c = self.constant(arguments[0])
            if c is not None:
                return self.number(max(c, 0.0) if name == "relu" else float(c > 0))
            scale = abs(terms[min(terms)])
            if f"{scale:.{POLICY.digits}g}" != "1":
                found = self.function(name, self.mul(self.number(1 / scale), arguments[0]))
                return found if name == "positive" else self.mul(self.number(scale), found)
        odd, even = name in ("tanh", "erf", "sin", "asinh", "atan", "sign"), name in ("cos", "absolute", "cosh")
        if len(arguments) == 1 and (odd or even or name in ("sigmoid", "softplus", "relu")):
            terms = self.terms[arguments[0]]
            if terms and terms[min(terms)] < 0:
                u = self.mul(self.number(-1.0), arguments[0])
                found = self.function(name, u)
                if even:
                    return found
                if odd:
                    return self.mul(self.number(-1.0), found)
                return self.subtract(*((self.number(1.0), found) if name == "sigmoid" else (found, u)))
        if name in ("maximum", "minimum", "equal", "not_equal"):
            arguments = tuple(sorted(arguments))
        return self.single(self.factor("function", name, *arguments))

    def _gate(self, p: int, q: int) -> int:
        runs = self._runs(p)
        if runs:
            return self._by_cases(runs, lambda r: self.gate(r, q))
        sign = self.function("positive", p)
        terms = self.terms[p]
        if self.constant(p) is not None:
            return self.mul(sign, q)
        first = min(terms)
        inverse = tuple((f, -e) for f, e in first)
        left = {self._product(m, inverse): c / terms[first] for m, c in self.terms[q].items()
                if all(dict(m).get(f, 0.0) >= e for f, e in first)}  # fmt: skip
        times = self.term(left) if first else self.ZERO
        rest = self.subtract(q, self.mul(times, p))
        if len(self.terms[rest]) > len(self.terms[q]):
            return self.mul(sign, q)
        return self.add(self.mul(times, self.function("relu", p)), self.mul(sign, rest))

    def _stop(self, p: int) -> int:
        if not self.moves(p):
            return p
        found: dict[tuple[Any, ...], float] = {}
        for m, c in self.terms[p].items():
            still = self._stopped(m)
            found[still] = found.get(still, 0.0) + c
        return self.term(found)

    def _stopped(self, m: tuple[Any, ...]) -> tuple[Any, ...]:
        found: tuple[Any, ...] = ()
        for f, e in m:
            found = self._product(found, ((self._stopped_factor(f), e),))
        return found

    def _stopped_factor(self, factor: int) -> int:
        if not self._moves(factor):
            return factor
        key = self.factors[factor]
        if key[0] == "at":
            return self.factor("at", self.stopped.get(key[1], ("stopped", key[1])), key[2])
        if key[0] == "exp":
            return self.factor("exp", self._stopped(key[1]))
        if key[0] == "sum":
            return self.factor("sum", key[1], self._stopped(key[2]))
        if key[0] == "power":
            return self.factor("power", self._stop(key[1]))
        return self.factor(*key[:2], *map(self._stop, key[2:]))

    def _top(self, p: int, atom: Any) -> int:
        runs = self._runs(p, without=atom)
        if runs:
            return self._by_cases(runs, lambda q: self.top(q, atom))
        terms = self.terms[p]
        inside = {m: c for m, c in terms.items() if atom in self.free_of(m)}
        outside = self.term({m: c for m, c in terms.items() if m not in inside})
        if not inside:
            return p
        bound = self._bound([self.term(inside)], [atom])
        inner = self.index(self.term(inside), {atom: index(bound[0])})
        return self.add(outside, self.single(self.factor("top", bound, inner)))

    def _sum(self, p: int, atom: Any) -> int:
        return self._sum_term(p, [atom])

    def _sum_term(self, p: int, atoms: list[Any]) -> int:
        """The sum of a term over several indices."""
        found = self.ZERO
        for m, c in self.terms[p].items():
            found = self.add(found, self.mul(self.number(c), self._sum_of(m, atoms)))
        return found

    def _sum_of(self, m: tuple[Any, ...], atoms: list[Any]) -> int:
        """The sum of a monomial over several indices."""
        narrowed = self._narrowed(m, atoms)
        if narrowed is not None:
            return self._sum_term(*narrowed)
        split = self._quotient(m, atoms)
        if split is not None:
            atom, n = split
            high, low = self._fresh(atom[2] // n), self._fresh(n)
            moved = self.index(self.term({m: 1.0}), {atom: plus((index(high), n), (index(low), 1))})
            return self._sum_term(moved, [a for a in atoms if a != atom] + [high, low])
        # Sums within that have one of the indices are one sum with these.
        for f, e in m:
            key = self.factors[f]
            if key[0] == "sum" and e == 1.0 and self.free(f).intersection(atoms):
                rest = tuple((g, k) for g, k in m if g != f)
                fresh = [self._fresh(a[2]) for a in key[1]]
                inner = self.index(self.term({key[2]: 1.0}), {a: index(b) for a, b in zip(key[1], fresh)})
                return self._sum_term(self.mul(self.term({rest: 1.0}), inner), [*atoms, *fresh])
        out = tuple((f, e) for f, e in m if not self.free(f).intersection(atoms))
        inside = [(f, e) for f, e in m if self.free(f).intersection(atoms)]
        found = self.term({out: 1.0})
        for a in atoms:
            if not any(a in self.free(f) for f, _ in inside):
                found = self.mul(found, self.number(float(a[2])))
        while inside:  # what is connected by an index is one sum
            group = [inside.pop()]
            while True:
                names = self.free_of(tuple(group)).intersection(atoms)
                more = [x for x in inside if self.free(x[0]) & names]
                if not more:
                    break
                group += more
                inside = [x for x in inside if x not in more]
            found = self.mul(found, self._canonical_sum(tuple(sorted(group)), sorted(names, key=repr)))
        return found

    def _canonical_sum(self, m: tuple[Any, ...], atoms: list[Any]) -> int:
        best: Any = None
        term = self.term({m: 1.0})
        bound = self._bound([term], atoms)
        for order in itertools.permutations(range(len(atoms))) if len(atoms) < 5 else [tuple(range(len(atoms)))]:
            names = [("b", bound[i][1], atoms[j][2]) for i, j in enumerate(order)]
            moved = self._index(term, tuple((atoms[j], index(names[i])) for i, j in enumerate(order)))
            if len(self.terms[moved]) != 1:
                raise TooLarge
            ((n, c),) = self.terms[moved].items()
            key = (tuple(a[2] for a in names), n)
            if best is None or key < best[0]:
                best = (key, names, n, c)
        _, names, n, c = best
        return self.mul(self.number(c), self.single(self.factor("sum", tuple(names), n)))

    def _bound(self, terms: Sequence[int], atoms: Sequence[Any]) -> tuple[Any, ...]:
        """Names for indices that are summed over, above those that are within."""
        level = 1 + max((self._level(m) for p in terms for m in self.terms[p]), default=0)
        return tuple(("b", 64 * level + i, a[2]) for i, a in enumerate(atoms))

    def _fresh(self, size: int) -> Any:
        return ("v", f"new {next(self._counter)}", size)

    def _level(self, m: tuple[Any, ...]) -> int:
        return max((self._level_of(f) for f, _ in m), default=0)

    def _level_of(self, factor: int) -> int:
        key = self.factors[factor]
        return int(key[0] in ("sum", "top")) + max(map(self._level, self._parts(key)), default=0)

    def _quotient(self, m: tuple[Any, ...], atoms: list[Any]) -> tuple[Any, int] | None:
        """An index that is read as a quotient or rest of it by itself, and the divisor."""
        return next((found for f, _ in m for found in self.quotients(f) if found[0] in atoms), None)

    def quotients(self, factor: int) -> list[tuple[Any, int]]:
        """The indices of which a quotient or a rest is read in a factor, each with the divisor, where that divides the axis."""
        found = []
        for x in self._indices_of(factor):
            for atom, _ in x[1]:
                if atom[0] in ("div", "mod") and len(atom[1][1]) == 1 and atom[1][0] == 0:
                    inner, k = atom[1][1][0]
                    if inner[0] in "vb" and k == 1 and inner[2] % atom[2] == 0:
                        found.append((inner, atom[2]))
        return found

    def _indices_of(self, factor: int) -> list[Index]:
        key = self.factors[factor]
        if key[0] in ("at", "case"):
            own = list(key[2]) if key[0] == "at" else [key[1]]
            named = [p for x in own for (kind, p, *_), _ in x[1] if kind == "value"]
            return own + [x for p in named for m in self.terms[p] for f, _ in m for x in self._indices_of(f)]
        return [x for m in self._parts(key) for f, _ in m for x in self._indices_of(f)]

    # ------------------------------------------------------------------------------------------ indices

    def free(self, factor: int) -> frozenset[Any]:
        """The indices that a factor has and does not sum over."""
        known = self._free.get(("factor", factor))
        if known is None:
            key = self.factors[factor]
            if key[0] == "at":
                known = frozenset(a for x in key[2] for a in self._atoms(x))
            elif key[0] == "case":
                known = frozenset(self._atoms(key[1]))
            elif key[0] == "infinite":
                known = frozenset()
            elif key[0] == "exp":
                known = self.free_of(key[1])
            elif key[0] == "sum":
                known = self.free_of(key[2]) - set(key[1])
            elif key[0] == "top":
                known = self.free_in(key[2]) - set(key[1])
            else:
                known = frozenset().union(*(self.free_in(p) for p in (key[2:] if key[0] == "function" else key[1:2])))
            self._free["factor", factor] = known
        return known

    def _atoms(self, x: Index) -> set[Any]:
        found: set[Any] = set()
        for atom, _ in x[1]:
            if atom[0] in ("div", "mod"):
                found |= self._atoms(atom[1])
            elif atom[0] == "value":
                found |= self.free_in(atom[1])
            else:
                found.add(atom)
        return found

    def free_of(self, m: tuple[Any, ...]) -> frozenset[Any]:
        """The indices of a monomial."""
        return frozenset().union(*(self.free(f) for f, _ in m))

    def free_in(self, p: int) -> frozenset[Any]:
        """The indices of a term."""
        known = self._free.get(("term", p))
        if known is None:
            known = self._free["term", p] = frozenset().union(*(self.free_of(m) for m in self.terms[p]))
        return known

    def _index(self, p: int, places: tuple[tuple[Any, Index], ...]) -> int:
        table = dict(places)
        if not self.free_in(p).intersection(table):
            return p
        found: dict[tuple[Any, ...], float] = {}
        for m, c in self.terms[p].items():
            for new, k in self.terms[self._moved(m, table)].items():
                found[new] = found.get(new, 0.0) + c * k
        return self.term(found)

    def _moved(self, m: tuple[Any, ...], table: dict[Any, Index]) -> int:
        plain: tuple[Any, ...] = ()
        rest = []
        for f, e in m:
            if self._has_case(f) and self.free(f).intersection(table):
                rest.append(self.power(self._remade(f, table), e))
            else:
                plain = self._product(plain, ((self._moved_factor(f, table), e),))
        found = self._times(plain, ())
        for p in rest:
            found = self.mul(found, p)
        return found

    def _has_case(self, factor: int) -> bool:
        """Whether a factor is a case or has one within."""
        known = self._within.get(factor)
        if known is None:
            known = self._within[factor] = bool(self._cases) and (
                factor in self._cases or any(self._has_case(f) for m in self._parts(self.factors[factor]) for f, _ in m)
            )
        return known

    def _remade(self, factor: int, table: dict[Any, Index]) -> int:
        """A factor that has cases within, with other indices, as a term: some may be decided then."""
        kind, *rest = self.factors[factor]
        places = tuple(table.items())
        if kind == "case":
            return self.case(self._moved_index(rest[0], table), *rest[1:])
        if kind == "exp":
            return self.exp(self._moved(rest[0], table))
        if kind in ("sum", "top"):
            fresh = [self._fresh(a[2]) for a in rest[0]]
            table = {**table, **{a: index(b) for a, b in zip(rest[0], fresh)}}
            if kind == "sum":
                return self._sum_term(self._moved(rest[1], table), fresh)
            found = self._index(rest[1], tuple(table.items()))
            for atom in fresh:
                found = self.top(found, atom)
            return found
        if kind == "power":
            return self._index(rest[0], places)
        return self.function(rest[0], *(self._index(p, places) for p in rest[1:]))

    def _moved_factor(self, factor: int, table: dict[Any, Index]) -> int:
        if not self.free(factor).intersection(table):
            return factor
        key = self.factors[factor]
        if key[0] == "at":
            return self.factor("at", key[1], tuple(self._moved_index(x, table) for x in key[2]))
        if key[0] in ("exp", "sum"):
            ((m, _),) = self.terms[self._moved(key[-1], table)].items()
            return self.factor(*key[:-1], m)
        places = tuple(table.items())
        if key[0] == "top":
            return self.factor("top", key[1], self._index(key[2], places))
        if key[0] == "power":
            return self.factor("power", self._index(key[1], places))
        return self.factor("function", key[1], *(self._index(p, places) for p in key[2:]))

    def _moved_index(self, x: Index, table: dict[Any, Index]) -> Index:
        parts: list[tuple[Index, int]] = [((x[0], ()), 1)]
        for atom, k in x[1]:
            if atom[0] in ("div", "mod"):
                parts.append(
                    (self.divided(self._moved_index(atom[1], table), atom[2])[0 if atom[0] == "div" else 1], k)
                )
            elif atom[0] == "value":
                parts.append((index(("value", self._index(atom[1], tuple(table.items())))), k))
            else:
                parts.append((table.get(atom, index(atom)), k))
        return plus(*parts)

    def bounds(self, x: Index) -> tuple[float, float]:
        """The smallest and largest that an index can be."""
        low: float = x[0]
        high: float = x[0]
        for atom, k in x[1]:
            if atom[0] == "value":
                ends = self._between(atom[1])
            else:
                ends = (0.0, atom[2] - 1 if atom[0] in "vb" else atom[3] - 1)
            low, high = low + min(k * ends[0], k * ends[1]), high + max(k * ends[0], k * ends[1])
        return low, high

    def divided(self, x: Index, n: int) -> tuple[Index, Index]:
        """Quotient and rest of an index by a number."""
        if n == 1:
            return x, (0, ())
        whole = (x[0] // n, tuple((a, k // n) for a, k in x[1] if k % n == 0))
        rest = (x[0] % n, tuple((a, k) for a, k in x[1] if k % n))
        low, high = self.bounds(rest)
        if low >= 0 and high < n:
            return whole, rest
        top = int(high) // n + 1 if high < math.inf else 1 << 40
        return plus((whole, 1), (index(("div", rest, n, top)), 1)), index(("mod", rest, n, n))

    def _label(self, p: int) -> tuple[Any, tuple[Index, ...]] | None:
        """The tensor and the places of an element of one; None for any other term."""
        terms = self.terms[p]
        if len(terms) == 1:
            ((m, c),) = terms.items()
            if c == 1.0 and len(m) == 1 and m[0][1] == 1.0 and self.factors[m[0][0]][0] == "at":
                found: tuple[Any, tuple[Index, ...]] = self.factors[m[0][0]][1:]
                return found
        return None

    def limit(self, p: int, low: int, high: int, other: int | None = None) -> None:
        """Note that labels are at least `low` and below `high`, or another number, since an operation refuses others."""
        label = self._label(p)
        if label is None or label[0] not in self.whole:
            return
        tensor, places = label
        atoms = [x[1][0][0] for x in places if len(x[1]) == 1 and x[1][0][1] == 1]
        if len(set(atoms)) == sum(bool(x[1]) for x in places):
            known = self.limits.setdefault(tensor, [])
            entry = (tuple(map(self.bounds, places)), low, high, other)
            if entry not in known:
                known.append(entry)

    def _between(self, p: int) -> tuple[float, float]:
        """The smallest and the largest that a label can be."""
        label = self._label(p) if self.limits else None
        if label is None:
            return -math.inf, math.inf
        ends = [self.bounds(x) for x in label[1]]
        known = [entry[1:] for entry in self.limits.get(label[0], ())
                 if all(a <= low and high <= b for (a, b), (low, high) in zip(entry[0], ends))]  # fmt: skip
        low = max((low for low, _, _ in known), default=-math.inf)
        high = min((high - 1 for _, high, _ in known), default=math.inf)
        others = [x for _, _, x in known if x is not None and all(a <= x < b or x == y for a, b, y in known)]
        return min([low, *others]), max([high, *others])

    def next_round(self) -> bool:
        """Begin anew with what has been found in this round; False where nothing has."""
        if self.limits == self.begun and self.names >= self.noted:
            return False
        self.begun = {tensor: list(known) for tensor, known in self.limits.items()}
        self.names |= self.noted
        self.noted = set()
        self.steps, self.stopped, self.moving_atoms = {}, {}, set()
        return True

    def infinite(self, p: int) -> bool:
        """Whether infinity is among the factors of a term."""
        return any(self.factors[f][0] == "infinite" for m in self.terms[p] for f, _ in m)

    # ------------------------------------------------------------------------------------------ cases

    def _case(self, x: Index, low: float, high: float) -> int:
        found = self._interval(x, low, high)
        return (
            self.number(float(found))
            if isinstance(found, bool)
            else self._times(((self.factor("case", *found), 1.0),), ())
        )

    def _interval(self, x: Index, low: float, high: float) -> tuple[Index, float, float] | bool:
        """A condition in its shortest form; True or False where it always holds, or never."""
        low, high, x = low - x[0], high - x[0], (0, x[1])
        while True:
            least, most = self.bounds(x)
            low, high = max(low, least), min(high, most + 1)
            if low >= high:
                return False
            if low == least and high == most + 1:
                return True
            if x[1][0][1] < 0:
                x, low, high = plus((x, -1)), 1 - high, 1 - low
            step = math.gcd(*(k for _, k in x[1]))
            if step > 1:
                x = (0, tuple((a, k // step) for a, k in x[1]))
                low, high = _up(low, step), _up(high, step)
            for n in sorted({abs(k) for _, k in x[1] if abs(k) > 1}, reverse=True):
                rest = (0, tuple((a, k) for a, k in x[1] if k % n))
                ends = self.bounds(rest)
                if ends[0] >= 0 and ends[1] < n and low % n in (0, math.inf) and high % n in (0, math.inf):
                    x, low, high = (0, tuple((a, k // n) for a, k in x[1] if not k % n)), low / n, high / n
                    break
            else:
                return x, low, high

    def _in_case(self, m: tuple[Any, ...]) -> int:
        """A monomial with cases, as a term: cases of one index are one, and equations between indices are put in."""
        rest = {f: e for f, e in m if f not in self._cases}
        cases: dict[Index, tuple[float, float]] = {}
        for f, _ in m:
            if f in self._cases:
                _, x, low, high = self.factors[f]
                known = cases.get(x, (-math.inf, math.inf))
                cases[x] = max(low, known[0]), min(high, known[1])
                if cases[x][0] >= cases[x][1]:
                    return self.ZERO
        for x, (low, high) in sorted(cases.items(), key=repr):
            if high - low == 1:
                for atom in sorted((a for a, k in x[1] if a[0] in "vb" and abs(k) == 1), key=repr)[-1:]:
                    others = [f for f in rest if atom in self.free(f)]
                    more = [y for y in cases if y != x and atom in self._atoms(y)]
                    value = solved(x, atom, int(low))
                    if value is None or atom in self._atoms(value) or not (others or more):
                        continue
                    found = self._times(
                        tuple((f, e) for f, e in sorted(rest.items()) if f not in others),
                        tuple((self.factor("case", y, *ends), 1.0) for y, ends in cases.items() if y not in more),
                    )
                    moved = [(f, rest[f]) for f in others] + [(self.factor("case", y, *cases[y]), 1.0) for y in more]
                    return self.mul(found, self._moved(tuple(sorted(moved)), {atom: value}))
        own = ((self.factor("case", x, low, high), 1.0) for x, (low, high) in cases.items())
        return self.term({tuple(sorted([*rest.items(), *own])): 1.0})

    def _joined(self, terms: dict[tuple[Any, ...], float]) -> dict[tuple[Any, ...], float]:
        """Neighbouring cases with one factor as one case."""
        while True:
            groups: dict[tuple[Any, Index], list[tuple[float, float, tuple[Any, ...]]]] = {}
            for m in terms:
                for f, _ in m:
                    if f in self._cases:
                        _, x, low, high = self.factors[f]
                        groups.setdefault((tuple(pair for pair in m if pair[0] != f), x), []).append((low, high, m))
            for (rest, x), parts in groups.items():
                new = self._pieces(terms, rest, x, parts)
                if new is None:
                    continue
                for _, _, m in parts:
                    del terms[m]
                terms.pop(rest, None)
                terms.update(new)
                break
            else:
                new = self._neighbours(terms, groups)
                if new is None:
                    return terms
                terms = new

    def _pieces(
        self, terms: dict[tuple[Any, ...], float], rest: tuple[Any, ...], x: Index, parts: list[Any]
    ) -> dict[tuple[Any, ...], float] | None:
        """The cases of one factor, as long as possible; None where they are."""
        if len(parts) == 1 and rest not in terms:
            return None
        least, most = self.bounds(x)
        parts = [(low, high, terms[m]) for low, high, m in parts] + (
            [(least, most + 1, terms[rest])] if rest in terms else []
        )
        ends = sorted({end for low, high, _ in parts for end in (low, high)})
        runs: list[list[float]] = []
        for low, high in itertools.pairwise(ends):
            among = [c for a, b, c in parts if a <= low and high <= b]
            c = sum(among)
            if abs(c) <= POLICY.cancelled * max(map(abs, among), default=0.0):
                c = 0.0
            if runs and runs[-1][1] == low and _same(runs[-1][2], c):
                runs[-1][1] = high
            else:
                runs.append([low, high, c])
        base = (
            runs[-1][2] if runs[0][0] == least and runs[-1][1] == most + 1 and _same(runs[0][2], runs[-1][2]) else 0.0
        )
        # what holds for all but some is said of all, and of these
        runs = [[low, high, c - base] for low, high, c in runs if not _same(c, base)]
        runs += [[least, most + 1, base]] if base else []
        if sorted(map(tuple, runs)) == sorted(parts):
            return None
        found: dict[tuple[Any, ...], float] = {}
        for low, high, c in runs:
            whole = low == least and high == most + 1
            m = rest if whole else tuple(sorted([*rest, (self.factor("case", x, low, high), 1.0)]))
            found[m] = c
        return found

    def _neighbours(
        self, terms: dict[tuple[Any, ...], float], groups: dict[Any, list[Any]]
    ) -> dict[tuple[Any, ...], float] | None:
        """Two neighbouring cases, one of a single place, that are a case of one form; None where there are none."""
        single = [(x[1][0][0], low, rest, m) for (rest, x), parts in groups.items() for low, high, m in parts
                  if len(x[1]) == 1 and x[1][0][1] == 1 and x[1][0][0][0] in "vb" and high - low == 1]  # fmt: skip
        if not single:
            return None
        for atom, at, rest, m in single:
            for (other, x), parts in groups.items():
                if x != index(atom):
                    continue
                for low, high, n in parts:
                    if n == m or f"{terms[n]:.{POLICY.digits}g}" != f"{terms[m]:.{POLICY.digits}g}" or not (
                        at + 1 == low or (high == at and (high - low > 1))
                    ):  # fmt: skip
                        continue
                    form: Any = other
                    if high - low == 1:
                        form = self._form(rest, other, atom, int(at))
                    elif self.term({rest: 1.0}) != self._moved(other, {atom: (int(at), ())}):
                        form = None
                    if form is None:
                        continue
                    found = dict(terms)
                    c = found.pop(m)
                    found.pop(n)
                    case = self._interval(x, min(at, low), max(at + 1, high))
                    joined = form if isinstance(case, bool) else tuple(sorted([*form, (self.factor("case", *case), 1.0)]))
                    found[joined] = found.get(joined, 0.0) + c
                    return found
        return None

    def _form(self, m: tuple[Any, ...], n: tuple[Any, ...], atom: Any, at: int) -> tuple[Any, ...] | None:
        """A monomial with an index that is one monomial where the index is `at`, and another where it is one more."""
        if len(m) != len(n):
            return None
        left, found = list(n), []
        for f, e in m:
            for g, k in left:
                both = self._form_of(f, g, atom, at) if e == k else None
                if both is not None:
                    found.append((both, e))
                    left.remove((g, k))
                    break
            else:
                return None
        return tuple(sorted(found)) if len({f for f, _ in found}) == len(found) else None

    def _form_of(self, f: int, g: int, atom: Any, at: int) -> int | None:
        if f == g:
            return f
        mine, other = self.factors[f], self.factors[g]
        if mine[0] != other[0] or len(mine) != len(other):
            return None
        if mine[0] == "at":
            if mine[1] != other[1] or len(mine[2]) != len(other[2]):
                return None
            places = []
            for x, y in zip(mine[2], other[2]):
                if x[1] != y[1]:
                    return None
                places.append(x if x == y else plus((x, 1), (index(atom), y[0] - x[0]), (((x[0] - y[0]) * at, ()), 1)))
            return self.factor("at", mine[1], tuple(places))
        if mine[0] in ("exp", "sum") and mine[1:-1] == other[1:-1]:
            inner = self._form(mine[-1], other[-1], atom, at)
            return None if inner is None else self.factor(*mine[:-1], inner)
        start = {"function": 2, "top": 2, "power": 1}.get(mine[0])
        if start is None or mine[1:start] != other[1:start]:
            return None
        terms = [self._form_term(p, q, atom, at) for p, q in zip(mine[start:], other[start:])]
        return None if None in terms else self.factor(*mine[:start], *terms)

    def _form_term(self, p: int, q: int, atom: Any, at: int) -> int | None:
        if p == q:
            return p
        left, found = dict(self.terms[q]), dict[Any, float]()
        if len(left) != len(self.terms[p]):
            return None
        for m, c in self.terms[p].items():
            for n, d in left.items():
                form = self._form(m, n, atom, at) if f"{c:.{POLICY.digits}g}" == f"{d:.{POLICY.digits}g}" else None
                if form is not None:
                    found[form] = c
                    del left[n]
                    break
            else:
                return None
        return self.term(found) if len(found) == len(self.terms[p]) else None

    def _runs(self, *terms: int, without: Any = None) -> list[tuple[int, tuple[int, ...]]]:
        """Terms case by case of their first condition: the case, and what they are there; none where they have no conditions."""
        if not self._cases:
            return []
        found = {self.factors[f][1:] for p in terms for m in self.terms[p] for f, _ in m if f in self._cases}
        indices = sorted({x for x, _, _ in found if without is None or without not in self._atoms(x)}, key=repr)
        if not indices:
            return []
        x = indices[0]
        least, most = self.bounds(x)
        ends = sorted({least, most + 1, *(end for y, low, high in found if y == x for end in (low, high))})
        if len(ends) > CASES:
            raise TooLarge
        runs = []
        for low, high in itertools.pairwise(ends):
            parts = []
            for p in terms:
                kept: dict[tuple[Any, ...], float] = {}
                for m, c in self.terms[p].items():
                    own = [f for f, _ in m if f in self._cases and self.factors[f][1] == x]
                    if all(self.factors[f][2] <= low and high <= self.factors[f][3] for f in own):
                        rest = tuple(pair for pair in m if pair[0] not in own)
                        kept[rest] = kept.get(rest, 0.0) + c
                parts.append(self.term(kept))
            runs.append((self.case(x, low, high), tuple(parts)))
        return runs

    def _by_cases(self, runs: list[tuple[int, tuple[int, ...]]], f: Callable[..., int]) -> int:
        """A function of terms, case by case."""
        found = self.ZERO
        for case, parts in runs:
            found = self.add(found, self.mul(case, f(*parts)))
        return found

    def _narrowed(self, m: tuple[Any, ...], atoms: list[Any]) -> tuple[int, list[Any]] | None:
        """A sum over indices of which a case says where they lie, as a sum over what is left of them."""
        for f, _ in m:
            if f not in self._cases:
                continue
            _, x, low, high = self.factors[f]
            rest = self.term({tuple(pair for pair in m if pair[0] != f): 1.0})
            for atom, k in x[1]:
                if atom not in atoms:
                    continue
                others = [a for a in atoms if a != atom]
                value = solved(x, atom, int(low)) if high - low == 1 else None
                if value is not None and atom not in self._atoms(value):
                    return self.mul(self.case(value, 0, atom[2]), self.index(rest, {atom: value})), others
                if len(x[1]) == 1 and k == 1:
                    fresh = self._fresh(int(high - low))
                    place = plus((index(fresh), 1), ((int(low), ()), 1))
                    return self.index(rest, {atom: place}), ([*others, fresh] if fresh[2] > 1 else others)
        return None

    # ------------------------------------------------------------------------------------------ in words

    def text(self, p: int, depth: int = 5) -> str:
        """A term as a formula; what lies deep within is left out."""
        parts = []
        for m, c in list(self.terms[p].items())[:8]:
            product = self._product_text(m, depth)
            parts.append(
                f"{c:.6g}" if not m else product if c == 1.0 else f"-{product}" if c == -1.0 else f"{c:.6g}·{product}"
            )
        more = " + ..." if len(self.terms[p]) > 8 else ""
        return " + ".join(parts).replace("+ -", "- ") + more if parts else "0"

    def _product_text(self, m: tuple[Any, ...], depth: int) -> str:
        return "·".join(f"{self._factor_text(f, depth)}{'' if e == 1.0 else f'^{e:g}'}" for f, e in m[:8])

    def _factor_text(self, f: int, depth: int) -> str:
        kind, *rest = self.factors[f]
        if depth == 0:
            return "..."
        if kind == "at":
            name = str(rest[0]) if not isinstance(rest[0], tuple) else f"stopped {rest[0][1]}"
            return f"t{name}[{', '.join(map(_index_text, rest[1]))}]"
        if kind == "exp":
            return f"exp({self._product_text(rest[0], depth - 1)})"
        if kind == "power":
            return f"({self.text(rest[0], depth - 1)})"
        if kind == "infinite":
            return "inf"
        if kind == "case":
            return f"[{_case_text(*rest)}]"
        if kind == "function":
            return f"{rest[0].partition(' (')[0]}({', '.join(self.text(p, depth - 1) for p in rest[1:])})"
        over = ", ".join(f"{_index_text(index(a))}<{a[2]}" for a in rest[0])
        inner = self._product_text(rest[1], depth - 1) if kind == "sum" else self.text(rest[1], depth - 1)
        return f"{'sum' if kind == 'sum' else 'max'}({over}: {inner})"

    # ------------------------------------------------------------------------------------------ derivatives

    def moves(self, p: int) -> bool:
        """Whether a term has something in it that derivatives are taken with respect to."""
        return any(self._moves(f) for m in self.terms[p] for f, _ in m)

    def _moves(self, factor: int) -> bool:
        known = self._moving.get(factor)
        if known is None:
            key = self.factors[factor]
            if key[0] == "at":
                known = key[1] in self.moving_atoms
            elif key[0] in ("case", "infinite"):
                known = False
            elif key[0] in ("exp", "sum"):
                known = any(self._moves(f) for f, _ in key[-1])
            elif key[0] == "function" and key[1] in FLAT:
                known = False
            else:
                known = any(self.moves(p) for p in (key[2:] if key[0] in ("function", "top") else key[1:2]))
            self._moving[factor] = known
        return known


def _same(x: float, y: float) -> bool:
    """Whether two coefficients are the same."""
    return f"{x:.{POLICY.digits}g}" == f"{y:.{POLICY.digits}g}"


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


def _up(x: float, n: int) -> float:
    """The quotient, rounded up."""
    return x if math.isinf(x) else -(-x // n)


def _case_text(x: Index, low: float, high: float) -> str:
    name = _index_text(x)
    if high - low == 1:
        return f"{name} = {low:g}"
    return f"{'' if low == -math.inf else f'{low:g} <= '}{name}{'' if high == math.inf else f' < {high:g}'}"


def _index_text(x: Index) -> str:
    parts = [str(x[0])] if x[0] or not x[1] else []
    for atom, k in x[1]:
        name = f"{'i' if atom[0] == 'v' else 'j'}{atom[1]}" if atom[0] in "vb" else "label" if atom[0] == "value" else (
            f"({_index_text(atom[1])} {'//' if atom[0] == 'div' else '%'} {atom[2]})")  # fmt: skip
        parts.append(name if k == 1 else f"{k}{name}")
    return "+".join(parts)
