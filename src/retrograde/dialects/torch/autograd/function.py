"""`torch.autograd.Function`: a function with a derivative of the user's own."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ...._state import OFF, OPENED, grad_mode, is_grad_enabled, set_mode, settle, state
from ...._traceback import returned_at
from ...._tree import flatten
from ....core import level as levels
from ....core.value import Value, detached, dtype_of
from ....tape import function as custom
from ..._shared.custom_functions import Context, materialized, record
from ..._shared.module_hooks import spread
from .._tensor import Tensor


class FunctionCtx(Context):
    """What forward and backward share: saved tensors, flags, and whatever attributes the user sets."""

    _to_save_forward: tuple[Any, ...] = ()
    _pushing = False
    """Whether it is given to jvp, which sees what was saved for that."""
    needs_input_grad: tuple[bool, ...] = ()
    _results: tuple[int, Sequence[int]] = (1, (0,))
    """How many results forward had, and at which places those stood that are tensors."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (inputs, outputs or others; None allowed) for the backward pass."""
        for x in tensors:
            if x is not None and not isinstance(x, Tensor):
                raise TypeError(
                    f"save_for_backward: only tensors can be saved, got {type(x).__name__}; set an attribute"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        self._to_save_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs forward has changed in place."""
        self._dirty = args

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`; raises RuntimeError once they are freed or have changed in
        place."""
        if self._pushing and self._to_save_forward:
            return self._to_save_forward
        found = self._restored()
        return (self._to_save if found is None else found) or self._to_save_forward or ()

    saved_variables = saved_tensors


# How a Function is applied inside functional transforms, and what refuses it there; _function_levels.py, which builds on this
# file, puts them here.
_at_level: list[Callable[..., Any]] = []


class FunctionMeta(type):
    """The class of functions with a derivative of their own."""


class Function(metaclass=FunctionMeta):
    """Base of functions with a derivative of their own: define `forward` and `backward` (and `setup_context`, `jvp`,
    `vmap`) as static methods and call `apply`.

    Examples
    --------
    >>> import retrograde.dialects.torch as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return 2 * g
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor(2.)
    """

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: `forward(ctx, *inputs)`, or `forward(*inputs)` beside a `setup_context`."""
        raise NotImplementedError("a torch.autograd.Function needs a static method forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what the backward needs, where `forward` takes no context."""
        raise NotImplementedError("setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs, one per argument of forward."""
        raise NotImplementedError("a torch.autograd.Function needs a static method backward to be differentiated")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs."""
        raise NotImplementedError("this torch.autograd.Function defines no jvp, so forward mode cannot pass through it")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The outputs for arguments with a mapped dimension, and the dimensions that are mapped in them."""
        raise NotImplementedError("this torch.autograd.Function defines no vmap rule; or set generate_vmap_rule = True")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self).__name__} has static methods and no use for instances; call {type(self).__name__}.apply(...)",
            DeprecationWarning, stacklevel=2,
        )  # fmt: skip

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{type(self).__name__} has static methods; call {type(self).__name__}.apply(...)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function on these arguments and record it."""
        split = cls.setup_context is not Function.setup_context
        if split:
            if kwargs or _has_defaults(cls.forward):
                args = _bound(cls.forward, args, kwargs)
        elif kwargs:
            args = _bound(cls.forward, (None, *args), kwargs)[1:]  # beside the context
        if OPENED:
            top = 0
            for x in args if not any(isinstance(x, (list, tuple, dict)) for x in args) else flatten(args)[0]:
                if isinstance(x, Value) and x._level > top:
                    top = x._level
            if top:
                return _at_level[0](cls, args, top)
            _at_level[1](cls, split)
        return run(cls, args, lambda: call_forward(cls, args, split), 0)


class InplaceFunction(Function):
    """Base of functions that can work in place; a `Function`, under the name that older programs derive from."""


@functools.cache
def _has_defaults(forward: Callable[..., Any]) -> bool:
    """Whether arguments of forward may be left out."""
    return any(p.default is not p.empty for p in inspect.signature(forward).parameters.values())


def _bound(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments with keywords put in their positions."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def new_context(cls: type[Function], args: tuple[Any, ...]) -> FunctionCtx:
    """A fresh context for a call with these arguments."""
    ctx = _ctx_class(cls)()
    ctx.needs_input_grad = tuple([isinstance(x, Tensor) and x._node is not None for x in args])
    return ctx


def call_forward(cls: type[Function], args: tuple[Any, ...], split: bool) -> tuple[FunctionCtx, Any]:
    """Call the user's forward with a fresh context; gradients are off inside."""
    ctx = new_context(cls, args)
    tape = state if state.tape is None else state.tape
    before = tape.mode
    try:  # as the backward pass does it: a context manager would take 1 µs more
        set_mode(tape, OFF)
        if split:
            output = cls.forward(*args)
            cls.setup_context(ctx, args, output)
        else:
            output = cls.forward(ctx, *args)
    finally:
        tape.mode, mode = before, tape.mode
        if tape is state:
            settle(mode, before)
    return ctx, output


@functools.cache
def _ctx_class(cls: type[Function]) -> type[FunctionCtx]:
    return type(cls.__name__ + "Backward", (FunctionCtx,), {"_forward_cls": cls})


