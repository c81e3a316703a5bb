"""The backward pass.

`run` walks the recorded graph from the roots in descending order of the global clock, which is a topological order:
a node's operands are always older than the node. Only nodes between roots and inputs are visited. Called by
tape/autograd.py (the tape API of all dialects) and by the functional transforms.

Rules run on raw arrays when no graph of the derivative is wanted, on core values otherwise; both go through the same
`pull` of each primitive.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from .._errors import FreedGraphError, GradError, MutationError
from .._state import OBSERVERS, recording, refresh, set_mode, settle, state
from ..backend import backend_of
from ..backend.devices import CROSSED
from ..backend.numpy import FLOAT_ERRORS, IGNORED, Silent
from ..core import large
from ..core import value as values
from ..core.arrays import full
from ..core.bind import KERNEL_ERRORS
from ..core.level import is_tape, tape_of
from ..core.node import FREED, Accumulate, Node, Slot, producer
from ..core.notation import written
from ..core.policy import TapePolicy
from ..core.record import Primitive
from ..core.scattered import Scattered, merged
from ..core.value import Value, dtype_of, error_type, level_of, make, shape_of
from ..ops import rules
from ..ops.reduction import sum as sum_
from ..ops.structural import cast, copy, real, reshape
from . import mutation

_ndarray = np.ndarray
_accumulate_lock = threading.Lock()
_NOTHING: Any = frozenset()


class Run:
    """One backward pass: what it needs beside the graph, what has arrived where, and which leaves are complete after which
    node."""

    __slots__ = (
        "cls", "policy", "level", "wrap", "create_graph", "retain_graph", "accumulate", "captured", "check_nan", "number",
        "at_end", "wanted", "others", "begun", "grads", "finish", "depth", "pulling", "filled",
    )  # fmt: skip

    def __init__(self, cls: type[Value], level: int, wrap: bool, create_graph: bool, retain_graph: bool,
                 accumulate: bool, wanted: set[Any] | None, others: bool, begun: Sequence[Any]) -> None:  # fmt: skip
        self.cls, self.policy, self.level, self.wrap = cls, cls._policy, level, wrap
        self.create_graph, self.retain_graph, self.accumulate = create_graph, retain_graph, accumulate
        self.wanted, self.others = wanted, others
        self.begun = begun  # the roots that were given, of which those of the walk may be further down
        self.captured: dict[Any, Any] = {}
        self.grads: dict[Any, Any] = {}
        self.finish: dict[Node, list[Any]] = {}
        self.check_nan = state.anomaly and state.check_nan
        self.number = _passes()
        self.pulling: Any = None
        """The node whose rule runs, where somebody may ask."""
        self.depth = 0
        """In how many passes of its thread it takes place: a rule may begin another one."""
        self.filled: list[Any] = []
        """The zeros that stand for gradients that have not come (`TapePolicy.fills_missing_gradients`)."""
        self.at_end: list[Callable[[], None]] = []
        """What is called when this pass has ended without an error."""

    def shown(self, g: Any, cls: type[Value] | None = None) -> Any:
        """A gradient as a value that user code may see."""
        return None if g is None else values.as_value(cls or self.cls, g)

    def taken(self, value: Any) -> Any:
        """What user code gave back as a gradient, as rules see it."""
        if self.wrap:
            return values.as_core(value)
        return value._a if value._level == self.level else values.content(value)

    def walk(
        self, roots: Sequence[Any], gradients: Sequence[Any], order: list[Node], last: dict[Any, Node | None],
        needs_of: dict[Node, tuple[Any, ...]] | None, stop: frozenset[Any],
    ) -> None:  # fmt: skip
        """Visit the nodes, newest first."""
        grads, finish, wanted = self.grads, self.finish, self.wanted
        for edge, g in zip(roots, gradients):
            _add(grads, edge, g)
        for leaf, user in last.items():
            if user is None:
                self.complete((leaf,))
            elif user in finish:
                finish[user].append(leaf)
            else:
                finish[user] = [leaf]
        retain, frees_all = self.retain_graph, self.policy.frees_all
        pending = {producer(edge) for edge in wanted if type(edge) is not Accumulate} if wanted else _NOTHING
        plain = not (self.wrap or self.check_nan or stop or pending or OBSERVERS)
        fitted, add, pop, checked = _fitted(self.cls), _add, grads.pop, mutation.latest
        changed = False  # whether something was written since: by a hook or a custom rule, which the plain steps do not call
        for node in order:
            g = pop(node, None)
            if g is not None:
                step = node.step
                if plain and step is not None and (needs_of is None or needs_of.get(node) is node.edges):
                    if changed:
                        _refuse_changed((node,), self.cls)
                    try:
                        step(node, g, grads, fitted, add)
                    except KERNEL_ERRORS as error:
                        _fail(self.cls, node, error)
                    if not retain and (frees_all or node.saved):
                        node.saved = FREED
                else:
                    self.visit(node, g, node.edges if needs_of is None else needs_of.get(node), pending, stop)
                    changed = mutation.latest != checked
                g = None
            if node in finish:
                leaves = finish[node]
                if self.policy.serves_second_first and len(node.edges) == 2:
                    leaves.reverse()
                self.complete(leaves)
                changed = mutation.latest != checked

    def complete(self, leaves: Sequence[Any]) -> None:
        """The gradients of these leaves are complete."""
        for leaf in leaves:
            if leaf in self.grads:
                _arrive(self, leaf, self.grads, self.wanted, self.others)

    def visit(self, node: Node, g: Any, needs: Any, pending: set[Any], stop: frozenset[Any]) -> None:
        """One node with everything that the plain loop leaves out."""
        hooks = node.hooks
        if needs is None and node not in pending:
            if hooks is not None and any(producer(root) is node for root in self.begun):
                hooks.seen(self, g)
            return  # nothing that was asked for lies below: hooks are called where the pass begins, and nowhere else
        if type(g) is list and self.policy.fills_missing_gradients and isinstance(node.prim, Primitive):
            like = next(part for part in g if part is not None)
            made = [full(shape, 0, dtype, like) if part is None and dtype.kind not in "iub" else None
                    for part, (shape, dtype) in zip(g, node.outs)]  # fmt: skip
            self.filled.extend(part for part in made if part is not None)
            g = [own if part is None else part for own, part in zip(made, g)]
        if OBSERVERS:
            g = [*map(_in_memory, g)] if type(g) is list else _in_memory(g)
        hooked = self.policy.captures_hooked
        captured = node in pending and not hooked
        if captured and needs is not None:  # where the pass goes on below, what its hooks make of it goes on only
            _capture(self, node, g, self.wanted)
        if hooks is not None:
            g = hooks.seen(self, g)
        if captured and needs is None:
            _capture(self, node, g, self.wanted)
        if hooks is not None and hooks.pre and (needs is not None or hooked or self.accumulate):
            g = hooks.before(self, g)
        if g is None:
            return
        if hooked and node in pending:
            _capture(self, node, g, self.wanted)
        for observer in OBSERVERS:
            observer.pulled(self, node, g)
        if needs is None:
            return
        if node.saved is FREED:
            raise error_type(self.cls, FreedGraphError)(f"{describe(node)} was freed during the backward pass")
        if mutation.latest > node.seq:
            _refuse_changed((node,), self.cls)
        self.pulling = node
        _pull(self, node, hooks, tuple(g) if type(g) is list else g, self.grads, needs, stop)
        if not self.retain_graph and (node.saved or self.policy.frees_all):
            node.saved = FREED


_passes = itertools.count().__next__
"""Numbers the passes in which somebody may ask for their number."""


def current_run() -> Run:
    """The backward pass that is running in this thread; raises RuntimeError outside of one."""
    if state.run is None:
        raise RuntimeError("there is no backward pass running in this thread")
    return state.run


@functools.lru_cache(maxsize=1024)
def stretched(have: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes of shape `have` that came about where something of `shape` was broadcast to it; None where it cannot be."""
    extra = len(have) - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, have[extra:])):
        return None
    return (*range(extra), *(i + extra for i, n in enumerate(shape) if n == 1 and have[i + extra] != 1))


