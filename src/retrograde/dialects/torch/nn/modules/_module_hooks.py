"""Hooks of modules: how a call runs when there are any, and the hooks that every module shares."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from typing import Any

from .....tape.hooks import Handle
from ...._shared.module_hooks import BackwardHooks, after_forward, before_forward, register
from ..._tensor import Tensor

GLOBAL: OrderedDict[int, tuple[str, Any]] = OrderedDict()
"""The hooks of every module with their kinds."""

FORWARD, FORWARD_PRE, BACKWARD, BACKWARD_PRE = "forward", "forward_pre", "backward", "backward_pre"


_GLOBAL_KWARGS: OrderedDict[int, bool] = OrderedDict()
_GLOBAL_ALWAYS: OrderedDict[int, bool] = OrderedDict()
_GLOBAL_OLD: OrderedDict[int, bool] = OrderedDict()


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
        first = _of(FORWARD_PRE, module._forward_pre_hooks)
        args, kwargs = before_forward(module, first, module._forward_pre_hooks_with_kwargs, args, kwargs)
        pre = [hook for _, hook in _of(BACKWARD_PRE, module._backward_pre_hooks)]
        post = [hook for _, hook in _of(BACKWARD, module._backward_hooks)]
        backward = BackwardHooks(module, pre, post, tuples_only=True) if pre or post else None
        if backward is not None:
            args = backward.wrap_inputs(args)
        output = module.forward(*args, **kwargs)
        if module._old_backward_hooks and not _is_one_operation(args, output):
            warnings.warn(
                "register_backward_hook: such hooks are meant for modules that are one operation between tensors, or tuples of "
                "them; use register_full_backward_hook", FutureWarning, stacklevel=3,
            )  # fmt: skip
        for key, hook in forward:
            if (key, hook) in always:  # it is called once, even if it raises
                always.remove((key, hook))
            found = hook(module, args, kwargs, output) if key in named else hook(module, args, output)
            output = output if found is None else found
        return output if backward is None else _with_output(backward, output)
    except BaseException:
        for key, hook in always:
            try:
                after_forward(module, hook, key in named, args, kwargs, None)
            except Exception as error:  # what the module raised is what the caller is to see
                warnings.warn(f"a forward hook that is always called raised {error!r} after the module had failed", stacklevel=2)
        raise


def _is_one_operation(inputs: Any, output: Any) -> bool:
    """Whether a module computed tensors, all by one node, whose operands are the inputs."""
    results = output if isinstance(output, tuple) else (output,)
    if not all(isinstance(x, Tensor) for x in (*inputs, *results)):
        return False
    nodes = {x.grad_fn for x in results if x.grad_fn is not None}
    if len(nodes) != 1:
        return False
    operands = {node for node, _ in nodes.pop().next_functions}
    return {x.grad_fn for x in inputs if x.grad_fn is not None} == operands


def _with_output(backward: BackwardHooks, output: Any) -> Any:
    """The result, sent through the output boundary, if it is one whose gradients hooks can see."""
    if not isinstance(output, Tensor) and not (
        isinstance(output, (tuple, list)) and any(isinstance(x, Tensor) for x in output)
    ):
        warnings.warn(
            f"backward hooks see the gradients of a tensor or of a tuple of tensors; the module returned "
            f"{type(output).__name__}, and its hooks are not called", stacklevel=4,
        )  # fmt: skip
    return backward.wrap_output(output)


class OfModule:
    """A hook that is given the module it was registered with first; without a cycle, and a copy goes with the module's copy."""

    def __init__(self, hook: Any, module: Any) -> None:
        self.hook, self._module = hook, weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        return self.hook(self._module(), *args)

    def __getstate__(self) -> tuple[Any, Any]:
        return self.hook, self._module()

    def __setstate__(self, state: tuple[Any, Any]) -> None:
        self.hook, self._module = state[0], weakref.ref(state[1])


class Silent:
    """A hook that must return nothing."""

    def __init__(self, name: str, hook: Any) -> None:
        self.name, self.hook = name, hook

    def __call__(self, *args: Any) -> None:
        found = self.hook(*args)
        if found is not None:
            raise RuntimeError(f"{self.name}: the hook returned {type(found).__name__}, and it must return None")


REGISTRATION: dict[str, OrderedDict[int, Any]] = {"parameter": OrderedDict(), "buffer": OrderedDict(), "module": OrderedDict()}
"""What is called when a member of a kind is registered with any module."""


def registered(kind: str, module: Any, name: str, member: Any) -> Any:
    """What is to be registered: the member, or what a hook gives in its place."""
    for hook in REGISTRATION[kind].values():
        found = hook(module, name, member)
        member = member if found is None else found
    return member


def register_module_parameter_registration_hook(hook: Any) -> Handle:
    """Call `hook(module, name, parameter)` before a module registers a parameter; it may return another one."""
    return register(REGISTRATION["parameter"], hook, False)


def register_module_buffer_registration_hook(hook: Any) -> Handle:
    """Call `hook(module, name, buffer)` before a module registers a buffer; it may return another one."""
    return register(REGISTRATION["buffer"], hook, False)


def register_module_module_registration_hook(hook: Any) -> Handle:
    """Call `hook(module, name, submodule)` before a module registers a submodule; it may return another one."""
    return register(REGISTRATION["module"], hook, False)


def register_module_forward_hook(hook: Any, *, with_kwargs: bool = False, always_call: bool = False) -> Handle:
    """A forward hook of every module."""
    return register(GLOBAL, (FORWARD, hook), False, (with_kwargs, _GLOBAL_KWARGS), (always_call, _GLOBAL_ALWAYS))


def register_module_forward_pre_hook(hook: Any) -> Handle:
    """A forward pre-hook of every module."""
    return register(GLOBAL, (FORWARD_PRE, hook), False)


def register_module_full_backward_hook(hook: Any) -> Handle:
    """A full backward hook of every module."""
    if _GLOBAL_OLD:
        raise RuntimeError("register_module_full_backward_hook: there are hooks of the old kind, which do not go along")
    return register(GLOBAL, (BACKWARD, hook), False)


def register_module_backward_hook(hook: Any) -> Handle:
    """The old form of `register_module_full_backward_hook`, which it behaves as."""
    if any(kind == BACKWARD and key not in _GLOBAL_OLD for key, (kind, _) in GLOBAL.items()):
        raise RuntimeError("register_module_backward_hook: there are full backward hooks, which do not go along")
    return register(GLOBAL, (BACKWARD, hook), False, (True, _GLOBAL_OLD))


def register_module_full_backward_pre_hook(hook: Any) -> Handle:
    """A full backward pre-hook of every module."""
    return register(GLOBAL, (BACKWARD_PRE, hook), False)
