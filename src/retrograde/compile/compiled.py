"""`Compiled`: what the dialects make of a function that is to be compiled: it does what the function does, whatever that is.

A function that is shown to have no effect but on tensors is traced once for each signature and runs from the trace, behind
guards; the first calls run both ways, and only where they agree the trace is believed. Every other one runs deferred
(deferred.py). `report` says which, and why.
"""

from __future__ import annotations

import copy
import functools
import inspect
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import LevelError, UnsupportedError
from .._state import WATCHED, state
from .._tree import flatten
from ..core.node import Accumulate
from ..core.value import Value
from ..ops.random import GENERATORS
from . import deferred, log, signature
from .reads import TooMuch
from .trace import tracing
from .undo import Undone
from .version import Changes, Version

_ndarray = np.ndarray

VERSIONS = 8
"""Versions of a function with more than which it is deferred."""
ATTEMPTS = 3
"""Traces in which a function may change something outside, or raise, before it is deferred for good."""
_REASONS = 5
"""Of the reasons for which a function was traced again, so many are kept."""
CONFIRMED = 2
"""Calls of a version that run both ways."""

FUNCTIONS: list[Row] = []


class Row(NamedTuple):
    """What the report says of a function: how often it was called, how often Python ran to trace it, how many calls ran traced
    code, how many segments the deferred ones had, and why they were deferred."""

    name: str
    file: str
    line: int
    counts: dict[str, int]
    reasons: list[str]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "file": self.file, "line": self.line, **self.counts, "reasons": list(self.reasons)}


