"""Losses as rows: functions that check and promote their operands and hand them to a loss of `retrograde.learn.losses`.

A dialect says once how a reduction is checked, and gets what makes a function of a row:

    loss = Losses(check_reduction, also="name: str | None = None")
    poisson_nll_loss = loss("poisson_nll_loss", f"input, label, log_input=True, full=False, epsilon=1e-8, {MEAN}",
                            losses.POISSON_NLL, both, called={"epsilon": "eps"}, checks="epsilon > 0")

`both(op, input, label)` brings the operands together. What differs in numbers is said in the row: the operand that is
a constant (`constant`), and options of the formula that are not the function's, such as the gradient at a kink.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.unwrap import bare, concrete
from ...core.unwrap import constant as fixed
from ...core.value import LevelArray, shape_of
from ...learn.losses import Loss, reduced
from ...ops.structural import reshape
from .checks import clauses
from .layers import parameters, written

Function = Callable[..., Any]
_TYPES = {"float": "float", "int": "int", "bool": "bool", "str": "str"}


class Losses:
    """What makes the losses of a dialect.

    reduction: what checks a reduction: `reduction(op, *values, *more)` with the values of the parameters `asks` and what a loss
    takes beside "mean", "sum" and "none". also: a parameter that every loss has last, and that says nothing. called: options of
    formulas by the dialect's names. offer: what is done with each function.
    """

    def __init__(
        self, reduction: Function, *, asks: str = "reduction", also: str = "", called: Mapping[str, str] | None = None,
        offer: Callable[[Any], Any] = lambda f: f,
    ) -> None:  # fmt: skip
        self.reduction, self.asks, self.also = reduction, asks.split(", "), also
        self.called, self.offer = called or {}, offer

    def __call__(
        self, name: str, options: str, loss: Loss, operands: Function, *, constant: str = "", checks: str = "",
        error: type[Exception] = ValueError, shown: Function | None = None, **more: Any,
    ) -> Any:  # fmt: skip
        """The function of a row.

        name: what it is called. options: its parameters, as they stand in a `def`; those without a default and weights are
        operands. loss: what it computes. operands: brings them together, `operands(op, *given)`. constant: the operand that
        has no gradient. checks, error: what options have to be (checks.py), and what is raised else. shown: what is done with
        losses before they are reduced. more: options of the formula that are the row's.
        """
        module = sys._getframe(1).f_globals
        given = parameters(f"{options}, {self.also}" if self.also else options)
        required = [a.arg for a in given.args[: len(given.args) - len(given.defaults)]]
        names = [a.arg for a in (*given.args, *given.kwonlyargs)]
        taken = [n for n in names if n in required or n.endswith("weight")]
        rest = [n for n in names if n not in taken and n not in self.asks and n != self.also.partition(":")[0]]
        asked = ", ".join([*self.asks, *map(repr, loss.more)])
        inside = [f"reduction = _reduction({name!r}, {asked})"]
        wanted = clauses(checks) if checks else []
        for i, clause in enumerate(wanted):
            inside.append(f"if {clause.doubtful()}:\n        _clauses[{i}].check({name!r}, {clause.name}, _error)")
        brought = loss.operands.split(", ") if loss.operands else taken
        inside.append(f"{', '.join(brought)} = _operands({name!r}, {', '.join(taken)})")
        brought = [f"_fixed({n})" if n == constant else n for n in brought]
        keywords = [f"{self.called.get(n, n)}={n}" for n in rest] + [f"{n}=_{n}" for n in more]
        found = f"_value({', '.join([*brought, *keywords, *['reduction=reduction'] * loss.reduces])})"
        found = f"_shown({found})" if shown else found
        inside.append(f"return {found if loss.reduces else f'_reduced({found}, reduction)'}")
        scope = {
            "_reduction": self.reduction, "_clauses": wanted, "_error": error, "_fixed": fixed, "_operands": operands,
            "_value": loss.value, "_shown": shown, "_reduced": reduced, "__name__": module["__name__"],
            **{f"_{n}": value for n, value in more.items()},
        }  # fmt: skip
        _annotate(given)
        source = f"def {name}({ast.unparse(given)}) -> Any:\n    " + "\n    ".join(inside)
        f = written(source, f"<retrograde row {module['__name__']}.{name}>", scope, name)
        known = " or ".join(map(repr, ("mean", "sum", *loss.more, "none")))
        raises = f" Raises {error.__name__} unless {checks.replace('; ', ', ')}." if checks else ""
        f.__doc__ = f"{loss.doc.format(*taken)}\n\n    reduction: {known}.{raises}\n    "
        return self.offer(f)


def _annotate(given: ast.arguments) -> None:
    """Give the parameters that have no annotation the type of their default, or any."""
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults + given.kw_defaults
    for parameter, default in zip((*given.args, *given.kwonlyargs), defaults):
        if parameter.annotation is None:
            kind = type(getattr(default, "value", None)).__name__
            parameter.annotation = ast.Name(_TYPES.get(kind, "Any"))


# ------------------------------------------------------------------------------------------ checks


def one_shape(
    op: str, x: Any, y: Any, names: Sequence[str] = ("input", "label"), error: type[Exception] = ValueError
) -> None:
    """Raise for operands that do not have one shape."""
    a, b = tuple(shape_of(x)), tuple(shape_of(y))
    if a != b:
        more = names[0] if (*b, 1) == a else names[1] if (*a, 1) == b else None
        remedy = "reshape one to the other's" if more is None else f"the {more} has a last axis of size 1 too many: squeeze(-1)"
        raise error(f"{op}: {names[0]} {list(a)} and {names[1]} {list(b)} must have one shape; {remedy}")


def variance(op: str, given: Any, shape: tuple[int, ...], name: str, anywhere: bool = False) -> Any:
    """A variance as it goes with an input of a shape: of that shape, or with length 1 (or no length) in the last axis.

    anywhere: length 1 may be in any axis. Raises ValueError for other shapes and negative variances.
    """
    got = tuple(shape_of(given))
    if got == shape[:-1] and got != shape:
        given = reshape(given, shape=(*got, 1))
    elif got != shape:
        apart = [i for i, (n, m) in enumerate(zip(got, shape)) if n != m]
        if (
            len(got) != len(shape)
            or len(apart) > 1
            or got[apart[0]] != 1
            or not (anywhere or apart[0] == len(shape) - 1)
        ):
            raise ValueError(f"{op}: {name} {list(got)} must have the input's shape {list(shape)}, or 1 in one axis")
    if not isinstance(bare(given), LevelArray) and bool((concrete(op, given) < 0).any()):
        raise ValueError(f"{op}: {name} must not be negative")
    return given


def lengths(op: str, name: str, given: Any, n: int, error: type[Exception]) -> np.ndarray:
    """Lengths of n sequences as int64; raises `error` for another number of them, and for negative ones."""
    found = concrete(op, given).reshape(-1).astype(np.int64)
    if found.shape != (n,) or (found < 0).any():
        raise error(f"{op}: {name} must hold a length for each of {n} elements, got {found.tolist()}")
    return found
