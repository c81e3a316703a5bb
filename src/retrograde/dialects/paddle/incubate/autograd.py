"""`paddle.incubate.autograd`: products with the Jacobian of a function, and its Jacobian and Hessian as matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.value import make, shape_of
from ....ops import structural as st
from ....tape import autograd as tape
from .._tensor import Tensor
from ..autograd import _derivatives as derivatives

_primitives = False


def _alias(x: Tensor) -> Any:
    """An input as a tensor of its own that wants a gradient: with the history of one that has any."""
    if x._node is not None:
        return st.copy(x)
    own = make(Tensor, x._a, None, x._level)
    tape.leaf(own)
    return own


def _inputs(op: str, xs: Any, argument: str = "xs") -> list[Tensor]:
    given = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    for x in given:
        if not isinstance(x, Tensor):
            raise TypeError(f"{op}: {argument} must be a Tensor or a sequence of Tensors, got {type(x).__name__}")
    return given


def _seeds(op: str, v: Any, like: Sequence[Tensor]) -> list[Tensor]:
    """`v` as one tensor for each of `like`, of its shape: ones where it is None."""
    if v is None:
        return [make(Tensor, tape.ones_like(x)) for x in like]
    given = _inputs(op, v, "v")
    if len(given) != len(like):
        raise RuntimeError(f"{op}: v has {len(given)} tensors, wanted {len(like)}")
    for i, (t, x) in enumerate(zip(given, like)):
        if t.shape != x.shape:
            raise RuntimeError(f"{op}: v[{i}] has shape {list(t.shape)}, wanted {list(x.shape)}")
    return given


def vjp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """`func(*xs)`, and the product of `v` (ones) with its Jacobian: for each input, a tensor of its shape.

    Raises TypeError for inputs that are no Tensors, RuntimeError for a `v` of the wrong shapes.
    """
    given = [_alias(x) for x in _inputs("vjp", xs)]
    ys = func(*given)
    outputs = _inputs("vjp", ys, "the result of func")
    seeds = _seeds("vjp", v, outputs)
    found = derivatives.gradients(outputs, given, seeds)
    return ys, found[0] if isinstance(xs, Tensor) else tuple(found)


def _pushed(outputs: Sequence[Tensor], inputs: Sequence[Tensor], tangents: Sequence[Tensor]) -> list[Tensor]:
    """The Jacobian's product with tangents: the derivative, along them, of what a pullback makes of any cotangents."""
    dummies = [derivatives.zeros_for(y) for y in outputs]
    cotangents = derivatives.gradients(outputs, inputs, dummies)
    return derivatives.gradients(cotangents, dummies, tangents)


def jvp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """`func(*xs)`, and the product of its Jacobian with `v` (ones): for each output, a tensor of its shape.

    Raises TypeError for inputs that are no Tensors, RuntimeError for a `v` of the wrong shapes.
    """
    given = [_alias(x) for x in _inputs("jvp", xs)]
    ys = func(*given)
    outputs = _inputs("jvp", ys, "the result of func")
    found = _pushed(outputs, given, _seeds("jvp", v, given))
    return ys, found[0] if isinstance(ys, Tensor) else tuple(found)


class Jacobian(derivatives.Jacobian):
    """The Jacobian of `func` at `xs` as a matrix: inputs and outputs are flattened, several are put one behind the other.

    With `is_batched` the first axis of inputs and outputs is a batch, and so is the matrix's.
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        is_batched = bool(is_batched)  # any truth value, as there; it counts axes below
        given = [_alias(x) for x in _inputs(type(self).__name__, xs)]
        self._of(derivatives.joined(_inputs(type(self).__name__, func(*given), "the result of func"), is_batched),
                 given, is_batched)  # fmt: skip

    def _of(self, ys: Tensor, xs: Sequence[Tensor], batched: bool) -> None:
        columns = sum(int(np.prod(tuple(shape_of(x))[int(batched) :])) for x in xs)

        def compute() -> Any:
            found = [derivatives.joined(row, batched) for row in derivatives.rows(ys, xs, batched)]
            return st.stack(*found, axis=int(batched))

        super().__init__((*shape_of(ys), columns), compute)

    @property
    def shape(self) -> Any:
        """The shape of the matrix, behind that of the batch."""
        return self._shape


class Hessian(Jacobian):
    """The Hessian of `func`, which returns one number (per entry of the batch), at `xs` as a matrix.

    Raises RuntimeError for a function that returns more.
    """

    def __init__(self, func: Callable[..., Any], xs: Any, is_batched: bool = False) -> None:
        is_batched = bool(is_batched)
        given = [_alias(x) for x in _inputs("Hessian", xs)]
        y = func(*given)
        shape = tuple(shape_of(y)) if isinstance(y, Tensor) else None
        if shape is None or (is_batched and not shape) or int(np.prod(shape[1:] if is_batched else shape)) != 1:
            raise RuntimeError(
                f"Hessian: func must return a Tensor of one element{' per entry of the batch' if is_batched else ''}, "
                f"got {type(y).__name__ if shape is None else f'shape {list(shape)}'}"
            )
        first = derivatives.gradients([st.reshape(y, shape=shape[:1] if is_batched else ())], given)
        self._of(derivatives.joined(first, is_batched), given, is_batched)


def forward_grad(outputs: Any, inputs: Any, grad_inputs: Any = None) -> Any:
    """The derivative of `outputs` along `grad_inputs` (ones) from `inputs`: forward mode over what has been computed."""
    given, ys = _inputs("forward_grad", inputs, "inputs"), _inputs("forward_grad", outputs, "outputs")
    found = _pushed(ys, given, _seeds("forward_grad", grad_inputs, given))
    return found[0] if isinstance(outputs, Tensor) else found


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None) -> Any:
    """The gradients of `outputs` with respect to `inputs`, which can be differentiated again; one for one Tensor."""
    given, ys = _inputs("grad", inputs, "inputs"), _inputs("grad", outputs, "outputs")
    found = derivatives.gradients(ys, given, _seeds("grad", grad_outputs, ys))
    return found[0] if isinstance(inputs, Tensor) else found


def enable_prim() -> None:
    """Say that programs are to be taken apart into primitives, as everything here is."""
    global _primitives
    _primitives = True


def disable_prim() -> None:
    """Take `enable_prim` back."""
    global _primitives
    _primitives = False


def prim_enabled() -> bool:
    """Whether `enable_prim` has been called."""
    return _primitives


__all__ = [
    "Hessian", "Jacobian", "disable_prim", "enable_prim", "forward_grad", "grad", "jvp", "prim_enabled", "vjp",
]  # fmt: skip
