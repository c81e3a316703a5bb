"""The text of stubs, from the modules of a dialect as they are at run time."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import contextlib
import enum
import functools
import importlib
import inspect
import io
import keyword
import pkgutil
import sys
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .results import recorded

_HEAD = """\
# Written by `retrograde stubs` from the dialect of retrograde; write it anew after an update.
# mypy: disable-error-code="assignment, misc, override, type-arg"
"""
"""What stands above each stub: methods are overridden as they are in the framework, which checkers would not allow."""

_NUMBERS = (bool, int, float, complex, str, bytes, type(None))
_ROUTINES = (types.FunctionType, types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)
_NOT_SHOWN = {"annotations", "TYPE_CHECKING"}
_TYPING = frozenset(dir(typing))
_CONTAINERS = frozenset(dir(collections.abc))
_LEFT_OUT = {
    "__class__", "__dict__", "__weakref__", "__doc__", "__module__", "__slots__", "__subclasshook__", "__init_subclass__",
    "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__sizeof__", "__dir__", "__getattribute__", "__annotations__",
    "__firstlineno__", "__static_attributes__", "__parameters__", "__orig_bases__", "__match_args__", "__abstractmethods__",
    "__dask_graph__", "__dask_tokenize__", "__dask_postcompute__", "__dask_postpersist__",
}  # fmt: skip


def modules(dialect: str) -> dict[str, types.ModuleType]:
    """The public modules of a dialect that can be imported here, by dotted name, the package first."""
    package = importlib.import_module(dialect)
    found = {dialect: package}
    for info in pkgutil.walk_packages(package.__path__, dialect + "."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            with contextlib.suppress(ImportError), contextlib.redirect_stdout(io.StringIO()):  # what needs another package
                found[info.name] = importlib.import_module(info.name)
    for name, module in sorted(sys.modules.items()):  # those that have no file: a class each, as torch.optim.adam has
        public = name.startswith(dialect + ".") and not any(part.startswith("_") for part in name.split("."))
        if public and name.rpartition(".")[0] in found and name not in found and isinstance(module, types.ModuleType):
            found[name] = module
    return found


def write(found: dict[str, types.ModuleType], folder: Path) -> int:
    """Write the stubs of modules into a folder; returns how many were written."""
    texts = Stubs(found)
    packages = {name.rpartition(".")[0] for name in found}
    for name in found:
        path = folder.joinpath(*name.split("."))
        path = path / "__init__.pyi" if name in packages or "." not in name else path.with_suffix(".pyi")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.module(name), encoding="utf-8")
    return len(found)


class Stubs:
    """The stubs of one dialect: its modules, where each class is defined, and what its functions give."""

    def __init__(self, found: dict[str, types.ModuleType]) -> None:
        self.modules = found
        self.dialect = next(iter(found))
        registry = importlib.import_module(f"retrograde.dialects.{self.dialect}._api").REGISTRY
        self.functions = {id(f): f for f in (*registry.functions.values(), *registry.methods.values())}
        self.results = recorded(self.dialect)
        # A module that has a function's name, as torch.nn.utils.weight_norm, is not reached by its path.
        self.hidden = {n for n in found if "." in n and not isinstance(_reached(found, n), types.ModuleType)}
        self.homes = dict(self._homes())

    def _homes(self) -> Iterator[tuple[type, str]]:
        """Each class that a module offers, and the dotted name under which it is defined: where it says it is from, else in
        the outermost module that offers it."""
        offered: dict[type, str] = {}
        for name in sorted(self.modules, key=lambda name: (name in self.hidden, name.count("."), name)):
            for label, x in self.offered(name):
                if isinstance(x, type) and self.owns(x):
                    at_home = x.__module__ == name and x.__name__ == label and name not in self.hidden
                    if x not in offered or (at_home and not _says(x, offered[x])):
                        offered[x] = f"{name}.{label}"
        return iter(offered.items())

    def owns(self, x: Any) -> bool:
        """Whether something is the dialect's own, not what it uses of other rooms."""
        home = str(getattr(x, "__module__", "")) + "."
        return home.startswith((f"{self.dialect}.", f"retrograde.dialects.{self.dialect}."))

    def _meant(self, x: Any, module: str) -> bool:
        """Whether a module offers a function or class: what it defines itself, collects of modules below it or of public
        ones, or has from the registry; a helper that it imports from a private file is none."""
        home = str(getattr(x, "__module__", "")).replace(f"retrograde.dialects.{self.dialect}", self.dialect)
        inside = home == module or home.startswith(module + ".") or module == self.dialect
        return inside or not any(part.startswith("_") for part in home.split(".")) or id(x) in self.functions

    def offered(self, module: str) -> list[tuple[str, Any]]:
        """What a module offers, in alphabetical order: its own names, not what it imports from other packages."""
        namespace = self.modules[module]
        listed = set(getattr(namespace, "__all__", ()))
        found = []
        for name in sorted({*dir(namespace), *listed}):
            if name in _NOT_SHOWN or keyword.iskeyword(name) or (name.startswith("_") and name not in listed):
                continue
            try:
                x = getattr(namespace, name)
            except (AttributeError, ImportError):
                continue
            if isinstance(x, types.ModuleType):
                continue
            known = self.owns(x) and self._meant(x, module)
            if name in listed or known or self.owns(type(x)) or isinstance(x, (*_NUMBERS, tuple)):
                found.append((name, x))
        return found

    def module(self, name: str) -> str:
        """The text of a module's stub."""
        page = _Page(self, name)
        body = [page.offered(label, x) for label, x in self.offered(name)]
        below = [n.rpartition(".")[2] for n in self.modules if n.rpartition(".")[0] == name]
        names = {label for label, _ in self.offered(name)}
        imports = [f"from . import {n} as {n}" for n in below if n not in names]
        lines = [f"import {n}" for n in sorted({"builtins", "typing", *page.imports})]
        return "\n".join([_HEAD, *lines, *imports, "", *body, ""])


