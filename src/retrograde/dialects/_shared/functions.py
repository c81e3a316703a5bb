"""Functions as rows: names, parameters and what they ask of their arguments, over one implementation.

A dialect says once what the types in its rows mean, with its own errors, and gets what makes a function of a row:

    function = Functions(api, {"Tensor": operand(tensor_argument), "Axes": axis(axes_of, AXES), "Keep": option(flag, "keepdims")})
    all = function("all", "input: Tensor, axis: Axes = None, keep_dims: Keep = False", reduction.all,
                   "Whether every element over axes is not zero.")

is the function that somebody would write:

    def all(input: Any, axis: int | Sequence[int] | None = None, keep_dims: bool = False) -> Any:
        input = tensor_argument("all", input, "input")
        return reduction.all(
            input, axis=axes_of("all", axis, len(shape_of(input)), "axis"), keepdims=flag("all", "keep_dims", keep_dims)
        )
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.value import shape_of
from .layers import written

Function = Callable[..., Any]
AXES = "int | Sequence[int] | None"


class Type(NamedTuple):
    """What a type of rows asks of an argument.

    says: the annotation that users see. check: the function that brings the argument to its common form, or raises. called: how
    it is called: a text with {op}, {name}, and {first}, the first operand. keyword: the implementation's name for it; None for an
    operand, which it takes by position, and "" for the parameter's own.
    """

    says: str
    check: Function
    called: str
    keyword: str | None


def operand(check: Function, *more: str | None) -> Type:
    """A tensor, which `check(op, x, name)` takes, or `check(op, x, *more)`."""
    return Type("Any", check, f"({{op!r}}, {{name}}, {', '.join(map(repr, more)) or '{name!r}'})", None)


def same(check: Function) -> Type:
    """A tensor that goes with the first operand: `check(op, first, x, name)`."""
    return Type("Any", check, "({op!r}, {first}, {name}, {name!r})", None)


def axis(check: Function, says: str = "int", more: int = 0) -> Type:
    """An axis of the first operand, or of what has `more` axes, or several: `check(op, axis, ndim, name)`."""
    n = f"len(_shape_of({{first}})){f' + {more}' if more else ''}"
    return Type(says, check, f"({{op!r}}, {{name}}, {n}, {{name!r}})", "axis")


def option(check: Function, keyword: str = "", says: str = "bool") -> Type:
    """Any other argument: `check(op, name, value)`."""
    return Type(says, check, "({op!r}, {name!r}, {name})", keyword)


def plain(kind: type) -> Type:
    """An argument that a built-in type converts."""
    return Type(kind.__name__, kind, "({name})", "")


class Functions:
    """What makes the functions of a dialect, of rows.

    api: what offers them (`Registry.api`). types: what the types of parameters ask. also: a parameter that all functions have
    last, and that says nothing. Parameters of no such type are handed on as they are.
    """

    def __init__(self, api: Function, types: Mapping[str, Type], also: str = "") -> None:
        self.api, self.also = api, also
        self.types = {"bool": plain(bool), "float": plain(float), **types}

    def __call__(
        self, names: str, options: str, compute: Function, doc: str, *, called: Mapping[str, str] | None = None,
        tells: bool = False, decorate: Function | None = None, **offered: Any,
    ) -> Any:  # fmt: skip
        """The function of a row, offered under its names.

        names: its names, with spaces between. options: its parameters, as they stand in a `def`. compute: what it computes, a
        function of the operands, by position, and of the rest, by keyword. doc: what it is. called: names of parameters that
        `compute` has others for. tells: whether `compute` gets the function's name first. decorate: what is done with the
        function before it is offered. offered: as `api` takes it.
        """
        name, *others = names.split()
        module = sys._getframe(1).f_globals["__name__"]
        scope: dict[str, Any] = {"_compute": compute, "_shape_of": shape_of, "Sequence": Sequence, "Any": Any, "__name__": module}
        said, operands, keywords, inside = [], [repr(name)] * tells, [], []
        for text in options.split(", "):
            own, kind, default = _PARAMETER.fullmatch(text).groups()  # type: ignore[union-attr]
            says, check, how, keyword = self.types.get(kind) or Type(kind or "Any", _same, "", "")
            said.append(f"{own}: {says}{default or ''}" if own != "*" else own)
            if own == "*":
                continue
            value = own
            if check is not _same:
                scope[f"_{kind}"] = check
                first = operands[tells] if len(operands) > tells else own
                value = f"_{kind}" + how.format(op=name, name=own, first=first)
            if keyword is None:
                inside.append(f"{own} = {value}")
                operands.append(own)
            else:
                keywords.append(f"{(called or {}).get(own) or keyword or own}={value}")
        said += [self.also] * bool(self.also)
        inside.append(f"return _compute({', '.join([*operands, *keywords])})")
        source = f"def {name}({', '.join(said)}) -> Any:\n    " + "\n    ".join(inside)
        f = written(source, f"<retrograde row {module}.{name}>", scope, name)
        f.__doc__ = doc
        return self.api(name, *others, **offered)(decorate(f) if decorate else f)


def _same(x: Any) -> Any:
    """An argument that is handed on as it is."""
    return x


_PARAMETER = re.compile(r"(\w+|\*)(?:: (\w+))?( = .+)?")
