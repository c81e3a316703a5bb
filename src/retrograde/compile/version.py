"""`Version`: a function as it was traced once, for arguments of one signature.

While the function runs, the tensors among its arguments and those that it reads from outside hold arrays without elements; so
the trace sees the very objects that the program has: which of them are one and the same, which want a gradient, which are
views. What it leaves in them, arrays, gradients and states of generators, is what every call of the version leaves there.
"""

from __future__ import annotations

import contextlib
import copy as copying
import functools
import operator
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._errors import UnsupportedError
from .._state import LOOKED_AT, OBSERVERS, Observer, grad_mode, state
from .._tree import flatten, unflatten
from ..core import value as values
from ..core.aval import Aval
from ..core.bind import record
from ..core.level import Level
from ..core.node import Accumulate, Node, producer
from ..core.number import Number, Term
from ..core.record import Primitive
from ..core.value import LevelArray, Value, dtype_of, make, shape_of
from ..ops.random import GENERATORS
from ..ops.structural import copy
from ..tape import autograd, inplace, mutation
from ..tape.function import Scratch
from . import call as calls
from . import failures, layout, log, pipeline
from .effects import impure
from .emit import shortcut, straight
from .graph import Graph
from .numbers import (
    APPENDED,
    MISSING,
    PLAIN,
    STORED,
    Kept,
    Place,
    Scratched,
    Written,
    early_terms,
    floats,
    late_leaves,
    mathematics,
    plain,
    same,
    standing_for,
    storable,
    tensors,
    terms_in,
)  # fmt: skip
from .outcomes import Otherwise, Outcomes
from .reads import Reads, Snapshot
from .sizes import CONFIRMED, Axes, Measured, Shapes, numpy_of_sizes
from .sizes import standing as standing_in
from .trace import ACTIVE, LOCK, TRACING, Trace, Traced

_ndarray = np.ndarray


_EXCHANGED = 1 << 12
"""Bytes from which on an array that a call has made takes the place of a tensor's, where nobody else has that: less is copied."""


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


