"""`scan`, `while_loop`, `cond`: loops and choices that a trace does not unroll.

Outside of a trace they are Python's own, on tensors with their tape. In a trace the functions are traced once each
(body.py), and the loop is one operation (nested.py), which becomes a loop of machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import ShapeError
from ..._tree import TreeDef, flatten, unflatten
from ...backend.canonical import canonical
from ...core import value as values
from ...core.batched import BatchedArray
from ...core.unwrap import bare, concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...ops.manipulation import stack, unstack
from ...ops.structural import concatenate, getitem, reshape
from ...transform import checkpoint
from ..trace.trace import TRACING, tracing
from . import nested
from .body import Outlined, outlined
from .nested import Choice, Loop, While

Function = Callable[..., Any]


def traced() -> bool:
    """Whether functions are to be traced rather than run: in a trace whose arrays never get elements."""
    return tracing() and TRACING.now.leaves


def _tensors(name: str, what: str, tree: Any) -> tuple[list[Value], TreeDef]:
    """The leaves of a container as values, and its structure."""
    leaves, treedef = flatten(tree)
    for x in leaves:
        if not isinstance(x, (Value, np.ndarray, np.generic, bool, int, float, complex)):
            raise TypeError(f"{name}: {what} holds {type(x).__name__}, wanted arrays and numbers only")
    return [x if isinstance(x, Value) else make(values.core_class, canonical(np.asarray(x))) for x in leaves], treedef


def _pair(out: Any) -> tuple[Any, Any]:
    if not isinstance(out, tuple) or len(out) != 2:
        raise TypeError(f"scan: the function returns a pair (carry, y), got {type(out).__name__}")
    return out


def _same(name: str, what: str, before: Sequence[Value], tree: TreeDef, after: Sequence[Any], after_tree: TreeDef) -> None:
    """Raise where what a turn gives is not of the structure, the shapes and the dtypes of what it was given."""
    if after_tree != tree:
        raise ValueError(f"{name}: {what} has the structure {tree}, and the function returned {after_tree}")
    for k, (x, y) in enumerate(zip(before, after)):
        where = f"leaf {k} of {what}" if len(before) > 1 else what
        if tuple(shape_of(x)) != tuple(shape_of(y)):
            raise values.error_type(type(x)._result, ShapeError)(
                f"{name}: {where} has the shape {tuple(shape_of(x))}, and the function returned one of {tuple(shape_of(y))}; "
                "what is carried keeps its shape from turn to turn"
            )
        if dtype_of(x) != dtype_of(y):
            raise TypeError(
                f"{name}: {where} has dtype {dtype_of(x).name}, and the function returned {dtype_of(y).name}; what is carried "
                "keeps its dtype from turn to turn (cast the initial value or the result)"
            )


def _length(sequences: Sequence[Value], length: int | None) -> int:
    """How many turns there are."""
    if length is not None and (not isinstance(length, (int, np.integer)) or length < 0):
        raise ValueError(f"scan: length must be a non-negative integer, got {length!r}")
    sizes = []
    for k, x in enumerate(sequences):
        if not shape_of(x):
            raise values.error_type(type(x)._result, ShapeError)(
                f"scan: leaf {k} of xs has no axis to go along; wanted an array with an element for each turn"
            )
        sizes.append(shape_of(x)[0])
    if not sizes and length is None:
        raise ValueError("scan: without xs, length says how many turns there are")
    found = sizes[0] if length is None else int(length)
    if any(n != found for n in sizes):
        of = "" if length is None else f", and length is {length}"
        raise values.error_type(type(sequences[0])._result, ShapeError)(
            f"scan: the leaves of xs have {', '.join(map(str, sizes))} elements along their first axis{of}; wanted the same "
            "of all"
        )
    return found


def scan(
    f: Function, init: Any, xs: Any = None, length: int | None = None, *, reverse: bool = False,
    checkpoint_every: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """`carry, y = f(carry, x)` for each x along the first axis of `xs`: the last carry, and the y stacked along a first axis.

    init, xs, y: nested containers of arrays. The carry keeps structure, shapes and dtypes from turn to turn. With `xs=None`
    `length` says how many turns there are, and x is None. reverse: from the last x to the first; y stays where its x is.
    checkpoint_every: in reverse mode only the carry of every so many turns is kept, and what is between computed again.

    Inside `rg.jit` the loop is not unrolled: `f` is traced once, and the loop and its derivatives of all kinds are loops of
    generated code. Random draws go on from turn to turn. What else `f` does outside, it does once.

    Raises ShapeError, TypeError or ValueError where the carry changes, or the lengths differ.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.scan(lambda c, x: (c + x, c * x), rg.asarray(0.0), rg.asarray([1.0, 2.0, 3.0]))
    (Tensor(6.), Tensor([0., 2., 9.]))
    """
    carry, tree = _tensors("scan", "init", init)
    sequences, xs_tree = _tensors("scan", "xs", xs)
    count = _length(sequences, length)
    every = checkpoint_every
    if every is not None and (not isinstance(every, int) or every < 1):
        raise ValueError(f"scan: checkpoint_every must be a positive integer, got {every!r}")
    if not (traced() or not count):
        return _run(f, carry, tree, sequences, xs_tree, count, reverse, every)
    part = outlined("scan", f, [(tree, carry, 0), (xs_tree, sequences, 1)])
    out_tree = part.tree
    if out_tree.kind is not tuple or len(out_tree.children) != 2:
        raise TypeError("scan: the function returns a pair (carry, y)")
    n = out_tree.children[0].leaves
    results = part.graph.outputs
    _same("scan", "the carry", carry, tree, results[:n], out_tree.children[0])
    found = _scanned(part, carry, sequences, count, reverse, every)
    leaves = [values.as_value(cls, y) for cls, y in zip(part.classes, found)]
    return unflatten(out_tree.children[0], leaves[:n]), unflatten(out_tree.children[1], leaves[n:])


def _scanned(
    part: Outlined, carry: list[Value], sequences: list[Value], length: int, reverse: bool, every: int | None
) -> list[Any]:  # fmt: skip
    """The results of a traced scan: the carry and what is stacked. The states of generators are carried, too."""
    graph, c, k, s = part.graph, len(part.captured), len(carry), len(part.generators)
    ins, outs = graph.inputs, graph.outputs
    x = len(sequences)
    ordered = [*ins[: c + k], *ins[c + k + x :], *ins[c + k : c + k + x]]
    body = type(graph)(ordered, graph.constants, graph.equations, [*outs[:k], *outs[len(outs) - s :], *outs[k : len(outs) - s]])
    begin = [*carry, *(g._a for g in part.generators)]
    if every is None or every >= length:
        if every is not None:
            body = _once(body, c, k + s, length, reverse)
            found = nested.apply(
                Loop(body, c, k + s, 1, reverse), [*part.captured, *begin, *(_grouped(x, 1, length) for x in sequences)]
            )  # fmt: skip
            found = [*found[: k + s], *(_joined(y, length) for y in found[k + s :])]
        else:
            found = nested.apply(Loop(body, c, k + s, length, reverse), [*part.captured, *begin, *sequences])
    else:
        found = _in_blocks(body, part.captured, begin, sequences, length, reverse, every)
    for g, state in zip(part.generators, found[k : k + s]):
        g._a = state._a if isinstance(state, Value) else state
    return [*found[:k], *found[k + s :]]


def _once(body: Any, consts: int, carries: int, length: int, reverse: bool) -> Any:
    """The graph of several turns as one turn of another loop."""
    loop = Loop(body, consts, carries, length, reverse)
    inputs = [
        v if i < consts + carries else type(v)((length, *v.shape), v.dtype) for i, v in enumerate(body.inputs)
    ]  # fmt: skip
    outputs = [v if j < carries else type(v)((length, *v.shape), v.dtype) for j, v in enumerate(body.outputs)]
    outputs = [type(v)(v.shape, v.dtype) for v in outputs]
    inputs = [type(v)(v.shape, v.dtype) for v in inputs]
    return type(body)(inputs, {}, [nested.Equation(nested.PRIMITIVES["scan"], inputs, {"loop": loop}, outputs)], outputs)


def _grouped(x: Any, blocks: int, size: int) -> Any:
    return reshape(x, shape=(blocks, size, *shape_of(x)[1:]))


def _joined(y: Any, length: int) -> Any:
    return reshape(y, shape=(length, *shape_of(y)[2:]))


def _in_blocks(
    body: Any, captured: list[Any], begin: list[Any], sequences: list[Any], length: int, reverse: bool, every: int
) -> list[Any]:  # fmt: skip
    """A scan over blocks of turns, of which only what is carried between them is kept."""
    c, k = len(captured), len(begin)
    blocks, rest = divmod(length, every)
    whole = slice(rest, length) if reverse else slice(0, length - rest)
    left = slice(0, rest) if reverse else slice(length - rest, length)
    grouped = [_grouped(getitem(x, index=(whole,)), blocks, every) for x in sequences]
    found = list(nested.apply(Loop(_once(body, c, k, every, reverse), c, k, blocks, reverse), [*captured, *begin, *grouped]))
    carried, results = found[:k], [_joined(y, blocks * every) for y in found[k:]]
    if rest:
        given = [_grouped(getitem(x, index=(left,)), 1, rest) for x in sequences]
        more = list(nested.apply(Loop(_once(body, c, k, rest, reverse), c, k, 1, reverse), [*captured, *carried, *given]))
        carried, last = more[:k], [_joined(y, rest) for y in more[k:]]
        results = [concatenate(*((b, a) if reverse else (a, b)), axis=0) for a, b in zip(results, last)]
    return [*carried, *results]


def _run(
    f: Function, carry: list[Value], tree: TreeDef, sequences: list[Value], xs_tree: TreeDef, length: int, reverse: bool,
    every: int | None,
) -> tuple[Any, Any]:  # fmt: skip
    """The turns in Python, one after the other."""
    elements = [unstack(x, axis=0) for x in sequences]
    order = range(length)[::-1] if reverse else range(length)
    found: list[Any] = [None] * length
    y_tree: list[TreeDef] = []

    def turns(carry: list[Any], some: Sequence[int]) -> tuple[list[Any], list[list[Any]]]:
        rows = []
        for t in some:
            new, y = _pair(f(unflatten(tree, carry), unflatten(xs_tree, [x[t] for x in elements])))
            after, after_tree = _tensors("scan", "the carry that the function returned", new)
            _same("scan", "the carry", carry, tree, after, after_tree)
            carry = list(after)
            row, row_tree = _tensors("scan", "the result", y)
            if y_tree and row_tree != y_tree[0]:
                raise ValueError(f"scan: the results have the structures {y_tree[0]} and {row_tree}; wanted one of all turns")
            y_tree[:] = y_tree or [row_tree]
            rows.append(row)
        return carry, rows

    size = length if every is None else every
    blocks = [order[at : at + size] for at in range(0, length, size)]
    for block in blocks:
        run = turns if every is None else checkpoint(turns)
        carry, rows = run(carry, block)
        for t, row in zip(block, rows):
            found[t] = row
    columns = list(zip(*found))
    for k, column in enumerate(columns):
        kinds = {(tuple(shape_of(y)), dtype_of(y)) for y in column}
        if len(kinds) > 1:
            raise values.error_type(type(column[0])._result, ShapeError)(
                f"scan: leaf {k} of the results is of {' and of '.join(f'{d.name}{list(s)}' for s, d in sorted(kinds, key=str))} "
                "in different turns; wanted one shape and dtype"
            )
    return unflatten(tree, carry), unflatten(y_tree[0], [stack(*column, axis=0) for column in columns])


def while_loop(condition: Function, body: Function, init: Any) -> Any:
    """The carry after `carry = body(carry)` as long as `condition(carry)`, which gives one truth, holds; it begins with `init`.

    The carry is a nested container of arrays and keeps structure, shapes and dtypes. Inside `rg.jit` both functions are
    traced once, and the loop is not unrolled; forward mode and vmap go through it, and reverse mode raises GradError, since
    how many turns there are to go back over is not known: use `scan` there.

    Raises TypeError for a condition of several elements, and ShapeError, TypeError or ValueError where the carry changes.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.while_loop(lambda x: x < 100.0, lambda x: x * 3.0, rg.asarray(2.0))
    Tensor(162.)
    """
    carry, tree = _tensors("while_loop", "init", init)
    if not traced():
        while True:
            truth = condition(unflatten(tree, carry))
            if isinstance(truth, Value) and type(bare(truth)) is BatchedArray:
                break  # each entry has turns of its own: from here on as one operation
            if not _holds("while_loop", truth):
                return unflatten(tree, carry)
            after, after_tree = _tensors("while_loop", "the carry that the function returned", body(unflatten(tree, carry)))
            _same("while_loop", "the carry", carry, tree, after, after_tree)
            carry = after
    first = outlined("while_loop", lambda now: _one(condition(now)), [(tree, carry, 0)])
    second = outlined("while_loop", body, [(tree, carry, 0)])
    if first.tree.kind is not None or first.graph.outputs[0].shape or first.graph.outputs[0].dtype.kind != "b":
        raise TypeError(f"while_loop: the condition gives one truth, got {first.tree} of {list(first.graph.outputs)}")
    if first.generators:
        raise ValueError("while_loop: the condition draws random numbers; draw them in the body, as part of the carry")
    _same("while_loop", "the carry", carry, tree, second.graph.outputs[: len(carry)], second.tree)
    states = [g._a for g in second.generators]
    condition_graph = first.graph
    if states:
        more = [nested.Variable(v.shape, v.dtype) for v in second.graph.inputs[len(second.graph.inputs) - len(states) :]]
        condition_graph = type(first.graph)(
            [*first.graph.inputs, *more], first.graph.constants, first.graph.equations, first.graph.outputs
        )  # fmt: skip
    loop = While(condition_graph, second.graph, (len(first.captured), len(second.captured)))
    found = nested.while_loop(*first.captured, *second.captured, *carry, *states, loop=loop)
    for g, state in zip(second.generators, found[len(carry) :]):
        g._a = state._a if isinstance(state, Value) else state
    return unflatten(tree, [values.as_value(cls, y) for cls, y in zip(second.classes, found)])


def _one(truth: Any) -> Any:
    """A condition of one element without axes."""
    return reshape(truth, shape=()) if isinstance(truth, Value) and tuple(shape_of(truth)) == (1,) else truth


def _holds(name: str, truth: Any) -> bool:
    """A condition as Python's truth."""
    if tuple(shape_of(truth)) not in ((), (1,)):
        raise TypeError(f"{name}: a condition is one truth, got the shape {tuple(shape_of(truth))}")
    return bool(concrete(name, truth)) if isinstance(truth, Value) else bool(truth)


