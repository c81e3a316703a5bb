"""Hooks of modules that see gradients: a boundary that the gradients of several tensors pass together.

The dialects' module classes call `BackwardHooks` around their forward; the output boundary sees the gradients of the
outputs, the input boundary those of the inputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from ...core.value import Value
from ...tape import function
from ...tape.hooks import Handle, add
from .custom_functions import own_output

Gradients = tuple[Any, ...]


class MarkedHandle(Handle):
    """A handle that also takes away the marks that say how a hook is called."""

    __slots__ = ("_marks",)

    def remove(self) -> None:
        """Take the hook away; nothing happens when it is gone already."""
        super().remove()
        for marks in self._marks:
            marks.pop(self.id, None)


def register(table: Any, hook: Any, prepend: bool, *marks: tuple[bool, Any], kind: Any = MarkedHandle) -> Any:
    """Put a hook into an ordered table, and its number into the marks that are set."""
    plain = add(table, hook)
    handle = kind(table, plain.id)
    handle._marks = [chosen for wanted, chosen in marks if wanted]
    for chosen in handle._marks:
        chosen[plain.id] = True
    if prepend:
        table.move_to_end(plain.id, last=False)
    return handle


def before_forward(
    module: Any, hooks: Iterable[tuple[Any, Any]], named: Container[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The arguments of a module's call after its pre-hooks, which come with their keys; those of `named` take keyword arguments
    too."""
    for key, hook in hooks:
        result = hook(module, args, kwargs) if key in named else hook(module, args)
        if result is None:
            continue
        if key not in named:
            args = result if isinstance(result, tuple) else (result,)
        elif isinstance(result, tuple) and len(result) == 2:
            args, kwargs = result
        else:
            raise RuntimeError("a forward pre-hook with kwargs must return None or a pair (args, kwargs)")
    return args, kwargs


def after_forward(module: Any, hook: Any, with_kwargs: bool, args: Any, kwargs: Any, output: Any) -> Any:
    """The output of a module's call after a forward hook."""
    found = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
    return output if found is None else found


def _pass(name: str, tensors: list[Any], on_backward: Callable[[Gradients], Gradients]) -> list[Any]:
    """The tensors themselves under one new node, whose backward `on_backward` is."""
    level = max(x._level for x in tensors)
    outputs = [own_output(x, tensors) for x in tensors]
    function.attach(
        name, tensors, outputs, lambda _node, grads: on_backward(tuple(grads)),
        differentiable=[x._node is not None for x in tensors], level=level, cls=type(outputs[0]),
    )  # fmt: skip
    return outputs


def through_boundary(
    values: tuple[Any, ...], on_backward: Callable[[Gradients], Gradients], name: str = "BackwardHookFunctionBackward"
) -> tuple[Any, ...]:
    """The values with their tensors sent through a boundary, if one of them wants a gradient."""
    positions = [i for i, x in enumerate(values) if isinstance(x, Value)]
    if not any(values[i]._node is not None for i in positions):
        return values
    result = list(values)
    for i, x in zip(positions, _pass(name, [values[i] for i in positions], on_backward)):
        result[i] = x
    return tuple(result)


def spread(count: int, places: Sequence[int], grads: Sequence[Any]) -> Gradients:
    """`count` gradients: those that are given at their places, and None elsewhere."""
    full: list[Any] = [None] * count
    for i, g in zip(places, grads):
        full[i] = g
    return tuple(full)


class BackwardHooks:
    """The backward hooks of one call.

    pre: hooks `(module, grad_output)`; post: hooks `(module, grad_input, grad_output)`. What they return, if anything,
    takes the place of grad_output or grad_input.
    """

    def __init__(self, module: Any, pre: list[Any], post: list[Any], *, tuples_only: bool = False) -> None:
        self.module, self.pre, self.post, self.tuples_only = module, pre, post, tuples_only
        self.grad_output: Gradients | None = None
        self.inputs_tracked = False
        self.input_count = 0
        self.positions: list[int] = []
        self.output_count = 1
        self.output_positions = [0]

    def wrap_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, sent through the input boundary."""
        self.input_count = len(args)
        self.positions = [i for i, x in enumerate(args) if isinstance(x, Value)]
        self.inputs_tracked = any(args[i]._node is not None for i in self.positions)
        if not self.inputs_tracked or not self.post:
            return args
        return through_boundary(args, self._at_inputs)

    def wrap_output(self, output: Any) -> Any:
        """The result, sent through the output boundary: a tensor, or a tuple or list with tensors."""
        if isinstance(output, Value):
            return through_boundary((output,), self._at_outputs)[0]
        if isinstance(output, (tuple, list)) and any(isinstance(x, Value) for x in output):
            self.output_count = len(output)
            self.output_positions = [i for i, x in enumerate(output) if isinstance(x, Value)]
            wrapped = through_boundary(tuple(output), self._at_outputs)
            return type(output)._make(wrapped) if hasattr(output, "_make") else type(output)(wrapped)
        return output

    def _tuple(self, result: Any) -> Gradients:
        """What a hook returned, one gradient of its own included where that is allowed."""
        if self.tuples_only and not isinstance(result, tuple):
            if isinstance(result, list):
                return tuple(result)
            kind = RuntimeError if isinstance(result, Value) else TypeError
            raise kind(f"a backward hook returned {type(result).__name__}, wanted None or a tuple of gradients")
        return result if isinstance(result, tuple) else (result,)

    def _at_outputs(self, grads: Gradients) -> Gradients:
        shown = spread(self.output_count, self.output_positions, grads)
        for hook in self.pre:
            result = hook(self.module, shown)
            if result is not None:
                shown = self._tuple(result)
                if len(shown) != self.output_count:
                    raise RuntimeError(
                        f"a backward pre-hook returned {len(shown)} gradients; the module has {self.output_count} outputs"
                    )
        self.grad_output = shown
        if self.post and not self.inputs_tracked:
            empty = (None,) * self.input_count
            if self.tuples_only:
                warnings.warn(
                    "a full backward hook of a module none of whose inputs requires grad is called with the gradients of the "
                    "outputs only", UserWarning, stacklevel=2,
                )  # fmt: skip
            for hook in self.post:
                found = hook(self.module, empty, shown)
                if found is not None and not (isinstance(found, tuple) and all(g is None for g in found)):
                    raise RuntimeError(
                        "a backward hook returned gradients for a module none of whose inputs requires grad"
                    )
        return tuple(shown[i] for i in self.output_positions)

    def _at_inputs(self, grads: Gradients) -> Gradients:
        if self.grad_output is None:  # what arrives has not come through the module's results: a derivative of a derivative
            return grads
        shown = spread(self.input_count, self.positions, grads)
        for hook in self.post:
            result = hook(self.module, shown, self.grad_output)
            if result is not None:
                shown = self._tuple(result)
                if len(shown) != self.input_count:
                    raise RuntimeError(
                        f"a backward hook returned {len(shown)} gradients; the module has {self.input_count} inputs"
                    )
        self.grad_output = None
        return tuple(shown[i] for i in self.positions)