class _Tried(NamedTuple):
    """What a call would give and leave: arrays, numbers that are returned, and a function of what is stored; a function that
    computes the arrays again, by the operations of the graph one after the other; and the numbers that the call was given."""

    compiled: tuple[Any, Any, Any]
    again: Callable[[], Sequence[Any]] | None
    scalars: Sequence[Any]


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
        self._orders: dict[int, layout.Order] = {}
        """The orders in which arrays lie that the function gives, where they are others than compiled code gives."""
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

        def result(kind: str, what: Any, more: Any) -> tuple[str, Any, Any]:
            if kind == "new" and more[2] is not None:
                more = *more[:2], calls.used_up(more[2], of_now)
            elif kind == "view":
                more = of_now(more[0]), *more[1:]
            return kind, of_now(what) if kind == "other" else what, more

        made._results = [result(*x) for x in self._results]
        if self._sized:
            for name in ("_early", "_late"):
                f = getattr(self, name)
                if f is not None:
                    setattr(made, name, types.FunctionType(f.__code__, {**f.__globals__, "sizes": sizes}, None, f.__defaults__))
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
        written = Written(self.reads.scope, self._late_at)
        terms = self._terms()
        self._early, places = written.early(self._entered, early_terms(terms))
        self._late = written.late(self._stores, self._returned, places) if self._returned or self._stores else None
        self._supposed = written.supposed(self._answers, places) if self._answers else None
        self._store = written.storing(self._stores)
        self._numbers = written.form()
        conditions = [(term, outcome) for term, outcome in self.trace.conditions.values() if not term.sized]
        self._unchanged = self.reads.check(written.outcomes(conditions), scalars)
        names = {x for f in (self._early, self._late) if f is not None for x in f.__code__.co_names}
        self._sized = "sizes" in names
        """Whether sizes are in what is computed of numbers."""

    def _terms(self) -> list[Term]:
        """The numbers that each call computes when its arrays are there."""
        stored = [t for _, now in self._stores for t in terms_in(now)]
        return [*self._returned, *stored, *(t for t, _ in self._answers)]

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

        def output(array: Any, node: Any = None) -> int:
            outputs.append(make(values.core_class, array, node))
            return len(outputs) - 1

        known = {id(x): x for x in held.holders}
        owners = {id(g): x for x, g in held.graded() if g is not None}
        outer = {key: GradientOf(x) for key, x in owners.items() if id(x) not in self._positions}

        def place(x: Any) -> Any:
            return self._positions.get(id(x), outer.get(id(x), x))

        self._results: list[tuple[str, Any, Any]] = []
        """Of each leaf of the result, and of each tensor that is stored, what it is: a tensor ("new": its class, whether it is a
        leaf that wants a gradient, and the last operation of a history that a pass inside has used up), one that shares the
        memory of another ("view": of which, and how `_view` makes it), an argument ("given": its position), a tensor from
        outside ("held": itself), a number ("number"), anything else ("other": itself)."""
        self._returned: list[Term] = []
        """The numbers among the leaves of the result."""
        at_hand: dict[int, int] = {}
        """The tensors that go out, by their ids, each with its place among `_results`."""

        def result(y: Any) -> int:
            if id(y) in at_hand:
                return at_hand[id(y)]
            kind = self._kind_of(y, known, place, output, at_hand)
            self._results.append(kind)
            if isinstance(y, Value):
                at_hand[id(y)] = len(self._results) - 1
            return len(self._results) - 1

        def kept(x: Any) -> Any:
            if isinstance(x, Value):
                return Kept(result(x))
            if type(x) in (tuple, list):
                return type(x)([kept(y) for y in x])
            return {key: kept(y) for key, y in x.items()} if type(x) is dict else x

        for root in _roots([*results, *(y for _, now in self._stores for y in flatten(now)[0])]):
            if self._pure and id(root) not in known and type(root._a) is Traced:
                result(root)
        self._order = [result(y) for y in results]
        """Which of `_results` the leaves of the result are."""
        self._stores = [(p, kept(now)) for p, now in self._stores]
        self._straight = self._order == list(range(len(self._results)))
        self._writes = [
            (place(x), output(x._a, x._node if isinstance(x, Value) else None)) for x in held.changed_holders()
        ]  # fmt: skip
        gradients = held.gradients()
        self._gradients = [(place(x), None if g is None else (type(g), output(g._a))) for x, g in gradients]
        decided = trace.outcomes
        self._answers: list[tuple[Term, Any]] = [] if decided is None else list(decided.numbers.values())
        """What Python has asked of numbers that come from arrays, and the answers."""
        self._decided = [] if decided is None else [(output(x), value) for x, value in decided.arrays.values()]
        """Where among the outputs arrays are on which Python has decided, and what they have to hold."""
        self._late_at = {id(t): output(t.array) for t in late_leaves(self._terms())}
        """Where among the outputs the arrays are that numbers come from, by their terms."""
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
        self.decides = bool(self._decided or self._answers)
        """Whether calls are held to outcomes."""
        leaves_behind = self._writes or self._gradients or self._stores or any(not isinstance(x, Value) for x in captured)
        self.clean = not (held.cut or leaves_behind or self.decides)
        """Whether the graph alone says what the derivatives are: nothing was detached, and nothing is left behind."""
        edges = [*[held.leaves.get(id(x)) for x in (*arguments, *captured)], *[None for _ in numbers]]
        begun = [*[held.entered[id(x)] for x in (*arguments, *captured)], *[x for _, (_, x) in numbers]]
        historic = any(isinstance(producer(y._node), Node) for y in outputs) and any(edge is not None for edge in edges)
        self._history: Any = (begun, edges, outputs) if historic else None
        """What the trace has recorded of the outputs, for `Forward`; None where it has recorded nothing."""
        leaves_made = held.new_leaves()
        if leaves_made and any(isinstance(producer(y._node), Node) for y in outputs):
            raise UnsupportedError(f"{trace.what}: a tensor from outside becomes a leaf, and what goes out has a history")
        self._leaves = [place(x) for x in leaves_made]
        """The tensors from outside that become leaves that want a gradient."""
        self.clean = self.clean and not self._leaves
        self._natural = not held.cut
        self.opaque = historic and calls.opaque([y._node for y in outputs])
        """Whether that holds functions of the user's, which would find other tensors than they have seen."""
        self.hooked = historic and calls.hooked([y._node for y in outputs])
        """Whether the function puts hooks on what it computes, which are then called at every pass."""
        touched = [x for x, _ in gradients] + [owners[id(x)] for x in captured if id(x) in owners]
        self._hooks = [
            (node, node.hooks) for x, node, _ in held.before if type(node) is Accumulate and id(x) not in self._positions
        ] if held.passed else []  # fmt: skip
        """Where the gradients of tensors from outside arrive in passes of the function's own, and the hooks there."""
        self._having = [
            (x, g is None) for x, g in held.graded() if id(x) not in self._positions and any(x is y for y in touched)
        ]  # fmt: skip
        """Tensors from outside of which it matters whether they have a gradient, and whether they had none."""

    def _kind_of(
        self, y: Any, known: dict[int, Any], place: Callable[[Any], Any], output: Callable[..., int], at_hand: dict[int, int]
    ) -> tuple[str, Any, Any]:  # fmt: skip
        """What a leaf of the result is: an entry of `_results`."""
        if type(y) is Number:
            self._returned.append(y.term)
            return "number", len(self._returned) - 1, None
        if not isinstance(y, Value):
            return "other", y, None
        if id(y) in self._positions:
            return "given", self._positions[id(y)], None
        if id(y) in known:
            return "held", place(y), None
        if y._grad is not None:
            raise UnsupportedError(f"{self.trace.what} gives a tensor that was made inside and has a .grad")
        shared = self._sharing(y, known, place, at_hand) if self._pure else None
        if shared is not None:
            return shared
        end = calls.end_of(y._node)
        at = output(y._a, None if end is not None else y._node)
        return "new", type(y)._result, (at, type(y._node) is Accumulate, end)

    def _sharing(
        self, y: Value, known: dict[int, Any], place: Callable[[Any], Any], at_hand: dict[int, int]
    ) -> tuple[str, Any, Any] | None:  # fmt: skip
        """A tensor of the result that shares the memory of one that goes out as well, or that comes from outside, as an entry of
        `_results`; None of any other."""
        root, steps = _root(y)
        if root is None:
            return None
        if id(root) in at_hand:
            of = True, at_hand[id(root)]
        elif id(root) in known:
            of = False, place(root)
        else:  # views of something that nobody has found
            for x in known.values():
                before = x._view_steps if isinstance(x, Value) and x._base is root else None
                if before is not None and len(before) <= len(steps) and all(map(operator.is_, before, steps)):
                    root, of, steps = x, (False, place(x)), steps[len(before) :]
                    break
            else:
                return None
        if y._memory is not None:
            return "view", of, (steps, type(y)._result, None, None)
        if calls.end_of(y._node) is not None:
            return None
        recorded = None if y._node is None and root._node is None else y._node is not None
        return "view", of, (steps, None, recorded, y._view_restriction)

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
        results = tuple([(kind, more[0] if kind == "new" else None) for kind, _, more in self._results])
        left = tuple([at for _, at in self._writes]), tuple([None if g is None else g[1] for _, g in self._gradients])
        more = tuple([at for at, _ in self._decided]), len(self._leaves), tuple(self._order), self._numbers
        return self._structure, results, left, more

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
        numbers, early = self._early(scalars)
        try:
            if self._history is not None or transformed:
                found = self._recorded(leaves, numbers, transformed)
            else:
                found = self.compiled(*self._arrays(leaves), *numbers)
        except Exception as problem:
            raise self.as_eager(problem, leaves) from problem.__cause__
        if self.decides:
            self._hold(found, early)
        returned, stored = ((), None) if self._late is None else self._late([_bare(y) for y in found], early)
        if self._orders:
            found = self._laid(found)
        if self._leaves:
            for place in self._leaves:
                autograd.leaf(_found(place, leaves))
        if self._writes or self._gradients:
            self._leave(leaves, found)
        made: list[Any] = []
        for kind in self._results:
            made.append(self._result(kind, leaves, found, returned, made))
        if stored is not None and self._stores:
            self._store(stored(made), scalars)
        return unflatten(self.tree, made if self._straight else [made[i] for i in self._order])

    def _hold(self, found: Sequence[Any], early: Any) -> None:
        """Raise Otherwise where the outputs of a call decide something in another way."""
        for at, value in self._decided:
            if not np.array_equal(_bare(found[at]), value):
                raise Otherwise
        if self._supposed is not None and not self._supposed([_bare(y) for y in found], early):
            raise Otherwise

    def _laid(self, found: Sequence[Any]) -> Sequence[Any]:
        """The outputs of a call as they would lie in memory without the compiler."""
        found = list(found)
        for at, order in self._orders.items():
            y = found[at]
            if type(y) is _ndarray:
                found[at] = layout.laid(y, order)
            elif isinstance(y, Value) and type(y._a) is _ndarray:
                y._a = layout.laid(y._a, order)
        return found

    def arrays_of(self, found: Sequence[Any]) -> list[Any]:
        """The arrays of the graph's inputs, for the leaves of the arguments of a call."""
        leaves = [x for x in found if isinstance(x, (Value, np.ndarray, np.generic))]
        leaves += [x._grad for x in leaves if isinstance(x, Value) and x._grad is not None]
        given = [leaves[i] for i in self._given]
        arrays = [x._a if isinstance(x, Value) else x for x in given] + [x._a for x in self.captured]
        return [*arrays, *self._early([x for x in found if type(x) in PLAIN])[0]]

    def as_eager(self, problem: Exception, leaves: Sequence[Any]) -> Exception:
        """What the function itself would have raised."""
        classes = [type(x)._result for x in (*leaves, *self.captured) if isinstance(x, Value)]
        return failures.as_eager(problem, next(iter(classes), values.core_class))

    def _arrays(self, leaves: Sequence[Any]) -> list[Any]:
        """The arrays of the graph's inputs; not those of a trace that another thread is in."""
        with LOCK:
            found = [*[leaves[i]._a for i in self._given], *[x._a for x in self.captured]]
        return [x if type(x) is _ndarray else calls.elements(x) for x in found] if ACTIVE else found

    def shortcut(self, args: Sequence[Value]) -> Callable[..., Any] | None:
        """A function of the arguments of a call that does what `run` does, behind what `holds` looks at, or returns MISSED: where
        they are nothing but tensors like these, each another one, without a gradient, and the call leaves nothing behind; None
        elsewhere. It takes a tenth of the time for small arrays."""
        if type(self.compiled) is pipeline.Growing:  # which is replaced
            return None
        plain_ = all(isinstance(x, Value) for x in self.captured) and all(i < len(args) for i in self._given)
        leaves_behind = self._writes or self._gradients or self._stores or self._entered
        more = leaves_behind or self._leaves or self._watched or self._orders or self.decides or not self._straight
        if more or not plain_ or pipeline.chosen() != "llvm":
            return None
        looks, then = self._looks(), None
        if looks is None:
            return None
        if self._history is not None:
            new = all(kind == "new" and not more[1] and more[2] is None for kind, _, more in self._results)
            if not new or any(x._node is not None and type(x._node) is not Accumulate for x in args):
                return None
            forward, results = self.forward or self._forward(), [(more[0], what) for _, what, more in self._results]
            then = forward.recorder(len(args), self._given, self.captured, results, self.tree)
        arguments = [shortcut.Given(type(x), x._a.shape, x._a.dtype, type(x._node)) for x in args]
        return shortcut.call(
            shortcut.Call(arguments, *looks, self._given, self.captured, self.compiled, self._results, self.tree, then)  # type: ignore[arg-type]
        )

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
        numbers, early = self._early(scalars)
        if transformed:
            found, again = self._recorded(leaves, numbers, transformed), None
        else:
            arrays = [*[x.copy() for x in self._arrays(leaves)], *numbers]
            found, again = self.compiled(*arrays), lambda: straight.one_by_one(self.graph)(*arrays)
        if self.decides:
            self._hold(found, early)
        returned, stored = ((), None) if self._late is None else self._late([_bare(y) for y in found], early)
        return _Tried((found, returned, stored), again, scalars)

    def unlike(self, tried: _Tried, leaves: Sequence[Any], out: Any) -> str | None:
        """How what a call of the function itself gave and left differs from what was found for it; None where it does not.

        Rounding may decide a value (Adam makes a whole step of a gradient that is nothing else): where the graph, operation by
        operation, gives what the function gives, or differs as much from compiled code, that is no difference."""
        found, returned, stored = tried.compiled
        others: list[Any] = []

        def agree(at: int, y: Any) -> bool:
            if close(found[at], y):
                x = _bare(found[at])
                if type(x) is type(y) is _ndarray and (order := layout.order_of(y)) != layout.order_of(x):
                    self._orders[at] = order
                return True
            if tried.again is None:
                return False
            others[:] = others or tried.again()
            return close(others[at], y) or _undetermined(found[at], others[at], y)

        results, tree = flatten(out)
        if tree != self.tree:
            return "a result of another structure"
        kept: list[Any] = [None] * len(self._results)
        """What each of `_results` is here."""
        for i, y in zip(self._order, results):
            if kept[i] is not None and y is not kept[i]:
                return "two tensors in place of one"
            kept[i] = y
        left = [] if stored is None else stored([Kept(i) for i in range(len(kept))])
        for (place, _), x in zip(self._stores, left):
            if not place.there(tried.scalars) or not _same_but(x, place.now(tried.scalars), kept):
                return "another number or tensor in what it stores"
        for (kind, what, more), y in zip(self._results, kept):
            if y is None and kind != "other":  # that of which others are views
                continue
            if kind == "view":
                root = kept[what[1]] if what[0] else _found(what[1], leaves)
                if root is None:
                    continue
                like = _view(root, *more)
                if not isinstance(y, Value) or not close(like._a, y._a) or _shares(like, root) is not _shares(y, root):
                    return "a tensor that shares no memory, or other memory"
            elif kind == "new":
                if not isinstance(y, Value) or not agree(more[0], y._a):
                    return "another value"
                if y._node is not None and not (more[1] or more[2] is not None or self._history is not None):
                    return "a history with what was made inside"
            elif kind == "number":
                if not _alike(returned[what], y):
                    return "another number"
            elif kind == "other":
                if not (y is what or (type(y) is type(what) and bool(np.all(y == what)))):
                    return f"{y!r} in place of {what!r}"
            elif y is not _found(what, leaves):
                return "another object"
        for place, at in self._writes:
            if not agree(at, _found(place, leaves)._a):
                return "another value of what it writes"
        for place, left in self._gradients:
            gradient = _found(place, leaves)._grad
            if (gradient is None) != (left is None) or (left is not None and not agree(left[1], gradient._a)):
                return "another gradient"
        return None

    def _result(
        self, result: tuple[str, Any, Any], leaves: Sequence[Any], found: Sequence[Any], returned: Sequence[Any],
        made: Sequence[Any],
    ) -> Any:  # fmt: skip
        kind, what, more = result
        if kind == "new":
            at, wants, end = more
            y = values.as_value(what, found[at])
            if wants:
                autograd.leaf(y)
            elif end is not None and state.mode:
                y._node = calls.used_up(end)
            return y
        if kind == "number":
            return returned[what]
        if kind == "view":
            return _view(made[what[1]] if what[0] else _found(what[1], leaves), *more)
        return what if kind == "other" else _found(what, leaves)

    def _leave(self, leaves: Sequence[Any], found: Sequence[Any]) -> None:
        """Write into holders what the call leaves there."""
        targets, arrays = list[np.ndarray](), list[np.ndarray]()  # of what can be written together
        for place, at in self._writes:
            new, holder = found[at], _found(place, leaves)
            if type(new) is _ndarray and isinstance(holder, Value) and type(holder._a) is _ndarray:
                if new.nbytes < _EXCHANGED or not mutation.exchanged(holder, new):
                    targets.append(holder._a)
                    arrays.append(new)
                continue
            mutation.write_all(targets, arrays)
            targets, arrays = [], []
            self._leave_one(holder, new)
        mutation.write_all(targets, arrays)
        with grad_mode(False):
            found = [y._a if isinstance(y, Value) else y for y in found]
            for place, left in self._gradients:
                holder = _found(place, leaves)
                holder._grad = None if left is None else make(left[0], found[left[1]])

    def _leave_one(self, holder: Any, new: Any) -> None:
        if isinstance(new, Value) and new._node is not None:
            new = values.as_value(type(holder)._result, new)
            inplace.assign(self.name, holder, new, new._node.seq - 1)
            return
        if isinstance(new, Value):
            new = new._a
        if isinstance(holder, Value) and type(holder._a) is Traced:
            holder._a.trace.before_change(holder)
        if isinstance(holder, Value) and type(holder._a) is _ndarray:
            mutation.write(holder._a, new)
        else:
            holder._a = new

    def text(self) -> str:
        """The graph as it was traced, after the passes, and the code that is made of it."""
        after = pipeline.optimised(self.graph)
        return "\n\n".join([str(self.graph), f"after the passes:\n{after}", pipeline.text(after)])

    def __str__(self) -> str:
        return str(self.graph)


