"""`Compiled`: what the dialects make of a function that is to be compiled: it does what the function does, whatever that is.

A function that is shown to have no effect but on tensors is traced once for each signature and runs from the trace, behind
guards; the first calls run both ways, and only where they agree the trace is believed. Every other one runs deferred
(deferred.py). `report` says which, and why.
"""

from __future__ import annotations

import copy
import functools
import inspect
import threading
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import LevelError, UnsupportedError
from .._state import OFF, OPENED, SWITCHED, WATCHED, grad_mode, grad_mode_now, state
from .._tree import flatten, unflatten
from ..core.node import Accumulate, producer
from ..core.value import LevelArray, Value, dtype_of, shape_of
from ..ops.random import GENERATORS
from ..tape.function import Scratch
from . import log
from .emit.shortcut import MISSED
from .guards.reads import TooMuch
from .guards.signature import Signature
from .guards.undo import Undone
from .trace.outcomes import Otherwise
from .trace.sizes import Axes
from .trace.trace import ACTIVE, TRACING, Traced
from .versions import call as calls
from .versions import deferred
from .versions.version import Changes, Rebinds, Version
from .versions.versions import SHORTCUTS, Versions, by_value, replaced, scalars_in

_ndarray = np.ndarray
_KNOWN = (Value, LevelArray, Traced)

VERSIONS = 8
"""Versions of a function with more than which it is deferred; those of other sizes only do not count."""
SIZES = 32
"""Sizes of arguments that are alike in all else for which a function is traced; for others it runs as it is."""
ATTEMPTS = 3
"""Traces in which a function may change something outside, or raise, before it is deferred for good."""
BRANCHES = 4
"""Versions that are traced since Python decides on elements in another way."""
SELDOM = 2
"""Of the calls that decide in a way of which there is no version, the one from which on it is traced for them, or deferred."""
ASTRAY = 8
"""Such calls after which a function is deferred, where there are not more that ran from a trace."""
_REASONS = 5
"""Of the reasons for which a function was traced again, so many are kept."""
CONFIRMED = 2
"""Calls of a function that run both ways; of each version the first one does."""
CONFIRMING: list[int] = []
"""The threads that are in such a call."""
ALONE: list[int] = []
"""The threads in which a compiled function runs as it is, for once."""

_OTHERWISE: Any = object()

FUNCTIONS: list[Row] = []


