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
from typing import Any

from ..policy import POLICY
from .rules import Step, TooLarge
from .terms import Index, Terms, index, plus, solved, variable

LARGEST = 600
"""How many factors a term may have in all, those within factors included."""

ROW = 60
"""How many monomials are looked at for those of one form."""

CASES = 40
"""Into how many cases a term may fall."""


FAR = 100.0
"""The exponential of a number beyond is not computed."""


class Algebra(Terms):
    """Terms, and the rules by which they are made of others."""

    ZERO = 0

    def __init__(self) -> None:
        super().__init__()
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

    def _logged(self, rule: str, *arguments: Any) -> Any:
        key = (rule, *arguments)
        step = self.steps.get(key)
        if step is None:
            if len(self.steps) > self.most or len(self.factors) > 4 * self.most:
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

    def fold(self, p: int) -> int:
        """A term in which what is added of one form is a sum over an index."""
        coefficients = [round(c, 6) for c in self.terms[p].values()]
        return int(self._logged("fold", p)) if len(set(coefficients)) < len(coefficients) <= ROW else p

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

    # ------------------------------------------------------------------------------------------ indices

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

    def _fold(self, p: int) -> int:
        terms, place = dict(self.terms[p]), variable(-1, ROW)
        while True:
            members, form = self._row(terms, place)
            if len(members) < 2:
                return self.term(terms)
            c = terms[members[0]]
            for m in members:
                del terms[m]
            fresh = self._fresh(len(members))
            whole = self._sum_term(self._moved(form, {place: index(fresh)}), [fresh])
            for m, k in self.terms[whole].items():
                terms[m] = terms.get(m, 0.0) + c * k

    def _row(self, terms: dict[tuple[Any, ...], float], place: Any) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
        """The longest row of monomials that are one form with 0, 1, 2... for an index, and that form."""
        best: tuple[list[tuple[Any, ...]], tuple[Any, ...]] = [], ()
        for m, c in terms.items():
            for n, d in terms.items():
                form = self._form(m, n, place, 0) if m != n and _same(c, d) else None
                if form is None or any(self._has_case(f) for f, _ in form):
                    continue
                row = [m, n]
                while True:
                    following = self.terms[self._moved(form, {place: (len(row), ())})]
                    ((after, k),) = following.items() if len(following) == 1 else [((), 0.0)]
                    if k != 1.0 or after in row or not _same(terms.get(after, 0.0), c):
                        break
                    row.append(after)
                if len(row) > len(best[0]):
                    best = row, form
        return best

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


def _same(x: float, y: float) -> bool:
    """Whether two coefficients are the same."""
    return f"{x:.{POLICY.digits}g}" == f"{y:.{POLICY.digits}g}"


def _up(x: float, n: int) -> float:
    """The quotient, rounded up."""
    return x if math.isinf(x) else -(-x // n)