def _reached(found: dict[str, types.ModuleType], name: str) -> Any:
    above, _, last = name.rpartition(".")
    return getattr(found[above], last, None) if above in found else None


def _says(x: type, place: str) -> bool:
    return f"{x.__module__}.{x.__name__}" == place


class _Page:
    """One module's stub while it is written."""

    def __init__(self, stubs: Stubs, name: str) -> None:
        self.stubs, self.name = stubs, name
        self.imports: set[str] = set()

    def offered(self, label: str, x: Any) -> str:
        """The text of one name."""
        if isinstance(x, type):
            home = self.stubs.homes.get(x)
            if home == f"{self.name}.{label}":
                return self.class_(label, x)
            if home is None:
                return f"{label}: typing.Any"
            module, _, name = home.rpartition(".")
            if module == self.name:
                return f"{label} = {name}"
            return f"from {module} import {name} as {label}"
        if inspect.isroutine(x) or (callable(x) and hasattr(x, "__wrapped__")):
            return self.function(label, x, f"{self.name}.{label}")
        return f"{label}: {self.type_of(x)}"

    # ------------------------------------------------------------------------------------------ types

    def type_of(self, x: Any) -> str:
        """The type of a value that is there."""
        if x is None:
            return "None"
        if isinstance(x, type):
            return "builtins.type"
        if type(x) in _NUMBERS or type(x) in (tuple, list, dict, set, frozenset):
            return f"builtins.{type(x).__name__}"
        return self.place_of(type(x))

    def place_of(self, x: Any) -> str:
        """How a class is named here; Any for one that nothing offers."""
        for cls in getattr(x, "__mro__", ()):
            if cls in self.stubs.homes:
                return self.reached(self.stubs.homes[cls])
        if getattr(x, "__module__", "") == "numpy":
            self.imports.add("numpy as _numpy")  # a dialect may have a module of that name
            return f"_numpy.{x.__name__}"
        return "typing.Any"

    def reached(self, place: str) -> str:
        """A dotted name, whose module is imported."""
        module, _, name = place.rpartition(".")
        if module in self.stubs.hidden:
            return name if module == self.name else "typing.Any"
        self.imports.add(module)
        return place

    def annotation(self, text: Any, scope: dict[str, Any]) -> str:
        """An annotation of the source in names that the stub has: what it does not know is Any."""
        if text is inspect.Parameter.empty:
            return "typing.Any"
        if not isinstance(text, str):
            text = getattr(text, "__name__", None) if isinstance(text, type) else str(text)
        try:
            tree = ast.parse(text or "Any", mode="eval").body
        except SyntaxError:
            return "typing.Any"
        return self._said(tree, scope)

    def _said(self, tree: ast.expr, scope: dict[str, Any]) -> str:
        if isinstance(tree, ast.Constant):
            if tree.value is None or tree.value is ...:
                return "None" if tree.value is None else "..."
            return self.annotation(tree.value, scope) if isinstance(tree.value, str) else repr(tree.value)
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
            sides = [self._said(tree.left, scope), self._said(tree.right, scope)]
            return "typing.Any" if "typing.Any" in sides else " | ".join(sides)
        if isinstance(tree, ast.Subscript):
            of = self._said(tree.value, scope)
            if of.partition(".")[0] not in ("builtins", "typing"):
                return of  # the dialect's classes take no parameters at run time
            if of == "typing.Any":
                return of
            parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
            said = [f"[{', '.join(self._said(x, scope) for x in p.elts)}]" if isinstance(p, ast.List) else self._said(p, scope)
                    for p in parts]  # fmt: skip
            if of in ("builtins.tuple", "typing.Tuple") and isinstance(tree.slice, ast.Tuple) and not parts:
                return of + "[()]"
            return f"{of}[{', '.join(said)}]"
        name = ast.unparse(tree)
        if name in ("Tensor", "torch.Tensor", "paddle.Tensor"):
            return self.reached(f"{self.stubs.dialect}.Tensor")
        found = scope.get(name.partition(".")[0])
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
        if isinstance(found, type) and found in self.stubs.homes:
            return self.place_of(found)
        if found is None and isinstance(vars(builtins).get(name), type):
            return f"builtins.{name}"
        last = name.rpartition(".")[2]
        of_typing = getattr(found, "__module__", "typing") in ("typing", "collections.abc")
        if of_typing and last in _TYPING and last not in ("TypeVar", "Self"):
            return f"typing.{last}"
        return self.place_of(found) if isinstance(found, type) else "typing.Any"

    # ------------------------------------------------------------------------------------------ functions

    def function(self, label: str, f: Any, key: str, kind: str = "", indent: str = "") -> str:
        """The text of a function: decorators, signature, the first sentence of its documentation."""
        scope = getattr(inspect.unwrap(f) if callable(f) else f, "__globals__", {})
        try:
            signature = inspect.signature(f)
        except (ValueError, TypeError):
            given = "self, *args: typing.Any, **kwargs: typing.Any" if indent and kind != "static" else (
                "*args: typing.Any, **kwargs: typing.Any")  # fmt: skip
            return f"{indent}def {label}({given}) -> {'None' if label == '__init__' else 'typing.Any'}: ..."
        result = self.annotation(signature.return_annotation, scope)
        if "typing.Any" in result and (seen := self.known(key)) != "typing.Any":
            result = seen
        parameters = list(signature.parameters.values())
        bound = bool(indent) and kind != "static"
        result = {"__init__": "None", "__new__": "typing.Self"}.get(label, result) if indent else result
        bound = bound or label == "__new__"
        if bound and (not parameters or parameters[0].kind not in (0, 1)):
            parameters.insert(0, inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY))
        text = ", ".join(self.parameters(parameters, scope, bound))
        lead = {"static": f"{indent}@staticmethod\n", "class": f"{indent}@classmethod\n"}.get(kind, "")
        lead = "" if label == "__new__" else lead
        doc = inspect.cleandoc(getattr(f, "__doc__", None) or "").strip()
        if not doc:
            return f"{lead}{indent}def {label}({text}) -> {result}: ..."
        return f"{lead}{indent}def {label}({text}) -> {result}:\n{indent}    {_quoted(doc, indent + '    ')}"

    def known(self, key: str) -> str:
        """What a function gives, by what was recorded."""
        for part in _scopes(key, self.stubs.dialect):
            if part in self.stubs.results:
                return self.annotation(self.stubs.results[part], {self.stubs.dialect: self.stubs.modules[self.stubs.dialect]})
        return "typing.Any"

    def parameters(self, parameters: list[inspect.Parameter], scope: dict[str, Any], bound: bool) -> Iterator[str]:
        """A signature's parameters as they stand between parentheses."""
        slash = star = False
        for i, p in enumerate(parameters):
            if slash and p.kind != p.POSITIONAL_ONLY:
                yield "/"
                slash = False
            if p.kind == p.POSITIONAL_ONLY:
                slash = True
            if p.kind == p.KEYWORD_ONLY and not star:
                yield "*"
                star = True
            stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            star = star or p.kind == p.VAR_POSITIONAL
            if bound and i == 0:
                yield stars + p.name
                continue
            said = self.annotation(p.annotation, scope)
            if p.default is None and said not in ("typing.Any", "None") and "None" not in said.split(" | "):
                said += " | None"
            yield f"{stars}{p.name}: {said}" + ("" if p.default is p.empty else f" = {_literal(p.default)}")
        if slash:
            yield "/"

    # ------------------------------------------------------------------------------------------ classes

    def class_(self, label: str, cls: type) -> str:
        """The text of a class, with what it has of classes that nothing offers."""
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            self.imports.add("enum")
            return "\n".join([f"class {label}(enum.Enum):", *(f"    {m.name} = {m.value!r}" for m in cls), "    ..."])
        bases: list[type] = []
        for base in cls.__mro__[1:]:
            plain = base.__module__ == "builtins" and base is not object and base in cls.__bases__
            if plain or (base in self.stubs.homes and not any(issubclass(known, base) for known in bases)):
                bases.append(base)
        fields = getattr(cls, "_fields", None) if issubclass(cls, tuple) else None
        members: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            unseen = base not in self.stubs.homes and self.stubs.owns(base) and not any(issubclass(b, base) for b in bases)
            if base is cls or unseen:
                members.update(vars(base))
        said = [self.place_of(b) if b in self.stubs.homes else f"builtins.{b.__name__}" for b in bases]
        lines = [f"class {label}({', '.join(said)}):" if said else f"class {label}:"]
        doc = cls.__doc__ if "__doc__" in vars(cls) else None
        if isinstance(doc, str) and doc.strip():
            lines.append("    " + _quoted(inspect.cleandoc(doc), "    "))
        if fields:
            lines += [f"    {name}: {self.known(f'{self.name}.{label}.{name}')}" for name in fields]
            members = {k: v for k, v in members.items() if k not in fields and not k.startswith("_")}
        for name, x in members.items():
            private = name.startswith("_") and not name.endswith("__")
            if private or name in _LEFT_OUT or not name.isidentifier() or keyword.iskeyword(name):
                continue
            lines.append(self.member(label, name, x, cls))
        known = {*members, *dir(cls)}
        lines += [f"    {name}: {said}" for name, said in self.attributes(cls) if name not in known]
        return "\n".join(lines if len(lines) > 1 else [*lines, "    ..."])

    def member(self, label: str, name: str, x: Any, cls: type) -> str:
        """The text of one thing that a class has."""
        key = f"{self.name}.{label}.{name}"
        if isinstance(x, (staticmethod, classmethod)):
            kind = "static" if isinstance(x, staticmethod) else "class"
            return self.function(name, x.__func__, key, kind, "    ")
        if isinstance(x, (property, functools.cached_property)):
            get = x.fget if isinstance(x, property) else x.func
            scope = getattr(get, "__globals__", {})
            said = self.annotation(getattr(get, "__annotations__", {}).get("return", "Any"), scope)
            said = self.known(key) if said == "typing.Any" else said
            doc = (inspect.getdoc(get) or "").strip()
            body = f"\n        {_quoted(doc, '        ')}" if doc else " ..."
            text = f"    @property\n    def {name}(self) -> {said}:{body}"
            if not isinstance(x, property) or x.fset is not None:
                text += f"\n    @{name}.setter\n    def {name}(self, value: typing.Any) -> None: ..."
            return text
        if hasattr(type(x), "__get__") and not isinstance(x, (type, *_ROUTINES)):
            x = getattr(cls, name, x)  # a method that is written when it is looked up
        if inspect.isroutine(x):
            return self.function(name, x, key, "", "    ")
        if x is None and name in ("__hash__",):
            return "    __hash__: typing.ClassVar[None]"
        return f"    {name}: {self.type_of(x) if type(x) in _NUMBERS and x is not None else 'typing.Any'}"

    def attributes(self, cls: type) -> Iterator[tuple[str, str]]:
        """What the constructor of a class keeps under the name of a parameter."""
        made: Any = getattr(cls, "__init__", None) if "__init__" in vars(cls) else None
        code = getattr(made, "__code__", None)
        if code is None:
            return
        stored = set(code.co_names)
        scope = getattr(made, "__globals__", {})
        with contextlib.suppress(ValueError, TypeError):
            for p in inspect.signature(made).parameters.values():
                if p.name in stored and p.name != "self":
                    yield p.name, self.annotation(p.annotation, scope)


def _scopes(key: str, dialect: str) -> Iterable[str]:
    """The keys under which a function's result may stand: without the dialect's name, and of the Tensor for a method."""
    return (key.removeprefix(dialect + "."), key)


def _literal(x: Any) -> str:
    if type(x) in (bool, int, str, type(None)) or (type(x) is float and x == x and abs(x) != float("inf")):
        return repr(x)
    if type(x) is tuple and all(type(i) in (bool, int, float, str, type(None)) for i in x):
        return repr(x)
    return "..."


def _quoted(doc: str, indent: str) -> str:
    """A docstring; a stub's may be long, since an editor shows it."""
    lines = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').splitlines()
    if lines[-1].endswith('"'):
        lines[-1] += " "
    text = "\n".join([lines[0], *(indent + line if line else "" for line in lines[1:])])
    return f'"""{text}"""' if len(lines) == 1 else f'"""{text}\n{indent}"""'