def cond(pred: Any, true_fn: Function, false_fn: Function, *operands: Any) -> Any:
    """`true_fn(*operands)` where `pred`, one truth, holds, and `false_fn(*operands)` where it does not.

    Inside `rg.jit`, where `pred` is computed, both functions are traced, and have to return the same structure, shapes and
    dtypes; one of them runs. So it is inside `rg.vmap` for a `pred` that differs from entry to entry, and there both run.
    The gradient is the choice of their gradients.

    Raises TypeError for a condition of several elements, ValueError or ShapeError where the functions differ.

    Examples
    --------
    >>> import retrograde as rg
    >>> f = rg.jit(lambda x: rg.cond(x > 0.0, rg.sin, lambda x: x * 2.0, x))
    >>> f(rg.asarray(-3.0))
    Tensor(-6.)
    """
    if not isinstance(pred, Value) or not (traced() or type(bare(pred)) is BatchedArray):
        return (true_fn if _holds("cond", pred) else false_fn)(*operands)
    if tuple(shape_of(pred)) not in ((), (1,)):
        raise TypeError(f"cond: the condition is one truth, got the shape {tuple(shape_of(pred))}")
    leaves, tree = _tensors("cond", "the operands", operands)
    branches = [outlined("cond", lambda args, f=f: f(*args), [(tree, leaves, 0)]) for f in (true_fn, false_fn)]
    then, otherwise = branches
    if then.tree != otherwise.tree:
        raise ValueError(f"cond: the functions return the structures {then.tree} and {otherwise.tree}; wanted the same of both")
    n = then.tree.leaves
    for k, (x, y) in enumerate(zip(then.graph.outputs[:n], otherwise.graph.outputs[:n])):
        if x.shape != y.shape or x.dtype != y.dtype:
            raise values.error_type(type(pred)._result, ShapeError)(
                f"cond: leaf {k} of the results is {x!r} in one function and {y!r} in the other; wanted the same of both"
            )
    streams = [*then.generators, *(g for g in otherwise.generators if not any(g is h for h in then.generators))]
    states = [g._a for g in streams]
    first = len(then.captured)
    total = [*then.captured, *otherwise.captured, *leaves, *states]
    graphs = []
    for b, own in ((then, slice(0, first)), (otherwise, slice(first, first + len(otherwise.captured)))):
        given = [nested.Variable(tuple(shape_of(x)), dtype_of(x)) for x in total]
        given[own] = b.graph.inputs[: len(b.captured)]
        at = len(then.captured) + len(otherwise.captured)
        given[at : at + len(leaves)] = b.graph.inputs[len(b.captured) : len(b.captured) + len(leaves)]
        outputs = list(b.graph.outputs[:n])
        for k, g in enumerate(streams):
            here = [i for i, h in enumerate(b.generators) if h is g]
            if here:
                given[at + len(leaves) + k] = b.graph.inputs[len(b.captured) + len(leaves) + here[0]]
            outputs.append(b.graph.outputs[n + here[0]] if here else given[at + len(leaves) + k])
        graphs.append(type(b.graph)(given, b.graph.constants, b.graph.equations, outputs))
    truth = pred if dtype_of(pred).kind == "b" else nested.PRIMITIVES["not_equal"].op(pred, 0)
    found = nested.cond(reshape(truth, shape=()), *total, choice=Choice(*graphs))
    for g, state in zip(streams, found[n:]):
        g._a = state._a if isinstance(state, Value) else state
    return unflatten(then.tree, [values.as_value(cls, y) for cls, y in zip(then.classes, found)])
