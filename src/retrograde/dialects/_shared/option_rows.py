"""Optimisers, schedules and initialisers as rows: classes that keep options and hand them to a function of `retrograde.learn`.

A dialect says once what they derive from and what it calls the options of these functions, and gets what makes a class:

    optimiser = Optimisers(RuleOptimizer, called={"decoupled": "decoupled_weight_decay"}, checks="lr >= 0; eps >= 0")
    Adadelta = optimiser("Adadelta", "params, lr=1.0, rho=0.9, eps=1e-6", accumulating.adadelta, "Adadelta (Zeiler 2012).",
                         state="square_avg, acc_delta", checks="rho in [0, 1]")
    schedule = Schedules(LRScheduler)
    StepLR = schedule("StepLR", "optimizer, step_size, gamma=0.1, last_epoch=-1", schedules.step, "...",
                      chained=schedules.step_next)

The mathematics is the function's; how parameters are put together for a step, what they keep, and when a rate is set is the
base's, which reads the row in `_row`. Constructors are written when they are first looked up, as those of layers are.
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
from .documents import Document
from .layers import Unwritten, parameters, written

Function = Callable[..., Any]
Names = Mapping[str, "str | tuple[str, ...]"]
"""Options of a function by the names that a row's options have; a tuple of them where the function takes one."""


class Rows:
    """What makes the classes of one kind and dialect.

    base: what they derive from; its method `_set_up(row, options)` makes an object. called: what the functions' options are
    called. checks, asserts: what options of these names have to be in every row (checks.py), `asserts` by AssertionError.
    reads: the text that gives the value of an option, a format of its name; `texts` those of single options. types: of options
    of these names, where the default does not say it. modules: whether each class is found in a module of its own, called as
    the class in small letters.
    """

    def __init__(
        self, base: type, *, called: Names | None = None, checks: str = "", asserts: str = "", reads: str = "self.{}",
        texts: Mapping[str, str] | None = None, types: Mapping[str, str] | None = None, modules: bool = False,
    ) -> None:  # fmt: skip
        self.base, self.called, self.checks, self.asserts = base, called or {}, checks, asserts
        self.reads, self.texts, self.types, self.modules = reads, texts or {}, types or {}, modules

    def made(self, row: Row, doc: str, base: type | None, module: str, methods: str, members: Mapping[str, Any]) -> Any:
        """The class of a row, whose constructor and methods are written when they are needed."""
        place = f"{row.scope['__package__']}.{module or row.name.lower()}" if self.modules else row.scope["__name__"]
        unwritten = {method: Unwritten(row, method) for method in ("__init__", *methods.split())}
        own = {"__module__": place, "__doc__": Document(doc), "_row": row}
        row.cls = type(row.name, (base or self.base,), {**own, **unwritten, **members})
        if self.modules:
            _offer(place, row.cls)
        ROWS[row.cls] = row
        return row.cls


class Optimisers(Rows):
    """What makes the optimisers of a dialect.

    beside: kinds of state that no rule takes, such as counts. column: the text that gives one kind of state for the
    parameters of `batch`, a format of its name.
    """

    def __init__(self, base: type, *, beside: str = "", column: str, **what: Any) -> None:
        super().__init__(base, **what)
        self.beside, self.column = beside.split(), column

    def __call__(
        self, name: str, options: str, rule: Function, doc: str, *, state: str = "", columns: str | None = None,
        order: str = "", checks: str = "", asserts: str = "", fixed: Mapping[str, Any] | None = None,
        called: Names | None = None, base: type | None = None, then: Function | None = None, module: str = "", **members: Any,
    ) -> Any:  # fmt: skip
        """The class of a row.

        name: what it is called. options: the constructor's parameters, as they stand in a `def`; without an annotation they
        have the type of their default. rule: the function of `retrograde.learn`; its options are found by their names, or
        those that the dialect or the row gives them (`called`). doc: what the optimiser does.
        state: what is kept for each parameter, in the order in which it is listed: a name, `: label` where it is called
        otherwise in the tensors' names, `= 1` or `= option` where it does not begin at 0, `if option` where only this makes it
        needed. columns: the states that the rule takes, in its order, where they are not the first of those it may take.
        order: the options in the order in which they are kept, where it is not that of the parameters. checks, asserts: what
        options have to be, past or in place of what the dialect says of their names. fixed: options of the rule that are the
        row's. base: another class to derive from. then: called with the new optimiser, to check it and to derive what is not
        an option. module: where users find the class, if its name does not say it. members: what else the class has.
        """
        row = OptimiserRow(self, name, options, checks, asserts, called, then, sys._getframe(1).f_globals)
        row.rule, row.states, row.order, row.fixed, row.taken = rule, _states(state), order, fixed or {}, columns
        row.formula, row.state = rule, state
        return self.made(row, doc, base, module, "_options _columns", members)


