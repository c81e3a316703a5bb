"""`Program`: a program that runs as it is, of which the parts that take the time run from a trace once it has paid off.

The source has hooks between statements (outline.py). A run of statements that is passed again and again, a training step say,
is timed; when it has taken long enough it is traced like a function that is to be compiled (version.py): what it reads besides
its variables is guarded, what it does outside of tensors and numbers speaks against it, and the first times it runs both ways.
Where a statement of it cannot be traced, the statements before and after it are tried by themselves; where nothing can, or where
nothing is gained, the program goes on as it is. So effects, prints, branches and errors are those of the program.
"""

from __future__ import annotations

import ast
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._collection import Paused
from ..._errors import LevelError, UnsupportedError
from ..._state import WATCHED, state
from ..._tree import flatten, unflatten
from ...core.node import Accumulate, Node, producer
from ...core.value import Value
from .. import pipeline
from ..emit import shortcut
from ..guards.reads import Reads, Snapshot, TooMuch
from ..trace.numbers import MISSING, PLAIN, STORED, plain, storable
from ..trace.outcomes import Otherwise
from ..trace.substituted import Substituted
from ..trace.trace import tracing
from ..versions import call as calls
from ..versions.version import Changes, Version
from ..versions.versions import Versions, replaced, scalars_in
from .outline import Outlined, instrumented

_ndarray = np.ndarray
_now = time.thread_time
"""What counts is what the processor has done for this thread: on a busy machine a wall clock says something else."""

TRACED, TIMES = 0.005, 12
"""What a trace costs: so many seconds, and so many times of the run."""
PAYS, ENOUGH = 0.020, 0.150
"""Seconds that a run whose number of turns is not known has taken in all before it is traced, at least and at most."""
LOADED, TRANSLATED = 0.060, 2e-3
"""Seconds that LLVM takes to be there, and to translate an operation: a version runs as straight-line NumPy until it has taken as
long, unless its machine code is on disk or an earlier run of the program has shown that it is worth it."""
SAVED = 0.5
"""The share of a run's time that a trace saves, as long as nothing is known."""
FASTER = 0.3
"""Of the time that straight-line NumPy takes what machine code takes: 0.2 to 0.5 of it, where arrays are small."""
HOOKS = 0.030
"""Seconds at most that count for being compiled at all: the import, of files that have been read before, and the hooks."""
RUNS = 10
"""Times that a program is expected to run again, once it has run: so often its machine code may pay off."""
LEAST = 100e-6
"""Seconds that a run takes on average at least, to be worth its guards."""
CALLS = 3
"""Times that it has run as it is before: optimisers have made their states by then."""
VERSIONS = 6
"""Versions of a region; and no more than one that has not been used."""
OFTEN = 8
"""Hits of a region for each trace that may fail: a step of another kind now and then (a sample is drawn anew, something is shown)
does not speak against the others."""
ASTRAY = 3
"""Times that what statements decide on elements may come out another way, beside one for `OFTEN` hits: from then on what
decides is left out."""
ATTEMPTS = 5
"""Traces of a run's parts that may fail."""
CONFIRMED = 2
"""Times that a region runs both ways before it is believed; each version does so once."""
_TIMED = (4, 16, 64)
"""Times that a version has run before the statements are timed again."""
_BY_VALUE = (bool, complex, str, bytes, type(None))


Known = Mapping[int, Sequence[tuple[int, int, bool]]]
"""Of the runs of a file, by their number, the regions that have been worth it: the first statement, the one after the last, and
whether machine code is worth the time that it takes to be made."""


