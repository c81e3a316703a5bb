"""What rows of a table make their classes of: constructors with the signatures that the rows say."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from operator import attrgetter
from types import FunctionType
from typing import Any


def reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads these attributes of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    read = attrgetter(*names)
    return lambda x: (read(x),)


def named(owner: str, members: dict[str, Any], base: type, docs: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The members of a class, its methods and properties named as such and documented: as the base's are, or by `docs`."""
    made = {}
    for name, member in members.items():
        f = member.fget if type(member) is property else member
        if isinstance(f, FunctionType):
            f.__name__, f.__qualname__ = name, f"{owner}.{name}"
            f.__doc__ = f.__doc__ or (docs or {}).get(name) or getattr(getattr(base, name, None), "__doc__", None)
            member = property(f) if type(member) is property else member
        made[name] = member
    return made


def constructor(owner: str, parameters: str, made: Callable[..., None], **scope: Any) -> Any:
    """A constructor with these parameters, as they stand in a `def`, that calls `made` with itself and their values.

    Parameters without an annotation take anything. scope: what defaults are written with.
    """
    tree = ast.parse(f"def __init__(self, {parameters}) -> None:\n    _made()")
    function: Any = tree.body[0]
    for parameter in function.args.args[1:]:
        parameter.annotation = parameter.annotation or ast.Name("Any", ast.Load())
    function.body[0].value.args = [ast.Name(parameter.arg, ast.Load()) for parameter in function.args.args]
    code = compile(ast.fix_missing_locations(tree), f"<retrograde row {owner}>", "exec", annotations.compiler_flag, True)
    scope["_made"] = made
    exec(code, scope)  # noqa: S102 - our own rows
    f = scope["__init__"]
    f.__qualname__, f.__module__ = f"{owner}.__init__", made.__module__
    return f