def fit(g: Any, edge: Any, cls: type[Value] = Value) -> Any:
    """A cotangent in the shape and dtype of what it belongs to: summed over broadcast axes, real part where real. Where
    integers have one, it stays as it came: what loses its fraction there is for the dialect that wants it to say."""
    shape, dtype = edge.shape, edge.dtype
    have = shape_of(g)
    if have != shape:
        axes = stretched(tuple(have), tuple(shape))
        if axes is None:
            raise error_type(cls, GradError)(
                f"a cotangent of shape {tuple(have)} does not fit an operand of shape {tuple(shape)}"
            )
        g = sum_(g, axis=axes, keepdims=False)
        if type(g) is _ndarray:
            g = g.reshape(shape)
        elif shape_of(g) != shape:
            g = reshape(g, shape=tuple(shape))
    have_dtype = dtype_of(g)
    if have_dtype is not dtype and have_dtype != dtype:
        if have_dtype.kind == "c" and dtype.kind != "c":
            g = real(g)
        if dtype_of(g) != dtype and dtype.kind not in "iub":
            g = cast(g, dtype=dtype)
    return g


_fitted: Any = functools.cache(lambda cls: functools.partial(fit, cls=cls))
"""`fit` for the users of a class."""


def discover(
    roots: Sequence[Any], stop: frozenset[Any] | set[Any], since: int = 0
) -> tuple[list[Node], dict[Any, Node | None]]:
    """The nodes reachable from the roots, newest first, and the leaves with the node that uses each last.

    A leaf that is a root itself and nothing else has None there. Edges in `stop` are not followed, nor are those to
    nodes recorded before clock reading `since`.
    """
    seen: set[Node] = set()
    order: list[Node] = []
    before, ordered = math.inf, True
    last: dict[Any, Node | None] = {edge: None for edge in roots if type(edge) is Accumulate}
    stack = [producer(edge) for edge in roots if type(edge) is not Accumulate and edge.seq >= since]
    while stack:
        node = stack.pop()
        while node not in seen:  # one producer is followed at once: a chain never touches the stack
            seen.add(node)
            order.append(node)
            seq = node.seq
            if seq > before:
                ordered = False
            before = seq
            onwards = None
            for edge in node.edges:
                if edge is None or (stop and edge in stop):
                    continue
                kind = type(edge)
                if kind is Accumulate:
                    user = last.get(edge)
                    if user is None or node.seq < user.seq:
                        last[edge] = node
                    continue
                if since and edge.seq < since:
                    continue
                if onwards is not None:
                    stack.append(onwards)
                onwards = edge if kind is Node else edge.node
            if onwards is None:
                break
            node = onwards
    if not ordered:
        order.sort(key=_seq, reverse=True)
    return order, last


