"""`torch.autograd.Function`: a function with a derivative of the user's own."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._state import grad_mode, is_grad_enabled, state
from ....core import level as levels
from ....core.node import FREED, Accumulate, Slot
from ....core.value import Value, dtype_of, make
from ....tape import function as custom
from ....tape import inplace, mutation
from .._tensor import Tensor


class _SavedTensor:
    """A tensor kept by `save_for_backward`: its array and its edge, or which output of the node itself it is."""

    __slots__ = ("array", "edge", "level", "cls", "output", "packed", "unpack")

    def __init__(self, x: Tensor, output: int | None) -> None:
        self.output, self.cls, self.level = output, type(x)._result, x._level
        self.packed = self.unpack = None
        if state.saved_hooks and output is None:
            pack, self.unpack = state.saved_hooks[-1]
            self.packed = pack(x.detach())
            self.array = None
        else:
            self.array = x._a
        self.edge = None if output is not None else x._node

    def restore(self, node: Any) -> Tensor:
        """The tensor again, with its history."""
        if self.unpack is not None:
            return self.unpack(self.packed)
        edge = self.edge
        if self.output is not None:
            edge = Slot(node, self.output, *node.outs[self.output]) if hasattr(node, "outs") else node
        elif type(edge) is Accumulate:
            leaf = edge.leaf()
            if leaf is not None and leaf._a is self.array:
                return leaf
        return make(self.cls, self.array, edge, self.level)


class FunctionCtx:
    """What forward and backward share: saved tensors, flags, and whatever attributes the user sets."""

    def __init__(self) -> None:
        self._to_save: tuple[Any, ...] | None = None
        self._to_save_forward: tuple[Any, ...] = ()
        self._saved: tuple[_SavedTensor | None, ...] = ()
        self._node: Any = None  # weak: the node owns the context
        self._dirty: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Any, ...] = ()
        self._materialize = True
        self.needs_input_grad: tuple[bool, ...] = ()

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

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether an output without gradient is given to backward as zeros (the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`; raises RuntimeError once they are freed or have changed in
        place."""
        node = None if self._node is None else self._node()
        if node is None:
            return self._to_save or self._to_save_forward or ()
        if node.saved is FREED:
            raise RuntimeError(
                f"{node.prim.name}: the saved tensors are freed after a backward pass; pass retain_graph=True to "
                "keep them"
            )
        for entry in self._saved:
            if entry is not None and entry.array is not None and mutation.changed_after(entry.array, node.seq):
                raise RuntimeError(f"{node.prim.name}: a saved tensor was changed in place after forward had saved it")
        return tuple(None if entry is None else entry.restore(node) for entry in self._saved)

    saved_variables = saved_tensors


# How a Function is applied inside functional transforms; _function_levels.py, which builds on this file, puts it here.
_at_level: list[Callable[..., Any]] = []


class _FunctionMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{cls.__name__} has static methods and is not to be instantiated; call {cls.__name__}.apply(...)"
        )


class Function(metaclass=_FunctionMeta):
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

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function on these arguments and record it."""
        split = cls.setup_context is not Function.setup_context
        if kwargs:
            if split:
                args = _bound(cls.forward, args, kwargs)
            else:
                raise TypeError(f"{cls.__name__}.apply takes no keyword arguments unless setup_context is defined")
        top = max((x._level for x in args if isinstance(x, Value)), default=0)
        if top:
            return _at_level[0](cls, args, top)
        return run(cls, args, lambda: call_forward(cls, args, split), 0)


def _bound(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments with keywords put in their positions."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def new_context(cls: type[Function], args: tuple[Any, ...]) -> FunctionCtx:
    """A fresh context for a call with these arguments."""
    ctx = _ctx_class(cls)()
    ctx.needs_input_grad = tuple(isinstance(x, Tensor) and x._node is not None for x in args)
    return ctx


def call_forward(cls: type[Function], args: tuple[Any, ...], split: bool) -> tuple[FunctionCtx, Any]:
    """Call the user's forward with a fresh context; gradients are off inside."""
    ctx = new_context(cls, args)
    with grad_mode(False):
        if split:
            output = cls.forward(*args)
            cls.setup_context(ctx, args, output)
        else:
            output = cls.forward(ctx, *args)
    return ctx, output


@functools.cache
def _ctx_class(cls: type[Function]) -> type[FunctionCtx]:
    return type(cls.__name__ + "Backward", (FunctionCtx,), {"_forward_cls": cls})


