"""What Python's own errors leave unsaid about calls of the package: which arguments a function takes, why `.grad` is None.

Looked at once, when an error that nobody has caught is about to be printed: nothing is called and no attribute of an instance is
read that could compute something.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from ..._traceback import OWN, expression_at
from ...core.value import Value
from ...learn.modules import Tree, walk
from .registry import near_names

_ARGUMENTS = re.compile(
    r"(?P<name>[\w.<>]+)\(\) (?:got an unexpected keyword argument '(?P<word>\w+)'|missing \d+ required|"
    r"takes .* positional argument|got multiple values for argument)"
)


def explain(error: BaseException) -> None:
    """Add to an error of Python's own, raised by a call of the package or by what it gave, what helps."""
    with contextlib.suppress(Exception):  # whatever is wrong with what is looked at, the error itself is what counts
        for said in (_arguments(error), _attribute(error), _module(error)):
            if said and said not in getattr(error, "__notes__", ()):
                error.add_note(said)


def _frames(error: BaseException) -> list[Any]:
    """The entries of an error's traceback, the innermost first."""
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found[::-1]


def _arguments(error: BaseException) -> str | None:
    """The arguments that a function of the package takes, where a call did not fit them."""
    message = _ARGUMENTS.match(str(error)) if isinstance(error, TypeError) else None
    entries = _frames(error)
    if message is None:
        return None
    name = message["name"].removesuffix(".__init__")
    for entry in entries:  # from where it was called: in the package, by what stands before the function, or in the program
        frame: FrameType = entry.tb_frame
        for f in _callables(frame, entry.tb_lasti, name):
            shown = _signature(f, name)
            if shown is not None:
                parameters, text = shown
                word = message["word"] or ""
                meant = near_names(word, parameters) or [p for p in parameters if len(word) > 3 and word[:4] in p]
                return f"{name} takes {text}" + (f"; for {word!r} take {' or '.join(meant)}" if meant else "")
        if not frame.f_code.co_filename.startswith(OWN):
            return None
    return None


def _callables(frame: FrameType, at: int, name: str) -> Iterator[Any]:
    """What the call that a frame is in may call under a name: what its expression names, or a local variable."""
    last = name.rpartition(".")[2]
    if frame.f_code.co_filename.startswith(OWN):
        for x in frame.f_locals.values():
            if callable(x) and getattr(x, "__name__", None) == last:
                yield x
        yield inspect.getattr_static(type(frame.f_locals.get("self")), last, None)
        return
    try:
        node: Any = ast.parse(expression_at(frame, at).strip(), mode="eval").body
    except SyntaxError:
        return
    if not isinstance(node, ast.Call):
        return
    path, node = [], node.func
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    found: Any = None
    if isinstance(node, ast.Name):
        found = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
        for part in reversed(path):
            if isinstance(found, Value):
                found = type(found)
            if not isinstance(found, (ModuleType, type)):  # an instance: of its class
                found = type(found)
            found = inspect.getattr_static(found, part, None) if isinstance(found, type) else vars(found).get(part)
        yield found
    if path:  # a method of what is computed there: of a tensor, if of anything of ours
        for module in ("torch", "paddle", "mindspore"):
            package = sys.modules.get(f"retrograde.dialects.{module}")
            if package is not None:
                yield inspect.getattr_static(package.Tensor, path[0], None)


def _signature(f: Any, name: str) -> tuple[list[str], str] | None:
    """The names of a function's arguments, and its signature in short, if it is the package's and goes by that name."""
    if getattr(f, "__name__", None) != name.rpartition(".")[2]:
        return None
    inner = inspect.unwrap(f.__init__ if isinstance(f, type) else f)
    code = getattr(inner, "__code__", None)
    if code is None or not code.co_filename.startswith(OWN):
        return None
    try:
        parameters = [p for p in inspect.signature(f).parameters.values() if p.name != "self" and not p.name.startswith("_")]
    except (TypeError, ValueError):
        return None
    text = ", ".join(str(p.replace(annotation=inspect.Parameter.empty)) for p in parameters)
    return [p.name for p in parameters], f"({text if len(text) < 160 else text[:160].rpartition(', ')[0] + ', ...'})"


def _attribute(error: BaseException) -> str | None:
    """What a value is that has no such attribute, where it came from a tensor."""
    if not isinstance(error, AttributeError):
        return None
    obj, name = getattr(error, "obj", None), getattr(error, "name", None)
    entries = _frames(error)
    if not entries or entries[0].tb_frame.f_code.co_filename.startswith(OWN):
        return None
    text = expression_at(entries[0].tb_frame, entries[0].tb_lasti)
    if obj is None and f".grad.{name}" in text:
        return (
            "(.grad is None until a backward pass has reached a tensor that requires grad; a tensor that was computed keeps "
            "none unless it was told to retain it)"
        )
    if name == "backward" and getattr(type(obj), "_dialect", "") == "mindspore":
        return "(MindSpore takes gradients of functions: mindspore.value_and_grad(fn, grad_position, weights))"
    if isinstance(obj, (int, float)) and name in ("backward", "requires_grad", "grad", "detach"):
        return "(a Python number, as item() gives it, has no history: differentiate the tensor)"
    return None


def _module(error: BaseException) -> str | None:
    """Which module of a network an error of the package comes from, where that is one inside another."""
    entries = _frames(error)
    if not entries or not entries[0].tb_frame.f_code.co_filename.startswith(OWN):
        return None
    path: list[str] = []
    root = last = None
    for entry in reversed(entries):
        module = entry.tb_frame.f_locals.get("self")
        if not isinstance(module, Tree) or module is last:
            continue
        name = None if last is None else next((name for name, x in walk(last) if x is module), None)
        if name is None:
            root, path = module, []
        else:
            path.append(name)
        last = module
    if not path:
        return None
    described = repr(last)
    return f"(in {'.'.join(path)} of {type(root).__name__}: {described if len(described) < 100 else type(last).__name__})"
