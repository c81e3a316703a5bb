"""Hooks of modules: how a call runs when there are any, and the hooks that every module shares."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .....core.value import make
from .....tape.hooks import Handle, add
from ..._tensor import Tensor
from ...autograd.function import Function

GLOBAL: OrderedDict[int, tuple[str, Any]] = OrderedDict()
"""The hooks of every module with their kinds."""

FORWARD, FORWARD_PRE, BACKWARD, BACKWARD_PRE = "forward", "forward_pre", "backward", "backward_pre"


class _MarkedHandle(Handle):
    """A handle that also takes away the marks that say how a hook is called."""

    __slots__ = ("_marks",)

    def remove(self) -> None:
        """Take the hook away; nothing happens when it is gone already."""
        super().remove()
        for marks in self._marks:
            marks.pop(self.id, None)


def register(table: Any, hook: Any, prepend: bool, *marks: tuple[bool, OrderedDict[int, bool]]) -> Handle:
    """Put a hook into a table, and its number into the marks that are set."""
    plain = add(table, hook)
    handle = _MarkedHandle(table, plain.id)
    handle._marks = [chosen for wanted, chosen in marks if wanted]
    for chosen in handle._marks:
        chosen[plain.id] = True
    if prepend:
        table.move_to_end(plain.id, last=False)
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
        backward = _BackwardHooks(module, pre, post) if pre or post else None
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