class Program:
    """What is timed and compiled while a program runs.

    ambient: says what else versions depend on, as something that can be compared; None where nothing is to be compiled now.
    """

    def __init__(self, ambient: Callable[[], Any] = tuple) -> None:
        self.ambient = ambient
        self.took = 0.0
        """Seconds that the program has taken for being compiled at all: the import, the hooks."""
        self.runs: list[Run] = []
        self.files: dict[str, list[Run | None]] = {}
        """The runs of each file, in the order in which they are there; None for one that has no hooks."""
        self.open: list[Run] = []
        """The runs that the program is in now, the innermost last."""
        self.thread = threading.get_ident()

    def code(self, source: str | bytes, file: str, scope: dict[str, Any], known: Known | None = None) -> Any:
        """The code of one of the program's files, with hooks; None where it has none. `scope`: its globals; known: what an
        earlier run of it has shown, where there was one."""
        found = self.files[file] = []

        def made(outlined: Outlined) -> Run | None:
            regions = None if known is None else known.get(len(found), ())
            run = Run(self, outlined, scope, regions) if regions is None or regions else None
            found.append(run)
            if run is not None:
                self.runs.append(run)
            return run

        return instrumented(source, file, made)

    def shown(self) -> dict[str, Known]:
        """What of each file has been worth it, for a later run."""
        gained = sum(region.net() for run in self.runs for region in run.useful())
        return {
            file: {
                i: [(region.start, region.end, region.worth_machine_code()) for region in useful]
                for i, run in enumerate(runs)
                if run is not None and gained > min(self.took, HOOKS) and (useful := run.useful())
            }
            for file, runs in self.files.items()
        }

    def report(self) -> Report:
        """What was compiled, and what that has changed."""
        return Report([region for run in self.runs for region in run.regions])