_seq = operator.attrgetter("seq")


def _refuse_freed(nodes: Iterable[Node], cls: type[Value]) -> None:
    """Refuse a graph of which an operation to be differentiated is free already, before anything is done."""
    for node in nodes:
        if node.saved is FREED:
            raise error_type(cls, FreedGraphError)(
                f"this graph has been through a backward pass already, which freed what {describe(node)} had saved; compute "
                "anew what is differentiated (of a state that is carried from step to step, go on with its detach()), or "
                "pass retain_graph=True to the earlier pass"
                + _recorded(node)
            )


def _refuse_changed(nodes: Iterable[Node], cls: type[Value]) -> None:
    """Refuse operations of which a saved value has been changed in place: all of a graph before anything is done, and one
    that is about to be pulled where something was written since (a hook may write what it likes)."""
    for node in nodes:
        if node.saved and node.packed is None:
            for array in node.saved:
                if array is not None and (node.stale or _changed(array, node.seq)):
                    if state.anomaly:
                        _tell(node)
                    raise error_type(cls, MutationError)(_changed_text(node, array))


def _changed_text(node: Node, array: Any) -> str:
    place = "" if type(array) is tuple else mutation.place_of_change(array)
    result = node.saved[-1] is array and len(node.saved) > len(node.edges)
    leaf = any(x is array and type(edge) is Accumulate for x, edge in zip(node.saved, node.edges))
    remedy = (
        "it is a leaf, such as an optimiser's step() changes: step after the last backward pass that goes through it, or compute "
        "what is differentiated anew"
        if leaf else
        "change a clone() instead, or write the change out of place (y = y + 1)"
    )  # fmt: skip
    return (
        f"the derivative of {describe(node)} needs {'its result' if result else 'an operand'}, of shape {shape_text(array)}, "
        f"as it was, but it was changed in place {f'by {place} ' if place else ''}after that; {remedy}"
        + (_recorded(node) or f"{_suspects(node, result)}; retrograde.autograd.detect_anomaly() names both lines for certain")
    )


def _suspects(node: Node, result: bool) -> str:
    from .suspects import suspects  # only an error needs it

    return suspects(node.prim, result)


def _recorded(node: Node) -> str:
    """Where an operation was recorded, as the end of a message, where that is known: under anomaly mode."""
    return f"\n{describe(node)} was recorded here:\n{node.trace}" if node.trace else ""


def _changed(array: Any, seq: int) -> bool:
    if type(array) is tuple:
        return any(x is not None and _changed(x, seq) for x in array)
    return mutation.changed_after(array, seq)


def shape_text(array: Any) -> str:
    """The shape of a saved value for a message."""
    return str([shape_text(x) for x in array if x is not None]) if type(array) is tuple else str(tuple(shape_of(array)))


def describe(node: Any) -> str:
    """A node for a message: the operation as a program writes it."""
    return written(node.prim, node.params) if isinstance(node, Node) else "a leaf"


def plan(order: list[Node], wanted: set[Any]) -> dict[Node, tuple[Any, ...]]:
    """For the nodes that lie above a wanted edge: their edges, with None for those that lead nowhere wanted."""
    needs: dict[Node, tuple[Any, ...]] = {}
    for node in reversed(order):
        flags = tuple([
            edge if edge is not None and (edge in wanted or producer(edge) in needs) else None for edge in node.edges
        ])  # fmt: skip
        if flags == node.edges:  # the node's own tuple says to the walk that nothing is left out
            flags = node.edges
        if flags.count(None) != len(flags):
            needs[node] = flags
    return needs


