"""Layers as rows: a class that keeps the options it is made with and hands them to a function.

A dialect says once what its layers derive from and what their methods are called, and gets what makes a class of a row:

    layer = Layers(Module, forward="forward", text="extra_repr", functions=functional)
    LeakyReLU = layer("LeakyReLU", "negative_slope=1e-2, inplace=False", F.leaky_relu, "x above 0, ...",
                      shows="negative_slope, inplace?")

The class is like one that is written by hand: users subclass it, override its methods, pickle it and ask for its
signature. Its constructor and its forward method are written when they are first looked up, since most programs use few
layers and compiling two functions takes ten times as long as making a class.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .documents import Document

Function = Callable[..., Any]


class Layers:
    """What makes the layers of one dialect.

    base: what they derive from. forward, text: the names of the methods that compute and that say the options. functions:
    the module in which users may replace the functions that layers call. inputs: what forward takes, unless a row says
    otherwise. tensor: how tensors are called in signatures. private: whether an option `p` is kept as `_p`, past what the
    base does when attributes are set. named: an option that every layer takes last, and says where it is given. listed: an
    attribute of the class that lists the options. shows: whether the text of a layer says all options, unless a row says
    otherwise.
    """

    def __init__(
        self, base: type, *, forward: str, text: str, functions: Any = None, inputs: str = "input", tensor: str = "",
        private: bool = False, named: str = "", listed: str = "", shows: bool = False,
    ) -> None:  # fmt: skip
        self.base, self.forward, self.text, self.functions, self.shows = base, forward, text, functions, shows
        self.inputs, self.tensor, self.private, self.named, self.listed = inputs, tensor, private, named, listed

    def __call__(
        self, name: str, options: str | None, f: Function | None, doc: str = "", *, inputs: str | None = None,
        shows: str | bool | Callable[[Any], str] | None = None, base: type | None = None,
        fixed: Mapping[str, Any] | None = None, then: Callable[[Any], None] | None = None, training: bool = False,
        spent: tuple[str, ...] = (), named: bool = True, **attributes: Any,
    ) -> Any:  # fmt: skip
        """The class of a row.

        name: what it is called. options: the constructor's parameters, as they stand in a `def`; the base's constructor
        gets those that it takes, all others are kept. None: the layer is made as its base, which is a row.
        f: what computes, with the options by name; or, where its first parameter is `self`, the forward method itself;
        None for that of the base. doc: what the layer is, if the function's docstring does not say it. inputs: what forward
        takes. shows: the options that the text of a layer says (`True`: all; "p?": where it is not the default), or a
        function of the layer. base: another base. fixed: what the base's constructor gets besides. then: called with the
        new layer, to check it and to derive what is not an option. training: whether f takes the flag `training`, too.
        spent: options that f does not take. named: whether the layer takes the option that all take. attributes: of the
        class.
        """
        module = sys._getframe(1).f_globals
        base = base or self.base
        inherits = options is None
        if options is None:
            options = _ROWS[base].options
        elif named and self.named:
            options = f"{options}, {self.named}=None" if options else f"{self.named}=None"
        row = _Row(self, name, options, f, inputs or self.inputs, base, fixed or {}, then, training, spent, module)
        members: dict[str, Any] = {"__module__": module["__name__"], "__doc__": Document(doc or f.__doc__ or ""), **attributes}
        if not inherits:
            members["__init__"] = Unwritten(row, "__init__")
            if self.listed and self.listed not in attributes:
                members[self.listed] = _Listed(row)
        if f is not None:
            code = getattr(f, "__code__", None)
            own = code is not None and code.co_varnames[:1] == ("self",)
            members[self.forward] = _called(self.annotated(f), name, self.forward) if own else Unwritten(row, self.forward)
        if shows is None:
            shows = self.shows and not inherits
        if callable(shows):
            members[self.text] = _called(shows, name, self.text)
        elif shows or (named and self.named and not inherits):
            members[self.text] = _text(row, shows)
        row.cls = type(name, (base,), members)
        _ROWS[row.cls] = row
        return row.cls

    def annotated(self, f: Any, returns: bool = True) -> Any:
        """A forward method, with what its text does not say: that its operands and (`returns`) its result are tensors."""
        if self.tensor:
            code = f.__code__
            known = [*code.co_varnames[1 : code.co_argcount - len(f.__defaults__ or ())], *["return"] * returns]
            f.__annotations__ = dict.fromkeys(known, self.tensor) | f.__annotations__
        return f


class _Row:
    """A row, and the methods that it stands for."""

    cls: Any

    def __init__(
        self, kind: Layers, name: str, options: str, f: Any, inputs: str, base: type, fixed: Mapping[str, Any],
        then: Function | None, training: bool, spent: tuple[str, ...], module: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.kind, self.name, self.options, self.f, self.inputs, self.base = kind, name, options, f, inputs, base
        self.fixed, self.then, self.training, self.spent, self.module = fixed, then, training, spent, module
        # A function that stands in the module of functions is called there, where a program may put another one.
        among = vars(kind.functions) if kind.functions else {}
        name = getattr(f, "__name__", "")
        name = name if among.get(name) is f else next((name for name, known in among.items() if known is f), "")
        self.place = f"_functions.{name}" if name else "_f"

    @functools.cached_property
    def names(self) -> list[str]:
        """The options."""
        given = parameters(self.options)
        return [a.arg for a in (*given.args, *given.kwonlyargs)]

    @functools.cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults of the options that have one."""
        made = self.cls.__init__
        positional = self.names[: made.__code__.co_argcount - 1]
        given = made.__defaults__ or ()
        return dict(zip(positional[len(positional) - len(given) :], given)) | (made.__kwdefaults__ or {})

    @functools.cached_property
    def handed(self) -> list[str]:
        """What the constructor of the base gets."""
        taken = () if self.base is self.kind.base else _arguments(self.base)
        return [n for n in (*self.names, *self.fixed) if n in taken]

    def kept(self, option: str) -> str:
        """The attribute that holds an option."""
        return "_" + option if self.kind.private else option

    def write(self, method: str) -> Any:
        """Write a method and put it into the class."""
        source = self._constructor() if method == "__init__" else self._forward()
        scope = {
            **self.module, "_f": self.f, "_functions": self.kind.functions, "_cls": self.cls, "_then": self.then, **self.fixed,
        }  # fmt: skip
        place = f"<retrograde layer {self.cls.__module__}.{self.name}.{method}>"
        f = _called(written(source, place, scope, method), self.name, method)
        f.__module__ = self.cls.__module__
        if method != "__init__":
            self.kind.annotated(f, "return_indices" not in self.names)
            f.__doc__ = f"What `{self.f.__name__}` gives for the inputs and the options of the layer."
        setattr(self.cls, method, f)
        return f

    def _constructor(self) -> str:
        lines = [
            f"def __init__(self{self.options and ', '}{self.options}) -> None:",
            f"    super(_cls, self).__init__({', '.join(f'{n}={n}' for n in self.handed)})",
        ]
        rest = [n for n in self.names if n not in self.handed]
        if self.kind.private:
            lines += ["    own = self.__dict__"] * bool(rest) + [f"    own[{self.kept(n)!r}] = {n}" for n in rest]
        else:
            lines += [f"    self.{n} = {n}" for n in rest]
        return "\n".join(lines + ["    _then(self)"] * bool(self.then))

    def _forward(self) -> str:
        inputs = parameters(self.inputs)
        required = len(inputs.args) - len(inputs.defaults)
        given = [a.arg for a in inputs.args[:required]] + [f"{a.arg}={a.arg}" for a in inputs.args[required:]]
        own = [n for n in self.names if n != self.kind.named and n not in self.spent]
        given += ["*" + inputs.vararg.arg] if inputs.vararg else []
        given += [f"{n}=self.{self.kept(n)}" for n in own] + ["training=self.training"] * self.training
        given += ["**" + inputs.kwarg.arg] if inputs.kwarg else []
        return f"def {self.kind.forward}(self, {self.inputs}):\n    return {self.place}({', '.join(given)})"