def _root(y: Any) -> tuple[Any, Any]:
    """The tensor whose memory another one shares, and the steps from it; None and nothing where there is none."""
    return (y._memory or (y._base, y._view_steps)) if isinstance(y, Value) else (None, ())


def _roots(going: Sequence[Any]) -> list[Any]:
    """The tensors of which several that go out share the memory, or which go out themselves."""
    found = {id(y): y for y in going if isinstance(y, Value)}
    roots = {id(y): root for y in found.values() if (root := _root(y)[0]) is not None}
    counts: dict[int, int] = {}
    for root in roots.values():
        counts[id(root)] = counts.get(id(root), 0) + (2 if id(root) in found else 1)
    return list({id(root): root for root in roots.values() if counts[id(root)] > 1}.values())


def _view(root: Value, steps: Any, cut: type[Value] | None, recorded: bool | None, restriction: Any) -> Value:
    """What shares the memory of a tensor: of a class, without history (cut), or as a view; recorded: whether that is recorded,
    whatever the mode is."""
    if cut is not None:
        with grad_mode(False):
            return make(cut, inplace.replay(root, steps)._a)
    with contextlib.nullcontext() if recorded is None else grad_mode(recorded):
        y: Value = inplace.replay(root, steps)
    if restriction is not None:
        y._view_restriction = restriction
    return y


