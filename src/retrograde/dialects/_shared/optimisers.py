"""Optimisers as rows: a class that keeps its options and hands them, with the state of each parameter, to an update rule.

A dialect says once what its optimisers derive from and what it calls the options of rules, and gets what makes a class:

    optimiser = Optimisers(RuleOptimizer, called={"decoupled": "decoupled_weight_decay"}, checks="lr >= 0; eps >= 0")
    Adadelta = optimiser("Adadelta", "params, lr=1.0, rho=0.9, eps=1e-6", accumulating.adadelta, "Adadelta (Zeiler 2012).",
                         state="square_avg, acc_delta", checks="rho in [0, 1]")

The mathematics is the rule's, in `retrograde.learn`; how parameters are put together for a step, and what they keep, is the
base's, which reads the row in `_row`. The constructor is written when it is first looked up, as those of layers are.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from typing import Any, NamedTuple

from . import checks as _checks
from .layers import Unwritten, parameters, written

Function = Callable[..., Any]


class Optimisers:
    """What makes the optimisers of one dialect.

    base: what they derive from; its method `_set_up(row, options)` makes an optimiser of the options. called: the rules'
    options by the names that the dialect's options have; a tuple of them where the rule takes one. checks, asserts: what
    options of these names have to be in every row (checks.py), `asserts` by AssertionError. modules: whether each class is
    found in a module of its own, called as the class in small letters.
    """

    def __init__(
        self, base: type, *, called: Mapping[str, str | tuple[str, ...]] | None = None, checks: str = "",
        asserts: str = "", modules: bool = False,
    ) -> None:  # fmt: skip
        self.modules = modules
        self.base, self.called, self.checks, self.asserts = base, dict(called or {}), checks, asserts

    def __call__(
        self, name: str, options: str, rule: Function | None, doc: str, *, state: str = "", columns: str | None = None,
        order: str = "", checks: str = "", asserts: str = "", fixed: Mapping[str, Any] | None = None,
        called: Mapping[str, str | tuple[str, ...]] | None = None, base: type | None = None,
        then: Function | None = None, module: str = "", **members: Any,
    ) -> Any:  # fmt: skip
        """The class of a row.

        name: what it is called. options: the constructor's parameters, as they stand in a `def`; without an annotation they
        have the type of their default. rule: the function of `retrograde.learn`; its options are found by their names, or
        those that the dialect or the row gives them (`called`). doc: what the optimiser does.
        state: what is kept for each parameter, in the order in which it is listed: a name, `= 1` or `= option` where it does
        not begin at 0, `if option` where only this makes it needed. columns: the states that the rule takes, in its order,
        where they are not the first. order: the options in the order in which they are kept, where it is not that of the
        parameters. checks, asserts: what options have to be, past or in place of what the dialect says of their names.
        fixed: options of the rule that are the row's. base: another class to derive from. then: called with the new
        optimiser, to check it and to derive what is not an option. module: where users find the class, if its name
        does not say it. members: what else the class has.
        """
        scope = sys._getframe(1).f_globals
        row = Row(self, name, options, rule, state, columns, order, checks, asserts, fixed or {}, called or {}, then, scope)
        place = f"{scope['__package__']}.{module or name.lower()}" if self.modules else scope["__name__"]
        told = f"{doc}\n\nRaises:\n    ValueError: an option is out of range{f' (wanted: {checks})' if checks else ''}."
        own = {"__module__": place, "__doc__": told, "_row": row, "__init__": Unwritten(row, "__init__")}
        row.cls = type(name, (base or self.base,), {**own, **members})
        if self.modules:
            _offer(place, row.cls)
        ROWS[row.cls] = row
        return row.cls


class State(NamedTuple):
    """One kind of state: its name, what it begins at (a number, or the option that says it), the option that asks for it."""

    name: str
    start: Any
    condition: str


class Row:
    """A row, and what follows from it."""

    cls: Any

    def __init__(
        self, kind: Optimisers, name: str, options: str, rule: Any, state: str, columns: str | None, order: str,
        checks: str, asserts: str, fixed: Mapping[str, Any], called: Mapping[str, str | tuple[str, ...]],
        then: Function | None, scope: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.kind, self.name, self.options, self.rule, self.states = kind, name, options, rule, _states(state)
        self.order, self.checks, self.asserts, self.fixed, self.then, self.scope = order, checks, asserts, fixed, then, scope
        self._columns, self._called = columns, called

    @functools.cached_property
    def names(self) -> list[str]:
        """The constructor's parameters."""
        given = parameters(self.options)
        return [a.arg for a in (*given.args, *given.kwonlyargs)]

    @functools.cached_property
    def kept(self) -> list[str]:
        """The options in the order in which they are kept."""
        return self.order.split(", ") if self.order else self.names

    @functools.cached_property
    def handed(self) -> list[tuple[str, str | tuple[str, ...]]]:
        """The rule's options with those of the row that give them."""
        found = []
        for option in self._rules_options:
            place = self._called.get(option) or self.kind.called.get(option, option)
            if place in self.names or place in self.fixed or (isinstance(place, tuple) and place[0] in self.names):
                found.append((option, place))
            elif option in self.names:
                found.append((option, option))
        return found

    @functools.cached_property
    def _rules_options(self) -> tuple[str, ...]:
        code = self.rule.__code__
        return tuple(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])

    @functools.cached_property
    def counted(self) -> bool:
        """Whether the rule takes the number of the step."""
        return "step" in self._rules_options

    @functools.cached_property
    def columns(self) -> list[State]:
        """The kinds of state that the rule takes, in its order."""
        if self._columns is None:
            return self.states[: self.rule.__code__.co_argcount - 2]
        states = {s.name: s for s in self.states}
        return [states[s.name]._replace(condition=s.condition) for s in _states(self._columns)]

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise for options that are not what they have to be."""
        for every, own, error in (
            (self.kind.asserts, self.asserts, AssertionError), (self.kind.checks, self.checks, ValueError),
        ):  # fmt: skip
            _checks.check(self.name, own, options, error)
            special = _checks.clauses(own)
            _checks.check(self.name, every, {n: x for n, x in options.items() if n not in special}, error)

    def write(self, method: str) -> Any:
        """Write the constructor and put it into the class."""
        given = ", ".join(f"{n!r}: {n}" for n in self.names)
        source = f"def __init__(self, {_annotated(self.options)}) -> None:\n    self._set_up(_row, {{{given}}})"
        f = written(source, f"<retrograde optimiser {self.cls.__module__}.{self.name}>", {**self.scope, "_row": self}, method)
        f.__qualname__, f.__module__ = f"{self.name}.{method}", self.cls.__module__
        setattr(self.cls, method, f)
        return f


ROWS: dict[type, Row] = {}
"""The rows of the classes that were made of them."""


def _offer(place: str, cls: Any) -> None:
    """Make a class importable from a module of its own, as `torch.optim.adam.Adam` is."""
    package, _, name = place.rpartition(".")
    module = sys.modules[place] = types.ModuleType(place, f"`{cls.__name__}`.")
    module.__spec__ = ModuleSpec(place, None)
    setattr(module, cls.__name__, cls)
    setattr(sys.modules[package], name, module)


def _states(text: str) -> list[State]:
    """The kinds of state that a text says."""
    found = []
    for part in filter(None, text.split(", ")):
        part, _, condition = part.partition(" if ")
        name, _, start = part.partition(" = ")
        found.append(State(name, (start if start[0].isalpha() else float(start)) if start else 0.0, condition))
    return found


def _annotated(options: str) -> str:
    """The text of parameters, those without an annotation with the type of their default."""
    given = parameters(options)
    pairs = [*zip(reversed(given.args), reversed(given.defaults)), *zip(given.kwonlyargs, given.kw_defaults)]
    for parameter, default in pairs:
        value = ast.literal_eval(default) if default is not None else None
        if parameter.annotation is None and value is not None:
            kind = type(value).__name__
            text = "tuple[float, ...]" if kind == "tuple" else "float" if kind == "int" else kind
            parameter.annotation = ast.Name(text)
    return ast.unparse(given)