_ROWS: dict[type, _Row] = {}
"""The rows of the classes that were made of them."""


def written(source: str, place: str, scope: dict[str, Any], name: str) -> Any:
    """The function `name` that a text of our own defines; tracebacks show the text under `place`."""
    linecache.cache[place] = (len(source), None, source.splitlines(True), place)
    exec(compile(source, place, "exec", annotations.compiler_flag, True), scope)  # noqa: S102 - our own rows
    return scope[name]


class Unwritten:
    """A method of a row that is not written yet; to look it up writes it."""

    __slots__ = ("method", "row")

    def __init__(self, row: Any, method: str) -> None:
        self.row, self.method = row, method

    def __get__(self, instance: Any, owner: type) -> Any:
        f = self.row.write(self.method)
        return f if instance is None else f.__get__(instance, owner)


class _Listed:
    """The list of a row's options, its base's first."""

    __slots__ = ("row",)

    def __init__(self, row: _Row) -> None:
        self.row = row

    def __get__(self, instance: Any, owner: type) -> list[str]:
        row = self.row
        return [*getattr(row.base, row.kind.listed, ()), *(n for n in row.names if n not in row.handed)]


@functools.cache
def parameters(text: str) -> ast.arguments:
    """The parameters that stand in a `def` with this text."""
    return ast.parse(f"def f({text}): 0").body[0].args  # type: ignore[attr-defined]