def run(
    roots: Sequence[Any],
    gradients: Sequence[Any],
    *,
    cls: type[Value],
    level: int = 0,
    inputs: Sequence[Any] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    accumulate: bool = True,
    stop: frozenset[Any] = frozenset(),
    others: bool = False,
    since: int = 0,
) -> list[Any]:
    """Pull `gradients` (one per root edge) back through the graph.

    Without `inputs`, every leaf reached accumulates. With `inputs` (edges), their cotangents are returned in order,
    None where unreachable; with `accumulate` they are added to the leaves' `.grad` as well, and with `others` every
    other leaf accumulates too. Edges in `stop` are treated as constants, and so is what was recorded before clock
    reading `since`.

    Raises FreedGraphError or MutationError (as the type that `cls` documents) before anything is changed.
    """
    begun, seeds, policy = roots, gradients, cls._policy
    passed: list[Node] = []  # what was pulled ahead: freed when it is sure that the pass is not refused further down
    if (
        inputs is None and len(roots) == 1 and type(gradients[0]) is _ndarray
        and not (create_graph or level or stop or others or since or state.anomaly or OBSERVERS or CROSSED)
    ):  # fmt: skip
        before = FLOAT_ERRORS.set(IGNORED)  # as `Silent` does it
        try:
            arrived = _ahead(roots[0], gradients[0], None, None, cls, None if retain_graph else passed)
            for edge in arrived:
                if type(edge) is not Accumulate or edge.hooks is not None:
                    break
            else:
                for edge in [*arrived]:
                    if not _added(edge, arrived[edge]):
                        _fill(edge, [arrived.pop(edge)], policy, False)
                if passed:
                    _free(passed, policy)
                return []
        finally:
            FLOAT_ERRORS.reset(before)
        roots, gradients = _arrivals(arrived)
    wrap = create_graph or bool(CROSSED) or (level != 0 and not is_tape(level))
    for g in gradients:
        # Another library's arrays need no operators: rules compute with values around them.
        wrap = wrap or (g._level >= level if isinstance(g, Value) else type(g) not in (_ndarray, Scattered))
    if wrap:
        gradients = [values.as_value(values.core_class, g) for g in gradients]
    leaves: frozenset[Any] | None = None  # those that are asked for, where the pass goes ahead to several
    with Silent():
        if (
            inputs and len(roots) == 1 and not (accumulate or wrap or stop or others or since or state.anomaly or OBSERVERS)
            and (len(inputs) == 1 or (leaves := _plain_leaves(inputs)) is not None)
        ):  # fmt: skip
            arrived = _ahead(
                roots[0], gradients[0], inputs[0] if leaves is None else None, leaves, cls, None if retain_graph else passed
            )
            if leaves is not None:
                if leaves.issuperset(arrived):
                    _free(passed, policy)
                    return list(map(arrived.get, inputs))
                roots, gradients = _arrivals(arrived)
            else:
                roots, gradients = _arrivals(arrived)
                if not roots:
                    return [None]
                edge = roots[0]
                if type(edge) is Accumulate and len(roots) == 1 and (policy.captures_hooked or edge.hooks is None):
                    if edge is not inputs[0]:
                        return [None]
                    _free(passed, policy)
                    return [gradients[0]]
        order, last = discover(roots, stop, since)
        if leaves is not None and not leaves.issuperset(last):  # what was passed may lead to others only: not to be freed
            roots, gradients, passed = begun, seeds, []
            order, last = discover(roots, stop, since)
        wanted: set[Any] | None = None
        needs: dict[Node, tuple[Any, ...]] | None = None
        if inputs is not None:
            wanted = set(inputs)
            # Where every leaf below is wanted, and nothing else, every edge leads somewhere: there is nothing to plan.
            if not others and (stop or since or not wanted.issuperset(last) or any(type(e) is not Accumulate for e in wanted)):
                needs = plan(order, wanted)
        this = Run(cls, level, wrap, create_graph, retain_graph, accumulate, wanted, others, begun)
        pulled = order if needs is None else needs  # what lies below the inputs only may be free or changed
        _refuse_freed(pulled, cls)
        if order and mutation.latest > order[-1].seq:  # something was written after the oldest operation
            _refuse_changed(pulled, cls)
        tape, outer, packing = tape_of(level), state.run, state.saved_hooks
        before = tape.mode
        try:
            set_mode(tape, recording(create_graph))
            state.run = this
            for observer in OBSERVERS:
                observer.pass_begins(this, roots, gradients, inputs)
            if wanted is None or pulled or not wanted.isdisjoint(roots):  # else nothing that was asked for lies below
                _free(passed, policy)
            if outer is None or outer.depth < _DEEP:
                this.depth = 0 if outer is None else outer.depth + 1
                this.walk(roots, gradients, order, last, needs, stop)
            else:
                _elsewhere(functools.partial(this.walk, roots, gradients, order, last, needs, stop))
            while this.at_end:
                this.at_end.pop(0)()
        finally:
            # Without a call, at whose beginning an interrupt could come between: the mode is right whatever happens after.
            tape.mode, mode, state.run = before, tape.mode, outer
            if tape is state:
                settle(mode, before)
            if state.saved_hooks is not packing:  # a hook has begun a context and not ended it
                state.saved_hooks = packing
                refresh()
            for observer in OBSERVERS:
                observer.pass_ends(this, inputs)
    return [] if inputs is None else list(map(this.captured.get, inputs))