class Schedules(Rows):
    """What makes the schedules of a dialect."""

    def __call__(
        self, name: str, options: str, closed: Function | None, doc: str, *, chained: Function | None = None,
        checks: str = "", asserts: str = "", called: Names | None = None, base: type | None = None,
        then: Function | None = None, **members: Any,
    ) -> Any:  # fmt: skip
        """The class of a row.

        closed: the rate from the base rate and the epoch, `chained` that from the rate before, the epoch and the base rate;
        the options of both are found as those of rules. The rest is as for optimisers.
        """
        row = ScheduleRow(self, name, options, checks, asserts, called, then, sys._getframe(1).f_globals)
        row.closed, row.chained = closed, chained
        row.formula = closed or chained
        return self.made(row, doc, base, "", "_closed" * bool(closed) + " _chained" * bool(chained), members)


class Calls(Rows):
    """What makes classes with one method that calls a function with the options.

    method: its name and what it takes, as in a `def`. call: the call without the options, and what is done with it.
    """

    def __init__(self, base: type, *, method: str, call: str, **what: Any) -> None:
        super().__init__(base, **what)
        self.method, self.call = method, call

    def __call__(
        self, name: str, options: str, function: Function, doc: str, *, checks: str = "", asserts: str = "",
        base: type | None = None, then: Function | None = None, **members: Any,
    ) -> Any:  # fmt: skip
        """The class of a row, as for optimisers."""
        row = CallRow(self, name, options, checks, asserts, None, then, sys._getframe(1).f_globals)
        row.function = function
        return self.made(row, doc, base, "", self.method.partition("(")[0], members)


class State(NamedTuple):
    """One kind of state: its name, what it begins at (a number, or the option that says it), the option that asks for it, and
    what it is called in names."""

    name: str
    start: Any
    condition: str
    label: str


