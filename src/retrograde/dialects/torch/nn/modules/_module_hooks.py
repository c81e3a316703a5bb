"""Hooks of modules: how a call runs when there are any, and the hooks that every module shares."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .....core.value import make
from .....tape.hooks import Handle, add
from ..._tensor import Tensor
from ...autograd.function import Function

GLOBAL_FORWARD: OrderedDict[int, Any] = OrderedDict()
GLOBAL_FORWARD_PRE: OrderedDict[int, Any] = OrderedDict()
GLOBAL_BACKWARD: OrderedDict[int, Any] = OrderedDict()
GLOBAL_BACKWARD_PRE: OrderedDict[int, Any] = OrderedDict()


class _Entry:
    """A hook with the options it was registered with."""

    __slots__ = ("hook", "with_kwargs", "always")

    def __init__(self, hook: Any, with_kwargs: bool, always: bool) -> None:
        self.hook, self.with_kwargs, self.always = hook, with_kwargs, always

    def __call__(self, *args: Any) -> Any:
        return self.hook(*args)


def register(
    table: OrderedDict[int, Any], hook: Any, prepend: bool, *, with_kwargs: bool = False, always: bool = False
) -> Handle:
    """Put a hook into a module's table."""
    handle = add(table, _Entry(hook, with_kwargs, always))
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


class _Boundary(Function):
    """The identity on several tensors: gradients pass its backward together, where module hooks see them."""

    @staticmethod
    def forward(ctx: Any, on_backward: Any, *tensors: Tensor) -> Any:
        ctx.on_backward = on_backward
        ctx.set_materialize_grads(False)
        return tuple(make(type(x)._result, x._a, None, x._level) for x in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.on_backward(grads))


def _through_boundary(values: tuple[Any, ...], on_backward: Any) -> tuple[Any, ...]:
    """The values with their tensors sent through a boundary."""
    positions = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    if not any(values[i].requires_grad for i in positions):
        return values
    passed = _Boundary.apply(on_backward, *(values[i] for i in positions))
    result = list(values)
    for i, x in zip(positions, passed):
        result[i] = x
    return tuple(result)


class _BackwardHooks:
    """The full backward hooks of one call: the output boundary sees grad_output, the input boundary grad_input."""

    def __init__(self, module: Any, pre: list[Any], post: list[Any]) -> None:
        self.module, self.pre, self.post = module, pre, post
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs_tracked = False
        self.input_count = 0
        self.positions: list[int] = []

    def wrap_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self.input_count = len(args)
        self.positions = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        self.inputs_tracked = any(args[i].requires_grad for i in self.positions)
        if not self.inputs_tracked or not self.post:
            return args
        return _through_boundary(args, self.at_inputs)

    def wrap_output(self, output: Any) -> Any:
        if isinstance(output, Tensor):
            return _through_boundary((output,), self.at_outputs)[0]
        if isinstance(output, (tuple, list)) and any(isinstance(x, Tensor) for x in output):
            wrapped = _through_boundary(tuple(output), self.at_outputs)
            return type(output)._make(wrapped) if hasattr(output, "_make") else type(output)(wrapped)
        return output

    def at_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.pre:
            result = hook(self.module, grads)
            if result is not None:
                grads = result if isinstance(result, tuple) else (result,)
        self.grad_output = grads
        if self.post and not self.inputs_tracked:
            empty = (None,) * self.input_count
            for hook in self.post:
                if hook(self.module, empty, grads) is not None:
                    raise RuntimeError(
                        "a backward hook returned gradients for a module none of whose inputs requires grad"
                    )
        return grads

    def at_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        full: list[Any] = [None] * self.input_count
        for i, g in zip(self.positions, grads):
            full[i] = g
        shown = tuple(full)
        for hook in self.post:
            result = hook(self.module, shown, self.grad_output)
            if result is not None:
                shown = result if isinstance(result, tuple) else (result,)
                if len(shown) != self.input_count:
                    raise RuntimeError(
                        f"a backward hook returned {len(shown)} gradients; the module has {self.input_count} inputs"
                    )
        self.grad_output = None
        return tuple(shown[i] for i in self.positions)


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a module with all its hooks."""
    always = [entry for entry in (*GLOBAL_FORWARD.values(), *module._forward_hooks.values()) if entry.always]
    try:
        for entry in (*GLOBAL_FORWARD_PRE.values(), *module._forward_pre_hooks.values()):
            if entry.with_kwargs:
                result = entry(module, args, kwargs)
                if result is not None:
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise RuntimeError("a forward pre-hook with kwargs must return None or a pair (args, kwargs)")
                    args, kwargs = result
            else:
                result = entry(module, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        pre = [*GLOBAL_BACKWARD_PRE.values(), *module._backward_pre_hooks.values()]
        post = [*GLOBAL_BACKWARD.values(), *module._backward_hooks.values()]
        backward = _BackwardHooks(module, pre, post) if pre or post else None
        if backward is not None:
            args = backward.wrap_inputs(args)
        output = module.forward(*args, **kwargs)
        for entry in (*GLOBAL_FORWARD.values(), *module._forward_hooks.values()):
            result = entry(module, args, kwargs, output) if entry.with_kwargs else entry(module, args, output)
            if result is not None:
                output = result
            if entry in always:
                always.remove(entry)
        return output if backward is None else backward.wrap_output(output)
    except BaseException:
        for entry in always:
            entry(module, args, kwargs, None) if entry.with_kwargs else entry(module, args, None)
        raise


def register_module_forward_hook(hook: Any, *, with_kwargs: bool = False, always_call: bool = False) -> Handle:
    """A forward hook of every module."""
    return register(GLOBAL_FORWARD, hook, False, with_kwargs=with_kwargs, always=always_call)


def register_module_forward_pre_hook(hook: Any) -> Handle:
    """A forward pre-hook of every module."""
    return register(GLOBAL_FORWARD_PRE, hook, False)


def register_module_full_backward_hook(hook: Any) -> Handle:
    """A full backward hook of every module."""
    return register(GLOBAL_BACKWARD, hook, False)


def register_module_full_backward_pre_hook(hook: Any) -> Handle:
    """A full backward pre-hook of every module."""
    return register(GLOBAL_BACKWARD_PRE, hook, False)