class Report:
    """What has become of the functions that were to be compiled."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"functions": [row.to_dict() for row in self.rows]}

    def __str__(self) -> str:
        lines = []
        for row in self.rows:
            counts = ", ".join(f"{k} {n}" for k, n in row.counts.items())
            lines.append(f"{row.name} ({row.file}:{row.line}): {counts}")
            lines += [f"    {reason}" for reason in row.reasons]
        return "\n".join(lines) or "nothing was compiled"

    __repr__ = __str__


def report() -> Report:
    """What has become of the functions that were to be compiled, in the order in which they were decorated.

    Examples
    --------
    >>> import retrograde as rg
    >>> sorted(rg.compile_report().to_dict())
    ['functions']
    """
    return Report(FUNCTIONS)


class Compiled:
    """A function that is to be compiled.

    root: what its reads begin at (the module whose `__call__` it is). ambient: what else a version depends on, as something
    that can be compared. plain: whether the function is to run as it is now. whole: whether what cannot be traced is an error
    (`fullgraph=True`).
    """

    def __init__(
        self, f: Callable[..., Any], *, root: Any = None, ambient: Callable[[], Any] = tuple, plain: Callable[[], bool] = bool,
        whole: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        if root is None:
            functools.update_wrapper(self, f)
        self._given = f, root, ambient, plain, whole, name
        self._f, self.root, self._ambient, self._plain, self._whole = f, f if root is None else root, ambient, plain, whole
        self._versions: dict[Any, _State] = {}
        self._deferred: str | None = None
        self._attempts = 0
        self._changes: list[str] = []
        code = getattr(inspect.unwrap(_code_of(f)), "__code__", None)
        self.row = Row(
            str(name or getattr(f, "__qualname__", type(f).__name__)), "" if code is None else code.co_filename,
            0 if code is None else code.co_firstlineno,
            {"calls": 0, "traced": 0, "compiled_calls": 0, "segments": 0}, [],
        )  # fmt: skip
        FUNCTIONS.append(self.row)

    def __reduce__(self) -> Any:
        return _made, self._given  # what it has traced holds for its own objects only

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return _made(*copy.deepcopy(self._given, memo))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if tracing():  # part of what is being traced
            return self._f(*args, **kwargs)
        counts = self.row.counts
        counts["calls"] += 1
        if state.mode == WATCHED or state.levels or self._plain():
            return self._f(*args, **kwargs)
        found, tree = flatten((args, kwargs))
        leaves = [x for x in found if isinstance(x, Value)]
        if any(type(x._a) is not _ndarray or x._level for x in leaves):
            return self._f(*args, **kwargs)
        leaves += [x._grad for x in leaves if x._grad is not None]
        roots = [self.root, *(x for x in found if not isinstance(x, Value))]
        if self._deferred is None:
            try:
                key = self._key(found, leaves, tree)
                known = self._versions.get(key)
            except TypeError:
                self._defer("an argument that cannot be told from others of its kind (it has no hash)")
            else:
                if known is None or (known.version is not None and not known.version.holds()):
                    self._again(key, known)
                    known = self._trace(key, roots, leaves, args, kwargs)
                if known is not None and known.version is not None:
                    return self._from_trace(known, leaves, args, kwargs)
        out, segments = deferred.run(self.row.name, roots, leaves, lambda: self._f(*args, **kwargs))
        counts["segments"] += segments.segments
        return out

    def _key(self, found: Sequence[Any], leaves: Sequence[Any], tree: Any) -> Any:
        kinds = [
            (type(x), x._a.shape, x._a.dtype, x._node and type(x._node) is Accumulate, x._grad is None, x._a.strides)
            for x in leaves
        ]  # fmt: skip
        rest = [(type(x), x) for x in found if not isinstance(x, Value)]
        ids = [id(x) for x in leaves]
        alike = tuple(map(ids.index, ids)) if len(set(ids)) < len(ids) else None
        key = signature.Signature(tree, tuple(kinds), tuple(rest), state.mode, alike, self._ambient())
        hash(key)
        return key

    def _again(self, key: Any, known: Any) -> None:
        """Note why the function is traced again."""
        if self._versions:
            latest = next(reversed(self._versions))
            reasons = signature.difference(latest, key) if known is None else known.version.broken()
            self._changes = [*self._changes, *reasons][-_REASONS:]
            with log.about(self.row.name):
                log.tell("recompiles", lambda: f"traced again, since {'; '.join(reasons)}")

    def _defer(self, reason: str) -> None:
        self._deferred = reason
        if reason not in self.row.reasons:
            self.row.reasons.append(reason)

    def _not_traced(self, reason: str, *, again: bool) -> None:
        if again and self._attempts < ATTEMPTS:
            self._attempts += 1
        else:
            self._defer(reason)

    def _trace(self, key: Any, roots: Sequence[Any], leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """The function traced for a signature; None where it is to be deferred."""
        if self.row.counts["traced"] >= VERSIONS:
            changing = "; ".join(dict.fromkeys(reversed(self._changes)))
            warnings.warn(
                f"{self.row.name} was compiled for {VERSIONS} kinds of calls and is called in yet another way; from here on it "
                f"runs deferred. What kept changing (give it as a tensor where that can be): {changing}",
                stacklevel=3,
            )
            self._defer(f"more than {VERSIONS} versions; what kept changing: {changing}")
            return None
        try:
            version = Version(
                self.row.name, roots, leaves, lambda: self._f(*args, **kwargs), pure=True, arguments=(args, kwargs)
            )
            self.row.counts["traced"] += 1
            if version.opaque:
                raise UnsupportedError("what it returns has a history with functions of the user's")
        except (UnsupportedError, LevelError, TooMuch) as reason:
            if self._whole:
                raise
            self._not_traced(str(reason), again=isinstance(reason, Changes))  # what the first call makes is there at the next
            return None
        except Exception as problem:  # where it is the function's own, it comes again, and says nothing of the next call
            self._not_traced(f"{type(problem).__name__} while it was traced: {problem}", again=True)
            return None
        made = self._versions[key] = _State(version)
        return made

    def _from_trace(self, known: _State, leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        version = known.version
        if known.confirmed < CONFIRMED:
            try:
                expected = version.tried(leaves)
            except Exception:
                return self._failed(version, leaves, args, kwargs)
            out = self._f(*args, **kwargs)
            unlike = version.unlike(expected, leaves, out)
            if unlike is not None:
                self._defer(f"run from its trace it gave something else: {unlike}")
            known.confirmed += 1
            return out
        try:
            out = version.run(leaves)
        except Exception:
            return self._failed(version, leaves, args, kwargs)
        self.row.counts["compiled_calls"] += 1
        return out

    def _failed(self, version: Version, leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """What the function itself makes of a call that fails in compiled code: it may expect the exception. Where it does not,
        the exception is its own, and everything is left as it was before the call."""
        holders = (*version.reads.holders, *GENERATORS, *leaves)
        with Undone([*holders, *(x._grad for x in holders if isinstance(x, Value) and x._grad is not None)]):
            return self._f(*args, **kwargs)


def _code_of(f: Any) -> Any:
    """The function that a module is called by."""
    for name in ("forward", "construct"):
        if not isinstance(f, types.FunctionType) and hasattr(type(f), name):
            return getattr(type(f), name)
    return f


def _made(f: Any, root: Any, ambient: Any, plain: Any, whole: bool, name: str | None) -> Compiled:
    return Compiled(f, root=root, ambient=ambient, plain=plain, whole=whole, name=name)


class _State:
    """A version, and how many calls have confirmed it."""

    __slots__ = ("confirmed", "version")

    def __init__(self, version: Any) -> None:
        self.version, self.confirmed = version, 0