class Report:
    """The regions of a program that were compiled, or that were tried."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.rows = [region.row() for region in regions]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"segments": [dict(row) for row in self.rows]}

    def __str__(self) -> str:
        ran = [row for row in self.rows if row["hits"]]
        hits, before = sum(r["hits"] for r in ran), sum(r["before"] * r["hits"] for r in ran)
        after, spent = sum(r["after"] * r["hits"] for r in ran), sum(r["compiling"] for r in self.rows)
        lines = [f"retrograde: {len(ran)} segments, {hits} hits"]
        if ran:
            lines[0] += f"; time before {before:.3f} s, after {after:.3f} s, compiling {spent:.3f} s"
        for r in self.rows:
            at = f"{r['file']}:{r['line']}-{r['end']} {r['name']}"
            if r["hits"]:
                saved = f"before {r['before'] * 1e3:.3f} ms, after {r['after'] * 1e3:.3f} ms"
                lines.append(f"  {at}: {r['hits']} hits, {r['versions']} versions, {saved}")
            if r["reason"]:
                lines.append(f"  {at}: {'given up after that' if r['hits'] else 'not compiled'}: {r['reason']}")
        return "\n".join(lines)


class Run:
    """A run of statements, and what its hooks do (see `instrumented`)."""

    __slots__ = (
        "attempts", "began", "calls", "disturbed", "expected", "hooks", "known", "least", "left", "on", "outlined",
        "program", "regions", "scope", "spent", "starts", "waiting", "watched",
    )  # fmt: skip

    variables = locals
    """Gives those of the frame that calls it."""

    def __init__(
        self, program: Program, outlined: Outlined, scope: dict[str, Any], known: Sequence[tuple[int, int, bool]] | None = None
    ) -> None:  # fmt: skip
        self.program, self.outlined, self.scope = program, outlined, scope
        self.known = known
        """The regions that were worth it in an earlier run, where there was one."""
        self.on, self.hooks = True, frozenset[int]()
        self.left: dict[str, Any] | None = None
        self.began, self.spent, self.calls, self.attempts = 0.0, 0.0, 0, 0
        self.least = 1e9
        """Seconds that it has taken at least."""
        self.expected = False
        """Whether its loop has so many turns left that a trace pays."""
        self.disturbed = False
        """Whether this time is not what the run takes as it is: something in it was traced or compiled."""
        self.regions: list[Region] = []
        self.starts: dict[int, Region] = {}
        self.watched: Region | None = None
        """The region of which each statement is being watched, as it runs."""
        self.waiting: Region | None = None
        """The region that is running as it is now, to be compared with its version."""

    # ---------------------------------------------------------------------------------------- time

    def begin(self) -> None:
        """The first statement is next."""
        program = self.program
        if threading.get_ident() != program.thread or tracing():
            return
        if self in program.open:  # left by an exception, or a call of itself
            del program.open[program.open.index(self) :]
        program.open.append(self)
        self.waiting = self.watched = None
        self.disturbed = False
        self.began = _now()

    def end(self) -> None:
        """The last statement is done."""
        program = self.program
        if threading.get_ident() != program.thread or tracing() or self not in program.open:
            return
        took = _now() - self.began
        del program.open[program.open.index(self) :]
        if self.disturbed:
            for run in program.open:
                run.disturbed = True
            return
        if self.starts:
            return
        self.calls += 1
        self.spent += took
        self.least = min(self.least, took)
        if self.calls < CALLS or self.attempts:
            return
        if self.known is not None:
            for start, end, worth in self.known:
                self.add(start, end, at_once=worth)
        elif (self.calls >= 8 and self.spent < LEAST * self.calls) or not self._may_pay():
            self.on = False
        elif self._pays():
            self.add(0, len(self.outlined.statements))

    def _may_pay(self) -> bool:
        """Whether what is left of its loop may earn a trace, or is not known."""
        times = self.outlined.times(self.scope)
        if times is None:
            return True
        self.expected = self.least >= LEAST and SAVED * self.least * (times - self.calls) >= TRACED + TIMES * self.least
        return self.expected

    def _pays(self) -> bool:
        """Whether the run has taken as long as it costs to compile it, or will; longer where it is part of one that may be."""
        if self.expected:
            return True
        least = min(max(PAYS, TIMES * self.spent / self.calls), ENOUGH)
        return self.spent >= (4 * least if any(run.hopeful() for run in self.program.open) else least)

    def useful(self) -> list[Region]:
        """The regions that have been worth it, or would have been from the beginning."""
        return [region for region in self.regions if region.hits and not region.reason and region.net() > 0]

    def hopeful(self) -> bool:
        """Whether the run may still be compiled as a whole, what is inside of it included."""
        return self.on and not self.attempts

    # ---------------------------------------------------------------------------------------- regions

    def add(self, start: int, end: int, *, at_once: bool = False) -> None:
        """Let statements be a region of their own from now on. at_once: whether its machine code is made before it is earned."""
        end = min(end, len(self.outlined.statements))
        while start < end and not self._does_something(start):
            start += 1
        if start >= end:
            return
        region = Region(self, start, end, at_once)
        self.regions.append(region)
        self.starts[start] = region
        self._set_hooks()

    def _does_something(self, i: int) -> bool:
        return any(isinstance(x, (ast.Call, ast.BinOp)) for x in ast.walk(self.outlined.statements[i]))

    def drop(self, region: Region) -> None:
        """Let a region's statements run as they are."""
        self.starts.pop(region.start, None)
        self._set_hooks()

    def _set_hooks(self) -> None:
        self.hooks = frozenset(i for region in self.starts.values() for i in (region.start, region.end))
        if not self.starts and self.attempts:
            self.on = False

    def watch(self, region: Region) -> None:
        """Ask between all statements of a region, this once."""
        self.watched = region
        self.hooks = self.hooks | frozenset(range(region.start, region.end + 1))

    def divide(self, region: Region, at: Sequence[int]) -> None:
        """Some statements of a region cannot be traced: try what is between them."""
        self.drop(region)
        self.attempts += 1
        if self.attempts > ATTEMPTS:
            return
        ends = sorted(at)
        for start, end in zip([region.start, *(i + 1 for i in ends)], [*ends, region.end]):
            self.add(start, end)
        self.on = self.on or bool(self.starts)

    def ask(self, i: int, scope: dict[str, Any]) -> int:
        """Before statement i: the number of the statement to go on with."""
        program = self.program
        if threading.get_ident() != program.thread or tracing():
            return i
        if self.waiting is not None:
            waiting, self.waiting = self.waiting, None
            if waiting.end == i:
                waiting.compare(scope)
        if self.watched is not None and self.watched.seen(i, scope):
            self.watched = None
            self._set_hooks()
        region = self.starts.get(i)
        if region is None or self not in program.open:
            return i
        self.disturbed = True
        found = region.run_compiled(scope)
        if found is None:
            return i
        self.left = found
        return region.end


