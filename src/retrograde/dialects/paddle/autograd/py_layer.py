"""`PyLayer`: a function with a derivative of the user's own."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...._state import grad_mode
from ...._traceback import returned_at
from ....core import level as levels
from ....core.node import Accumulate
from ....core.value import dtype_of, make, shape_of
from ....ops import structural as st
from ....tape import autograd as tape
from ....tape import engine
from ....tape import function as custom
from ..._shared.custom_functions import Context, materialized, outputs_of, record
from .._tensor import Tensor, raised_inside


class PyLayerContext(Context):
    """What forward and backward share: saved tensors, flags, and whatever attributes the user sets."""

    def __init__(self) -> None:
        super().__init__()
        self._fresh: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (and other values) for the backward pass."""
        self._to_save = tensors

    def saved_tensor(self) -> tuple[Any, ...] | None:
        """What was given to `save_for_backward`, None if nothing was.

        Raises SystemError once it is freed, RuntimeError when a tensor has changed in place since.
        """
        found = self._restored()
        return (self._to_save if found is None else found) or None

    def mark_not_inplace(self, *args: Any) -> None:
        """Say which inputs, returned by forward, are not changed by it: the outputs are other tensors then."""
        self._fresh = args

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """Say whether gradients are given to backward in the dtype of the outputs, as they always are here."""


class PyLayer:
    """Base of functions with a derivative of their own: define `forward` and `backward` as static methods, call `apply`.

    backward(ctx, *grads) gets one gradient per Tensor output and returns one per Tensor argument of forward (None for
    those without), or a list of them for an argument that is a list of Tensors.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs."""
        raise NotImplementedError("a PyLayer needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Compute the gradients of the Tensor arguments from those of the outputs."""
        raise NotImplementedError("a PyLayer needs a static method backward(ctx, *grads) to be differentiated")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function on these arguments and record it.

        Raises ValueError where forward returns no Tensor, or a leaf that wants a gradient.
        """
        slots = [_tensors_in(x) for x in (*args, *kwargs.values())]
        operands = [x for slot in slots for x in slot]
        level = max((x._level for x in operands), default=0)
        recorded = levels.mode_at(level) != 0 and any(x._node is not None for x in operands if x._level == level)
        ctx = type(f"{cls.__name__}_backward", (PyLayerContext,), {})()
        with grad_mode(False):
            output = cls.forward(ctx, *args, **kwargs)
        several = isinstance(output, (tuple, list))
        results = list(output) if several else [output]
        if not any(isinstance(x, Tensor) for x in results):
            raise ValueError(f"{cls.__name__}: forward must return at least one Tensor, got {type(output).__name__}")
        kept = {id(x) for x in ctx._fresh}
        ctx._dirty = tuple(x for x in results if any(x is a for a in operands) and id(x) not in kept)
        counts = [None if isinstance(x, Tensor) else len(slot) for x, slot in zip((*args, *kwargs.values()), slots)]
        shapes = [tuple(shape_of(x)) for x in operands]
        run = functools.partial(_backward, cls, ctx, [n for n, slot in zip(counts, slots) if slot], shapes)
        fresh = record(cls.__name__, operands, ctx, results, run, recorded=recorded, level=level, constant_kinds="")
        return type(output)(fresh) if several else fresh[0]


Function = PyLayer


def _tensors_in(x: Any) -> list[Tensor]:
    """The tensors of an argument: itself, or those in a list."""
    if isinstance(x, Tensor):
        return [x]
    return [t for t in x if isinstance(t, Tensor)] if isinstance(x, (list, tuple)) else []


def _backward(
    cls: type[PyLayer], ctx: PyLayerContext, counts: Sequence[int | None], shapes: Sequence[tuple[int, ...]], node: Any,
    cotangents: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Call the user's backward and check its answers: one per tensor, in the order of the arguments."""
    given = []
    for g, came, (_, dtype) in zip(materialized(ctx, node, cotangents), cotangents, outputs_of(node)):
        if g is not None and dtype_of(g) != dtype:  # an output of integers has a gradient of integers
            g = st.cast(g, dtype=dtype)
        if came is not None and g._node is None:  # gradients say that they want gradients
            g = make(Tensor, g._a, None, g._level)
            tape.leaf(g)
        given.append(g)
    with raised_inside(f"{cls.__name__}.backward"):
        answer = cls.backward(ctx, *given)
    answers = list(answer) if isinstance(answer, tuple) else [answer]  # a list is what one argument gets
    if len(answers) == len(counts):
        flat: list[Any] = []
        for g, count in zip(answers, counts):
            if count is not None and isinstance(g, (tuple, list)):
                flat.extend(g)
            else:
                flat.extend([g] if count is None or count == 1 or g is not None else [None] * count)
        answers = flat
    if len(answers) > len(shapes):
        raise ValueError(
            custom.count_text(f"{cls.__name__}.backward", cls.backward, len(answers), len(shapes), "the Tensor arguments")
        )
    wanting = [edge is not None for edge in node.edges]
    for i, wanted in enumerate(wanting):
        if i >= len(answers):
            if wanted:
                raise ValueError(
                    custom.count_text(f"{cls.__name__}.backward", cls.backward, len(answers), len(shapes), "the Tensor arguments")
                )
            answers.append(None)
            continue
        g = answers[i]
        if g is None:
            continue
        if not isinstance(g, Tensor):
            raise ValueError(
                f"{cls.__name__}.backward returned {type(g).__name__} for Tensor argument {i}; wanted a Tensor or None"
                + returned_at(cls.backward)
            )
        if not wanted:
            raise ValueError(
                f"{cls.__name__}.backward must return None for Tensor argument {i}, whose stop_gradient is True"
                + returned_at(cls.backward)
            )
        if tuple(shape_of(g)) != shapes[i]:
            raise ValueError(
                f"{cls.__name__}.backward returned a gradient of shape {list(g.shape)} for Tensor argument {i} of shape "
                f"{list(shapes[i])}; a gradient has the shape of what it is for{returned_at(cls.backward)}"
            )
    this = engine.current_run()
    if this.accumulate and not this.create_graph:
        for edge, g in zip(node.edges, answers):
            leaf = edge.leaf() if type(edge) is Accumulate and g is not None else None
            if leaf is not None:
                leaf._gradient_given(g.stop_gradient)
    return answers


def once_differentiable(f: Any) -> Any:
    """Decorator of a backward that is not to be differentiated itself: what it gives has no history."""

    @functools.wraps(f)
    def backward(ctx: Any, *grads: Any) -> Any:
        with grad_mode(False):
            return f(ctx, *grads)

    return backward
