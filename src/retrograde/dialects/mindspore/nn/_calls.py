"""How a cell is called when there is more to it than `construct`: hooks, a custom `bprop`, another precision, recompute."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of
from ....ops.structural import cast
from ..._shared.module_hooks import BackwardHooks, after_forward, before_forward
from .._custom import custom
from .._recompute import recomputed


def call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a cell with everything that was asked for."""
    hooks = cell._hooks
    if hooks is None:
        return _constructed(cell, args, kwargs)
    output, done = None, False
    try:
        args, kwargs = before_forward(cell, list(hooks.forward_pre.items()), hooks.with_kwargs, args, kwargs)
        backward = None
        if hooks.backward or hooks.backward_pre:
            pre, post = ([_checked(hook) for hook in table.values()] for table in (hooks.backward_pre, hooks.backward))
            backward = BackwardHooks(cell, pre, post)
            places = [i for i, x in enumerate(args) if isinstance(x, Value)]  # hooks see the gradients of tensors
            wrapped = dict(zip(places, backward.wrap_inputs(tuple(args[i] for i in places))))
            args = tuple(wrapped.get(i, x) for i, x in enumerate(args))
        output = _constructed(cell, args, kwargs)
        for key, hook in list(hooks.forward.items()):
            output = after_forward(cell, hook, key in hooks.with_kwargs, args, kwargs, output)
        done = True
        return output if backward is None else backward.wrap_output(output)
    finally:
        if not done:
            for key in list(hooks.always):
                after_forward(cell, hooks.forward[key], key in hooks.with_kwargs, args, kwargs, output)


def _checked(hook: Any) -> Any:
    """A backward hook, whose gradients must be tensors and as many as it got to replace."""

    def run(cell: Any, grads: Any, *rest: Any) -> Any:
        found = hook(cell, grads, *rest)
        if found is None or (grads and all(g is None for g in grads)):  # nothing goes on from there
            return None
        given = found if isinstance(found, tuple) else (found,)
        if len(given) != len(grads) or not all(g is None or isinstance(g, Value) for g in given):
            raise TypeError(
                f"a backward hook of {type(cell).__name__} returns None or {len(grads)} gradients, got "
                f"{', '.join(type(g).__name__ for g in given)}"
            )
        return given

    return run


def _constructed(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    np_dtype = cell._compute
    if np_dtype is None:
        return _differentiated(cell, args, kwargs)
    args = tuple(_in_precision(x, np_dtype) for x in args)
    kwargs = {name: _in_precision(x, np_dtype) for name, x in kwargs.items()}
    own = cell.__dict__
    before = own.get("_casting")
    own["_casting"] = np_dtype
    try:
        return _differentiated(cell, args, kwargs)
    finally:
        own["_casting"] = before


def _in_precision(x: Any, np_dtype: np.dtype) -> Any:
    if isinstance(x, Value):
        return x if dtype_of(x) == np_dtype or dtype_of(x).kind in "iubc" else cast(x, dtype=np_dtype)
    if isinstance(x, (tuple, list)):
        return type(x)(_in_precision(part, np_dtype) for part in x)
    return x


def _differentiated(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if hasattr(type(cell), "bprop"):
        return _with_bprop(cell, args, kwargs)
    if cell._recomputed:
        return recomputed(cell, cell.construct, args, kwargs)
    if cell._saved_hooks is not None:
        with cell._saved_hooks:
            return cell.construct(*args, **kwargs)
    return cell.construct(*args, **kwargs)


def _bound(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments of `construct` by position, with its defaults where bprop takes them."""
    code = getattr(cell.construct, "__code__", None)  # a compiled one has none
    if not kwargs and code is not None and len(args) == code.co_argcount - 1:
        return args
    bound = inspect.signature(cell.construct).bind(*args, **kwargs)
    bound.apply_defaults()
    return (*bound.args, *bound.kwargs.values())


def _with_bprop(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run `construct` unrecorded; its derivative is what `bprop(*inputs, out, dout)` returns."""
    inputs = _bound(cell, args, kwargs)
    return custom(type(cell).__name__, lambda: cell.construct(*args, **kwargs), inputs, cell.bprop)
