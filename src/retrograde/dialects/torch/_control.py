"""Branches and loops on tensors: `cond`, `while_loop` and `scan`, which a compiled function does not unroll."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..._tree import flatten, map_structure
from ...core.value import Value, dtype_of, shape_of
from ...ops.structural import transpose
from .._shared.control import chosen, repeated
from ._api import api

Function = Callable[..., Any]


def _callable(text: str, *functions: Any) -> None:
    if not all(map(callable, functions)):
        raise RuntimeError(text)


def _holds(name: str, what: str, truth: Any) -> Any:
    """A condition: a number, or a tensor of one element."""
    if isinstance(truth, Value):
        if math.prod(shape_of(truth)) != 1:
            raise RuntimeError(f"{name}: {what} must be a boolean or a tensor of one element, got shape {list(shape_of(truth))}")
        return truth
    if not isinstance(truth, (bool, int, float)):
        raise RuntimeError(f"{name}: {what} must be a boolean or a tensor of one element, got {type(truth).__name__}")
    return bool(truth)


def _truth(found: Any) -> Any:
    """What the condition of a loop gives: a boolean."""
    found = _holds("while_loop", "the result of cond_fn", found)
    if isinstance(found, Value) and dtype_of(found).kind != "b":
        raise RuntimeError(f"while_loop: cond_fn must return a boolean, got a tensor of {found.dtype}")
    return found


@api(method=False)
def cond(pred: Any, true_fn: Function, false_fn: Function, operands: Any = ()) -> Any:
    """`true_fn(*operands)` where `pred` holds, else `false_fn(*operands)`; in a compiled function both become part of it.

    Raises RuntimeError for a condition of several elements, for what is no function, and for operands that are no tuple of
    (containers of) tensors.
    """
    pred = _holds("cond", "pred", pred)
    _callable("cond: true_fn and false_fn must be functions", true_fn, false_fn)
    if not isinstance(operands, (tuple, list)) or not all(isinstance(x, Value) for x in flatten(operands)[0]):
        raise RuntimeError("cond: operands must be a tuple or list of tensors, or of containers of tensors")
    found = chosen(pred, true_fn, false_fn, operands)
    if found is not NotImplemented:
        return found
    return (true_fn if bool(pred) else false_fn)(*operands)


@api(method=False)
def while_loop(cond_fn: Function, body_fn: Function, carried_inputs: Any) -> Any:
    """`carried = body_fn(*carried)` as long as `cond_fn(*carried)` holds, a boolean or a tensor of one element.

    Raises RuntimeError for what is no function, and where the body gives another number of values, or other shapes.
    """
    _callable("while_loop: cond_fn and body_fn must be functions", cond_fn, body_fn)
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"while_loop: carried_inputs must be a tuple or list, got {type(carried_inputs).__name__}")
    carried: Any = carried_inputs
    kind: list[Any] = [type(carried)]

    def body(now: tuple[Any, ...]) -> tuple[Any, ...]:
        found = body_fn(*now)
        kind.append(type(found) if isinstance(found, (tuple, list)) else None)
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    found = repeated("while_loop", lambda now: _truth(cond_fn(*now)), body, tuple(carried))
    if found is not NotImplemented:
        return found[0] if kind[-1] is None else kind[-1](found)
    whole: Any = tuple(carried) if isinstance(carried, list) else carried
    while bool(_truth(cond_fn(*carried))):
        whole = body_fn(*carried)
        after = whole if isinstance(whole, (tuple, list)) else (whole,)
        if len(after) != len(carried):
            raise RuntimeError(f"while_loop: body_fn returned {len(after)} values for {len(carried)} carried_inputs")
        for k, (x, y) in enumerate(zip(carried, after)):
            if isinstance(x, Value) and isinstance(y, Value) and (x.shape != y.shape or x.dtype != y.dtype):
                raise RuntimeError(
                    f"while_loop: value {k} is {x.dtype} of shape {list(x.shape)}, and body_fn returned {y.dtype} of shape "
                    f"{list(y.shape)}; wanted the same"
                )
        carried = after
    return whole


def scan(
    combine_fn: Function, init: Any, xs: Any, *, dim: int = 0, reverse: bool = False, additional_inputs: tuple[Any, ...] = ()
) -> tuple[Any, Any]:  # fmt: skip
    """`carry, y = combine_fn(carry, x)` for each x along an axis of `xs`: the last carry, and the y along the same axis.

    Raises RuntimeError for what is no function, for what is no tensor, or where there is nothing to go along.
    """
    from ...compile.loops import control  # 20 ms, for programs that have loops

    _callable("scan: combine_fn must be a function", combine_fn)
    leaves = flatten(xs)[0]
    for what, some in (("init", flatten(init)[0]), ("xs", leaves)):
        if not some or not all(isinstance(x, Value) for x in some):
            raise RuntimeError(f"scan: {what} must hold tensors, and one at least")
    for x in leaves:
        shape = shape_of(x)
        if not -len(shape) <= dim < len(shape) or not shape[dim]:
            raise RuntimeError(f"scan: there is nothing along dim {dim} of a tensor of shape {list(shape)}")

    def step(carry: Any, x: Any) -> Any:
        return combine_fn(carry, x, *additional_inputs)

    turned = map_structure(lambda x: _moved(x, dim % len(shape_of(x)), 0), xs)
    carry, ys = control.scan(step, init, turned, reverse=reverse)
    return carry, map_structure(lambda y: _moved(y, 0, dim % len(shape_of(y))), ys)


def _moved(x: Any, start: int, to: int) -> Any:
    """A tensor with one axis in another place."""
    axes = [a for a in range(len(shape_of(x))) if a != start]
    axes.insert(to, start)
    return x if start == to else transpose(x, axes=tuple(axes))


@api(method=False)
def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with a message unless a condition holds; a call that a graph keeps."""
    if not condition:
        raise AssertionError(message)


@api(method=False)
def _assert_async(input: Any, assert_msg: str = "a value that was asserted is zero") -> None:
    """Raise RuntimeError where a tensor of one element is zero."""
    if not input:
        raise RuntimeError(assert_msg)


def _checking(name: str, error: type[Exception]) -> None:
    def check(cond: Any, message: Callable[[], str] | None = None) -> None:
        if not cond:
            raise error("a condition that was checked does not hold" if message is None else message())

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raise {error.__name__} with what `message()` gives unless a condition holds."
    api(name, method=False)(check)


for _name, _error in {
    "_check": RuntimeError, "_check_index": IndexError, "_check_value": ValueError, "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}.items():  # fmt: skip
    _checking(_name, _error)
