"""The tape API of all dialects: `grad` and `backward` with the union of their options.

The dialects translate their arguments and call these; nothing about differentiation is decided above this file.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import GradError
from ..backend.devices import FOUND
from ..core import value as values
from ..core.arrays import bottom, full, zeros_for
from ..core.batched import BatchedArray
from ..core.level import Level
from ..core.node import Accumulate
from ..core.value import Value, dtype_of, error_type, make, shape_of
from ..ops.rules import unbatch
from . import engine
from .hooks import retains_grad

_NOWHERE: frozenset[Any] = frozenset()


def leaf(value: Value) -> None:
    """Make a value a leaf that wants a gradient."""
    value._node = Accumulate(value, tuple(shape_of(value)), dtype_of(value))


def _nobody() -> None:
    return None


def silent_leaf(value: Value) -> None:
    """Make a value a leaf that says that it wants a gradient, but has none: in PyTorch, a view made under no_grad."""
    leaf(value)
    value._node.leaf = _nobody


def is_silent(value: Value) -> bool:
    """Whether a value is a leaf of which no gradient is kept."""
    return type(value._node) is Accumulate and value._node.leaf is _nobody


def is_leaf(value: Value) -> bool:
    """Whether a value was not computed from others that want a gradient."""
    return value._node is None or type(value._node) is Accumulate


def seed(op: str, output: Value, given: Any, batched: bool = False) -> Any:
    """The cotangent of an output, as the engine takes it: checked, or ones for a single element.

    Raises the dialect's GradError for a missing cotangent of several elements, a wrong shape or kind of dtype.
    """
    array = output._a
    if type(array) is np.ndarray:  # the everyday cases, without the questions that arrays of other kinds need
        if given is None:
            if array.size == 1 and array.dtype.kind == "f":
                return ones_like(output)  # of a loss
        elif isinstance(given, Value) and not batched:
            a = given._a
            if type(a) is np.ndarray and a.shape == array.shape and a.dtype is array.dtype:
                return given
    cls = type(output)._result
    shape, dtype = tuple(shape_of(output)), dtype_of(output)
    if given is None:
        if math.prod(shape) != 1:
            raise error_type(cls, GradError)(
                f"{op}: the output, {_made_by(output)} of shape {shape}, has several elements; reduce it to one with sum() "
                "or mean(), or pass a gradient of its shape (grad_outputs / gradient)"
            )
        if dtype.kind == "c":
            raise error_type(cls, GradError)(
                f"{op}: a complex output ({dtype}) has no implicit gradient; give one, or differentiate a real number"
            )
        return ones_like(output)
    if not isinstance(given, Value):
        raise error_type(cls, TypeError)(f"{op}: a gradient must be a tensor or None, got {type(given).__name__}")
    have = tuple(shape_of(given))[1:] if batched else tuple(shape_of(given))
    if have != shape:
        raise error_type(cls, GradError)(
            f"{op}: a gradient of shape {have} was given for an output of shape {shape}; ones_like() of it stands for its sum"
        )
    if (dtype_of(given).kind == "c") != (dtype.kind == "c"):
        raise error_type(cls, GradError)(
            f"{op}: a gradient of dtype {dtype_of(given)} was given for an output of dtype {dtype}; "
            "both must be real or both complex"
        )
    if FOUND:
        _, given = output._policy.together(op, [output, given])
    return given


def _made_by(output: Value) -> str:
    """What computed a value, for a message."""
    return engine.describe(output._node if output._node is None else engine.producer(output._node))


def ones_like(output: Value) -> Any:
    """Ones of the shape, dtype and array library of an output."""
    return full(tuple(shape_of(output)), 1, dtype_of(output), bottom(output))


def check_outputs(op: str, outputs: Sequence[Value]) -> None:
    """Raise the dialect's GradError for an output that has no history."""
    for i, y in enumerate(outputs):
        if y._node is None or is_silent(y):
            kind = dtype_of(y)
            raise error_type(type(y)._result, GradError)(
                f"{op}: output {i} is of dtype {kind}, which has no derivative (comparisons, argmax and rounding to whole "
                "numbers have none): differentiate what they are computed from"
                if kind.kind in "iub" else
                f"{op}: output {i} does not require grad and was not computed from anything that does; set requires_grad on "
                "an input, or check for detach() and no_grad() on the way (a gradient has a history where it was computed "
                "with create_graph=True)"
            )


