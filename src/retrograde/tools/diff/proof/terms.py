"""Terms and what they are made of, each known by a number; indices, whole numbers that say where in a tensor an element is.

algebra.py says what terms are, and has the rules by which they are made of others.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from .rules import FLAT, Step

Index = tuple[Any, ...]
"""A whole number as (constant, ((variable or quotient or rest, coefficient), ...))."""


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


class Terms:
    """Terms, known by numbers: what they are, which indices they have, how they read."""

    def __init__(self) -> None:
        self.steps: dict[tuple[Any, ...], Step] = {}
        self.most = 10_000
        """How many there may be."""
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

    def constant(self, p: int) -> float | None:
        """The number that a term is; None for one that is none."""
        terms = self.terms[p]
        return 0.0 if not terms else terms[()] if terms.keys() == {()} else None

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