def run_one(
    output: Value, ones: Callable[[Value], Any], inputs: Sequence[Any], retain_graph: bool, cls: type[Value]
) -> dict[Any, Any] | None:  # fmt: skip
    """What `run` finds for one output at the everyday tape, from ones, by edges, if a single operation has made it, and what
    leads from that are leaves without hooks that are among the inputs; None elsewhere, before anything was done."""
    root = output._node
    node = root.node if type(root) is Slot else root
    if type(node) is not Node or node.step is None or OBSERVERS or state.anomaly or (saved := node.saved) is FREED:
        return None
    for edge in node.edges:
        if edge is not None and (type(edge) is not Accumulate or edge.hooks is not None or edge not in inputs):
            return None
    if None in inputs or (saved and node.seq < mutation.latest and _changed(saved, node.seq)):
        return None
    ready = node.ready
    grads: dict[Any, Any] | None = None if ready is None else ready[0].gradients(ready[1], root.index, node.edges)
    if grads is not None:
        node.ready = None
    else:
        grads, g = {}, ones(output)
        if node is not root:
            parts: list[Any] = [None] * len(node.outs)
            parts[root.index] = g
            g = parts
        with Silent():
            try:
                node.step(node, g, grads, _fitted(cls), _add)
            except KERNEL_ERRORS as error:
                _fail(cls, node, error)
    if not retain_graph and (saved or cls._policy.frees_all):
        node.saved = FREED
    return grads


def handed_out(output: Value, inputs: Sequence[Any], retain_graph: bool | None) -> tuple[Any, ...] | None:
    """The gradients of one output for each of the inputs, as values, where they were computed together with the output, and the
    inputs are the operands of the operation in their order; None elsewhere, before anything was done."""
    root = output._node
    if type(root) is not Slot or (ready := (node := root.node).ready) is None:
        return None
    joint, found = ready
    if joint.hand is not None and (results := joint.hand(output, inputs, retain_graph)) is not None:
        return results
    edges, saved = node.edges, node.saved
    cls: type[Value] = type(output)._result
    if (
        joint.ordered is None or root.index != joint.output or len(inputs) != len(edges) or len({*edges}) != len(edges)
        or node.step is None or OBSERVERS or state.anomaly or saved is FREED
        or (saved and node.seq < mutation.latest and _changed(saved, node.seq))
    ):  # fmt: skip
        return None
    for x, edge in zip(inputs, edges):
        if not isinstance(x, Value) or x._node is not edge or type(edge) is not Accumulate or edge.hooks is not None:
            return None
    node.ready, joint.foresight.pulled = None, True
    if not retain_graph and (saved or cls._policy.frees_all):
        node.saved = FREED
    results = list[Any]()
    for at in joint.ordered:
        results.append(make(cls, found[at]))
    return tuple(results)


_DEEP = 40
"""In how many passes one may begin before the next gets a stack of its own: Python's lets a thread have some 80."""


def _elsewhere(work: Callable[[], None]) -> None:
    """Do some work in a thread of its own, for which everything is switched as it is here."""
    here, failed = dict(vars(state)), list[BaseException]()
    del here["entered"]

    def body() -> None:
        vars(state).update(here)
        try:
            with Silent():
                work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def _free(nodes: Iterable[Node], policy: TapePolicy) -> None:
    for node in nodes:
        if node.saved or policy.frees_all:
            node.saved = FREED


_SMALL = 1 << 15
"""The most numbers in a cotangent with which `_ahead` goes on where the graph is to be freed, since what it passes keeps its
memory until it is done; and in the gradient of a leaf, which waits for that."""

_APART = 1 << 12
"""The same at an operation of several operands where one edge is asked for, since it pulls all."""

_FEW = 16
"""The most operations at which cotangents wait in `_ahead`, which looks for the newest of them each time."""


def _plain_leaves(edges: Sequence[Any]) -> frozenset[Any] | None:
    """Edges as a set, if all are leaves without hooks."""
    return frozenset(edges) if all(type(edge) is Accumulate and _plain(edge, None) for edge in edges) else None