class Row(NamedTuple):
    """What the report says of a function: how often it was called, how often Python ran to trace it, from how many traces calls
    run (one in which sizes vary is one), how many calls ran traced code, how many segments the deferred ones had, and why they
    were deferred, or sizes do not share a trace."""

    name: str
    file: str
    line: int
    counts: dict[str, int]
    reasons: list[str]

    def why(self) -> list[str]:
        """Why calls ran as they are."""
        if self.reasons or not self.counts["calls"] or self.counts["compiled_calls"] or self.counts["segments"]:
            return list(self.reasons)
        return ["each call was a first one of its kind, or part of such a call of another function: these run as they are"]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "file": self.file, "line": self.line, **self.counts, "reasons": self.why()}


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
            lines += [f"    {reason}" for reason in row.why()]
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
    that can be compared. plain: whether the function is to run as it is now. steady: where to look whether `ambient` and `plain`
    give what they gave: entries of dicts and lists, and (key None) containers of which the number of entries says it. whole:
    whether what cannot be traced is an error (`fullgraph=True`). dynamic: whether sizes vary, True for at once, False for never,
    None where they are found to.
    """

    # The dictionary is for what the program itself puts on the function: `functools.wraps` copies it.
    __slots__ = (
        "__dict__", "__weakref__", "_ambient", "_astray", "_at_once", "_attempts", "_branches", "_changes", "_code", "_confirmed",
        "_deferred", "_f", "_forms", "_given", "_kinds", "_places", "_plain", "_shortcuts", "_sizes", "_steady", "_versions",
        "_whole", "root", "row",
    )  # fmt: skip

    def __init__(
        self, f: Callable[..., Any], *, root: Any = None, ambient: Callable[[], Any] = tuple, plain: Callable[[], bool] = bool,
        steady: Callable[[], Sequence[tuple[Any, Any]]] = tuple, whole: bool = False, name: str | None = None,
        dynamic: bool | None = None,
    ) -> None:  # fmt: skip
        if root is None:
            functools.update_wrapper(self, f)
        self._given = f, root, ambient, plain, steady, whole, name, dynamic
        self._f, self.root, self._ambient, self._plain, self._whole = f, f if root is None else root, ambient, plain, whole
        self._steady = steady
        self._versions = Versions(dynamic, given=True)
        self._places = self._versions.varying.tensors
        """Where tensors are found outside that are others from call to call."""
        self._deferred: str | None = None
        self._attempts = self._confirmed = self._kinds = self._branches = self._astray = 0
        self._at_once: dict[Any, tuple[Any, Version]] = {}
        """The versions of calls with nothing but tensors, by what is quickly said of these."""
        self._shortcuts: list[tuple[Callable[..., Any], Version]] = []
        """Whole calls as machine code, the newest first."""
        self._code: dict[Any, Any] = {}
        self._forms: set[Any] = set()
        """The forms of the versions that were confirmed."""
        self._changes: list[str] = []
        """Why it was traced again, the last times."""
        self._sizes: dict[Any, set[Any]] = {}
        """The signatures that were traced, by what they have in common but for sizes."""
        code = getattr(inspect.unwrap(_code_of(f)), "__code__", None)
        self.row = Row(
            str(name or getattr(f, "__qualname__", type(f).__name__)), "" if code is None else code.co_filename,
            0 if code is None else code.co_firstlineno,
            {"calls": 0, "traced": 0, "versions": 0, "compiled_calls": 0, "segments": 0}, [],
        )  # fmt: skip
        FUNCTIONS.append(self.row)

    def __reduce__(self) -> Any:
        return _made, self._given  # what it has traced holds for its own objects only

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return _made(*copy.deepcopy(self._given, memo))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            for short, of in self._shortcuts:
                try:
                    out = short(*args)
                except Exception:
                    self.row.counts["calls"] += 1
                    return self._failed(of, args, args, kwargs)
                if out is not MISSED:
                    counts = self.row.counts
                    counts["calls"] += 1
                    counts["compiled_calls"] += 1
                    return out
        trace = getattr(TRACING, "now", None) if ACTIVE else None
        if trace is not None and trace.leaves:  # part of what is being traced
            trace.inlined.append(self.row)
            return self._f(*args, **kwargs)
        counts = self.row.counts
        counts["calls"] += 1
        astray = None
        quick = None if kwargs or ACTIVE or OPENED or CONFIRMING or self._places else _plain(args)
        if quick is not None:
            at_once = self._at_once.get(quick)
            if at_once is not None and at_once[0] == self._ambient() and not self._plain() and at_once[1].holds():
                out = self._from_trace(at_once[1], args, (), args, kwargs, False)
                if out is not _OTHERWISE:
                    if not at_once[1].short:
                        self._shorten(at_once[1], args)
                    return out
                astray = at_once[1]
        if CONFIRMING and threading.get_ident() in CONFIRMING:  # part of what is compiled whole
            return self._f(*args, **kwargs)
        hooked = state.mode == WATCHED
        """Whether saved-tensor hooks hold: then the function is deferred, which saves what it saves as it runs."""
        if hooked and (state.anomaly or state.observed or self._whole):
            return self._as_it_is("each operation is looked at (anomaly mode, observers, or hooks with fullgraph)", args, kwargs)
        if self._plain():
            return self._f(*args, **kwargs)
        found, tree = flatten((args, kwargs))
        leaves = [x for x in found if isinstance(x, Value)]
        leaves += [x._grad for x in leaves if x._grad is not None]
        given_places = tuple(self._places)
        given, shape = flatten(self._versions.varying.outside()) if given_places else ((), None)
        outside = [x for x in given if isinstance(x, Value)]
        outside += [x._grad for x in outside if x._grad is not None]
        leaves += outside
        others = [x._a for x in leaves if type(x._a) is not _ndarray]
        if any(not isinstance(a, _KNOWN) for a in others):
            return self._as_it_is("a tensor lies in another library's memory", args, kwargs)
        roots = [self.root, *(x for x in found if not isinstance(x, (Value, Scratch)))]
        transformed = bool(state.levels) and state.levels[-1].adopt is None
        if any(type(a) is not Traced for a in others):
            if trace is not None:  # derivatives that are taken inside of what is deferred: part of it, operation by operation
                return self._f(*args, **kwargs)
            transformed = True
        if self._deferred is None and not hooked:
            tried = [] if astray is None else [astray]
            """Versions that decide in another way than this call."""
            try:
                key = self._key(found, leaves, tree if shape is None else (tree, shape, len(outside)), transformed)
                scalars = scalars_in(found)
                version = self._versions.holding(key, scalars, but=tried)
            except TypeError:
                self._defer("an argument that cannot be told from others of its kind (it has no hash)")
            else:
                while True:
                    if version is None:
                        if len(self._places) > len(given_places):
                            counts["calls"] -= 1
                            return self(*args, **kwargs)  # given what is another tensor now
                        if tried and not self._another_way():
                            if self._astray < SELDOM:
                                return self._alone(args, kwargs)
                            break
                        sizes = self._sizes.get(_form(key), ())
                        try:
                            if not tried:
                                version = self._of_sizes(key, roots, leaves, scalars, found, tree, len(outside))
                            if version is None:
                                if key not in sizes and len(sizes) >= SIZES:
                                    return self._as_it_is(f"more than {SIZES} sizes of arguments", args, kwargs)
                                version = self._trace(key, roots, leaves, scalars, found, tree, len(outside), bool(tried))
                        except Rebinds:
                            counts["calls"] -= 1
                            return self(*args, **kwargs)  # given what is there
                        if version is None and tried:
                            return self._alone(args, kwargs)
                    if version is None or (transformed and not version.clean):
                        break
                    out = self._from_trace(version, leaves, scalars, args, kwargs, transformed)
                    if out is not _OTHERWISE:
                        if quick is not None and not transformed:
                            if len(self._at_once) >= SIZES:
                                self._at_once.clear()
                            self._at_once[quick] = self._ambient(), version
                        return out
                    tried.append(version)
                    version = self._versions.holding(key, scalars, but=tried)
        if transformed:
            unclean = "under transforms a function runs as it is where it detaches, draws or writes what it is given"
            unclean = "under transforms and saved-tensor hooks a function runs as it is" if hooked else unclean
            return self._as_it_is(unclean if self._deferred is None else None, args, kwargs)
        if trace is not None:  # part of what is deferred already
            before = trace.segments
            out = self._f(*args, **kwargs)
            counts["segments"] += max(trace.segments - before, 1)
            return out
        out, segments = deferred.run(self.row.name, roots, leaves, functools.partial(self._f, *args, **kwargs))
        counts["segments"] += segments.segments
        return out

    def _shorten(self, version: Version, args: Sequence[Any]) -> None:
        """Look for a shortcut to a version, once its calls are believed."""
        empty = SWITCHED, ACTIVE, OPENED, CONFIRMING, self._places
        if self._confirmed < CONFIRMED or not version.confirmed or any(empty):
            return
        version.short = True
        places = [*((some, None) for some in empty), *self._steady()]
        call = None if version.trace.inlined else version.shortcut(args, places)
        if call is not None:
            self._shortcuts = [(call, version), *self._shortcuts[: SHORTCUTS - 1]]

    def _as_it_is(self, reason: str | None, args: Any, kwargs: Any) -> Any:
        """The result of the function, neither traced nor deferred."""
        if reason is not None and reason not in self.row.reasons:
            self.row.reasons.append(reason)
        return self._f(*args, **kwargs)

    def _key(self, found: Sequence[Any], leaves: Sequence[Any], tree: Any, transformed: bool) -> Any:
        kinds = [_kind(x) for x in leaves]
        rest = [(type(x), by_value(x)) for x in found if not isinstance(x, Value)]
        ids = [id(x) for x in leaves]
        alike = tuple(map(ids.index, ids)) if len(set(ids)) < len(ids) else None
        key = Signature(tree, tuple(kinds), tuple(rest), grad_mode_now(), alike, self._ambient(), transformed)
        hash(key)
        return key

    def _again(self, key: Signature, scalars: Sequence[Any], counts: bool) -> None:
        """Say why the function is traced again, and note it where that counts."""
        if self._versions and (counts or log.wanted("recompiles")):
            reasons = self._versions.differences(key, scalars)
            if counts:
                self._changes = [*self._changes, *reasons][-_REASONS:]
            with log.about(self.row.name):
                log.tell("recompiles", lambda: f"traced again, since {'; '.join(reasons)}")

    def _defer(self, reason: str) -> None:
        self._deferred = reason
        self._at_once.clear()
        self._shortcuts = []
        if reason not in self.row.reasons:
            self.row.reasons.append(reason)

    def _not_traced(self, reason: str, *, again: bool) -> None:
        if again and self._attempts < ATTEMPTS:
            self._attempts += 1
        else:
            self._defer(reason)

    def _another_way(self) -> bool:
        """Whether to trace the function for a call that decides on elements as no version does; else it runs as it is, or
        deferred. A check that fails, or what happens at the end of a loop only, is not worth a trace, and further ones have to
        be earned."""
        self._astray += 1
        if self._astray == SELDOM:
            self.row.reasons.append("it decides on elements, and some calls go another way than those before")
        if self._astray > ASTRAY and self._astray > self.row.counts["compiled_calls"]:
            self._defer("it decides on elements, and in ever other ways")
            return False
        earned = self._branches < BRANCHES and self.row.counts["compiled_calls"] >= self._branches
        return self._astray >= SELDOM and earned

    def _trace(
        self, key: Any, roots: Sequence[Any], leaves: Sequence[Any], scalars: Sequence[Any], found: Sequence[Any], tree: Any,
        outside: int, otherwise: bool,
    ) -> Version | None:  # fmt: skip
        """The function traced for a signature; None where it is to be deferred. outside: as of Version; otherwise: whether it is
        for another way to decide on elements, without which it can do."""
        form = _form(key)
        counts = form not in self._sizes or key in self._sizes[form]  # not those of another size only
        self._again(key, scalars, counts)
        if counts and self._kinds >= VERSIONS:
            changing = "; ".join(dict.fromkeys(reversed(self._changes)))
            warnings.warn(
                f"{self.row.name} was compiled for {VERSIONS} kinds of calls and is called in yet another way; from here on it "
                f"runs deferred. What kept changing (give it as a tensor where that can be): {changing}",
                stacklevel=3,
            )
            self._defer(f"more than {VERSIONS} versions; what kept changing: {changing}")
            return None
        self._branches += otherwise
        try:
            version = self._version(roots, leaves, scalars, found, tree, outside)
            self._kinds += counts
            self._sizes.setdefault(form, set()).add(key)
            _check(version)
        except Rebinds:
            raise
        except (UnsupportedError, LevelError, TooMuch) as reason:
            if self._whole:
                raise
            if otherwise:
                self._branches = BRANCHES
                return None
            self._not_traced(str(reason), again=isinstance(reason, Changes))  # what the first call makes is there at the next
            return None
        except Exception as problem:  # where it is the function's own, it comes again, and says nothing of the next call
            if otherwise:
                return None
            self._not_traced(f"{type(problem).__name__} while it was traced: {problem}", again=True)
            return None
        form = version.form()
        if form is not None and form in self._forms:  # another object somewhere, and the same code
            version.confirmed = 1
        self.row.counts["versions"] += 1
        self._versions.add(key, version, VERSIONS * SIZES)
        return version

    def _version(
        self, roots: Sequence[Any], leaves: Sequence[Any], scalars: Sequence[Any], found: Sequence[Any], tree: Any, outside: int,
        axes: Axes = (),
    ) -> Version:  # fmt: skip
        recorded = grad_mode_now() != OFF
        with calls.alone(), grad_mode(recorded):
            version = Version(
                self.row.name, self._f, roots, leaves, lambda numbers: unflatten(tree, replaced(found, numbers)),
                scalars=scalars, pure=True, varying=self._versions.varying, decides=not self._whole, outside=outside,
                code=self._code, axes=axes,
            )  # fmt: skip
        self.row.counts["traced"] += 1
        return version

    def _of_sizes(
        self, key: Any, roots: Sequence[Any], leaves: Sequence[Any], scalars: Sequence[Any], found: Sequence[Any], tree: Any,
        outside: int,
    ) -> Version | None:  # fmt: skip
        """The version of a trace in which sizes vary; None where each size has its own."""
        form = _form(key)

        def trace(axes: Axes) -> Version:
            counts = form not in self._sizes
            if counts and self._kinds >= VERSIONS:
                raise UnsupportedError(f"more than {VERSIONS} versions")  # what becomes of it is said by whoever traces it alone
            self._again(key, scalars, False)
            version = self._version(roots, leaves, scalars, found, tree, outside, axes)
            _check(version)
            self._kinds += counts
            self._sizes.setdefault(form, set())
            self.row.counts["versions"] += 1
            return version

        version, reason = self._versions.of_sizes(key, [x._a for x in leaves], scalars, trace)
        if reason is not None and reason not in self.row.reasons:
            self.row.reasons.append(reason)
        if version is not None:
            self._versions.add(key, version, VERSIONS * SIZES)
        return version

    def _from_trace(
        self, version: Version, leaves: Sequence[Any], scalars: Sequence[Any], args: Any, kwargs: Any, transformed: bool
    ) -> Any:  # fmt: skip
        """The result of a call by a version; `_OTHERWISE` where the call decides in another way."""
        if not version.confirmed or self._confirmed < CONFIRMED:
            try:
                expected = version.tried(leaves, scalars, transformed)
            except Otherwise:
                return _OTHERWISE
            except Exception:
                return self._failed(version, leaves, args, kwargs)
            out = self._alone(args, kwargs)
            unlike = version.unlike(expected, leaves, out)
            if unlike is not None:
                self._defer(f"run from its trace it gave something else: {unlike}")
            else:
                self._forms.add(version.form())
            version.confirm()
            self._confirmed += 1
            return out
        try:
            out = version.run(leaves, scalars, transformed)
        except Otherwise:
            return _OTHERWISE
        except Exception:
            return self._failed(version, leaves, args, kwargs)
        self.row.counts["compiled_calls"] += 1
        for row in version.trace.inlined:
            row.counts["calls"] += 1
            row.counts["compiled_calls"] += 1
        return out

    def _alone(self, args: Any, kwargs: Any) -> Any:
        """What the function itself gives. As long as no trace of it is believed, what is compiled inside runs as it is, too."""
        lists = (ALONE,) if self._confirmed >= CONFIRMED else (ALONE, CONFIRMING)
        for threads in lists:
            threads.append(threading.get_ident())
        try:
            return self._f(*args, **kwargs)
        finally:
            for threads in lists:
                threads.remove(threading.get_ident())

    def _failed(self, version: Version, leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """What the function itself makes of a call that fails in compiled code: it may expect the exception. Where it does not,
        the exception is its own, and everything is left as it was before the call."""
        holders = (*version.reads.holders, *GENERATORS, *leaves)
        gradients = [x._grad for x in holders if isinstance(x, Value) and x._grad is not None]
        with Undone([*holders, *gradients], version.reads.snapshot()):
            return self._alone(args, kwargs)


def _check(version: Version) -> None:
    """Raise UnsupportedError for a version that cannot stand for the function."""
    if version.opaque:
        raise UnsupportedError("what it returns has a history with functions of the user's")
    if version.hooked:
        raise UnsupportedError("it puts hooks on what it computes")


def _form(key: Signature) -> Any:
    """A signature without sizes."""
    return key._replace(kinds=tuple([(cls, len(shape), *more) for cls, shape, *more, _strides in key.kinds]))


def _code_of(f: Any) -> Any:
    """The function that a module is called by."""
    for name in ("forward", "construct"):
        if not isinstance(f, types.FunctionType) and hasattr(type(f), name):
            return getattr(type(f), name)
    return f


def _made(
    f: Any, root: Any, ambient: Any, plain: Any, steady: Any, whole: bool, name: str | None, dynamic: bool | None
) -> Compiled:  # fmt: skip
    return Compiled(f, root=root, ambient=ambient, plain=plain, steady=steady, whole=whole, name=name, dynamic=dynamic)


def _plain(args: tuple[Any, ...]) -> Any:
    """What tells calls apart of which each argument is another tensor over NumPy's memory, without a gradient; None of others."""
    try:
        key = tuple([(x.__class__, (a := x._a).shape, a.strides, a.dtype, x._node.__class__) for x in args])
        for x in args:
            if x._a.__class__ is not _ndarray or x._level or x._grad is not None:
                return None
            if x._node is not None and x._node.hooks is not None:  # (a slot of a node has none to show, and no quick way)
                return None
    except AttributeError:
        return None
    if len(args) > 1 and len(set(map(id, args))) < len(args):
        return None
    return state.mode, key


def _kind(x: Value) -> Any:
    """What tells tensors apart that need other code."""
    a, edge = x._a, x._node
    leaf: Any = edge and type(edge) is Accumulate
    if edge is not None and producer(edge).hooks is not None:
        leaf = leaf, "hooked"
    if type(a) is _ndarray:
        return type(x), a.shape, a.dtype, leaf, x._grad is None, a.strides
    return type(x), tuple(shape_of(a)), dtype_of(a), leaf, x._grad is None, None