class Region:
    """Statements start to end of a run, as a function that is compiled."""

    def __init__(self, run: Run, start: int, end: int, at_once: bool) -> None:
        self.run, self.start, self.end, self.at_once = run, start, end, at_once
        self.names = run.outlined.gives(start, end)
        self.params: list[str] | None = None
        self.versions = Versions()
        self.traced = self.hits = self.confirmed = self.failed = self.passed = 0
        self.astray = 0
        """Times that Python would have decided on elements in another way than in the trace."""
        self.decides = True
        """Whether a trace may hold for one such way."""
        self.missed = self.misses = 0
        """Times for which there was no version, one after the other and in all."""
        self.waited = 0
        """Times since the last trace."""
        self.before: list[float] = []
        self.after = self.compiling = self.tracing = 0.0
        self.reason = ""
        self._pending: Any = None
        self._f: Any = None
        self._reads: Reads | None = None
        """What the statements lead to, as it was when they were watched; until they are traced."""
        self._numbers: list[Any] = []
        """The numbers among the variables then."""
        self._watch: Snapshot | None = None
        self._effects: list[int] = []
        self._fixed: list[Any] = []

    def row(self) -> dict[str, Any]:
        """What the report says."""
        outlined = self.run.outlined
        return {
            "file": outlined.file, "name": outlined.name, "line": outlined.statements[self.start].lineno,
            "end": outlined.statements[self.end - 1].end_lineno, "hits": self.hits, "versions": self.traced,
            "before": self._before(), "after": self.after / self.hits if self.hits else 0.0, "compiling": self.compiling,
            "reason": self.reason,
        }  # fmt: skip

    def worth_machine_code(self) -> bool:
        """Whether some more runs of the program would earn the machine code, or have it from disk."""
        costs = {v.form(): v.costs() for v in self._closed() if not v.final}  # of several that do the same once
        return RUNS * self._net(machine_code=True) >= sum(costs.values())

    def net(self) -> float:
        """Seconds that it would save in such a program from the beginning, less those that it takes to be traced."""
        return self._net(machine_code=self.worth_machine_code())

    def _net(self, *, machine_code: bool) -> float:
        after = self.after / self.hits if self.hits else 0.0
        if machine_code and not all(version.final for version in self._closed()):
            after *= FASTER  # that of NumPy for the most part
        saved = (self.run.calls + self.passed) * (self._before() - after)
        return saved - (self.tracing if machine_code else self.compiling)

    def _spent(self, seconds: float) -> None:
        """Note time that each run of the program takes to trace the statements, and to make sure of it."""
        self.compiling += seconds
        self.tracing += seconds

    def _before(self) -> float:
        """Seconds that the statements take as they are."""
        ran = [v for v in self._closed() if v.hits]
        hits = sum(v.hits for v in ran)
        return sum(v.before * v.hits for v in ran) / hits if hits else min(self.before, default=0.0)

    def _closed(self) -> list[_Closed]:
        """The versions that are there."""
        return [v for versions in self.versions.values() for v in versions if isinstance(v, _Closed)]

    def give_up(self, reason: str, at: Sequence[int] = ()) -> None:
        """Run as it is from now on; where some statements are the reason, the others may be compiled."""
        self.reason = reason
        self.versions.clear()
        self._watch = self._pending = self._reads = None
        if at:
            self.run.divide(self, at)
        else:
            self.run.attempts += 1
            self.run.drop(self)

    # ---------------------------------------------------------------------------------------- a call

    def run_compiled(self, scope: dict[str, Any]) -> dict[str, Any] | None:
        """The new values of variables, from a version that holds; None where the statements are to run."""
        began = _now()
        given = self._given(scope)
        if given is None:
            return None
        found, tree, leaves, key = given
        if self._f is None:
            self._begin_watch(scope, found, tree)
            return None
        scalars = scalars_in(found)
        self.waited += 1
        # Another version has to be earned like the first.
        pays = self.waited * min(self.before, default=1.0) * max(self.traced, 1) >= self.compiling
        version: Any = self.versions.holding(key, scalars, noting=pays)
        self.missed = 0 if version is not None else self.missed + 1
        if version is None:
            self.misses += 1
            alone = self.missed < 2 and self.misses * OFTEN <= self.passed
            if alone or not pays:  # what happens now and then, as where a rate is changed, is not worth a trace
                return None
            version = self._trace(key, found, tree, leaves, scalars)
            if version is None:
                return None
        self.passed += 1
        try:
            if version.earned():
                version.improve()
                self.compiling += _now() - began
            elif version.slow:
                version.took += version.before
                return None
            wanted = not version.confirmed or self.confirmed < CONFIRMED
            if wanted or version.to_be_timed():
                start = _now()
                expected = version.tried(leaves, scalars) if wanted else None
                now = _now()
                self._spent(now - start)
                self._pending = version, expected, leaves, now
                self.run.waiting = self
                return None
            out = version.run(leaves, scalars)
        except Otherwise:
            self.astray += 1
            if self.astray > ASTRAY + self.hits // OFTEN:
                self.decides = False
                self.versions.clear()
            return None
        except Exception as problem:  # the statements raise it themselves, where they do
            self.give_up(f"{type(problem).__name__}: {problem}")
            return None
        self.hits += 1
        took = _now() - began
        self.after += took
        if not version.gains(took):
            self.give_up("it takes longer compiled")
        return {name: x for name, x in zip(self.names, out) if x is not MISSING}

    def _given(self, scope: dict[str, Any]) -> Any:
        if state.mode == WATCHED or state.levels or state.run is not None:
            return None
        ambient = self.run.program.ambient()
        if ambient is None:
            return None
        if self.params is None:
            self._choose(scope)
        assert self.params is not None
        found, tree = flatten(self._arguments(scope))
        leaves, kinds = list[Any](), list[Any]()
        for x in found:
            if isinstance(x, Value):
                node = x._node
                if type(x._a) is not _ndarray or x._level or (node is not None and type(node) is not Accumulate):
                    return None
                leaves.append(x)
                kinds.append((type(x), x._a.shape, x._a.strides, x._a.dtype, node is None, x._grad is None))
            else:
                kind = type(x)
                kinds.append((kind, None if kind in PLAIN else x if kind in _BY_VALUE else id(x)))
        leaves += [x._grad for x in leaves if x._grad is not None]
        ids = [id(x) for x in leaves]
        alike = tuple(map(ids.index, ids)) if len(set(ids)) < len(ids) else None
        return found, tree, leaves, (tree, tuple(kinds), state.mode, alike, ambient)

    def _arguments(self, scope: dict[str, Any]) -> list[Any]:
        """The variables that are arguments; MISSING where one has no value yet, as what only one branch gives one."""
        assert self.params is not None
        return [scope.get(name, MISSING) for name in self.params]

    def _choose(self, scope: dict[str, Any]) -> None:
        """The names that are arguments: variables. Modules, functions and classes of the program are read as globals."""
        outlined = self.run.outlined
        takes = outlined.takes(self.start, self.end)
        if outlined.local is not None:
            self.params = sorted(takes & outlined.local)
        else:
            fixed = (type, type(np), type(flatten), type(len))
            known = {n for n in takes if n in scope and not isinstance(scope[n], fixed)}
            self.params = sorted(known | {n for n in takes if n not in scope and n in self.names})

    # ---------------------------------------------------------------------------------------- a look beforehand

    def _begin_watch(self, scope: dict[str, Any], found: Sequence[Any], tree: Any) -> None:
        """Look at what the statements do as they run now: a trace of what cannot be used takes ten times as long."""
        assert self.params is not None
        self._f = self.run.outlined.function(self.start, self.end, self.params, self.run.scope)
        self._numbers = scalars_in(found)
        try:
            began = _now()
            self._reads = Reads(self._f, *found, self._arguments(scope))
            self._spent(_now() - began)
        except TooMuch as problem:
            self.give_up(str(problem))
            return
        for n, x in enumerate(self._numbers):
            self._reads.argument(n, x)
        if self.run.known is None:  # else an earlier run has looked
            self._watch = self._reads.snapshot()
            self.run.watch(self)

    def seen(self, i: int, scope: dict[str, Any]) -> bool:
        """The statement before number i has run; whether it was the last."""
        if self._watch is None:
            return True
        if i > self.start:
            assert self._reads is not None
            changes, other = self._watch.changes()
            if other or not all((plain(old) or type(old) in STORED) and storable(now) for _, _, old, now in changes):
                self._effects.append(i - 1)
            if other or changes:
                self._watch = self._reads.snapshot()
        if i < self.end:
            return False
        self._watch = None
        if self._effects:
            self.give_up("it changes an attribute, a container or a variable outside", self._effects)
        elif any(_lives(scope.get(name)) for name in self.names):
            self.give_up(_GOES_ON)
        return True

    def _too_many(self, scalars: Sequence[Any], found: Sequence[Any], tree: Any) -> None:
        """No version is for the next time, either. Where it is for numbers among the variables, leave out what reads them."""
        assert self.params is not None
        before = unflatten(tree, replaced(found, self._numbers)) if len(scalars) == len(self._numbers) else ()
        now = unflatten(tree, found)
        varying = {n for n, x, y in zip(self.params, now, before) if type(x) in PLAIN and x != y}
        outlined = self.run.outlined
        at = [i for i in range(self.start, self.end) if not outlined.takes(i, i + 1).isdisjoint(varying)]
        spoken = f"{', '.join(sorted(varying))}: another number each time"
        self.give_up(spoken if at else f"{self.traced} versions, and none for this time", at)

    def _trace(self, key: Any, found: Sequence[Any], tree: Any, leaves: Any, scalars: Sequence[Any]) -> _Closed | None:
        if self.traced >= VERSIONS or self.traced > self.hits + 1:
            self._too_many(scalars, found, tree)
            return None
        outlined, f = self.run.outlined, self._f
        if self._reads is not None:
            self.versions.varying.add(list(self._reads.missed(scalars)))
            self._reads = None
        began = _now()
        rest = [x for x in found if not isinstance(x, Value)]
        try:
            with Paused():  # what a trace makes stays
                version = _Closed(
                    f.__qualname__, f, [f, *rest], leaves, lambda numbers: (unflatten(tree, replaced(found, numbers)), {}),
                    scalars=scalars, pure=True, varying=self.versions.varying, decides=self.decides,
                    at_once=self.at_once,
                )  # fmt: skip
            if version.opaque:
                raise UnsupportedError("what it leaves has a history with functions of the program's")
            if version.hooked:
                raise UnsupportedError("it puts hooks on what it computes")
        except Exception as problem:
            self.compiling += _now() - began
            self.failed += 1
            if self.hits > OFTEN * self.failed:  # only some times are of another kind, which run as they are
                self.waited = 0
                return None
            said = isinstance(problem, (UnsupportedError, LevelError, TooMuch))
            known = not isinstance(problem, (Changes, _Open, TooMuch))
            self.give_up(
                str(problem) if said else f"{type(problem).__name__}: {problem}",
                _statement(problem, f.__code__, outlined) if known else (),
            )
            return None
        self._spent(_now() - began)
        self.tracing -= version.making
        self.traced += 1
        self.waited = 0
        self._fixed.append(rest)  # their ids are in the key
        self.versions.add(key, version, VERSIONS)
        return version

    def compare(self, scope: dict[str, Any]) -> None:
        """The statements have run, which is timed; and is what they left what the version gives?"""
        version, expected, leaves, began = self._pending
        self._pending = None
        took = _now() - began
        self.before.append(took)
        version.before = min(version.before, took)
        if expected is None:
            return
        assert self.params is not None
        out = tuple([scope.get(name, MISSING) for name in self.names])
        kept = [scope.get(name) for name in self.params if name not in self.names]
        if any(type(x) in (list, dict) and any(x is y for y in kept) for x in out):
            self.give_up("it gives a container another name")  # a version gives a new one
            return
        began = _now()
        unlike = version.unlike(expected, leaves, out)
        self._spent(_now() - began)
        if unlike is not None:
            self.give_up(f"run from its trace it gave something else: {unlike}")
        version.confirmed += 1
        self.confirmed += 1