def run(
    cls: type[Function], args: tuple[Any, ...], forward: Callable[[], tuple[FunctionCtx, Any]], level: int
) -> Any:
    """Run forward at one level of the tape and record the node there."""
    recording = levels.mode_at(level) != 0
    operands = [x for x in args if isinstance(x, Tensor)]
    recorded = recording and any(x._node is not None for x in operands if x._level == level)
    ctx, output = forward()
    several = isinstance(output, (tuple, list))
    results = list(output) if several else [output]
    for x in results:
        if not several and not isinstance(x, Tensor) and x is not None and recorded and not _plain_result(x):
            raise TypeError(f"{cls.__name__}.forward returned {type(x).__name__}; it must return a tensor or a tuple")
    dirty = {id(x) for x in ctx._dirty}
    for x in ctx._dirty:
        if not any(x is a for a in operands):
            raise RuntimeError(f"{cls.__name__}: mark_dirty was given a tensor that is no input of forward")
        if recorded and type(x._node) is Accumulate:
            raise RuntimeError(
                f"{cls.__name__}: a leaf that requires grad was changed in place by forward; pass a clone() of it"
            )
        mutation.note(x._a)
    if not recorded:
        _save(ctx, results, None)
        return _finish(output, results, several)
    constant = {id(x) for x in ctx._non_differentiable}
    fresh: list[Any] = []
    for x in results:
        if isinstance(x, Tensor) and id(x) not in dirty:
            # An input (or a view of history) handed through gets a tensor of its own for this node.
            if id(x) in constant or dtype_of(x).kind in "iub":
                x = x if x._node is None else x.detach()
            else:
                x = _own_output(x, operands)
        fresh.append(x)
    outputs = [x for x in fresh if isinstance(x, Tensor)]
    flags = [
        id(original) not in constant and dtype_of(original).kind not in "iub"
        for original in results
        if isinstance(original, Tensor)
    ]
    edges_source: list[Any] = [make(type(x)._result, x._a, x._node, x._level) for x in operands]
    positions = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
    tensors_at = [i for i, x in enumerate(results) if isinstance(x, Tensor)]
    backward = functools.partial(_backward, cls, ctx, (len(args), len(results)), positions, tensors_at)
    mapping = {id(original): k for k, original in enumerate(x for x in results if isinstance(x, Tensor))}
    saved = _save(ctx, results, mapping)
    result_cls = type(outputs[0])._result if outputs else Tensor
    if not any(flags):
        return _finish(output, fresh, several)
    node = custom.attach(
        cls.__name__ + "Backward", edges_source, outputs, backward, differentiable=flags, level=level, cls=result_cls,
        saved=saved,
    )  # fmt: skip
    node.ctx = ctx  # type: ignore[attr-defined]
    ctx._node = weakref.ref(node)
    return _finish(output, fresh, several)


def _plain_result(x: Any) -> bool:
    return isinstance(x, (int, float, str, dict))


def _own_output(x: Tensor, operands: Sequence[Tensor]) -> Tensor:
    """An output as a tensor of its own; a view of an input stays one, and may not be changed in place."""
    own = _own(x)
    base = x if x._base is None else x._base
    for a in operands:
        if base is a or (a._base is not None and base is a._base):
            own._base, own._view_steps = base, ()
            own._view_restriction = inplace.MULTIPLE  # type: ignore[attr-defined]
    return own


def _own(x: Tensor) -> Tensor:
    return make(type(x)._result, x._a, None, x._level)


def _save(ctx: FunctionCtx, results: Sequence[Any], mapping: dict[int, int] | None) -> tuple[Any, ...]:
    """Keep what save_for_backward was given; returns the arrays to be watched for changes."""
    tensors = ctx._to_save or ()
    if mapping is None:
        return ()
    ctx._saved = tuple(None if x is None else _SavedTensor(x, mapping.get(id(x))) for x in tensors)
    ctx._to_save = None
    return tuple(entry.array for entry in ctx._saved if entry is not None and entry.array is not None)


def _finish(output: Any, results: list[Any], several: bool) -> Any:
    if not several:
        return results[0]
    return type(output)._make(results) if hasattr(output, "_make") else tuple(results)


def _backward(
    cls: type[Function], ctx: FunctionCtx, counts: tuple[int, int], positions: Sequence[int], tensors_at: Sequence[int],
    node: Any, cotangents: list[Any],
) -> list[Any]:  # fmt: skip
    """Call the user's backward and put its answers in the order of the tensor arguments."""
    if ctx._materialize:
        shapes = node.outs if hasattr(node, "outs") else ((node.shape, node.dtype),)
        cotangents = [
            make(node.dialect, np.zeros(shape, dtype)) if g is None else g
            for g, (shape, dtype) in zip(cotangents, shapes)
        ]
    count, given = counts[0], [None] * counts[1]  # outputs that are no tensors have None
    for i, g in zip(tensors_at, cotangents):
        given[i] = g
    backward = cls.backward if cls.backward is not Function.backward else cls.vjp
    answer = backward(ctx, *given)
    answers = list(answer) if isinstance(answer, (tuple, list)) else [answer]
    while len(answers) > count and answers[-1] is None:
        answers.pop()
    if len(answers) != count:
        raise RuntimeError(
            f"{cls.__name__}.backward returned {len(answers)} gradients, wanted {count}: one per argument of forward"
        )
    for i, g in enumerate(answers):
        if g is None:
            continue
        if i not in positions:
            raise RuntimeError(f"{cls.__name__}.backward returned a gradient for argument {i}, which is no tensor")
        if not isinstance(g, Tensor):
            raise TypeError(
                f"{cls.__name__}.backward returned {type(g).__name__} for argument {i}, wanted a tensor or None"
            )
    return [answers[i] for i in positions]


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
    outputs = [_own(a) if isinstance(a, Tensor) else a for a in answers]
    tensors = [a for a in outputs if isinstance(a, Tensor)]
    if tensors:
        custom.attach(
            "ErrorBackward", operands, tensors, refuse, differentiable=[dtype_of(t).kind in "fc" for t in tensors],
            cls=Tensor,
        )  # fmt: skip
    return tuple(outputs) if several else outputs[0]


__all__ = ["Function", "FunctionCtx", "once_differentiable"]