def _ahead(
    edge: Any, g: Any, target: Any, leaves: frozenset[Any] | None, cls: type[Value], nodes: list[Node] | None
) -> dict[Any, Any]:  # fmt: skip
    """Pull the newest operation that has a cotangent, again and again, from a root on: until one is met that the walk has to
    look at, which leads to another leaf than some (`leaves`; None: whichever), or (with a target) the graph is a chain no more.
    Returns the cotangents by the nodes and leaves where it is then (none where no gradient gets through), of a node with
    several outputs the list of theirs; the operations that it passed are put to `nodes`.

    The newest has all of its cotangent, since its users are younger, so nothing is to be known of the graph beforehand, and
    nothing noted: the gradient of 100 multiplications of 4-vectors takes 42 µs instead of 68.
    """
    fitted, latest = _fitted(cls), mutation.latest
    aim, most = None, _SMALL if nodes is not None else math.inf
    if target is not None:
        aim, most = target.node if type(target) is Slot else target, _APART
    grads: dict[Any, Any] | None = None  # what waits beside this edge, once the way has forked
    waiting: list[Node] = []  # the operations among it
    onward: Any = None  # the one below this edge, which is not among them while it is the only one
    if type(edge) is Slot and edge.node is not aim:
        parts: list[Any] = [None] * len(edge.node.outs)
        parts[edge.index] = g
        edge, g = edge.node, parts
    while type(edge) is Node and edge is not aim:
        step = edge.step
        if (
            step is None or (saved := edge.saved) is FREED
            or (edge.seq < latest and saved and _changed(saved, edge.seq))  # which of all that is wrong is said first: `run`
            or ((size := _size(g) if type(g) is list else g.size) > most
                and (target is None or (nodes is not None and size > _SMALL) or _branches(edge)))
        ):  # fmt: skip
            break
        if grads is not None:
            onward = None
            for below in edge.edges:
                kind = type(below)
                if kind is Accumulate:
                    if below not in grads and not (_plain(below, leaves) and math.prod(below.shape) <= _SMALL):
                        return {**grads, edge: g}
                elif below is not None:
                    node = below if kind is Node else below.node
                    if onward is None:
                        onward = node
                    elif node is not onward and node not in waiting:
                        waiting.append(node)
        try:
            found = step(edge, g, grads, fitted, _add)
        except KERNEL_ERRORS as error:
            _fail(cls, edge, error)
        if grads is None:
            if type(found) is tuple:  # a chain, so far
                if nodes is not None:
                    nodes.append(edge)
                edge, g = found
                continue
            plain = True
            for below in found:
                if type(below) is Node:
                    waiting.append(below)
                elif type(below) is Accumulate and not _plain(below, leaves):
                    plain = False
            if target is None and not plain:
                break
            grads = found
            if nodes is not None:
                nodes.append(edge)
            if target is not None or not waiting or _much(found):
                return grads
        elif nodes is not None:
            nodes.append(edge)
        if waiting or onward is None:
            if onward is not None and onward not in waiting:
                waiting.append(onward)
            if len(waiting) > _FEW:
                return grads
            g = None
            while g is None:
                if not waiting:
                    return grads
                edge = waiting.pop() if len(waiting) == 1 else waiting.pop(waiting.index(max(waiting, key=_seq)))
                g = grads.pop(edge, None)
        else:
            edge, g = onward, grads.pop(onward, None)
            if g is None:
                return grads
    return {edge: g} if grads is None else {**grads, edge: g}


def _plain(leaf: Accumulate, leaves: frozenset[Any] | None) -> bool:
    """Whether a leaf is one of some (None: of whichever) and has no hooks, which are called when its gradient is complete: the
    walk knows when."""
    return leaf.hooks is None and (leaves is None or leaf in leaves)


def _much(grads: dict[Any, Any]) -> bool:
    """Whether a leaf has got so much that it is not to wait for the end."""
    return any(type(edge) is Accumulate and math.prod(edge.shape) > _SMALL for edge in grads)


def _branches(node: Node) -> bool:
    """Whether several operands of an operation want a gradient."""
    return node.edges.count(None) < len(node.edges) - 1


def _size(parts: list[Any]) -> int:
    """The numbers in the cotangents of an operation with several outputs."""
    return sum([part.size for part in parts if part is not None])


