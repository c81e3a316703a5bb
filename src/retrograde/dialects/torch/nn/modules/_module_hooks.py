"""Hooks of modules: how a call runs when there are any, and the hooks that every module shares."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .....tape.hooks import Handle
from ...._shared.module_hooks import BackwardHooks, register

GLOBAL: OrderedDict[int, tuple[str, Any]] = OrderedDict()
"""The hooks of every module with their kinds."""

FORWARD, FORWARD_PRE, BACKWARD, BACKWARD_PRE = "forward", "forward_pre", "backward", "backward_pre"


_GLOBAL_KWARGS: OrderedDict[int, bool] = OrderedDict()
_GLOBAL_ALWAYS: OrderedDict[int, bool] = OrderedDict()


def _of(kind: str, own: Any) -> list[tuple[int, Any]]:
    """The hooks of a kind: every module's first, then the module's own."""
    return [*((key, hook) for key, (k, hook) in GLOBAL.items() if k == kind), *own.items()]


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a module with all its hooks."""
    forward = _of(FORWARD, module._forward_hooks)
    named = {**_GLOBAL_KWARGS, **module._forward_hooks_with_kwargs}
    always = [
        (key, hook) for key, hook in forward if key in _GLOBAL_ALWAYS or key in module._forward_hooks_always_called
    ]
    try:
        for key, hook in _of(FORWARD_PRE, module._forward_pre_hooks):
            if key in module._forward_pre_hooks_with_kwargs:
                result = hook(module, args, kwargs)
                if result is not None:
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise RuntimeError("a forward pre-hook with kwargs must return None or a pair (args, kwargs)")
                    args, kwargs = result
            else:
                result = hook(module, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        pre = [hook for _, hook in _of(BACKWARD_PRE, module._backward_pre_hooks)]
        post = [hook for _, hook in _of(BACKWARD, module._backward_hooks)]
        backward = BackwardHooks(module, pre, post) if pre or post else None
        if backward is not None:
            args = backward.wrap_inputs(args)
        output = module.forward(*args, **kwargs)
        for key, hook in forward:
            result = hook(module, args, kwargs, output) if key in named else hook(module, args, output)
            if result is not None:
                output = result
            if (key, hook) in always:
                always.remove((key, hook))
        return output if backward is None else backward.wrap_output(output)
    except BaseException:
        for key, hook in always:
            hook(module, args, kwargs, None) if key in named else hook(module, args, None)
        raise


def register_module_forward_hook(hook: Any, *, with_kwargs: bool = False, always_call: bool = False) -> Handle:
    """A forward hook of every module."""
    return register(GLOBAL, (FORWARD, hook), False, (with_kwargs, _GLOBAL_KWARGS), (always_call, _GLOBAL_ALWAYS))


def register_module_forward_pre_hook(hook: Any) -> Handle:
    """A forward pre-hook of every module."""
    return register(GLOBAL, (FORWARD_PRE, hook), False)


def register_module_full_backward_hook(hook: Any) -> Handle:
    """A full backward hook of every module."""
    return register(GLOBAL, (BACKWARD, hook), False)


def register_module_full_backward_pre_hook(hook: Any) -> Handle:
    """A full backward pre-hook of every module."""
    return register(GLOBAL, (BACKWARD_PRE, hook), False)