def run(
    cls: type[Function], args: tuple[Any, ...], forward: Callable[[], tuple[FunctionCtx, Any]], level: int
) -> Any:
    """Run forward at one level of the tape and record the node there."""
    positions, operands, recorded = list[int](), list[Any](), False
    for i, x in enumerate(args):
        if isinstance(x, Tensor):
            positions.append(i)
            operands.append(x)
            if x._node is not None and x._level == level:
                recorded = True
    recorded = recorded and levels.mode_at(level) != OFF
    ctx, output = forward()
    several = isinstance(output, (tuple, list))
    results = list(output) if several else [output]
    if not several and not isinstance(output, Tensor) and output is not None and recorded and not _plain_result(output):
        raise TypeError(f"{cls.__name__}.forward returned {type(output).__name__}; it must return a tensor or a tuple")
    for x in ctx._dirty:
        if not any(x is y for y in results):
            raise RuntimeError(f"{cls.__name__}.forward marked an argument as changed in place and did not return it")
    tensors_at = [i for i, x in enumerate(results) if isinstance(x, Tensor)]
    if several:
        ctx._results = len(results), tensors_at
    backward = functools.partial(_backward, cls, ctx, len(args), positions)
    name = cls.__name__ + ("GeneratedBackward" if level else "Backward")
    fresh = record(name, operands, ctx, results, backward, recorded=recorded, level=level)
    return _finish(output, fresh, several)


def _plain_result(x: Any) -> bool:
    return isinstance(x, (int, float, str, dict))


def _finish(output: Any, results: list[Any], several: bool) -> Any:
    if not several:
        return results[0]
    return type(output)._make(results) if hasattr(output, "_make") else tuple(results)


def _backward(
    cls: type[Function], ctx: FunctionCtx, count: int, positions: Sequence[int], node: Any, cotangents: list[Any]
) -> list[Any]:
    """Call the user's backward and put its answers in the order of the tensor arguments, of `count` arguments in all."""
    given = spread(*ctx._results, materialized(ctx, node, cotangents))
    backward = cls.backward if cls.backward is not Function.backward else cls.vjp
    if backward is Function.backward:
        raise NotImplementedError(
            f"{cls.__name__} defines no backward; to be differentiated it needs a static method backward(ctx, *gradients)"
        )
    if backward is cls.backward and cls.vjp is not Function.vjp:
        raise RuntimeError(f"{cls.__name__} defines both backward and vjp, which are two names of one thing; define one")
    answer = backward(ctx, *given)
    answers = list(answer) if isinstance(answer, tuple) else [answer]
    if len(answers) == 1 == count and isinstance(answers[0], Tensor) and positions:
        _check_fit(cls, node, answers, positions)
        return answers
    while len(answers) > count and answers[-1] is None:
        answers.pop()
    if len(answers) != count:
        raise RuntimeError(
            custom.count_text(f"{cls.__name__}.backward", backward, len(answers), count, "the arguments of forward")
        )
    for i, g in enumerate(answers):
        if g is None:
            continue
        if i not in positions:
            raise RuntimeError(f"{cls.__name__}.backward returned a gradient for argument {i}, which is no tensor")
        if not isinstance(g, Tensor):
            raise RuntimeError(
                f"{cls.__name__}.backward returned {type(g).__name__} for argument {i}, wanted a tensor or None"
                + returned_at(backward)
            )
    found = [answers[i] for i in positions]
    _check_fit(cls, node, found, positions)
    return found


def _check_fit(cls: type[Function], node: Any, gradients: Sequence[Any], positions: Sequence[int]) -> None:
    """Raise for a gradient of another shape than the argument's, and for the complex one of a real argument, of which a half
    would be lost."""
    for g, edge, i in zip(gradients, node.edges, positions):
        if g is not None and edge is not None:
            custom.check_shape(f"{cls.__name__}.backward", cls.backward, i, g, edge, Tensor)
            if edge.dtype.kind != "c" and dtype_of(g).kind == "c":
                raise RuntimeError(
                    f"{cls.__name__}.backward returned a gradient of {dtype_of(g)} for an argument of {edge.dtype}"
                )


def once_differentiable(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a backward that cannot be differentiated itself: a second derivative through it is an error."""

    @functools.wraps(f)
    def backward(ctx: Any, *grads: Any) -> Any:
        wanted = is_grad_enabled() and any(isinstance(g, Tensor) and g._node is not None for g in grads)
        with grad_mode(False):
            answer = f(ctx, *grads)
        if not wanted:
            return answer
        several = isinstance(answer, (tuple, list))
        return _refuse_second(answer if several else (answer,), grads, several)

    return backward


def _refuse_second(answers: Sequence[Any], grads: Sequence[Any], several: bool) -> Any:
    def refuse(node: Any, cotangents: list[Any]) -> list[Any]:
        raise RuntimeError(
            "a backward marked once_differentiable cannot be differentiated a second time; remove the mark and "
            "write it "
            "with differentiable operations"
        )

    operands = [g for g in grads if isinstance(g, Tensor)]
    outputs = [detached(a) if isinstance(a, Tensor) else a for a in answers]
    tensors = [a for a in outputs if isinstance(a, Tensor)]
    if tensors:
        custom.attach(
            "ErrorBackward", operands, tensors, refuse, differentiable=[dtype_of(t).kind in "fc" for t in tensors],
            cls=Tensor,
        )  # fmt: skip
    return tuple(outputs) if several else outputs[0]


__all__ = ["Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]