def _arrivals(grads: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """What has arrived where, as edges and cotangents."""
    roots: list[Any] = []
    gradients: list[Any] = []
    for edge, g in grads.items():
        for i, part in enumerate(g) if type(g) is list else ((None, g),):
            if part is not None:
                roots.append(edge if i is None else Slot(edge, i, *edge.outs[i]))
                gradients.append(part)
    return roots, gradients


def _pull(
    this: Run, node: Node, hooks: Any, g: Any, grads: dict[Any, Any], needs: Any, stop: frozenset[Any]
) -> None:
    """One node with everything that the plain loop leaves out: values, hooks, packed saves, partly needed operands."""
    wrap = this.wrap
    if stop:
        needs = tuple(None if edge in stop else edge for edge in needs)
    saved = node.saved
    if node.packed is not None:
        saved = node.packed(node, saved)
    if wrap and isinstance(node.prim, Primitive):  # a custom function knows what it has saved
        saved = _wrapped(this, node, saved)
    try:
        results = node.prim.pull(node, saved, g, needs)
    except KERNEL_ERRORS as error:
        if not isinstance(node.prim, Primitive):  # a custom function's error is its author's
            raise
        _fail(this.cls, node, error)
    if this.check_nan:
        _refuse_nan(this, node, results)
    for observer in OBSERVERS:
        observer.gave(this, node, needs, results)
    if hooks is not None and hooks.post:
        results = hooks.after(this, node, results, g)
    joint = _joint(this, node, needs) if this.create_graph and this.policy.joint_gradients else None
    for i, (edge, r) in enumerate(zip(needs, results)):
        if r is None or edge is None:
            continue
        if wrap and not isinstance(r, Value):
            r = values.as_value(values.core_class, r)
        array = r._a if wrap else r
        if array.shape != edge.shape or array.dtype is not edge.dtype:
            r = fit(r, edge, this.cls)
        _add(grads, edge, r if joint is None or i not in joint else _depending(r, tuple([node.edges[k] for k in joint])))


def _fail(cls: type[Value], node: Node, error: Exception) -> NoReturn:
    """Raise what a rule's kernel raised, over operands that a leaf's new shape does not fit any more, as an error of the pass."""
    raise error_type(cls, GradError)(f"the gradient of {describe(node)} cannot be computed: {error}{_recorded(node)}") from error


def _joint(this: Run, node: Node, needs: Any) -> tuple[int, ...] | None:
    """The operands of an operation on all of which its gradients count as depending, if any (`TapePolicy.joint_gradients`).

    A constant operand without axes is taken for a number, beside which the operation is another one.
    """
    found = this.policy.joint_gradients.get(node.prim.name)
    if found is None:
        return None
    alone, operands = found
    if all(node.edges[k] is not None for k in operands):
        return operands if alone or all(needs[k] is not None for k in operands) else None
    numbers = [k for k in operands if node.edges[k] is None and not (type(x := node.saved[k]) is _ndarray and x.ndim > 0)]
    return operands if alone and not numbers else None


def _depending(r: Value, edges: tuple[Any, ...]) -> Value:
    """A gradient that counts as depending on the producers `edges`: a constant one as the copy of a leaf."""
    if r._node is None:
        leaf = make(values.core_class, r._a, None, r._level)
        leaf._node = Accumulate(leaf, r._a.shape, r._a.dtype)
        r = copy(leaf)
    if type(r._node) is Node:
        r._node.beside = edges
    return r


def _add(grads: dict[Any, Any], edge: Any, g: Any) -> None:
    """Add a cotangent to what has arrived at an edge so far."""
    if type(edge) is Slot:
        parts = grads.get(edge.node)
        if parts is None:
            parts = grads[edge.node] = [None] * len(edge.node.outs)
        before = parts[edge.index]
        parts[edge.index] = g if before is None else large.add(before, g)
    else:
        before = grads.get(edge)
        grads[edge] = g if before is None else large.add(before, g)


def _wrapped(this: Run, node: Node, saved: Any) -> Any:
    """Saved arrays as core values, with their history when the derivative is to be differentiated again."""
    if not saved:
        return saved
    # What a derivative is flat in counts as a constant for it, where the policy says so.
    flat = node.prim.regional if this.create_graph and this.policy.flat_is_unused else ()
    numbers = node.numbers if state.saved_hooks else ()  # what is computed with them is no saved tensor either
    return [
        a if a is None or i in numbers else _lifted(this, node, a, None if i in flat and dtype_of(a).kind != "c" else edge)
        for i, (a, edge) in enumerate(zip(saved, (*node.edges, node)))
    ]


def _lifted(this: Run, node: Node, a: Any, edge: Any) -> Any:
    if type(a) is tuple:
        kept = [x is not None and dtype_of(x).kind not in "iub" for x in a]
        slots = [Slot(node, i, *node.outs[i]) if has else None for i, has in enumerate(kept)]
        return tuple(None if x is None else _lifted(this, node, x, slot) for x, slot in zip(a, slots))
    if not this.create_graph:
        return values.as_value(values.core_class, a)
    return make(values.core_class, a, edge, this.level)


def _in_memory(g: Any) -> Any:
    """A cotangent for observers, who know values by their memory: NumPy's numbers have none of their own."""
    return np.asarray(g) if isinstance(g, np.generic) else g


def _capture(this: Run, node: Node, g: Any, wanted: set[Any] | None) -> None:
    """Keep the cotangent of a node's wanted outputs."""
    if type(g) is list:
        for edge in wanted or ():
            if type(edge) is Slot and edge.node is node:
                this.captured[edge] = g[edge.index]
    elif wanted and node in wanted:
        this.captured[node] = g


def _arrive(this: Run, leaf: Accumulate, grads: dict[Any, Any], wanted: set[Any] | None, others: bool) -> None:
    """The gradient of a leaf is complete: hooks, then `.grad` or the result of the pass."""
    g, hooks = grads.pop(leaf), leaf.hooks
    if OBSERVERS:
        g = _in_memory(g)
    if hooks is not None and not (
        this.policy.captures_hooked and wanted and not this.accumulate and (leaf in wanted or not others)
    ):
        g = hooks.seen(this, g)
    if wanted is not None:
        if leaf in wanted:
            this.captured[leaf] = g
            if not this.accumulate:
                return
        elif not others:
            return
    if hooks is not None:
        g = hooks.before(this, g)
    box, target = [g], leaf.leaf() if hooks is not None and hooks.post else None
    fresh = target is not None and target._grad is None
    if fresh or hooks is None or not hooks.post:
        del g
    _fill(leaf, box, this.policy, this.create_graph)
    if hooks is not None and hooks.post:
        if fresh and target is not None:  # where it has become `.grad`, hooks see that
            g = target._grad if this.wrap or target._grad is None else target._grad._a
        hooks.after(this, leaf, (), g)


def _fill(leaf: Accumulate, box: list[Any], policy: TapePolicy, create_graph: bool) -> None:
    """Add the gradient in `box` to the `.grad` of a leaf that still wants one, and call what is to be called then."""
    target = leaf.leaf()
    if target is None:
        return
    if target._node is not None or policy.fills_stopped:
        if type(target._node) in _COMPUTED:
            raise policy.error(GradError)(
                f"a leaf of shape {tuple(leaf.shape)} was detached and then computed anew in place, after operations had used "
                "it: what it holds now is no leaf that their gradient could be given to; write into a clone() instead"
            )
        for observer in OBSERVERS:
            observer.arriving(current_run(), target, box[0])
        accumulate_grad(create_graph, target, box)
        for observer in OBSERVERS:
            observer.arrived(current_run(), target)
    if leaf.hooks is not None:
        for hook in list(leaf.hooks.accumulated.values()):
            hook(target)


_COMPUTED = frozenset([Node, Slot])
"""What stands behind a value that is no leaf."""


def _sole_references() -> int:
    """What getrefcount says of an array that only one local variable refers to, which depends on the interpreter."""
    g = [np.zeros(1)].pop()
    return sys.getrefcount(g)


_SOLE = _sole_references()


def accumulate_grad(create_graph: bool, target: Any, box: list[Any]) -> None:
    """Add the gradient in `box` to `target.grad`, which gets memory of its own: that of the gradient if nobody else has it.

    A leaf's `.grad` is changed in place; what a computed value retains is a new one each time, as in PyTorch.

    Raises GradError where elements of a `.grad` that the user put there share memory, so that nothing can be added to one.
    """
    g = box.pop()
    if type(g) is not _ndarray:
        if isinstance(g, Value) and type(g._a) is _ndarray and not (create_graph or g._node or g._level):
            g = g._a  # behind a hook, which was shown it
        if isinstance(g, np.generic):  # of a 0-d operand
            g = np.asarray(g)
    cls = type(target)._gradient
    with _accumulate_lock:
        before = None if cls._policy.renews_gradient(target) else target._grad
        if create_graph or isinstance(g, Value):
            if before is None:
                total = copy(values.as_value(values.core_class, g))
                if type(total._node) is Node:
                    total._node.gathered = True
            else:
                if type(before._a) is Scattered:
                    before = make(cls, before._a.dense())
                total = values.as_core(before) + g
            target._grad = values.as_value(cls, total)
        elif before is None:
            if type(g) is Scattered:
                g = g.copy()
            elif type(g) is _ndarray and (
                sys.getrefcount(g) > _SOLE or g.base is not None or not g.flags.carray or not g.flags.owndata
            ):
                g = large.copied(g)
            target._grad = values.as_value(cls, g)
        elif type(g) is Scattered and type(before._a) is Scattered:
            target._grad = values.as_value(cls, merged(before._a, g))
        elif not (type(g) is _ndarray and (target._node is None or type(target._node) is Accumulate) and _added_to(before, g)):
            target._grad = values.as_value(cls, np.asarray(before._a + g) if type(g) is _ndarray else before._a + g)


def _added(leaf: Accumulate, g: Any) -> bool:
    """`_fill` in the everyday case: nobody looks on, and to the `.grad` that is there the gradient is added in place. Whether it
    was done."""
    target = leaf.leaf()
    if target is None:
        return True
    before = target._grad
    if before is None or type(g) is not _ndarray or target._node is not leaf:
        return False
    if type(target)._gradient._policy.renews_gradient(target):
        target._grad = None  # `_fill` asks again, and is told no
        return False
    with _accumulate_lock:
        return target._grad is before and _added_to(before, g)


def _added_to(before: Value, g: np.ndarray) -> bool:
    """Add a gradient to a `.grad` in place, if its memory may be written; whether it was done."""
    held = before._a
    if type(held) is not _ndarray or not held.flags.writeable:
        return False
    if 0 in held.strides and mutation.overlapping(held):
        raise error_type(type(before)._result, GradError)(
            f"a gradient of shape {tuple(g.shape)} cannot be added to .grad, whose elements share memory (it was expanded); put "
            "a clone() of it there"
        )
    large.add_into(held, g)
    mutation.note(held)
    return True


def _tell(node: Node) -> None:
    """Under anomaly mode: warn that the derivative of an operation cannot be used, and say where it was recorded."""
    warnings.warn(
        f"{describe(node)}: an error in the backward pass"
        + (_recorded(node) or ", recorded without anomaly mode"),
        UserWarning, stacklevel=2,
    )  # fmt: skip


def _refuse_nan(this: Run, node: Node, results: Any) -> None:
    """Under anomaly mode: raise where a rule has produced nan."""
    for i, r in enumerate(results):
        while isinstance(r, Value):
            r = r._a
        if r is None or level_of(r) or type(r) is Scattered or dtype_of(r).kind in "iub":
            continue
        array = r if type(r) is _ndarray else backend_of(r).to_host(r)
        if np.isnan(array).any():
            _tell(node)
            raise error_type(this.cls, GradError)(
                f"the derivative of {describe(node)} gave nan for operand {i}; `retrograde run --nan` says of which values, "
                f"and what usually helps{_recorded(node)}"
            )


rules.set_engine(sys.modules[__name__])
