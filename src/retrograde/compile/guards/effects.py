"""What in a function's code happens outside of it when it runs, or depends on more than what it reads: then it is not run from a
trace, which happens once.

Two looks: at the code, for calls of what prints, reads clocks, files or NumPy's random numbers (`impure`); and after a trace, at
what it has changed of the containers and attributes that it can reach (`Snapshot` in reads.py). What a backward pass calls later,
when nobody looks at that, has to be `harmless`.
"""

from __future__ import annotations

import builtins
import dis
import re
import types
from typing import Any

from .reads import Reads, TooMuch

_PACKAGE = __name__.partition(".")[0]
_BUILTINS = frozenset({
    "print", "input", "open", "exec", "eval", "compile", "globals", "locals", "vars", "next", "breakpoint", "id", "__import__",
    "memoryview",
})  # fmt: skip
"""Functions that do something outside, or give what depends on more than their arguments."""
_MODULES = frozenset({
    "random", "time", "os", "sys", "io", "logging", "warnings", "subprocess", "socket", "threading", "multiprocessing",
    "datetime", "secrets", "uuid", "gc", "weakref", "tempfile", "shutil", "pickle", "queue", "asyncio", "inspect", "traceback",
    "contextvars", "signal", "atexit", "urllib", "http", "sqlite3", "csv", "json", "pathlib",
})  # fmt: skip
"""Modules whose functions do."""


def impure(functions: list[types.FunctionType]) -> str | None:
    """Why some functions, which call each other, are not to be run once and for all; None where nothing speaks against it."""
    for f in functions:
        reason = _reason(f.__code__, f.__globals__)
        if reason is not None:
            return f"{f.__qualname__} {reason}"
    return None


def _reason(code: types.CodeType, scope: dict[str, Any]) -> str | None:
    if code.co_flags & 0x2A0 and not code.co_name.startswith("<"):  # a generator or a coroutine
        return "is a generator or a coroutine"
    found: Any = None
    for instruction in dis.get_instructions(code) if _suspicious(code, scope) else ():
        name, what = instruction.opname, instruction.argval
        module, found = found, None  # what the instruction before has loaded
        if name == "DELETE_GLOBAL":
            return f"deletes the global {what}"
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            found = scope.get(what, getattr(builtins, what, None))
            if what in _BUILTINS and found is getattr(builtins, what):
                return f"calls {what}()"
            owner = _module_of(found)
            if owner.partition(".")[0] in _MODULES:
                return f"uses the module {owner}" if isinstance(found, types.ModuleType) else f"uses {owner}.{what}"
        elif name == "IMPORT_NAME" and str(what).partition(".")[0] in _MODULES:
            return f"imports {what}"
        elif name in ("LOAD_ATTR", "LOAD_METHOD") and what == "random" and getattr(module, "__name__", "") == "numpy":
            return "uses NumPy's random numbers"
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            reason = _reason(x, scope)
            if reason is not None and "generator" not in reason:
                return reason
    return None


def _suspicious(code: types.CodeType, scope: dict[str, Any]) -> bool:
    """Whether there is a name in some code, whatever it stands for there, for which its instructions are to be looked at: that
    takes a hundred times as long."""
    if dis.opmap["DELETE_GLOBAL"] in code.co_code[::2]:
        return True
    for name in code.co_names:
        if name in _BUILTINS or name == "random" or name.partition(".")[0] in _MODULES:
            return True
        if _module_of(scope.get(name, getattr(builtins, name, None))).partition(".")[0] in _MODULES:
            return True
    return False


def _module_of(x: Any) -> str:
    """The name of a module, or of the module that a function or class comes from; nothing of anything else."""
    if isinstance(x, types.ModuleType):
        return x.__name__
    known = isinstance(x, (types.FunctionType, types.BuiltinFunctionType, type))
    return str(getattr(x, "__module__", None)) if known else ""


def harmless(f: Any) -> bool:
    """Whether a function does nothing but compute with what it is given: it finds no tensor outside, draws no random numbers and
    changes nothing."""
    try:
        reads = Reads(f)
    except TooMuch:
        return False
    if reads.holders or reads.opaque or reads.arrays or impure(reads.functions) is not None:
        return False
    return not any(_changes(g.__code__) for g in reads.functions)


_SUSPICIOUS = re.compile(
    r"(?!__).*[^_]_$|.*(rand|normal|uniform|bernoulli|dropout|multinomial|poisson|sample|seed).*"
    r"|append|extend|insert|pop|popitem|remove|clear|update|setdefault|add|discard|sort|reverse|apply|backward|register\w*"
)
"""Names of what changes something in place, or draws."""


def _changes(code: types.CodeType) -> bool:
    for instruction in dis.get_instructions(code):
        name, what = instruction.opname, instruction.argval
        if name in ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_ATTR", "DELETE_SUBSCR"):
            return True
        if name in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL") and _SUSPICIOUS.fullmatch(str(what)):
            return True
    return any(isinstance(x, types.CodeType) and _changes(x) for x in code.co_consts)