_GOES_ON = "the program goes on with the history of what is computed in it"


def _lives(x: Any) -> bool:
    """Whether one of the tensors in something has a history that no pass has used up."""
    return any(
        isinstance(y, Value) and isinstance(node := producer(y._node), Node) and calls.end_of(y._node) is None and node.seq > 0
        for y in flatten(x)[0]
    )


class _Open(UnsupportedError):
    """What would be left has a history, with which the program goes on."""


class _Closed(Version):
    """A version that leaves no history behind: then the tape is as it would be.

    at_once: whether machine code is made before it runs; else it is straight-line NumPy that runs, where no code is on disk,
    until that has taken as long as machine code takes to be made.
    """

    def __init__(self, *args: Any, at_once: bool, **kwargs: Any) -> None:
        self._at_once = at_once
        self.took = 0.0
        """Seconds that the code which it has now has taken, or that the statements have taken in its place (`slow`)."""
        self.before = self.least = 1e9
        """Seconds that the statements have taken at least, where they were to do the same, and that its code has."""
        self.ran = self.hits = self.timed = 0
        """Times that the code which it has now has run, those that any has, and how many there were when the statements were
        timed."""
        self.slow = False
        """Whether the statements take less time than straight-line NumPy, and run themselves until machine code is earned."""
        super().__init__(*args, **kwargs)

    def _code(self) -> Callable[..., Sequence[Any]]:
        began = _now()
        found, self.final = (super()._code(), True) if self._at_once else pipeline.at_hand(self.graph)
        self.making = _now() - began
        """Seconds that its code took to be made, or to be read."""
        return found

    def _looks(self) -> Any:
        if self.final or shortcut.at_hand():
            return super()._looks()
        return None  # LLVM is not loaded for the guards of what runs without

    def earned(self) -> bool:
        """Whether machine code would be better by now."""
        return not self.final and self.took >= self.costs()

    def costs(self) -> float:
        """Seconds that its machine code takes to be made."""
        return LOADED + TRANSLATED * len(self.graph.equations)

    def improve(self) -> None:
        """Go on with machine code, which is confirmed anew."""
        self.compiled, self.final = super()._code(), True
        self._guarded()  # LLVM may have to translate them, which is no time of a call's
        self.program = calls.Program(self.program.name, self.graph, self.compiled)
        self.took, self.ran, self.timed, self.confirmed, self.slow, self.least = 0.0, 0, 0, 0, False, 1e9

    def to_be_timed(self) -> bool:
        """Whether the statements are to run in its place, to be timed again: the first times they take longer."""
        due = self.ran in _TIMED and self.timed < self.ran
        if due:
            self.timed = self.ran
        return due

    def gains(self, took: float) -> bool:
        """Note that a call has taken some seconds; whether the version is to be kept."""
        self.took += took
        self.least = min(self.least, took)
        self.ran += 1
        self.hits += 1
        if self.ran == 8 and self.least > 0.95 * self.before:  # of both the least, since the first times take longer
            self.slow = not self.final
            return self.slow
        return True

    def _take(self, held: Substituted, results: Sequence[Any], leaves: Sequence[Any]) -> None:
        super()._take(held, results, leaves)
        if self._history is not None:
            raise _Open(_GOES_ON)


def _statement(problem: BaseException, code: Any, outlined: Outlined) -> tuple[int, ...]:
    """The statement of a region at which an exception was raised, if it was one."""
    entry = problem.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code is code:
            at = outlined.at(entry.tb_lineno)
            return () if at is None else (at,)
        entry = entry.tb_next
    return ()