def backward(
    outputs: Sequence[Value],
    gradients: Sequence[Any],
    *,
    op: str = "backward",
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Value] | None = None,
) -> None:
    """Accumulate the gradients of `outputs` into the `.grad` of the leaves below, or of `inputs` only."""
    if not outputs:
        return
    check_outputs(op, outputs)
    cls = type(outputs[0])._gradient
    level = max(y._level for y in outputs)
    seeds = [_level_array(seed(op, y, g), level, create_graph) for y, g in zip(outputs, gradients)]
    edges = None
    if inputs is not None:
        edges = []
        for x in inputs:
            if x._node is None:
                raise error_type(cls, GradError)(f"{op}: one of the inputs does not require grad")
            edges.append(x._node)
    retain = create_graph if retain_graph is None else retain_graph
    found = engine.run(
        [y._node for y in outputs], seeds, cls=cls, level=level, inputs=edges,
        retain_graph=retain, create_graph=create_graph,
    )  # fmt: skip
    for x, g in zip(inputs or (), found):
        if g is not None and type(x._node) is not Accumulate and not retains_grad(x):  # else it has been added
            engine.accumulate_grad(create_graph, x, [g])


def backward_from(output: Value, gradient: Any, retain_graph: bool | None, create_graph: bool) -> None:
    """`backward` of one output into all leaves below: the everyday call."""
    node, level = output._node, output._level
    if node is None or type(node) is Accumulate:
        check_outputs("backward", [output])
    g = seed("backward", output, gradient)
    if isinstance(g, Value):
        g = _level_array(g, level, create_graph) if create_graph or level or g._level else g._a
    engine.run(
        [node], [g], cls=type(output)._gradient, level=level,
        retain_graph=create_graph if retain_graph is None else retain_graph, create_graph=create_graph,
    )  # fmt: skip


def _level_array(g: Any, level: int, create_graph: bool) -> Any:
    """A seed as the engine wants it: an array at the level of the tape, or a value when history matters."""
    if not isinstance(g, Value):
        return g
    if create_graph or g._level > level:
        return g
    return g._a if g._level == level else values.content(g)


