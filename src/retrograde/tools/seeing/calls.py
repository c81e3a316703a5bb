"""Where an operation is called: the user's line, and the calls of modules and functions around it.

A call is told from another one of the same function by the frame it runs in: a frame that was seen carries its `Call` where a
tracer would keep its function (`f_trace`), which Python reads only while somebody traces. So the way up the stack ends at the
first frame that is known, and nothing is kept alive for it. Under a tracer (a debugger, coverage) frames are left alone.
"""

from __future__ import annotations

import inspect
import sys
import weakref
from types import CodeType, FrameType
from typing import Any

from ...learn.modules import Tree
from ..diff.places import is_library

MODULE, FUNCTION = "module", "function"

Place = tuple[str, int]
"""A file and a line of it; an empty name where none is known."""


class Call:
    """A call of a module or of a function of the user, inside another one or at the top."""

    __slots__ = ("parent", "kind", "name", "type", "place", "module")

    def __init__(self, parent: Call | None, kind: str, name: str, type: str, place: Place, module: Any = None) -> None:
        self.parent, self.kind, self.name, self.type, self.place = parent, kind, name, type, place
        self.module = module
        """A weak reference to the module."""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Nothing: what a tracer calls that begins later and finds this in a frame."""

    def chain(self) -> list[Call]:
        """The calls around, outermost first, this one last."""
        found: list[Call] = []
        at: Call | None = self
        while at is not None:
            found.append(at)
            at = at.parent
        return found[::-1]

    def path(self) -> str:
        """The module's path: the names of the modules around, with dots."""
        return ".".join(call.name for call in self.chain() if call.kind == MODULE)


class Calls:
    """Finds the call and the user's line for whatever is being computed."""

    def __init__(self) -> None:
        self._modules: set[CodeType] = set()
        """The code with which modules are called."""
        self._functions: set[CodeType] = set()
        """The code of modules' calls and everything else in the library that is no call of a module."""
        self._names: weakref.WeakKeyDictionary[Any, dict[int, str]] = weakref.WeakKeyDictionary()

    def here(self, depth: int = 1) -> tuple[Call | None, Place]:
        """The innermost call around the frame so many above, and the user's line there."""
        marking = sys.gettrace() is None
        place: Place = ("", 0)
        new: list[tuple[FrameType, str]] = []
        around: Call | None = None
        frame: FrameType | None = sys._getframe(depth)
        while frame is not None:
            known: Any = frame.f_trace
            code = frame.f_code
            library = is_library(code.co_filename)
            if not library and not place[0]:
                place = code.co_filename, frame.f_lineno
            if type(known) is Call:
                around = known
                break
            if not library:
                if not code.co_name.startswith("<"):
                    new.append((frame, FUNCTION))
            elif code.co_name == "__call__" and self._calls_module(frame):
                new.append((frame, MODULE))
            frame = frame.f_back
        if not place[0]:
            place = _line_above(frame)
        while new:
            frame, kind = new.pop()
            if kind == FUNCTION and around is not None and around.kind == MODULE and _own(frame, around):
                call = around  # a module's call, and the user's code for it
            else:
                call = self._call(around, frame, kind)
            if marking and frame.f_trace is None:
                frame.f_trace = call
            around = call
        return around, place

    def _calls_module(self, frame: FrameType) -> bool:
        code = frame.f_code
        if code not in self._modules and code not in self._functions:
            own = isinstance(frame.f_locals.get("self"), Tree)
            (self._modules if own else self._functions).add(code)
        return code in self._modules

    def _call(self, around: Call | None, frame: FrameType, kind: str) -> Call:
        place = _line_above(frame.f_back)
        if kind == FUNCTION:
            return Call(around, kind, frame.f_code.co_qualname.replace("<locals>.", ""), "", place)
        module = frame.f_locals["self"]
        return Call(around, kind, self._name(module, around, frame), type(module).__name__, place, weakref.ref(module))

    def _name(self, module: Any, around: Call | None, frame: FrameType) -> str:
        """The module's path from the module around it, else what the user calls it, else its class."""
        while around is not None:
            parent = around.module() if around.module is not None else None
            if parent is not None:
                names = self._names.get(parent)
                if names is None or id(module) not in names:
                    names = self._names[parent] = _members(parent)
                if id(module) in names:
                    return names[id(module)]
            around = around.parent
        above = frame.f_back
        while above is not None and is_library(above.f_code.co_filename):
            above = above.f_back
        return (above is not None and _variable(above, module)) or type(module).__name__


def _own(frame: FrameType, call: Call) -> bool:
    """Whether a frame runs the code that the user has written for the module that a call is of."""
    if frame.f_code.co_name not in ("forward", "construct"):
        return False
    module = None if call.module is None else call.module()
    return module is not None and frame.f_locals.get("self") is module


def _line_above(frame: FrameType | None) -> Place:
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def _members(module: Tree) -> dict[int, str]:
    """id -> path of the modules below one."""
    found: dict[int, str] = {}

    def walk(parent: Any, prefix: str) -> None:
        for name, child in list(parent.__dict__.get(type(parent)._tree_kinds.children.table, {}).items()):
            if isinstance(child, Tree) and id(child) not in found:
                found[id(child)] = prefix + name
                walk(child, f"{prefix}{name}.")

    walk(module, "")
    return found


def _variable(frame: FrameType, module: Any) -> str:
    """What a frame calls a module. A function's locals are a copy in older Pythons, which is not to keep them alive."""
    scope = frame.f_locals
    found = next((name for name, x in list(scope.items()) if x is module), "")
    if not found:
        found = next((name for name, x in list(frame.f_globals.items()) if x is module), "")
    if type(scope) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        scope.clear()
    return found
