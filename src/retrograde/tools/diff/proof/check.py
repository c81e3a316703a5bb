"""Checks a proof without the code that found it.

Every application of a rule is an equation between two terms, and is looked at by itself: the rule must be one of RULES, and both
sides must have the same value at random points, for random tensors of the sizes that are there, of positive numbers and of
numbers of both signs. Two different analytic functions agree at a random point with probability 0. Then both records are walked
through once more with an algebra that can do nothing but look up equations that have been checked; the results have to come out
the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..align import Alignment
from ..policy import POLICY
from ..results import Result
from .algebra import END, RULES, Algebra, Index, Step
from .prove import Proof, Prover

POINTS = 24
"""How many places are looked at for each kind of tensors, where there are as many."""

Env = dict[Any, np.ndarray]
"""Indices -> whole numbers, as arrays that broadcast with each other."""


def check(proof: Proof, alignment: Alignment, results: Sequence[Result]) -> str:
    """What is wrong with a proof; "" for one that holds."""
    for step in proof.algebra.steps.values():
        if step.rule not in RULES:
            return f"there is no rule {step.rule!r}"
        wrong = wrong_step(proof.algebra, step)
        if wrong:
            return wrong
    try:
        again = Prover(alignment, Checked(proof.algebra)).prove(results)
    except LookupError as missing:
        return str(missing)
    return "" if again.proven else "the equations do not add up to the result"


class Checked(Algebra):
    """An algebra that looks up what has been checked, and computes nothing."""

    def __init__(self, found: Algebra) -> None:
        super().__init__()
        self.__dict__.update(found.__dict__)
        self.moving_atoms, self.stopped = set(), {}
        self.limits = {tensor: list(known) for tensor, known in found.begun.items()}

    def _logged(self, rule: str, *arguments: Any) -> Any:
        step = self.steps.get((rule, *arguments))
        if step is None:
            raise LookupError(f"nothing is known of {rule} for {arguments}")
        return step.result


def wrong_step(algebra: Algebra, step: Step) -> str:
    """Why an application of a rule does not hold; "" where it does."""
    seen = 0
    for signed in (False, True):
        look = Look(algebra, signed)
        env = places(sorted(_variables(algebra, step), key=repr))
        with np.errstate(all="ignore"):
            left, right = np.broadcast_arrays(look.left(step, env), look.term(step.result, env))
            apart = np.abs(left - right) > POLICY.checked * np.maximum(1.0, np.maximum(np.abs(left), np.abs(right)))
        defined = ~np.isnan(left) & ~np.isnan(right)  # elsewhere the rule says nothing
        seen += defined.sum()
        wrong = defined & (left != right) & (apart | np.isinf(left) | np.isinf(right))
        if wrong.any():
            return f"{step.rule} of {step.arguments} is not {step.result}: {left[wrong][0]} and {right[wrong][0]}"
    return "" if seen else f"{step.rule} of {step.arguments} has no value at any point that was looked at"


def places(atoms: Sequence[Any]) -> Env:
    """Values for indices: all that there are where they are few; otherwise some, the first and the last among them."""
    count = math.prod(a[2] for a in atoms)
    if count <= POINTS:
        numbers = np.unravel_index(np.arange(count), [a[2] for a in atoms]) if atoms else []
        return dict(zip(atoms, numbers))
    chance = np.random.default_rng(len(atoms))
    spread = [chance.integers(0, a[2], POINTS) for a in atoms]
    for k, (a, x) in enumerate(zip(atoms, spread)):
        x[:6] = [0, a[2] - 1, 0 if k % 2 else a[2] - 1, a[2] - 1 if k % 2 else 0, a[2] // 2, min(a[2] - 1, 1 + k)]
    return dict(zip(atoms, spread))


def _variables(algebra: Algebra, step: Step) -> set[Any]:
    terms = [step.result] + [p for p in step.arguments if isinstance(p, int) and not isinstance(p, bool)]
    if step.rule in ("index", "case"):
        terms = [step.result] if step.rule == "case" else [step.result, step.arguments[0]]
        given = [step.arguments[0]] if step.rule == "case" else [x for _, x in step.arguments[1]]
        found = {a for x in given for a in algebra._atoms(x)}
    else:
        found = set()
    if step.rule in ("sum", "top"):
        terms = [step.result, step.arguments[0]]
        found = {step.arguments[1]}
    return found.union(*(algebra.free_in(p) for p in terms))


class Look:
    """The values of terms, for tensors that are given or random."""

    def __init__(
        self, algebra: Algebra, signed: bool, given: Callable[[Any], np.ndarray | None] = lambda tensor: None
    ) -> None:
        self._algebra, self._signed, self._given = algebra, signed, given
        self._same = {still: tensor for tensor, still in algebra.stopped.items()}

    def left(self, step: Step, env: Env) -> np.ndarray:
        """The left side of an equation: what its rule says that is done with its arguments."""
        rule, arguments = step.rule, step.arguments
        if rule in ("sum", "top"):
            p, atom = arguments
            inner = self.term(p, {**{a: x[..., None] for a, x in env.items()}, atom: np.arange(atom[2])})
            inner = np.broadcast_to(inner, np.broadcast_shapes(np.shape(inner), (atom[2],)))
            return np.asarray(inner.sum(-1) if rule == "sum" else inner.max(-1))
        if rule == "index":
            p, places = arguments
            return self.term(p, {**env, **{a: self._index(x, env) for a, x in places}})
        if rule == "power":
            return np.asarray(self.term(arguments[0], env) ** arguments[1])
        if rule == "function":
            return self._function(arguments[0], [self.term(p, env) for p in arguments[1:]])
        if rule == "case":
            return np.asarray(self._case(env, *arguments) * 1.0)
        values = [self.term(p, env) for p in arguments]
        if rule == "gate":
            return np.where(values[0] > 0, values[1], 0.0)
        return {"add": np.add, "mul": np.multiply, "exp": np.exp, "log": np.log, "stop": np.positive}[rule](*values)

    def term(self, p: int, env: Env) -> np.ndarray:
        """The value of a term."""
        total: Any = np.float64(0.0)
        for m, c in self._algebra.terms[p].items():
            total = total + c * self._monomial(m, env)
        return np.asarray(total)

    def _monomial(self, m: tuple[Any, ...], env: Env) -> Any:
        value: Any = np.float64(1.0)
        cases: Any = True
        for f, e in m:
            kind, *rest = self._algebra.factors[f]
            if kind == "case":
                cases = cases & self._case(env, *rest)
            else:
                value = value * self._factor(f, env) ** (int(e) if e == int(e) else e)
        return np.where(cases, value, 0.0)  # what a case leaves out need not be defined

    def _case(self, env: Env, x: Index, low: float, high: float) -> Any:
        place = self._index(x, env)
        return (low <= place) & (place < high)

    def _factor(self, f: int, env: Env) -> Any:
        kind, *rest = self._algebra.factors[f]
        if kind == "at":
            return self._element(rest[0], [self._index(x, env) for x in rest[1]])
        if kind == "exp":
            return np.exp(self._monomial(rest[0], env))
        if kind == "power":
            return self.term(rest[0], env)
        if kind == "infinite":
            return np.float64(np.inf)
        if kind == "function":
            return self._function(rest[0], [self.term(p, env) for p in rest[1:]])
        bound, k = rest[0], len(rest[0])
        inner = {a: np.asarray(x).reshape(np.shape(x) + (1,) * k) for a, x in env.items()}
        for i, a in enumerate(bound):
            inner[a] = np.arange(a[2]).reshape([-1 if j == i else 1 for j in range(k)])
        value = self._monomial(rest[1], inner) if kind == "sum" else self.term(rest[1], inner)
        lead = np.broadcast_shapes(np.shape(value), tuple(a[2] for a in bound))
        value = np.broadcast_to(value, lead)
        axes = tuple(range(-k, 0))
        return value.sum(axes) if kind == "sum" else value.max(axes)

    def _index(self, x: Index, env: Env) -> np.ndarray:
        total: Any = np.asarray(x[0])
        for atom, k in x[1]:
            if atom[0] in ("div", "mod"):
                inner = self._index(atom[1], env)
                value = inner // atom[2] if atom[0] == "div" else inner % atom[2]
            elif atom[0] == "value":
                value = np.rint(self.term(atom[1], env)).astype(int)
            else:
                value = env[atom]
            total = total + k * value
        return np.asarray(total)

    def _element(self, tensor: Any, indices: Sequence[np.ndarray]) -> Any:
        if tensor == "count":
            return indices[0].astype(float)
        given = self._given(tensor)
        if given is not None:
            return given[tuple(np.clip(i, 0, n - 1) for i, n in zip(indices, given.shape))]
        while isinstance(tensor, tuple) or tensor in self._same:
            tensor = tensor[1] if isinstance(tensor, tuple) else self._same[tensor]
        phase: Any = np.float64(1.0 + math.sqrt(2.0) * tensor)
        for k, i in enumerate(indices):
            phase = phase + i * math.sqrt(5.0 + 3.0 * k) + (i * i) * 0.37 * (k + 1)
        return 0.9 * np.sin(phase) if self._signed else 1.0 + 0.6 * np.sin(phase)

    def _function(self, name: str, values: Sequence[np.ndarray]) -> np.ndarray:
        known = _KNOWN.get(name)
        if known is not None:
            return np.asarray(known(*values))
        if name.startswith(END):
            return np.where(values[0] < 0, values[0] + int(name[len(END) :]), values[0])
        seed = sum(ord(c) * (k + 1) for k, c in enumerate(name)) % 97
        total: Any = np.float64(0.1 * seed)
        for k, x in enumerate(values):  # of a function that is not known, only that it is one
            total = total + np.tanh(x) * math.sqrt(2.0 + k)
        return np.asarray(1.5 + np.sin(total))


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[float])(x)


_KNOWN: dict[str, Callable[..., Any]] = {
    "log": np.log, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "tan": np.tan, "erf": _erf, "absolute": np.abs,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),
    "relu": lambda x: np.maximum(x, 0), "positive": lambda x: (x > 0) * 1.0, "nonzero": lambda x: (x != 0) * 1.0, "where": lambda c, x, y: np.where(c != 0, x, y), "sign": np.sign,
    "greater": lambda x, y: (x > y) * 1.0, "less": lambda x, y: (x < y) * 1.0, "equal": lambda x, y: (x == y) * 1.0,
    "greater_equal": lambda x, y: (x >= y) * 1.0, "less_equal": lambda x, y: (x <= y) * 1.0,
    "not_equal": lambda x, y: (x != y) * 1.0, "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip
