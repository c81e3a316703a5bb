"""The table of global state in `_state.py` names every module-level object of the engine that is written after import."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from retrograde import _state

SOURCE = Path(_state.__file__).parent
ROOMS = ("_state.py", "core/", "tape/", "backend/", "tensor/", "transform/")
WRITING = frozenset(
    ("append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear")
)
FROM_ROOMS = re.compile(r"from \.+(core|tape|backend|tensor|transform|_state)\b")
ROW = re.compile(r"^    ([\w/]+\.py) (\w+): \S", re.MULTILINE)

Place = tuple[str, str]


def top_level(tree: ast.Module) -> set[str]:
    """The names that a module assigns."""
    assigned = (node.targets if isinstance(node, ast.Assign) else [node.target] for node in tree.body
                if isinstance(node, (ast.Assign, ast.AnnAssign)))  # fmt: skip
    return {name.id for targets in assigned for t in targets for name in ast.walk(t) if isinstance(name, ast.Name)}


def functions(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The functions of a module and the methods of its classes, with all that is defined inside them."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node)
        elif isinstance(node, ast.FunctionDef):
            yield node


def imports(file: str, nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What names mean that are imported from this package, as dotted paths below it."""
    meant = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = Path(file).parts[: -node.level]
            for alias in node.names:
                meant[alias.asname or alias.name] = ".".join((*base, *filter(None, [node.module]), alias.name))
    return meant


def dotted(node: ast.AST) -> str:
    """A name, or the attribute of a module, as it is written; "" for what is neither."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{node.value.id}.{node.attr}" if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""


def written(nodes: list[ast.AST]) -> Iterator[str]:
    """The objects that the body of a function changes, and the names that it declares global."""
    for node in nodes:
        if isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITING:
            yield dotted(node.func.value)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            yield dotted(node.value)
            yield dotted(node)  # `module.name = ...`


def locals_of(nodes: list[ast.AST]) -> set[str]:
    """The parameters and local variables of a function."""
    declared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return (stored | {node.arg for node in nodes if isinstance(node, ast.arg)}) - declared


def global_state() -> set[Place]:
    """The module-level objects of the rooms that a function somewhere in the package changes."""
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in SOURCE.rglob("*.py")}
    trees = {file: ast.parse(text) for file, text in texts.items() if file.startswith(ROOMS) or FROM_ROOMS.search(text)}
    owned = {file: top_level(tree) for file, tree in trees.items() if file.startswith(ROOMS)}
    found = set()
    for file, tree in trees.items():
        bodies = [list(ast.walk(function)) for function in functions(tree)]
        meant = imports(file, itertools.chain(tree.body, *bodies))
        for nodes in bodies:
            local = locals_of(nodes)
            for target in written(nodes):
                head, dot, attribute = target.partition(".")
                if head in local:
                    continue
                if head in meant:
                    module, _, head = f"{meant[head]}{dot}{attribute}".rpartition(".")
                    owner = module.replace(".", "/") + ".py"
                else:
                    owner = file
                if head in owned.get(owner, ()):
                    found.add((owner, head))
    return found


def test_the_table_names_all_global_state() -> None:
    listed = set(ROW.findall(_state.__doc__ or ""))
    found = global_state()
    assert not found - listed, f"written after import and not listed in _state.py: {sorted(found - listed)}"
    assert not listed - found, f"listed in _state.py and not written after import: {sorted(listed - found)}"
