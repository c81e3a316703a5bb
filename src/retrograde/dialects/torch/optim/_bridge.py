"""Between the optimisers and the tensors they change: the one place here that looks inside a tensor.

Arrays of NumPy are updated in place by the rules of `retrograde.learn`, and the tape is told that their memory has
changed. Any other array, and every update of a `differentiable=True` group, goes through the in-place operations of the
tensors themselves (`Statements`), so that it is recorded or made functional like any other operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import make
from ....learn import kernels
from ....tape import mutation
from ... import torch
from .._dtype import float64, get_default_dtype
from .._grad_modes import set_grad_enabled
from .._tensor import Tensor

_ndarray = np.ndarray


def array_of(tensor: Tensor) -> Any:
    """The array of a tensor, shared."""
    return tensor._a


def wrap(array: np.ndarray) -> Tensor:
    """A plain tensor around an array, shared."""
    return make(Tensor, array)


def changed(tensor: Tensor) -> None:
    """Tell the tape that the memory of the tensor has been written."""
    mutation.note(tensor._a)


def scalar(value: float) -> Tensor:
    """A 0-d tensor for a count or coefficient in the state: float32, or float64 where that is the default."""
    return wrap(np.array(value, _scalar_dtype()))


def set_scalar(tensor: Tensor, value: float) -> None:
    """Put a number into a 0-d tensor of the state, rounded as `scalar` would hold it."""
    tensor._a[...] = _scalar_dtype()(value)


def _scalar_dtype() -> type[np.floating[Any]]:
    return np.float64 if get_default_dtype() is float64 else np.float32


def zeros_like(p: Tensor) -> Tensor:
    """Zeros of the shape, dtype and memory order of a parameter, without history."""
    a = p._a
    return wrap(np.zeros_like(a)) if type(a) is _ndarray else torch.zeros_like(p.detach())


def full_like(p: Tensor, value: float) -> Tensor:
    """A constant of the shape and dtype of a parameter; for complex ones in both parts."""
    both = complex(value, value) if torch.is_complex(p) else value
    a = p._a
    return wrap(np.full_like(a, both)) if type(a) is _ndarray else torch.full_like(p.detach(), both)


def advance(step: Tensor) -> float:
    """Count one more step in a 0-d tensor and return the count."""
    a = step._a
    count = a.item() + 1
    a[...] = count
    return count


def number(value: Any, differentiable: bool = False) -> Any:
    """An option as a Python float; a tensor that wants a gradient stays one in a differentiable group."""
    if differentiable and isinstance(value, Tensor) and value.requires_grad:
        return value
    return float(value)


def update(
    rule: Callable[..., None],
    differentiable: bool,
    params: list[Tensor],
    *columns: list[Tensor] | None,
    **options: Any,
) -> None:
    """Run a rule of `retrograde.learn` on parameters, their gradients and their state (a list per kind, or None)."""
    if not differentiable:
        arrays = [p._a for p in params]
        kept = [None if column is None else [t._a for t in column] for column in columns]
        if all(type(a) is _ndarray for a in arrays) and all(type(a) is _ndarray for a in kept[0] or ()):
            rule(arrays, *kept, **options)
            for a in arrays:
                mutation.note(a)
            return
    with set_grad_enabled(differentiable):
        every = [None if column is None else [_real(t) for t in column] for column in (params, *columns)]
        rule(*every, **options)


def update_one(rule: Callable[..., None], p: Tensor, *tensors: Tensor | None, **options: Any) -> None:
    """Run a rule that takes one NumPy parameter at a time (the matrix rules, which are not differentiated)."""
    rule(p._a, *[None if t is None else t._a for t in tensors], **options)
    mutation.note(p._a)


def _real(tensor: Tensor) -> Tensor:
    return torch.view_as_real(tensor) if torch.is_complex(tensor) else tensor


class Statements:
    """The statements of update rules (see `retrograde.learn.kernels.Native`) in a tensor's own operations.

    What a recorded operation keeps for its derivative is cloned where a later step overwrites it. A statement whose
    `out` is not its first operand returns a new tensor.
    """

    @staticmethod
    def add(x: Any, y: Any, out: Any) -> Any:
        return x.add_(y) if out is x else x + y

    @staticmethod
    def subtract(x: Any, y: Any, out: Any) -> Any:
        return x.sub_(y) if out is x else x - y

    @staticmethod
    def multiply(x: Any, y: Any, out: Any) -> Any:
        return x.mul_(y) if out is x else x * y

    @staticmethod
    def divide(x: Any, y: Any, out: Any) -> Any:
        return x.div_(y) if out is x else x / y

    @staticmethod
    def maximum(x: Any, y: Any, out: Any) -> Any:
        return out.copy_(torch.maximum(x.clone(), y.clone()))

    @staticmethod
    def sqrt(x: Any, out: Any) -> Any:
        # The derivative keeps the root, and the rules go on in place with what they get.
        return torch.sqrt(x.clone()).clone()

    @staticmethod
    def absolute(x: Any, out: Any) -> Any:
        return torch.abs(x)

    @staticmethod
    def negative(x: Any, out: Any) -> Any:
        return -x

    @staticmethod
    def greater(x: Any, y: float) -> Any:
        return x > y

    @staticmethod
    def less(x: Any, y: float) -> Any:
        return x < y

    @staticmethod
    def copy(x: Any, out: Any) -> Any:
        return x.clone() if out is None else out.copy_(x)

    @staticmethod
    def constant(x: Any) -> Any:
        return x.detach()

    @staticmethod
    def clip(x: Any, low: float, high: float, out: Any) -> Any:
        return out.copy_(torch.clamp(x.clone(), low, high))

    @staticmethod
    def plus(x: Any, a: Any, y: Any, out: Any) -> Any:
        return x + a * y.clone()

    @staticmethod
    def axpy_(x: Any, a: Any, y: Any, t: None) -> None:
        x.add_(a * y.clone())

    @staticmethod
    def lerp_(x: Any, y: Any, weight: float, far: bool, t: None) -> None:
        x.add_((1 - weight if far else weight) * (y - x))

    @staticmethod
    def addmul_(x: Any, a: Any, b: Any, t: None) -> None:
        x.add_(a.clone() * b.clone())

    @staticmethod
    def addcmul_(x: Any, a: Any, b: Any, s: Any, t: None) -> None:
        x.add_(s * a.clone() * b.clone())

    @staticmethod
    def adddiv_(x: Any, a: Any, b: Any, t: None) -> None:
        x.add_(a.clone() / b.clone())

    @staticmethod
    def addcdiv_(x: Any, a: Any, b: Any, s: Any, t: None) -> None:
        x.add_(s * a.clone() / b.clone())

    @staticmethod
    def scale_where_(x: Any, s: float, mask: Any) -> None:
        x.copy_(torch.where(mask, x * s, x))

    @staticmethod
    def add_where_(x: Any, y: Any, mask: Any) -> None:
        x.add_(torch.where(mask, y, 0.0))

    @staticmethod
    def subtract_where_(x: Any, y: Any, mask: Any) -> None:
        x.sub_(torch.where(mask, y, 0.0))

    @staticmethod
    def zero_where_(x: Any, mask: Any) -> None:
        x.masked_fill_(mask, 0.0)


def register() -> None:
    """Let update rules run on tensors."""
    kernels.register(Tensor, Statements)
