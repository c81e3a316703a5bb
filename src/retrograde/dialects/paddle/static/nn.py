"""`paddle.static.nn`: branches and loops on tensors, which in dynamic mode are Python's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....core.value import Value, shape_of
from ..._shared.control import chosen, repeated
from .._api import attributes as _attributes


def _function(op: str, argument: str, f: Any) -> Any:
    if not callable(f):
        raise TypeError(f"{op}: {argument} must be a function, got {type(f).__name__}")
    return f


def _holds(op: str, argument: str, condition: Any) -> bool:
    """A condition as a bool; raises TypeError for what is neither a boolean nor a tensor of one element."""
    if isinstance(condition, Value):
        if int(np.prod(shape_of(condition))) != 1:
            raise TypeError(f"{op}: {argument} must have one element, got the shape {list(shape_of(condition))}")
        return bool(condition.item())
    if not isinstance(condition, (bool, np.bool_)):
        raise TypeError(f"{op}: {argument} must be a boolean Tensor, got {type(condition).__name__}")
    return bool(condition)


def cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: Any = None,
    return_names: Any = None,
) -> Any:  # fmt: skip
    """What one of two functions returns; None where it is missing."""
    traced = chosen(pred, *(_nothing if f is None else f for f in (true_fn, false_fn)))
    if traced is not NotImplemented:
        return traced
    branch = ("true_fn", true_fn) if _holds("cond", "pred", pred) else ("false_fn", false_fn)
    return None if branch[1] is None else _function("cond", *branch)()


def _nothing() -> None:
    """The branch that is missing."""


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, is_test: bool = False, name: Any = None
) -> Any:
    """The variables after `body` has been applied as long as `cond` holds of them; both take them as arguments.

    Raises TypeError for no functions and no list, ValueError for no variables, or another number of them from `body`.
    """
    _function("while_loop", "cond", cond)
    _function("while_loop", "body", body)
    if not isinstance(loop_vars, (list, tuple)):
        raise TypeError(f"while_loop: loop_vars must be a list or tuple, got {type(loop_vars).__name__}")
    if not loop_vars:
        raise ValueError("while_loop: loop_vars is empty")

    def turn(now: list[Any]) -> list[Any]:
        found = body(*now)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        if len(found) != len(loop_vars):
            raise ValueError(f"while_loop: body returned {len(found)} values for {len(loop_vars)} loop_vars")
        return found

    values = list(loop_vars)
    traced = repeated("while_loop", lambda now: cond(*now), turn, values)
    if traced is not NotImplemented:
        return traced
    while _holds("while_loop", "the result of cond", cond(*values)):
        values = turn(values)
    return values


def case(
    pred_fn_pairs: Sequence[tuple[Any, Callable[[], Any]]], default: Callable[[], Any] | None = None, name: Any = None
) -> Any:
    """What the function of the first pair returns whose condition holds; else `default`, or the last function."""
    if not isinstance(pred_fn_pairs, (list, tuple)) or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pred_fn_pairs
    ):
        raise TypeError("case: pred_fn_pairs must be a list of pairs of a condition and a function")
    if not pred_fn_pairs:
        raise ValueError("case: pred_fn_pairs is empty")
    for pred, f in pred_fn_pairs:
        if _holds("case", "a condition", pred):
            return _function("case", "what stands beside a condition", f)()
    return _function("case", "default", pred_fn_pairs[-1][1] if default is None else default)()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: Any = None
) -> Any:
    """What the function with an index returns; else `default`, or the function with the largest index.

    branch_fns: {index: function}, pairs of both, or functions that are counted from 0.
    """
    if not isinstance(branch_index, (int, Value)):
        raise TypeError(f"switch_case: branch_index must be an integer Tensor, got {type(branch_index).__name__}")
    if isinstance(branch_fns, Mapping):
        branches = dict(branch_fns)
    elif isinstance(branch_fns, (list, tuple)):
        branches = dict(pair if isinstance(pair, (list, tuple)) else (i, pair) for i, pair in enumerate(branch_fns))
    else:
        raise TypeError(f"switch_case: branch_fns must be a dict, list or tuple, got {type(branch_fns).__name__}")
    if not branches:
        raise ValueError("switch_case: branch_fns is empty")
    f = branches.get(int(branch_index), branches[max(branches)] if default is None else default)
    return _function("switch_case", "a branch", f)()


__all__ = ["case", "cond", "switch_case", "while_loop"]

__getattr__ = _attributes(globals())