def grad(
    outputs: Sequence[Value],
    inputs: Sequence[Value],
    grad_outputs: Sequence[Any] | None = None,
    *,
    op: str = "grad",
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    materialize_grads: bool = False,
    is_grads_batched: bool = False,
    no_grad_vars: Sequence[Value] = (),
) -> tuple[Any, ...]:
    """The gradients of `outputs` with respect to `inputs`, as values of the dialect; None for an unused input.

    With `only_inputs=False` every other leaf accumulates into `.grad` as well. `no_grad_vars` are treated as
    constants. With `is_grads_batched` the first axis of each gradient in `grad_outputs` numbers independent passes.
    """
    cls = values.result_class((*outputs, *inputs))
    check_outputs(op, outputs)
    edges = [x._node for x in inputs]
    if None in edges:
        raise error_type(cls, GradError)(
            f"{op}: input {edges.index(None)} does not require grad; call requires_grad_() on it before it is used"
        )
    given = [None] * len(outputs) if grad_outputs is None else grad_outputs
    if len(given) != len(outputs):
        raise error_type(cls, GradError)(f"{op}: {len(outputs)} outputs, but {len(given)} gradients in grad_outputs")
    roots, level = [y._node for y in outputs], 0
    for y in outputs:
        if y._level > level:
            level = y._level
    run = functools.partial(
        engine.run, roots, cls=cls, level=level, inputs=edges, create_graph=create_graph, accumulate=False,
        retain_graph=create_graph if retain_graph is None else retain_graph, others=not only_inputs,
        stop=frozenset([v._node for v in no_grad_vars if v._node is not None]) if no_grad_vars else _NOWHERE,
    )  # fmt: skip
    if is_grads_batched:
        found = _batched(op, outputs, given, run)
    else:
        found = run([_level_array(seed(op, y, g), level, create_graph) for y, g in zip(outputs, given)])
    known: dict[int, Value] | None = None
    if cls._policy.same_gradients_are_one and not is_grads_batched and (len(inputs) > 1 or grad_outputs is not None):
        known = {id(g._a): g for g in given if isinstance(g, cls)}
    results: list[Any] = []
    for i, g in enumerate(found):
        if g is not None:
            results.append(values.as_value(cls, g) if known is None else _known(known, cls, g))
        elif materialize_grads:
            results.append(zeros_for(inputs[i], cls))
            if create_graph:
                leaf(results[-1])
        elif allow_unused:
            results.append(None)
        else:
            raise _unused(op, i, inputs[i], cls)
    return tuple(results)


def grad_of_one(output: Value, inputs: Sequence[Value], retain_graph: bool, allow_unused: bool) -> tuple[Any, ...] | None:
    """What `grad` gives for one number that a single operation has made of leaves, all of which are asked for, as a compiled
    function does; where two gradients are one array, they are one value. None elsewhere, before anything was done."""
    array, cls = output._a, type(output)._result
    if output._level or type(array) is not np.ndarray or array.size != 1 or array.dtype.kind != "f":
        return None
    edges = [x._node for x in inputs]
    found = engine.run_one(output, ones_like, edges, retain_graph, cls)
    if found is None:
        return None
    results: list[Any] = []
    known: dict[int, Value] = {}  # the values by their arrays: two that are one have one
    for edge in edges:
        g = found.get(edge)
        if g is not None:
            key = id(g)
            if key not in known:
                known[key] = make(cls, g) if type(g) is np.ndarray else values.as_value(cls, g)
            g = known[key]
        elif not allow_unused:
            raise _unused("grad", len(results), inputs[len(results)], cls)
        results.append(g)
    return tuple(results)


def _unused(op: str, i: int, x: Value, cls: type[Value]) -> Exception:
    return error_type(cls, GradError)(
        f"{op}: input {i} (shape {tuple(shape_of(x))}) was not used to compute the outputs; "
        "pass allow_unused=True to get None for it, or materialize_grads=True for zeros"
    )


def _known(known: dict[int, Value], cls: type[Value], g: Any) -> Value:
    """The value that holds a gradient's array already, if there is one; else a new one, known from then on."""
    array, node = (g._a, g._node) if isinstance(g, Value) else (g, None)
    value = known.get(id(array))
    if value is None or (node is not None and node is not value._node):
        value = known[id(array)] = values.as_value(cls, g)
    return value


def _batched(op: str, outputs: Sequence[Value], given: Sequence[Any], once: Any) -> list[Any]:
    """One pass whose cotangents carry a batch axis in front."""
    with Level("a batched backward pass").open() as inner:
        seeds = []
        for y, g in zip(outputs, given):
            if g is None:
                raise error_type(type(y)._result, GradError)(
                    f"{op}: is_grads_batched needs a gradient for every output"
                )
            g = seed(op, y, g, batched=True)
            seeds.append(make(values.core_class, BatchedArray(values.content(g), 0, inner.id), None, inner.id))
        size = next(shape_of(g)[0] for g in given)
        found = [g._a if isinstance(g, Value) and g._level == inner.id else g for g in once(seeds)]
        return [None if g is None else unbatch(g, inner.id, size) for g in found]