class Row:
    """A row, and what follows from it."""

    cls: Any
    fixed: Mapping[str, Any] = {}
    formula: Function | None = None
    state = ""

    def __init__(
        self, kind: Any, name: str, options: str, checks: str, asserts: str, called: Names | None, then: Function | None,
        scope: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.kind, self.name, self.options, self.checks, self.asserts = kind, name, options, checks, asserts
        self.called, self.then, self.scope = {**kind.called, **(called or {})}, then, scope

    @functools.cached_property
    def names(self) -> list[str]:
        """The constructor's parameters."""
        given = parameters(self.options)
        return [a.arg for a in (*given.args, *given.kwonlyargs)]

    def text(self, option: str) -> str:
        """The text that gives the value of an option."""
        return self.kind.texts.get(option) or self.kind.reads.format(option)  # type: ignore[no-any-return]

    def handed(self, function: Any) -> dict[str, str]:
        """The options that a function gets, with the texts that give their values."""
        found = {}
        for option in _keywords(function):
            called = self.called.get(option, option)
            if option in self.fixed:
                found[option] = repr(self.fixed[option])
            elif isinstance(called, tuple) and called[0] in self.names:
                found[option] = f"({', '.join(map(self.text, called))})"
            elif called in self.names or option in self.names:
                found[option] = self.text(called if called in self.names else option)
        return found

    @functools.cached_property
    def clauses(self) -> list[tuple[_checks.Clause, type[Exception]]]:
        """What the options have to be, each with the type of exception: what the dialect says of them first."""
        own = {c.name for text in (self.asserts, self.checks) for c in _checks.clauses(text)}
        known = {*self.names} - own
        kind = self.kind
        every = [(c, e) for t, e in ((kind.asserts, AssertionError), (kind.checks, ValueError)) for c in _checks.clauses(t)]
        return [(c, e) for c, e in every if c.name in known] + [
            (c, e) for t, e in ((self.asserts, AssertionError), (self.checks, ValueError)) for c in _checks.clauses(t)
        ]

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise for options that are not what they have to be."""
        for clause, error in self.clauses:
            clause.check(self.name, options[clause.name], error)

    def write(self, method: str) -> Any:
        """Write a method and put it into the class."""
        source, scope = self._constructor() if method == "__init__" else self._text(method)
        place = f"<retrograde row {self.cls.__module__}.{self.name}.{method}>"
        f = written(source, place, scope, method)
        f.__qualname__, f.__module__ = f"{self.name}.{method}", self.cls.__module__
        setattr(self.cls, method, f)
        return f

    def _constructor(self) -> tuple[str, dict[str, Any]]:
        further = parameters(self.options).kwarg
        given = ", ".join([f"{n!r}: {n}" for n in self.names] + ([f"**{further.arg}"] if further else []))
        head = f"def __init__(self{self.options and ', '}{annotated(self.options, self.kind.types)}) -> None:"
        return f"{head}\n    self._set_up(_row, {{{given}}})", {**self.scope, "_row": self}

    def _text(self, method: str) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError(method)


class OptimiserRow(Row):
    """A row of an optimiser."""

    rule: Any
    states: list[State]
    order: str
    taken: str | None

    @functools.cached_property
    def kept(self) -> list[str]:
        """The options in the order in which they are kept."""
        return self.order.split(", ") if self.order else self.names

    @functools.cached_property
    def counted(self) -> bool:
        """Whether the rule takes the number of the step, and the row does not say it."""
        return "step" in _keywords(self.rule) and "step" not in self.fixed

    @functools.cached_property
    def decays(self) -> bool:
        """Whether the rule takes the option `weight_decay`."""
        return "weight_decay" in self.names and "weight_decay" in _keywords(self.rule)

    def _text(self, method: str) -> tuple[str, dict[str, Any]]:
        """The methods that read a group: `_options`, the rule's by name, and `_columns`, the kinds of state that it takes."""
        if method == "_options":
            options = ", ".join(f"{name!r}: {text}" for name, text in self.handed(self.rule).items())
            return f"def _options(self, group, batch=None):\n    return {{{options}}}", {**self.scope}
        takes = [s for s in self.states if s.name not in self.kind.beside] if self.taken is None else _states(self.taken)
        columns = [
            self.kind.column.format(s.name) + (f" if {self.text(s.condition)} else None" if s.condition else "")
            for s in takes[: _code(self.rule).co_argcount - 2]
        ]
        return f"def _columns(self, group, batch):\n    return [{', '.join(columns)}]", {}


class ScheduleRow(Row):
    """A row of a schedule."""

    closed: Function | None
    chained: Function | None

    def _text(self, method: str) -> tuple[str, dict[str, Any]]:
        """The formulas as methods."""
        function, takes = (self.closed, "base, epoch") if method == "_closed" else (self.chained, "rate, epoch, base")
        options = ", ".join(f"{name}={text}" for name, text in self.handed(function).items())
        return f"def {method}(self, {takes}):\n    return _formula({takes}, {options})", {"_formula": function}


class CallRow(Row):
    """A row of a class with one method."""

    function: Function

    def _text(self, method: str) -> tuple[str, dict[str, Any]]:
        """The method."""
        options = "".join(f", {name}={text}" for name, text in self.handed(self.function).items())
        return f"def {self.kind.method}:\n    {self.kind.call.format(options)}", {"_function": self.function}


ROWS: dict[type, Row] = {}
"""The rows of the classes that were made of them."""


def _offer(place: str, cls: Any) -> None:
    """Make a class importable from a module of its own, as `torch.optim.adam.Adam` is."""
    package, _, name = place.rpartition(".")
    module = sys.modules[place] = types.ModuleType(place, f"`{cls.__name__}`.")
    module.__spec__ = ModuleSpec(place, None)
    setattr(module, cls.__name__, cls)
    setattr(sys.modules[package], name, module)


def _code(function: Any) -> types.CodeType:
    """The code of a function that may be wrapped."""
    return getattr(function, "__wrapped__", function).__code__  # type: ignore[no-any-return]


def _keywords(function: Any) -> tuple[str, ...]:
    """The options of a function: what it takes by keyword only."""
    code = _code(function)
    return tuple(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])


def _states(text: str) -> list[State]:
    """The kinds of state that a text says."""
    found = []
    for part in filter(None, text.split(", ")):
        part, _, condition = part.partition(" if ")
        part, _, start = part.partition(" = ")
        name, _, label = part.partition(": ")
        found.append(State(name, (start if start[0].isalpha() else float(start)) if start else 0.0, condition, label or name))
    return found


def annotated(options: str, types: Mapping[str, str]) -> str:
    """The text of parameters, those without an annotation with the type of their name, or of their default."""
    given = parameters(options)
    defaults = {a.arg: d for a, d in zip(reversed(given.args), reversed(given.defaults))}
    defaults |= {a.arg: d for a, d in zip(given.kwonlyargs, given.kw_defaults) if d is not None}
    for parameter in (*given.args, *given.kwonlyargs):
        if parameter.annotation is None:
            default = defaults.get(parameter.arg)
            kind = types.get(parameter.arg) or type(default and ast.literal_eval(default)).__name__
            parameter.annotation = ast.Name({"tuple": "tuple[float, ...]", "NoneType": "Any"}.get(kind, kind))
    return ast.unparse(given)