def _arguments(base: type) -> tuple[str, ...]:
    """What the constructor of a base takes."""
    code = base.__init__.__code__  # type: ignore[misc]
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


def shown(text: str, name: str = "extra_repr", *, private: bool = False) -> Any:
    """The method of a layer that says its options: `shown("=in_features, bias!, dilation?1")` gives "3, bias=True".

    An option is `name`, or `label:attribute` where they differ; `=name` has no label. `name!` says whether there is one;
    `name%` has quotes; `name?1` is there where the value, or an entry of it, is not 1, `name?` where it is true, `name~1`
    where the value as a whole is not 1. name: the method's. private: whether the option `p` is the attribute `_p`.
    """
    parts = []
    for part in text.split(", "):
        bare, label, attribute, exists, how, default = _OPTION.fullmatch(part).groups()  # type: ignore[union-attr]
        label = "" if bare else f"{label or attribute}="
        known = ast.literal_eval(default) if default else None
        parts.append((label, "_" * private + attribute, exists, how, bool(default), known))

    def method(self: Any) -> str:
        """The options."""
        found = []
        for label, attribute, exists, how, given, default in parts:
            value = getattr(self, attribute, default)
            if exists:
                value = value is not None
            if how == "%":
                value, usual = repr(value), False
            elif how == "?" and not given:
                usual = not value
            elif how == "?" and isinstance(value, (tuple, list)):
                usual = all(entry == default for entry in value)
            else:
                usual = how is not None and value == default
            if not usual:
                found.append(f"{label}{value}")
        return ", ".join(found)

    method.__name__ = method.__qualname__ = name
    return method


_OPTION = re.compile(r"(?:(=)|(\w+):)?(\w+)(!?)(?:([?~%])(.*))?")


def _called(f: Function, owner: str, name: str) -> Any:
    """A function, made a method of a class; one that has a name of its own keeps it."""
    if f.__name__ in ("<lambda>", name):
        f.__name__, f.__qualname__ = name, f"{owner}.{name}"
    return f


def _text(row: _Row, shows: str | bool) -> Function:
    """The method that says the options of a layer."""
    wanted = shows.split(", ") if isinstance(shows, str) else None
    kind = row.kind

    def text(self: Any) -> str:
        """The options."""
        parts = []
        for option in wanted if wanted is not None else row.names if shows else ():
            name = option.removesuffix("?")
            value = getattr(self, row.kept(name))
            if name != kind.named and (name == option or value != row.defaults[name]):
                parts.append(f"{name}={value}")
        if kind.named and getattr(self, row.kept(kind.named), None):
            parts.append(f"{kind.named}={getattr(self, row.kept(kind.named))}")
        return ", ".join(parts)

    return _called(text, row.name, kind.text)