def _shares(x: Value, root: Any) -> bool:
    return isinstance(root, Value) and bool(np.may_share_memory(calls.elements(_bare(x)), calls.elements(_bare(root))))


def _same_but(x: Any, y: Any, kept: list[Any]) -> bool:
    """Whether what a call stores is what the function has stored; its tensors are put into `kept`, or are found there."""
    if type(x) is Kept:
        if kept[x.at] is None:
            kept[x.at] = y
        return y is kept[x.at]
    if type(x) in (tuple, list, dict):
        if type(y) is not type(x) or len(x) != len(y):
            return False
        if type(x) is dict:
            return all(key in y and _same_but(z, y[key], kept) for key, z in x.items())
        return all(_same_but(z, w, kept) for z, w in zip(x, y))
    return _alike(x, y)


def _boxes(x: Any) -> Iterator[Any]:
    """The lists and dicts in something, itself included."""
    if isinstance(x, (list, dict)):
        yield x
    if isinstance(x, (list, dict, tuple)):
        for y in x.values() if isinstance(x, dict) else x:
            yield from _boxes(y)


def _bare(x: Any) -> Any:
    return x._a if isinstance(x, Value) else x


def _alike(x: Any, y: Any) -> bool:
    """Whether two numbers, or containers of numbers and such, are the same but for the rounding of float32."""
    if type(x) is not type(y):
        return False
    if type(x) in (tuple, list):
        return len(x) == len(y) and all(map(_alike, x, y))
    return same(x, y) or (isinstance(x, float) and close(np.asarray(x, np.float32), np.asarray(y, np.float32)))


