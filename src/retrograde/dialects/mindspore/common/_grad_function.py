"""`_Function`: a function with a derivative of the user's own, written as static methods."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...._state import grad_mode
from ....core import level as levels
from ....core.value import Value, dtype_of, shape_of
from ....tape import function
from ..._shared.custom_functions import Context, materialized, record
from .._custom import fitting


class _Function(Context):
    """Base of functions with a derivative of their own: define `forward` and `backward` (and `setup_context`) as static
    methods and call `apply`. The context that these get is an object of the class.

    Example:
        >>> import retrograde.dialects.mindspore as ms
        >>> class Double(ms._Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         return g * 2
        >>> print(ms.grad(lambda x: Double.apply(x))(ms.Tensor([3.0])))
        [2.]
    """

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for the backward pass."""
        self._to_save = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs forward has changed in place."""
        self._dirty = args

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`; raises RuntimeError once they have changed in place."""
        found = self._restored()
        return self._to_save or () if found is None else found

    @staticmethod
    def forward(*args: Any) -> Any:
        """Compute the outputs: `forward(ctx, *inputs)`, or `forward(*inputs)` beside a `setup_context`."""
        raise NotImplementedError("a _Function needs a static method forward(ctx, *inputs)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what the backward needs, where `forward` takes no context."""
        raise NotImplementedError("setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs, one per argument of forward."""
        raise NotImplementedError("a _Function needs a static method backward(ctx, *grads) to be differentiated")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run the function on these arguments and record it."""
        operands = [x for x in args if isinstance(x, Value)]
        level = max((x._level for x in operands), default=0)
        recorded = levels.mode_at(level) != 0 and any(x._node is not None for x in operands if x._level == level)
        ctx = cls()
        ctx.needs_input_grad = tuple(isinstance(x, Value) and x._node is not None for x in args)
        with grad_mode(False):
            if cls.setup_context is _Function.setup_context:
                output = cls.forward(ctx, *args)
            else:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
        results = list(output) if isinstance(output, tuple) else [output]
        wanted = [(tuple(shape_of(x)), dtype_of(x)) if isinstance(x, Value) else None for x in args]
        run = functools.partial(_backward, cls, ctx, wanted, [isinstance(y, Value) for y in results])
        fresh = record(cls.__name__, operands, ctx, results, run, recorded=recorded, level=level)
        return tuple(fresh) if isinstance(output, tuple) else fresh[0]


def _backward(
    cls: type[_Function], ctx: _Function, wanted: Sequence[Any], tensors: Sequence[bool], node: Any, cotangents: Sequence[Any]
) -> list[Any]:  # fmt: skip
    """The user's gradients of the tensor arguments, in their shapes and dtypes; outputs that are no tensors have None."""
    arrived = iter(materialized(ctx, node, cotangents))
    answer = cls.backward(ctx, *[next(arrived) if is_tensor else None for is_tensor in tensors])
    answers = list(answer) if isinstance(answer, (tuple, list)) else [answer]
    if len(answers) < len(wanted):
        raise RuntimeError(
            function.count_text(f"{cls.__name__}.backward", cls.backward, len(answers), len(wanted), "the arguments of forward")
        )
    for i, g in enumerate(answers):
        if g is not None and (i >= len(wanted) or wanted[i] is None):
            raise RuntimeError(f"{cls.__name__}.backward returned a gradient for argument {i}, which is no tensor; wanted None")
        if g is not None and not isinstance(g, Value):
            raise RuntimeError(f"{cls.__name__}.backward returned {type(g).__name__} for argument {i}, wanted a Tensor")
    return [
        fitting(f"{cls.__name__}.backward", cls.backward, g, i, *facts)
        for i, (g, facts) in enumerate(zip(answers, wanted)) if facts is not None
    ]  # fmt: skip
