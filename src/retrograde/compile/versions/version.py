"""`Version`: a function as it was traced once, for arguments of one signature.

While the function runs, the tensors among its arguments and those that it reads from outside hold arrays without elements; so
the trace sees the very objects that the program has: which of them are one and the same, which want a gradient, which are
views. What it leaves in them, arrays, gradients and states of generators, is what every call of the version leaves there.
"""

from __future__ import annotations

import contextlib
import copy as copying
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ..._state import state
from ..._tree import flatten
from ...core import value as values
from ...core.node import Accumulate, Node, producer
from ...core.number import Number
from ...core.value import Value, shape_of
from ...ops.random import GENERATORS
from ...tape.function import Scratch
from .. import failures, log, pipeline
from ..emit import shortcut, straight
from ..graph import Graph
from ..guards.effects import impure
from ..guards.reads import Reads, Snapshot
from ..trace.numbers import (
    APPENDED,
    MISSING,
    PLAIN,
    STORED,
    Place,
    Scratched,
    Written,
    floats,
    mathematics,
    plain,
    standing_for,
    storable,
    tensors,
    terms_in,
)  # fmt: skip
from ..trace.outcomes import Outcomes
from ..trace.sizes import CONFIRMED, Axes, Measured, Shapes, numpy_of_sizes
from ..trace.sizes import standing as standing_in
from ..trace.substituted import Substituted
from ..trace.trace import ACTIVE, LOCK, Trace, Traced
from . import call as calls
from .results import GradientOf, Results, Tried

_ndarray = np.ndarray


class Changes(UnsupportedError):
    """A function has an effect on something else than tensors and numbers."""


class Rebinds(UnsupportedError):
    """A function leaves another tensor where it has found one: each call is to be given what is there."""

    comes_again = True
    """Whether the call is to be made again: it says nothing of the function."""


class Varying:
    """What is known of the numbers that a function reads: the places of those that vary from call to call, and of those that
    have to be constants all the same; and of tensors: the places where there is another one from call to call.

    given: whether calls are given the tensors at such places.
    """

    def __init__(self, given: bool = False) -> None:
        self.owners: dict[Any, Any] = {}
        """By the key of each place what it belongs to, which is kept, so that the key stays its own."""
        self.fixed: set[Any] = set()
        self.tensors: dict[Any, Place] = {}
        """The places of tensors by key."""
        self._given = given

    def __contains__(self, key: Any) -> bool:
        return key in self.owners and key not in self.fixed

    def add(self, places: Sequence[Place]) -> bool:
        """Note that the numbers or tensors at some places vary; whether that is news."""
        news = False
        for p in places:
            if not tensors(p.value):
                news |= p.key not in self.owners
                self.owners[p.key] = p.owner
            elif self._given and p.key not in self.tensors and len(self.tensors) < MOST_TENSORS:
                self.tensors[p.key] = p
                news = True
        return news

    def outside(self) -> list[Any]:
        """What is at the places of tensors now."""
        return [p.now() if p.there() else None for p in self.tensors.values()]


MOST_TENSORS = 64
"""Places at most whose tensors each call is given."""