def close(x: Any, y: Any) -> bool:
    """Whether two arrays hold the same numbers but for rounding."""
    if type(x) is not _ndarray or type(y) is not _ndarray:
        return calls.alike(x, y, close)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if x.dtype.kind not in "fc" and x.dtype.name != "bfloat16":
        return bool(np.array_equal(x, y))
    digits = np.finfo(x.dtype).eps if x.dtype.kind in "fc" else 2.0**-8
    x, y = (np.asarray(z, np.complex128 if x.dtype.kind == "c" else np.float64) for z in (x, y))
    scale = float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
    return bool(np.allclose(x, y, rtol=float(digits) ** 0.5, atol=float(digits) ** 0.5 * scale, equal_nan=True))


def _undetermined(x: Any, y: Any, z: Any) -> bool:
    """Whether a third array differs from two that are the same but for rounding about as much as these do from each other."""
    if close(x, y) or x.shape != z.shape or x.dtype != z.dtype or x.dtype.kind != "f":
        return False
    apart, off = (float(np.max(np.abs(np.subtract(a, b, dtype=np.float64)), initial=0.0)) for a, b in ((x, y), (x, z)))
    return off <= 4 * apart


class GradientOf:
    """The place of a gradient: that of a tensor from outside, whatever tensor it is by now."""

    __slots__ = ("of",)

    def __init__(self, of: Value) -> None:
        self.of = of

    @property
    def _a(self) -> Any:
        return self.of._grad._a


