"""Loops and choices of the dialects inside a compiled function, where they are operations (compile/loops/control.py).

A dialect runs its functions in Python where `tracing()` says no, and where one of these returns NotImplemented or raises
UnsupportedError: then the compiled function is deferred, and Python runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ..._tree import flatten, unflatten
from ...core.batched import BatchedArray
from ...core.unwrap import bare
from ...core.value import Value, dtype_of, make, shape_of
from ...ops.manipulation import stack, unstack

Function = Callable[..., Any]


def tracing() -> bool:
    """Whether functions are to be traced, not run."""
    from ...compile.loops import control  # 20 ms, for programs that have loops

    return control.traced()


def chosen(pred: Any, true_fn: Function, false_fn: Function, operands: Sequence[Any] = ()) -> Any:
    """What one of two functions gives, where the condition is a tensor that has no elements, or one for each entry of a batch;
    NotImplemented elsewhere."""
    if not isinstance(pred, Value) or not (type(bare(pred)) is BatchedArray or tracing()):
        return NotImplemented
    from ...compile.loops import control

    return control.cond(pred, true_fn, false_fn, *operands)


def repeated(name: str, condition: Function, body: Function, carried: Any) -> Any:
    """What is carried when a condition no longer holds, in a trace; NotImplemented elsewhere, and for what is no tensor.

    Raises UnsupportedError where a gradient is wanted, which needs to know how many turns there were.
    """
    if not tracing() or not all(isinstance(x, Value) for x in flatten(carried)[0]):
        return NotImplemented
    from ...compile.loops import control

    found = control.while_loop(condition, body, carried)
    if any(isinstance(y, Value) and y._node is not None for y in flatten(found)[0]):
        raise UnsupportedError(
            f"{name}: how many turns a gradient has to go back over is known only where the elements are; use a loop of known "
            "length, or let nothing in the loop require a gradient"
        )
    return found


def counted(f: Function, init: Any, lower: int, upper: int) -> Any:
    """x = f(i, x) for i from lower to upper - 1, in a trace; NotImplemented elsewhere, and where i has to be a number."""
    if upper - lower < 2 or not tracing() or not all(isinstance(x, Value) for x in flatten(init)[0]):
        return NotImplemented
    from ...compile.loops import control

    begin = flatten(init)[0]
    if not begin:
        return NotImplemented
    first = make(type(begin[0])._result, np.asarray(lower))
    try:
        (_, found), _ = control.scan(lambda c, _: ((c[0] + 1, f(*c)), None), (first, init), length=upper - lower)
    except (UnsupportedError, TypeError, ValueError, IndexError):
        return NotImplemented
    return found


def stacked(f: Function, init: Any, xs: Sequence[Any]) -> Any:
    """carry, y = f(carry, x) for the tensors of a list, in a trace: the carry and the list of the y; NotImplemented elsewhere,
    and where the turns differ."""
    leaves = [*flatten(init)[0], *xs]
    if len(xs) < 2 or not tracing() or not all(isinstance(x, Value) for x in leaves):
        return NotImplemented
    if len({(tuple(shape_of(x)), dtype_of(x)) for x in xs}) > 1:
        return NotImplemented
    from ...compile.loops import control

    try:
        carry, ys = control.scan(f, init, stack(*xs, axis=0))
    except (UnsupportedError, TypeError, ValueError, IndexError):
        return NotImplemented
    parts, tree = flatten(ys)
    return carry, [unflatten(tree, list(row)) for row in zip(*(unstack(y, axis=0) for y in parts))]
