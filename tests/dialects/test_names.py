"""The dialects reach their own functions as Python names, which editors and checkers follow, not through tables of texts."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import retrograde.dialects

ROOT = Path(retrograde.dialects.__file__).parent
TABLES = {"FUNCTIONS", "METHODS"}
# Where a name is data: a program asks a module for it, or a form in place takes the place of the one that has the name.
ASKED = {
    "mindspore/ops/function.py", "paddle/_C_ops.py", "paddle/_legacy_C_ops.py", "paddle/base/framework.py", "paddle/tensor.py",
    "torch/_legacy_types.py", "torch/_masked_tensor.py", "torch/_nested_tensor.py", "torch/functional.py", "torch/ops.py",
    "torch/special.py",
}  # fmt: skip
REPLACED = {
    "paddle/_arithmetic.py", "paddle/_elementwise.py", "torch/_arithmetic.py", "torch/_expanded.py", "torch/_writing.py",
}  # fmt: skip


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


FILES = sorted(ROOT.rglob("*.py"))
WITH_TABLES = [path for path in FILES if TABLES & set(re.findall(r"\w+", path.read_text()))]


def looked_up(module: ast.Module) -> Iterator[tuple[int, bool]]:
    """The lines in which something is looked up in a table of functions or methods, and whether the text stands there."""
    tables = {
        a.asname or a.name
        for n in ast.walk(module) if isinstance(n, ast.ImportFrom)
        for a in n.names if a.name in TABLES
    }  # fmt: skip
    for n in ast.walk(module) if tables else ():
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load):
            table, key = n.value, n.slice
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("get", "pop") and n.args:
            table, key = n.func.value, n.args[0]
        else:
            continue
        if isinstance(table, ast.Name) and table.id in tables:
            yield n.lineno, isinstance(key, (ast.Constant, ast.JoinedStr))


@pytest.mark.parametrize(
    "line, found",
    [
        ('F["cat"]', [True]), ('F.get("cat")', [True]), ('F[f"conv{n}d"]', [True]), ("F[name]", [False]),
        ('F["cat"] = cat', []), ('G["cat"]', []), ("F.items()", []),
    ],
)  # fmt: skip
def test_a_look_up_is_seen(line: str, found: list[bool]) -> None:
    module = ast.parse(f"from .._api import FUNCTIONS as F\n{line}")
    assert [literal for _, literal in looked_up(module)] == found


def test_functions_are_not_looked_up_by_a_text() -> None:
    by_text = [f"{name_of(path)}:{line}" for path in WITH_TABLES for line, literal in looked_up(tree(path)) if literal]
    assert not by_text, f"import these functions from the module that defines them: {by_text}"


def test_functions_are_looked_up_where_a_name_is_data() -> None:
    assert {name_of(path) for path in WITH_TABLES if any(looked_up(tree(path)))} == ASKED | REPLACED


@pytest.mark.parametrize("dialect", ["torch", "paddle", "mindspore"])
def test_what_is_asked_of_a_module_is_there(dialect: str) -> None:
    """`_shape.reshape` in a function is looked up when that is called: a slip would wait for a program."""
    missing = []
    for path in (path for path in FILES if name_of(path).startswith(dialect)):
        text = path.read_text()
        taken = re.findall(r"^from \.[.\w]* import (?:\(([^)]*)\)|(.*))", text, re.M)
        if not taken:
            continue
        parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
        here = vars(importlib.import_module(".".join(("retrograde.dialects", *parts))))
        names = {name for pair in taken for name in re.findall(r"\w+", "".join(pair))}
        modules = {name: x for name in names if isinstance(x := here.get(name), ModuleType)}
        asked = re.findall(rf"(?<![.\w])({'|'.join(modules)})\.(\w+)", text) if modules else ()
        slips = {(name, attribute) for name, attribute in asked if not hasattr(modules[name], attribute)}
        if not slips:
            continue
        nodes = list(ast.walk(tree(path)))  # of a text, or of a parameter that has the name?
        own = {n.arg for n in nodes if isinstance(n, ast.arg)}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        missing += [
            f"{name_of(path)}:{n.lineno}: {n.value.id}.{n.attr}"
            for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
            if n.value.id not in own and (n.value.id, n.attr) in slips
        ]  # fmt: skip
    assert not missing


@pytest.mark.parametrize("dialect", ["torch", "paddle", "mindspore"])
def test_what_functions_import_is_there(dialect: str) -> None:
    missing = []
    for path in (path for path in FILES if name_of(path).startswith(dialect)):
        package = ".".join(("retrograde.dialects", *path.relative_to(ROOT).parts[:-1]))
        for place, names in re.findall(r"^ +from (\.[\w.]*) import ([\w, ]+)$", path.read_text(), re.M):
            module = importlib.import_module(place, package) if place.strip(".") else importlib.import_module(
                importlib.util.resolve_name(place, package))  # fmt: skip
            missing += [
                f"{name_of(path)}: {module.__name__}.{name}"
                for name in (name.split()[0] for name in names.split(", "))
                if not hasattr(module, name) and importlib.util.find_spec(f"{module.__name__}.{name}") is None
            ]
    assert not missing