class Version:
    """graph: as it was traced; its inputs are the arguments' arrays, then those of `captured`, what the function reads from
    outside, then numbers; its outputs the arrays that it returns, then those that it leaves in holders, then gradients, then
    those that numbers come from.

    f: the function. roots: it, and arguments that lead to tensors. leaves: the arrays and tensors among the arguments, as the
    function is given them; scalars: the numbers. given: the arguments, from the numbers. pure: whether the function is to be
    refused where it has other effects, or reads what no guard can be put on. varying: which numbers are no constants; those
    that the function itself changes are added. decides: whether Python may decide on elements, to which each call is held then:
    `run` raises Otherwise, before anything is left behind, where they come out in another way. outside: how many of the leaves,
    the last ones, are no arguments but what is at the places of tensors that vary, and their gradients.
    code: that of graphs by their structure, to which is added: versions for other objects mostly do the same.
    axes: the axes of leaves whose sizes are to vary; such a version runs no call, those of its sizes do (`at`).
    """

    _guard: tuple[Callable[[], bool], Callable[..., bool] | None] | None = None
    """What says that all is as it was without looking long, and a function for what that does not look at."""

    short = False
    """Whether a shortcut for it has been looked for."""

    confirmed = 0
    """How many calls have run both ways and agreed."""
    opaque: bool
    _structure: Any = None
    """What the graph has in common with those that run the same code, as far as that can be said."""
    origin: Version | None = None
    """The version of sizes that vary of which this is the one of some sizes."""
    measured: Measured | None = None
    """For which sizes the trace holds, and what it is for those."""

    def __init__(
        self, name: str, f: Callable[..., Any], roots: Sequence[Any], leaves: Sequence[Any], given: Callable[[Any], Any], *,
        scalars: Sequence[Any] = (), pure: bool = False, varying: Varying | None = None, decides: bool = False, outside: int = 0,
        code: dict[Any, Any] | None = None, axes: Axes = (),
    ) -> None:  # fmt: skip
        clock = log.Clock()
        self._pure, self._decides, varying = pure, decides and not axes, varying or Varying()
        self._arguments, self._axes = len(leaves) - outside, axes
        if axes:
            try:
                self._of_sizes(name, f, roots, leaves, given, scalars, varying)
            except Exception:
                if "trace" in vars(self):
                    self.trace.forget()
                raise
            with log.about(name):
                log.tell("compile", lambda: f"traced in {clock():.1f} ms, for sizes that vary")
                log.tell("guards", lambda: "\n  ".join(["may run while", *self._described()]))
            return
        while True:
            try:
                again = self._trace(name, f, roots, leaves, given, scalars, varying)
            except (Changes, Rebinds):
                raise
            except Exception:
                standing = {p.key for p in self.reads.places if p.key in varying}
                if not standing:
                    raise
                fixed, varying.fixed = varying.fixed, varying.fixed | standing  # it wants to know them
                try:
                    again = self._trace(name, f, roots, leaves, given, scalars, varying)
                except BaseException:
                    varying.fixed = fixed  # it fails anyhow
                    raise
            if not again:
                break
        self._traced(name)
        with log.about(name):
            log.tell("compile", lambda: f"traced in {clock():.1f} ms")
            log.tell("guards", lambda: "\n  ".join(["may run while", *self._described()]))
            self._structure = self.graph.structure()
            known = None if code is None or self._structure is None else code.get((self._structure, pipeline.chosen()))
            self.compiled = known or self._code()
        if code is not None and self._structure is not None:
            code[self._structure, pipeline.chosen()] = self.compiled
        self.program = calls.Program(name, self.graph, self.compiled)

    def _traced(self, name: str) -> None:
        """Note what was traced."""
        self.name = name
        self._known = [(x, x._a.shape, x._a.dtype, x._node is None) for x in self.captured if isinstance(x, Value)]
        self._lies = [(x, x._a.strides) for x, *_ in self._known] if self.trace.ordered else []
        """Tensors from outside of which it matters how they lie in memory."""
        self._watched = bool(self._hooks or self._lies)
        self.forward: calls.Forward | None = None
        if self._history is not None and not self.opaque and calls.has_custom([y._node for y in self._history[2]]):
            self.opaque = not self._forward().complete

    def _of_sizes(
        self, name: str, f: Callable[..., Any], roots: Sequence[Any], leaves: Sequence[Any], given: Callable[[Any], Any],
        scalars: Sequence[Any], varying: Varying,
    ) -> None:  # fmt: skip
        """Trace the function for sizes that vary, the derivatives from outside included, and note for which ones that holds."""
        while self._trace(name, f, roots, leaves, given, scalars, varying):
            pass
        self._traced(name)
        if self.opaque or self.hooked:
            raise UnsupportedError("what it returns has a history with functions of the user's, or with hooks")
        if self._history is not None:
            self.forward = self._forward()
        self.measured = Measured(self.trace, self._axes, tuple([tuple(shape_of(x)) for x in leaves]))
        own = self.trace.sizes
        self.measured.graph(self.graph, own)  # which refuses what it does not know
        if self.forward is not None:
            self.forward.at(self.measured, own).whole()

    def at(self, shapes: Shapes) -> Version | None:
        """The version for arguments of some shapes, of one of sizes that vary; None where the trace does not hold for them."""
        assert self.measured is not None
        sizes = self.measured.sizes(shapes)
        if sizes is None:
            return None
        made = copying.copy(self)
        made.origin, made.measured, made.confirmed = self, None, int(self.confirmed >= CONFIRMED)
        made.short = False
        graph = functools.cache(functools.partial(self.measured.graph, self.graph, sizes))
        made._graph = graph
        of_now = functools.partial(self.measured.of_now, sizes=sizes)

        made.gives = self.gives.at(sizes, of_now)
        made.compiled = growing = pipeline.Growing(graph, self.measured.room)
        made.program = calls.Program(self.name, graph, growing)
        if self.forward is not None:
            made.forward = self.forward.at(self.measured, sizes)

        def ready(code: Callable[..., Sequence[Any]]) -> None:
            made.compiled, made.short = code, False

        growing.ready = ready
        return made

    @property
    def graph(self) -> Graph:
        """What was traced; of a version for some sizes it is made when it is asked for."""
        return self._graph if isinstance(self._graph, Graph) else self._graph()

    def confirm(self) -> None:
        """Note that a call has run both ways and agreed."""
        self.confirmed += 1
        if self.origin is not None:
            self.origin.confirmed += 1

    def _code(self) -> Callable[..., Sequence[Any]]:
        """What runs the graph."""
        return pipeline.compiled(self.graph)

    def _trace(
        self, name: str, f: Callable[..., Any], roots: Sequence[Any], leaves: Sequence[Any], given: Callable[[Any], Any],
        scalars: Sequence[Any], varying: Varying,
    ) -> bool:  # fmt: skip
        """Run the function on arrays without elements; whether to do so again, since numbers were found to vary."""
        self.reads = reads = Reads(*roots, varying=varying, given=varying.tensors)
        if self._pure:
            self._refuse_impure(leaves)
        self.trace = trace = Trace(name)
        arguments = [None if isinstance(x, Scratch) else reads.argument(n, x) for n, x in enumerate(scalars)]
        self._scratch = {id(vars(x)): Scratched(n) for n, x in enumerate(scalars) if isinstance(x, Scratch)}
        standing = {p.key: (p, standing_for(trace, p)) for p in reads.places if p.key in varying}
        numbers = [
            x if p is None else standing[p.key][1] if p.key in standing else p.value for x, p in zip(scalars, arguments)
        ]  # fmt: skip
        args, kwargs = given(numbers)
        before = Reads(*roots, (args, kwargs)).snapshot() if self._pure else reads.snapshot()
        own = {id(x): x for x in leaves}
        outside = [x for x in (*reads.holders, *GENERATORS) if id(x) not in own]
        if self._axes:
            standing_in(trace, leaves, outside, self._axes)
        self._positions = {id(x): i for i, x in reversed(list(enumerate(leaves)))}
        self._stores: list[tuple[Place, Any]] = []
        """The places of which the function changes the number, and what it leaves there."""
        other = False
        if self._decides:
            for x in (*own.values(), *outside):  # of a deferred call that this one is part of
                calls.elements(x._a)
        with LOCK, calls.alone(), Substituted(trace, list(own.values()), outside) as held:
            try:
                with contextlib.ExitStack() as aware:
                    aware.enter_context(floats(reads.functions))
                    if standing or self._axes:
                        aware.enter_context(mathematics(reads.functions))
                    if self._axes:
                        aware.enter_context(numpy_of_sizes())
                    arrays: dict[int, Any] = {key: a.value if type(a) is Traced else a for key, a in held.arrays.items()}
                    if all(type(a) is _ndarray for a in arrays.values()):
                        trace.begun = {x.variable: arrays[key] for key, x in held.entered.items()}
                        if self._decides:
                            trace.outcomes = Outcomes(trace, standing, reads.scope)
                    for place, x in standing.values():
                        place.put(x)
                    out = f(*args, **kwargs)
            finally:
                other = self._put_back(before, standing)
            results, self.tree = flatten(out)
            other = other or self._shared(out, (args, kwargs))
            more = [p for p, now in self._stores if plain(p.value) and (type(now) is Number or plain(now) or terms_in(now))]
            more = [p for p in more if p.key not in varying.owners]
            if more and not (other and not self._pure):
                varying.add(more)
                return True
            rebound = {p.key for p, now in self._stores if tensors(now) and tensors(p.value)}
            if rebound and not other and varying.add([p for p in reads.tensors if p.key in rebound]):
                raise Rebinds(f"{name} leaves another tensor where it has found one")
            self._take(held, results, leaves)
        del results, out  # and with them what only they have kept
        trace.constants, trace.settled, trace.outcomes, trace.begun = {}, [], None, {}
        held.refuse_hidden_writes(list(self.graph.constants.values()))
        if other and self._pure:
            raise Changes("it changes an attribute, a container or a variable outside")
        self._write_numbers(scalars)
        return False

    def _put_back(self, before: Snapshot, standing: dict[Any, tuple[Place, Any]]) -> bool:
        """Put the places of numbers, and where nothing else is to be changed all that was changed, back as they were, and note
        what was stored; whether something else was changed."""
        changes, other = before.changes()
        for owner, entry, old, now in changes:
            found = standing.get((id(owner), entry))
            if found is not None and now is found[1]:
                if type(now) is list and not (len(now) == len(old) and all(type(x) is Number for x in now)):
                    other = True
                continue
            expected = plain(old) or type(old) in STORED or old is MISSING or tensors(old)
            if entry is APPENDED and not (self._pure and self.reads.only_appended(owner)):
                other = True
            elif expected and storable(now, self.reads.met) and (self.reads.owns(owner) or id(owner) in self._scratch):
                value = (old, len(now)) if entry is APPENDED else old
                self._stores.append((Place("", self._scratch.get(id(owner), owner), entry, value), now))
            else:
                other = True
        if self._pure:
            before.restore()
        else:
            for place, _ in (*standing.values(), *self._stores):
                place.put(place.value)
        return other

    def _shared(self, out: Any, given: Any) -> bool:
        """Whether a list or dict that is stored or returned is one that was there before, or is in two places: a call would put
        a new one into each."""
        boxes = [*_boxes(out), *(box for _, now in self._stores for box in _boxes(now))]
        ids = set(map(id, boxes))
        return len(ids) < len(boxes) or any(map(self.reads.met, boxes)) or any(id(box) in ids for box in _boxes(given))

    def _write_numbers(self, scalars: Sequence[Any]) -> None:
        """Make the code of what is done with numbers, and the check."""
        self.reads.scope["sizes"] = self.trace.sizes
        written = Written(self.reads.scope, self.gives.late_at)
        self.gives.write(written, self._entered)
        conditions = [(term, outcome) for term, outcome in self.trace.conditions.values() if not term.sized]
        self._unchanged = self.reads.check(written.outcomes(conditions), scalars)

    def _refuse_impure(self, leaves: Sequence[Any]) -> None:
        reason = impure(self.reads.functions)
        if reason is not None:
            raise UnsupportedError(reason)
        if self.reads.opaque:
            raise UnsupportedError(f"it reads {' and '.join(sorted(x.__name__ for x in self.reads.opaque))}, which has no guard")
        if any(x.size > 1 and x.flags.writeable for x in self.reads.arrays):
            raise UnsupportedError("it reads a NumPy array from outside, whose elements have no guard (a tensor's are read anew)")
        given = set(map(id, leaves))
        for x in (*self.reads.holders, *leaves):
            node = producer(x._node) if isinstance(x, Value) else None
            if getattr(node, "hooks", None) is not None and (type(node) is not Accumulate or id(x) in given):
                raise UnsupportedError("a tensor that it is given, or one with a history, has hooks")

    def _take(self, held: Substituted, results: Sequence[Any], leaves: Sequence[Any]) -> None:
        """Read what the function has returned and left behind."""
        trace, outputs = self.trace, list[Any]()
        owners = {id(g): x for x, g in held.graded() if g is not None}
        outer = {key: GradientOf(x) for key, x in owners.items() if id(x) not in self._positions}

        def place(x: Any) -> Any:
            return self._positions.get(id(x), outer.get(id(x), x))

        self.gives = gives = Results(
            held, results, self.tree, self._stores, place=place, positions=self._positions, outputs=outputs, shared=self._pure
        )  # fmt: skip
        self._stores = []  # which hold tensors of the trace
        entered = [x for x in held.holders if id(x) in held.entered]
        numbers = list(trace.entries.items())
        inside = [held.entered[id(x)] for x in entered]
        graph = trace.graph([*inside, *(x for _, (_, x) in numbers)], [y._a for y in outputs])
        for v, array in graph.constants.items():
            if any(np.may_share_memory(array, x) for x in self.reads.arrays):
                graph.constants[v] = array.copy()
        used, inputs = set(graph.uses()), dict(zip(map(id, entered), graph.inputs))
        numbers = [(key, found) for key, found in numbers if found[1].variable in used]
        self._entered = [(term, dtype) for (_, dtype), (term, _) in numbers]
        """The numbers that are inputs of the graph, and as what."""
        arguments = [
            x for x in entered
            if id(x) in self._positions and (self._positions[id(x)] < self._arguments or inputs[id(x)] in used)
        ]  # fmt: skip
        captured = [x for x in entered if id(x) not in self._positions and inputs[id(x)] in used]
        self.captured = [place(x) for x in captured]
        self._given = [self._positions[id(x)] for x in arguments]
        self._graph: Graph | Callable[[], Graph] = Graph(
            [*[inputs[id(x)] for x in (*arguments, *captured)], *[x.variable for _, (_, x) in numbers]], graph.constants,
            graph.equations, graph.outputs,
        )  # fmt: skip
        leaves_behind = gives.leaves_behind or any(not isinstance(x, Value) for x in captured)
        self.clean = not (held.cut or leaves_behind or gives.decides or gives.leaves)
        """Whether the graph alone says what the derivatives are: nothing was detached, and nothing is left behind."""
        edges = [*[held.leaves.get(id(x)) for x in (*arguments, *captured)], *[None for _ in numbers]]
        begun = [*[held.entered[id(x)] for x in (*arguments, *captured)], *[x for _, (_, x) in numbers]]
        historic = any(isinstance(producer(y._node), Node) for y in outputs) and any(edge is not None for edge in edges)
        self._history: Any = (begun, edges, outputs) if historic else None
        """What the trace has recorded of the outputs, for `Forward`; None where it has recorded nothing."""
        self._natural = not held.forgotten
        self.opaque = historic and calls.opaque([y._node for y in outputs])
        """Whether that holds functions of the user's, which would find other tensors than they have seen."""
        self.hooked = historic and calls.hooked([y._node for y in outputs])
        """Whether the function puts hooks on what it computes, which are then called at every pass."""
        touched = [x for x, _ in held.gradients()] + [owners[id(x)] for x in captured if id(x) in owners]
        self._hooks = [
            (node, node.hooks) for x, node, _ in held.before if type(node) is Accumulate and id(x) not in self._positions
        ] if held.passed else []  # fmt: skip
        """Where the gradients of tensors from outside arrive in passes of the function's own, and the hooks there."""
        self._having = [
            (x, g is None) for x, g in held.graded() if id(x) not in self._positions and any(x is y for y in touched)
        ]  # fmt: skip
        """Tensors from outside of which it matters whether they have a gradient, and whether they had none."""

    def holds(self, scalars: Sequence[Any] = ()) -> bool:
        """Whether what the function reads from outside, and the numbers among its arguments, are as they were when it was
        traced, but for those that vary."""
        if self._watched:
            for node, hooks in self._hooks:
                if node.hooks is not hooks:
                    return False
            for x, strides in self._lies:
                if x._a.strides != strides:
                    return False
        same, rest = self._guard or self._guarded()
        if same():
            return rest is None or bool(rest(scalars))
        for x, shape, dtype, bare in self._known:
            a = x._a
            if a.shape != shape or a.dtype != dtype or (x._node is None) is not bare:
                return False
        for x, none in self._having:
            if (x._grad is None) is not none:
                return False
        found: bool = self._unchanged(scalars)
        return found

    def form(self) -> Any:
        """What it has in common with versions that do the same to other objects; None where that cannot be said."""
        if self._structure is None:
            return None
        return self._structure, *self.gives.form()

    def _looks(self) -> tuple[list[shortcut.Look], Callable[..., bool] | None] | None:
        """What `holds` looks at, for machine code, and a function for the rest of it; None where machine code cannot look."""
        if not shortcut.offered():
            return None
        found, rest = self.reads.looks()
        found += [shortcut.tensor_is(*known) for known in self._known]
        return [*found, *(shortcut.gradient_is(x, none) for x, none in self._having)], rest

    def _guarded(self) -> tuple[Callable[[], bool], Callable[..., bool] | None]:
        """What `holds` asks first: it is made at the first call after the trace, and says no where Python has to look."""
        looks = self._looks()
        guard = None if looks is None else shortcut.guard(looks[0])
        self._guard = (bool, None) if looks is None or guard is None else (guard, looks[1])
        return self._guard

    def missed(self, scalars: Sequence[Any]) -> list[Place]:
        """The places where there are other numbers than when it was traced."""
        return list(self.reads.missed(scalars))

    def broken(self, scalars: Sequence[Any] = ()) -> list[str]:
        """What of what `holds` looks at is not as it was, in words."""
        found = []
        for x, shape, dtype, bare in self._known:
            a = x._a
            if a.shape != shape or a.dtype != dtype:
                found.append(f"a tensor from outside was {dtype}{list(shape)} and is {a.dtype}{list(a.shape)}")
            if (x._node is None) is not bare:
                found.append(f"a tensor of shape {shape} from outside {'wants a' if bare else 'has no more'} gradient")
        for x, none in self._having:
            if (x._grad is None) is not none:
                found.append(f"a tensor of shape {shape_of(x)} from outside has {'a' if none else 'no'} .grad")
        if any(node.hooks is not hooks for node, hooks in self._hooks):
            found.append("a tensor from outside has other hooks")
        if any(x._a.strides != strides for x, strides in self._lies):
            found.append("a tensor from outside lies in memory in another way")
        found += self.reads.broken(scalars)
        if not found and not self.holds(scalars):
            others = ", ".join(map(self.reads.label, self.missed(scalars)))
            found.append(f"a comparison of numbers that vary comes out another way ({others})")
        return found

    def _described(self) -> Iterator[str]:
        for x, shape, dtype, bare in self._known:
            yield f"a {type(x).__name__} from outside is {dtype}{list(shape)} and {'wants no' if bare else 'wants a'} gradient"
        for x, none in self._having:
            yield f"a {type(x).__name__} of shape {shape_of(x)} from outside has {'no' if none else 'a'} .grad"
        yield from self.reads.described()
        if self.measured is not None:
            yield from self.measured.described()

    def run(self, leaves: Sequence[Any], scalars: Sequence[Any] = (), transformed: bool = False) -> Any:
        """The function's result for such arguments; transformed: whether transforms are running."""
        gives = self.gives
        numbers, early = gives.early(scalars)
        try:
            if self._history is not None or transformed:
                found = self._recorded(leaves, numbers, transformed)
            else:
                found = self.compiled(*self._arrays(leaves), *numbers)
        except Exception as problem:
            raise self.as_eager(problem, leaves) from problem.__cause__
        if gives.decides:
            gives.hold(found, early)
        return gives.give(leaves, found, scalars, early)

    def arrays_of(self, found: Sequence[Any]) -> list[Any]:
        """The arrays of the graph's inputs, for the leaves of the arguments of a call."""
        leaves = [x for x in found if isinstance(x, (Value, np.ndarray, np.generic))]
        leaves += [x._grad for x in leaves if isinstance(x, Value) and x._grad is not None]
        given = [leaves[i] for i in self._given]
        arrays = [x._a if isinstance(x, Value) else x for x in given] + [x._a for x in self.captured]
        return [*arrays, *self.gives.early([x for x in found if type(x) in PLAIN])[0]]

    def as_eager(self, problem: Exception, leaves: Sequence[Any]) -> Exception:
        """What the function itself would have raised."""
        classes = [type(x)._result for x in (*leaves, *self.captured) if isinstance(x, Value)]
        return failures.as_eager(problem, next(iter(classes), values.core_class))

    def _arrays(self, leaves: Sequence[Any]) -> list[Any]:
        """The arrays of the graph's inputs; not those of a trace that another thread is in."""
        with LOCK:
            found = [*[leaves[i]._a for i in self._given], *[x._a for x in self.captured]]
        return [x if type(x) is _ndarray else calls.elements(x) for x in found] if ACTIVE else found

    def shortcut(
        self, args: Sequence[Value], places: Sequence[tuple[Any, Any]] = (), counter: np.ndarray | None = None
    ) -> Callable[..., Any] | None:
        """A function of the arguments of a call that does what `run` does, behind what `holds` looks at, or returns MISSED: where
        they are nothing but tensors like these, each another one, without a gradient, and the call leaves nothing behind; None
        elsewhere. It takes a tenth of the time for small arrays.

        places: where else everything has to be as it is now: entries of dicts and lists by their key, and (None) the number of
        entries. counter: one int64, to which each such call adds 1."""
        if type(self.compiled) is pipeline.Growing:  # which is replaced
            return None
        plain_ = all(isinstance(x, Value) for x in self.captured) and all(i < len(args) for i in self._given)
        gives = self.gives
        leaves_behind = gives.leaves_behind or gives.leaves or gives.decides or self._entered
        more = leaves_behind or self._watched or gives.orders or not gives.straight
        if more or not plain_ or pipeline.chosen() != "llvm":
            return None
        looks, then = self._looks(), None
        also = [shortcut.length_is(x, len(x)) if k is None else shortcut.entry_is(x, k, x[k]) for x, k in places]
        if looks is None or None in also:
            return None
        looks[0].extend(look for look in also if look is not None)
        if self._history is not None:
            new = all(kind == "new" and not more[1] and more[2] is None for kind, _, more in gives.kinds)
            if not new or any(x._node is not None and type(x._node) is not Accumulate for x in args):
                return None
            forward, results = self.forward or self._forward(), [(more[0], what) for _, what, more in gives.kinds]
            then = forward.recorder(len(args), self._given, self.captured, results, gives.tree)
        arguments = [shortcut.Given(type(x), x._a.shape, x._a.dtype, type(x._node)) for x in args]
        counter = np.zeros(1, np.int64) if counter is None else counter
        return shortcut.call(
            shortcut.Call(
                arguments, *looks, self._given, self.captured, self.compiled, gives.kinds, gives.tree, counter, then,  # type: ignore[arg-type]
            )
        )  # fmt: skip

    def _recorded(self, leaves: Sequence[Any], numbers: Sequence[np.ndarray], transformed: bool) -> Sequence[Any]:
        """The outputs among transforms and where something wants a gradient: values that have their history."""
        holders = [*(leaves[i] for i in self._given), *self.captured]
        if transformed:
            return self.program([*[x if isinstance(x, Value) else x._a for x in holders], *numbers])
        arrays = [*self._arrays(leaves), *numbers]
        if not state.mode or self._history is None:
            return self.compiled(*arrays)
        with LOCK:
            forward = self.forward or self._forward()
        edges = [*[x._node if isinstance(x, Value) else None for x in holders], *[None for _ in numbers]]
        return forward.called(arrays, edges, [*holders, *numbers], values.core_class, 0)

    def _forward(self) -> calls.Forward:
        """What is called where something wants a gradient, made at the first such call."""
        begun, edges, outputs = self._history
        have: Any = {} if self._natural else None
        made = self.forward = calls.Forward(self.name, self.trace, begun, edges, outputs, have, self.graph.constants)
        return made

    def tried(self, leaves: Sequence[Any], scalars: Sequence[Any] = (), transformed: bool = False) -> Any:
        """What a call would give and leave, without leaving it: arrays, and numbers to be stored and returned."""
        numbers, early = self.gives.early(scalars)
        if transformed:
            found, again = self._recorded(leaves, numbers, transformed), None
        else:
            arrays = [*[x.copy() for x in self._arrays(leaves)], *numbers]
            found, again = self.compiled(*arrays), lambda: straight.one_by_one(self.graph)(*arrays)
        if self.gives.decides:
            self.gives.hold(found, early)
        return Tried((found, *self.gives.computed(found, early)), again, scalars)

    def unlike(self, tried: Tried, leaves: Sequence[Any], out: Any) -> str | None:
        """How what a call of the function itself gave and left differs from what was found for it; None where it does not."""
        return self.gives.unlike(tried, leaves, out, historic=self._history is not None)

    def text(self) -> str:
        """The graph as it was traced, after the passes, and the code that is made of it."""
        after = pipeline.optimised(self.graph)
        return "\n\n".join([str(self.graph), f"after the passes:\n{after}", pipeline.text(after)])

    def __str__(self) -> str:
        return str(self.graph)


def _boxes(x: Any) -> Iterator[Any]:
    """The lists and dicts in something, itself included."""
    if isinstance(x, (list, dict)):
        yield x
    if isinstance(x, (list, dict, tuple)):
        for y in x.values() if isinstance(x, dict) else x:
            yield from _boxes(y)
