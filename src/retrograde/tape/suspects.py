"""Which lines of the program computed what was changed in place afterwards, as far as its source shows.

Nodes do not know their lines outside of anomaly mode: to note the program's frame and instruction takes 50 to 140 ns, and a small
multiplication as a whole 0.85 us. So an error in a backward pass can only look at the source: for an expression of the operation
that failed, in the same function as a change in place of its operand or result.
"""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Iterator
from typing import Any

from .._traceback import OWN, program_frames
from ..core.notation import name_of

_SIGNS: dict[str, type[ast.AST]] = {
    "add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "divide": ast.Div, "power": ast.Pow, "power_by": ast.Pow,
    "matmul": ast.MatMult, "modulo": ast.Mod, "floor_divide": ast.FloorDiv, "negative": ast.USub,
}  # fmt: skip
_NAMES = {
    "multiply": ("mul",), "divide": ("div", "true_divide"), "power": ("pow",), "power_by": ("square", "float_power"),
    "matmul": ("mm", "bmm", "mv"), "subtract": ("sub",), "negative": ("neg",), "concatenate": ("cat",),
}  # fmt: skip
_MOST = 2
"""How many of them a message has room for."""


def suspects(prim: Any, result: bool) -> str:
    """The lines of an operation and of the change in place of what it needs, for a message; "" where the source shows none, or
    too many.

    result: whether what was changed is what the operation gave, not an operand.
    """
    trees = {file: _parsed(file, "".join(linecache.getlines(file))) for file in _files()}
    found = [
        f"`{text}` ({file}:{line}), then `{change}` ({file}:{after})"
        for file, tree in trees.items() if tree is not None for line, text, after, change in _pairs(tree, prim, result)
    ] or [
        f"`{_text(x)}` ({file}:{x.lineno}) changes what it is given"
        for file, tree in trees.items() if tree is not None for x in ast.walk(tree) if isinstance(x, ast.Call) and _in_place(x)
    ]  # fmt: skip
    return "; by the look of the source: " + ", or ".join(found) if 0 < len(found) <= _MOST else ""


def _files() -> list[str]:
    """The files of the program: those that it is in now, and those of its modules in the folder of its script."""
    files = dict.fromkeys(frame.filename for frame in reversed(program_frames()))
    folder = os.path.dirname(os.path.abspath(getattr(sys.modules.get("__main__"), "__file__", None) or "."))
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(folder + os.sep):
            files[file] = None
    return [file for file in files if file.endswith(".py") and not file.startswith(OWN) and "site-packages" not in file]


@functools.lru_cache(64)
def _parsed(file: str, source: str) -> ast.Module | None:
    try:
        return ast.parse(source, file)
    except (SyntaxError, ValueError):
        return None


def _pairs(tree: ast.Module, prim: Any, result: bool) -> Iterator[tuple[int, str, int, str]]:
    """Line and text of each expression of an operation, and of each later change of what it needs, in one function."""
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        inside = list(_own(scope))
        loops = [set(ast.walk(x)) for x in inside if isinstance(x, (ast.For, ast.While))]
        changes = [(text, x) for x in inside if (text := _changed(x)) is not None]
        for x in inside:
            for e, needed in _computed(x, prim, result):
                for text, change in changes:
                    if text not in needed or change is x:
                        continue
                    if change.lineno > e.lineno or any(e in loop and change in loop for loop in loops):
                        yield e.lineno, _text(e), change.lineno, _text(change)


def _own(scope: ast.AST) -> Iterator[Any]:
    """What stands in a function itself, not in those inside it."""
    for x in ast.iter_child_nodes(scope):
        if not isinstance(x, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield x
            yield from _own(x)


def _changed(x: ast.AST) -> str | None:
    """The text of what a statement or call changes in place; None for any other."""
    if isinstance(x, ast.AugAssign):
        return _held(x.target)
    if isinstance(x, ast.Assign) and isinstance(x.targets[0], ast.Subscript):
        return _held(x.targets[0])
    if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and x.func.attr.endswith("_") and x.func.attr[-2:] != "__":
        return _held(x.func.value)
    return None


def _in_place(x: ast.Call) -> bool:
    """Whether a call makes a layer, or is one of a function, that is told to work in place."""
    return any(k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True for k in x.keywords)


def _held(x: ast.AST) -> str:
    """The text of the variable that a target belongs to: `h` of `h[0]`."""
    while isinstance(x, ast.Subscript):
        x = x.value
    return ast.unparse(x)


def _computed(x: ast.AST, prim: Any, result: bool) -> Iterator[tuple[Any, set[str]]]:
    """The expressions in `x` itself that may be the operation, each with the texts of what it needs unchanged."""
    if result:
        if isinstance(x, ast.Assign) and _is(x.value, prim):
            yield x.value, {ast.unparse(target) for target in x.targets}
    elif _is(x, prim):
        operands: list[ast.AST] = []
        if isinstance(x, ast.BinOp):
            operands = [x.left, x.right]
        elif isinstance(x, ast.UnaryOp):
            operands = [x.operand]
        elif isinstance(x, ast.Call):
            operands = [*x.args, *([x.func.value] if isinstance(x.func, ast.Attribute) else [])]
        yield x, {ast.unparse(a) for a in operands if isinstance(a, (ast.Name, ast.Attribute, ast.Subscript))}


def _is(x: ast.AST, prim: Any) -> bool:
    """Whether an expression may be the operation of a record."""
    if isinstance(x, (ast.BinOp, ast.UnaryOp)):
        return type(x.op) is _SIGNS.get(prim.name)
    if isinstance(x, ast.Call):
        called = x.func.attr if isinstance(x.func, ast.Attribute) else x.func.id if isinstance(x.func, ast.Name) else ""
        return called in (prim.name, name_of(prim), *_NAMES.get(prim.name, ()))
    return False


def _text(x: ast.AST) -> str:
    text = ast.unparse(x)
    return text if len(text) < 60 else text[:57] + "..."