def _found(place: Any, leaves: Sequence[Any]) -> Any:
    """The holder at a place: an argument by its position, a gradient, or the holder itself."""
    if type(place) is int:
        return leaves[place]
    return place.of._grad if type(place) is GradientOf else place


class Substituted(Observer):
    """While the function is traced: holders with traced arrays in the place of theirs, leaves without history in the place of
    what has one, and a watch over memory that is written beside the trace."""

    def __init__(self, trace: Trace, leaves: list[Any], outside: list[Any]) -> None:
        self.trace = trace
        for x in (*leaves, *outside):  # what a deferred call has left where nobody looked
            if type(x._a) is Traced and not x._a.trace.open and x._a.value is not None:
                x._a = x._a.value
        outside = [x for x in outside if not isinstance(x, Value) or isinstance(x._a, (_ndarray, LevelArray, Value, Traced))]
        self.holders = trace.holders = [*leaves, *outside]
        self.entered: dict[int, Any] = {}
        """What each holder was given, by its id."""
        self.arrays = {id(x): x._a for x in self.holders}
        """The arrays that they had."""
        self.leaves: dict[int, Any] = {}
        """The edge of each holder that wants a gradient, by its id."""
        self.passed = False
        """Whether a backward pass has run."""
        self.cut = False
        """Whether something was computed that has another derivative than the graph says."""
        self._written: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}

    def __enter__(self) -> Substituted:
        self.before = [(x, x._node, x._grad) if isinstance(x, Value) else (x, None, None) for x in self.holders]
        ACTIVE.append(self.trace)
        self._at = [(x, x._level) for x in self.holders if isinstance(x, Value) and x._level]
        TRACING.now, self._outer = self.trace, getattr(TRACING, "now", None)
        try:
            own = {id(x) for x in self.holders}
            views = [x for x in self.holders if isinstance(x, Value) and x._base is not None and id(x._base) in own]
            apart = {id(x) for x in views}
            for x in self.holders:
                if id(x) in apart:
                    continue
                array = self.arrays[id(x)]
                if isinstance(array, Value):
                    array = Aval(tuple(shape_of(array)), dtype_of(array))
                x._a = self.entered[id(x)] = self.trace.begin(array, x)
                if isinstance(x, Value):
                    x._level = 0
                    if self.trace.leaves and x._node is not None:
                        self._begin_history(x)
            for x in views:
                x._a = inplace.replay(make(values.core_class, x._base._a), x._view_steps)._a
            level = Level(self.trace.what)
            level.adopt = self.trace.adopt
            self._level = level.open()
            self._level.__enter__()
            OBSERVERS.append(self)
            LOOKED_AT.append(1)
        except BaseException:
            self._restore()
            raise
        return self

    def _begin_history(self, x: Value) -> None:
        """Let the history of a tensor begin here: a leaf stays one, what was computed is computed from one."""
        edge = x._node
        if type(edge) is not Accumulate:
            begin = make(values.core_class, x._a)
            autograd.leaf(begin)
            edge = begin._node
            x._node = record(copy.prim, {}, (edge,), (x._a,), x._a) or edge
        elif id(x) in self.trace.shapes:
            if edge.hooks is not None:
                raise UnsupportedError("an argument whose size varies has hooks")
            own, edge = edge, Accumulate(x, shape_of(x), edge.dtype)
            edge.leaf, edge.seq, x._node = own.leaf, own.seq, edge
        self.leaves[id(x)] = edge

    def __exit__(self, *exception: Any) -> None:
        OBSERVERS.remove(self)
        LOOKED_AT.pop()
        self._level.__exit__(*exception)
        self._restore()

    def _restore(self) -> None:
        TRACING.now = self._outer
        ACTIVE.remove(self.trace)
        self.trace.open = False
        for x, node, gradient in self.before:
            x._a = self.arrays[id(x)]
            if isinstance(x, Value) and self.trace.leaves:
                x._level = 0
                x._node = node
                if gradient is None:
                    x.__dict__.pop("_grad", None)
                else:
                    x._grad = gradient

        for x, level in self._at:
            x._level = level

    def changed_holders(self) -> list[Any]:
        """The holders that hold another array than they were given."""
        return [x for x in self.holders if id(x) in self.entered and x._a is not self.entered[id(x)]]

    def graded(self) -> list[tuple[Any, Any]]:
        """The tensors, and the gradient that each had before."""
        return [(x, g) for x, _, g in self.before if isinstance(x, Value)]

    def new_leaves(self) -> list[Value]:
        """The tensors from outside that have become leaves that want a gradient. Raises where one is none any more."""
        found = []
        for x, node, _ in self.before:
            if isinstance(x, Value) and type(node) is Accumulate and type(x._node) is not Accumulate:
                raise UnsupportedError(f"{self.trace.what}: a tensor from outside wants no gradient any more")
            if isinstance(x, Value) and node is None and type(x._node) is Accumulate:
                found.append(x)
        return found

    def gradients(self) -> list[tuple[Any, Any]]:
        """The holders that have another `.grad` than before, and it."""
        return [(x, x._grad) for x, _, before in self.before if isinstance(x, Value) and x._grad is not before]

    # ---------------------------------------------------------------------------------------- history

    def operation(self, prim: Any, operands: Any, params: Any, results: Any, node: Any) -> None:
        if node is None:
            made = results if isinstance(results, tuple) else (results,)
            wanting = any(isinstance(x, Value) and x._node is not None for x in operands)
            self.cut |= wanting and prim.differentiable and any(dtype_of(y).kind not in "iub" for y in made)
        else:
            self.cut |= not isinstance(node.prim, Primitive)

    def detached(self, x: Any) -> None:
        self.cut = True

    def pass_begins(self, run: Any, roots: Any, gradients: Any, inputs: Any) -> None:
        self.passed = True
        self.cut |= not run.level and not run.create_graph

    # ---------------------------------------------------------------------------------------- memory written beside the trace

    def assigning(self, target: Any, new: Any) -> None:
        self.writing(target)

    def writing(self, array: Any) -> None:
        if type(array) is _ndarray and getattr(TRACING, "now", None) is self.trace:
            self.trace.settle(array)
            owner = mutation.owner_of(array)
            if isinstance(owner, _ndarray) and id(owner) not in self._written:
                self._written[id(owner)] = weakref.ref(owner), owner.copy()

    def refuse_hidden_writes(self, constants: Sequence[np.ndarray]) -> None:
        """Raise where something was written that is still there when the function's results are gone, but for the graph's
        constants: it was not made by the function."""
        for reference, array in self.trace.replaced:
            value = reference()
            if value is not None and id(value) not in self.arrays and type(value._a) is Traced:
                value._a = array
                self._hidden(array)
        owners = [mutation.owner_of(x) for x in constants]
        for reference, before in self._written.values():
            owner = reference()
            ours = sum((3 if x is owner else 2) * (y is owner) for x, y in zip(constants, owners))  # references to it
            if owner is not None and sys.getrefcount(owner) > 2 + ours:
                np.copyto(owner, before)
                self._hidden(owner)
        self._written.clear()

    def _hidden(self, array: np.ndarray) -> NoReturn:
        raise UnsupportedError(
            f"{self.trace.what}: the function writes into a tensor of shape {array.shape} from outside that is found neither "
            "among its arguments nor through its closure, globals or attributes; pass it as an argument"
        )
