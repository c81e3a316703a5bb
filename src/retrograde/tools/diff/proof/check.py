"""Checks a proof without the code that found it.

Every application of a rule is an equation, and is looked at by itself: both sides must have the same value at random points, for
random tensors of positive numbers and of both signs. Two different analytic functions agree at a random point with probability 0.
Then both records are walked through once more with an algebra that can only look up what has been checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..align import Alignment
from ..policy import POLICY
from ..results import Result
from .algebra import Algebra
from .prove import Proof, Prover
from .rules import RULES, Step, TooLarge, applied
from .terms import Index

POINTS, WORK, HELD = 20, 1 << 21, 1 << 26
"""At how many points equations are looked at, how many elements are summed over for one factor, and bytes kept, at most."""


def check(proof: Proof, alignment: Alignment, results: Sequence[Result]) -> str:
    """What is wrong with a proof; "" for one that holds."""
    look = Look(proof.algebra)
    wrong = next(filter(None, (wrong_step(look, step) for step in proof.algebra.steps.values())), "")
    again = wrong or Prover(alignment, Checked(proof.algebra)).prove(results)
    return again if isinstance(again, str) else "" if again.proven else "the equations do not add up to the result"


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
            raise TooLarge
        return step.result


def wrong_step(look: Look, step: Step) -> str:
    """Why an application of a rule does not hold; "" where it does."""
    if step.rule not in RULES:
        return f"there is no rule {step.rule!r}"
    with np.errstate(all="ignore"):
        left, right = np.broadcast_arrays(look.left(step), look.term(step.result, look.start))
        apart = np.abs(left - right) > POLICY.checked * np.maximum(1.0, np.maximum(np.abs(left), np.abs(right)))
    defined = ~np.isnan(left) & ~np.isnan(right)  # elsewhere the rule says nothing
    wrong = defined & (left != right) & (apart | np.isinf(left) | np.isinf(right))
    if wrong.any():
        return f"{step.rule} of {step.arguments} is not {step.result}: {left[wrong][0]} and {right[wrong][0]}"
    return "" if defined.any() else f"{step.rule} of {step.arguments} has no value at any point that was looked at"


class Env(NamedTuple):
    """What indices are, (points, axis, ...) for each, where not what they are at the points of a Look."""

    over: dict[Any, np.ndarray]
    axes: int
    points: int
    key: tuple[Any, ...] | None  # the indices that run along axes, one each, if there are no others


class Look:
    """The values of terms, for tensors that are given or random, at points that are given or random."""

    def __init__(self, algebra: Algebra, points: int = POINTS) -> None:
        self._algebra, self.start = algebra, Env({}, 0, points, ())
        self._signed = np.arange(points) % 2 == 1  # at every other point numbers may be negative
        self._places, self._known, self._held = dict[Any, np.ndarray](), dict[Any, np.ndarray](), 0
        self._chance = np.random.default_rng(0)
        self._near = self._chance.integers(0, 1 << 30, points)

    def left(self, step: Step) -> np.ndarray:
        """The left side of an equation: what its rule says that is done with its arguments."""
        rule, arguments, start = step.rule, step.arguments, self.start
        if rule in ("sum", "top"):
            return self._reduced(rule, [arguments[1]], lambda env: self.term(arguments[0], env), start)
        if rule == "index":
            over = {a: np.broadcast_to(self._index(x, start), start.points) for a, x in arguments[1]}
            return self.term(arguments[0], Env(over, 0, start.points, None))
        if rule == "case":
            return np.asarray(self._case(start, *arguments) * 1.0)
        if rule == "function":
            return applied(arguments[0], [self.term(p, start) for p in arguments[1:]])
        return np.asarray(_LEFT[rule](*(self.term(p, start) if isinstance(p, int) else p for p in arguments)))

    def term(self, p: int, env: Env) -> np.ndarray:
        """The value of a term."""
        return np.asarray(sum((c * self._monomial(m, env) for m, c in self._algebra.terms[p].items()), np.float64(0.0)))

    def _monomial(self, m: tuple[Any, ...], env: Env) -> Any:
        value, cases = np.float64(1.0), True  # type: Any, Any
        for f, e in m:
            x = self._factor(f, env)
            if self._algebra.factors[f][0] == "case":
                cases = cases & x
            else:
                value = value * x ** (int(e) if e == int(e) else e)
        return value if cases is True else np.where(cases, value, 0.0)  # what a case leaves out need not be defined

    def _factor(self, f: int, env: Env) -> Any:
        if env.over and self._algebra.free(f).isdisjoint(env.over):
            value = np.asarray(self._factor(f, self.start._replace(points=env.points)))
            return value.reshape(value.shape + (1,) * env.axes) if value.ndim else value
        key = (f, env.key, env.points)
        if (known := self._known.get(key)) is None:
            known = np.asarray(self._computed(f, env))
            if env.key is not None and known.size <= WORK >> 6:
                self._known[key], self._held = known, self._held + known.nbytes
                if self._held > HELD:  # the large ones are computed again where they are asked for again
                    self._known, self._held = {k: x for k, x in self._known.items() if x.nbytes <= HELD >> 14}, 0
        return known

    def _computed(self, f: int, env: Env) -> Any:
        kind, *rest = self._algebra.factors[f]
        if kind in ("at", "infinite"):
            return np.float64(np.inf) if kind == "infinite" else self._element(rest[0], rest[1], env)
        if kind == "exp":
            return np.exp(self._monomial(rest[0], env))
        if kind == "function":
            return applied(rest[0], [self.term(p, env) for p in rest[1:]])
        if kind in ("case", "power"):
            return self._case(env, *rest) if kind == "case" else self.term(rest[0], env)
        return self._reduced(kind, rest[0], lambda env: (self._monomial if kind == "sum" else self.term)(rest[1], env), env)

    def _reduced(self, kind: str, bound: Sequence[Any], inner: Callable[[Env], Any], env: Env) -> np.ndarray:
        """A sum, or the largest, over indices; not a number at points for which it would take too long."""
        k, each = len(bound), math.prod(a[2] for a in bound) * math.prod(np.broadcast_shapes(
            (1,) * env.axes, *(x.shape[1:] for x in env.over.values())))  # fmt: skip
        points = max(2, min(env.points, WORK // each))
        if each > WORK * POINTS:
            return np.full((env.points,) + (1,) * env.axes, np.nan)
        over = {a: x[:points].reshape(x[:points].shape + (1,) * k) for a, x in env.over.items()}
        for i, a in enumerate(bound):
            over[a] = np.arange(a[2]).reshape((1,) * (1 + env.axes) + tuple(-1 if j == i else 1 for j in range(k)))
        value = np.asarray(inner(Env(over, env.axes + k, points, None if env.key is None else (*env.key, *bound))))
        lead = np.broadcast_shapes(value.shape, (1,) * (1 + env.axes) + tuple(a[2] for a in bound))
        found = (np.sum if kind == "sum" else np.max)(np.broadcast_to(value, lead), axis=tuple(range(-k, 0)))
        if points < env.points:
            found = np.concatenate([found[:points], np.full((env.points - points, *found.shape[1:]), np.nan)])
        return np.asarray(found)

    def _place(self, atom: Any, points: int) -> np.ndarray:
        """What an index is at the points: near the others at some, anything at the rest, the first and the last among it."""
        if atom not in self._places:
            n = len(self._near)
            near, other = self._near + self._chance.integers(-1, 2, n), self._chance.integers(0, atom[2], n)
            self._places[atom] = np.concatenate([near[: n // 2] % atom[2], other[n // 2 + 2 :], [0, atom[2] - 1]])
        return self._places[atom][:points]

    def _index(self, x: Index, env: Env) -> np.ndarray:
        total: Any = np.asarray(x[0])
        for atom, k in x[1]:
            if atom[0] in ("div", "mod"):
                value = (np.floor_divide if atom[0] == "div" else np.mod)(self._index(atom[1], env), atom[2])
            elif atom[0] == "value":
                value = np.rint(np.nan_to_num(self.term(atom[1], env))).astype(int)
            elif atom in env.over:
                value = env.over[atom]
            else:
                value = self._place(atom, env.points).reshape((-1,) + (1,) * env.axes)
            total = total + k * value
        return np.asarray(total)

    def _case(self, env: Env, x: Index, low: float, high: float) -> Any:
        return (low <= (place := self._index(x, env))) & (place < high)

    def _element(self, tensor: Any, places: Sequence[Index], env: Env) -> Any:
        indices = [self._index(x, env) for x in places]
        if tensor == "count":
            return indices[0].astype(float)
        while isinstance(tensor, tuple) or self._algebra.stopped.get(tensor, tensor) not in (tensor, ("stopped", tensor)):
            tensor = tensor[1] if isinstance(tensor, tuple) else self._algebra.stopped[tensor]
        phase: Any = np.float64(1.0 + math.sqrt(2.0) * tensor)
        for k, i in enumerate(indices):
            phase = phase + i * math.sqrt(5.0 + 3.0 * k) + (i * i) * 0.37 * (k + 1)
        if tensor in self._algebra.whole:  # labels, of those that there may be
            ends = [(low, high) for _, low, high, _ in self._algebra.limits.get(tensor, [((), -2, 8, None)])]
            low, high = max(ends)[0], min(high for _, high in ends)
            return np.floor(low + (high - low) * (0.5 + 0.499 * np.sin(phase)))
        signed, wave = self._signed[: env.points].reshape((-1,) + (1,) * env.axes), np.sin(phase)
        return np.where(signed, 0.9 * wave, 1.0 + 0.6 * wave)


_LEFT: dict[str, Callable[..., Any]] = {
    "add": np.add, "mul": np.multiply, "exp": np.exp, "log": np.log, "stop": np.positive, "fold": np.positive, "power": np.power,
    "gate": lambda p, q: np.where(p > 0, q, 0.0)}  # fmt: skip
