"""What the dialects' functions ask of their arguments, with the errors that each dialect raises: the dialects say those
once and get the functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, make

F = TypeVar("F", bound=Callable[..., Any])


def tensor_check(
    error: type[Exception], remedy: str | Callable[[Any], str], argument: str, wanted: str = "a Tensor"
) -> Callable[..., Any]:
    """`tensor_argument(op, x, name)`: x itself if it is a tensor; raises `error` otherwise.

    remedy: what helps, or a function of x that says it. argument: what the argument is called if nothing is said.
    """
    name = argument

    def tensor_argument(op: str, x: Any, argument: str = name) -> Any:
        """`x` itself if it is a tensor; raises an error otherwise."""
        if isinstance(x, Value):
            return x
        helps = remedy if isinstance(remedy, str) else remedy(x)
        raise error(f"{op}: {argument} must be {wanted}, got {type(x).__name__}; {helps}")

    return tensor_argument


def operand_check(
    registry: Any, error: type[Exception], wanted: str, check: Callable[[np.dtype], Any] | None = None
) -> Callable[[str, Any], Any]:
    """`operand(op, x)`: an operand as a tensor or number, NumPy arrays being tensors; raises `error` for anything else.

    check: called with the dtype of an array.
    """

    def operand(op: str, x: Any) -> Any:
        """An operand as a tensor or number; NumPy arrays count as tensors."""
        if isinstance(x, (Value, bool, int, float, complex, np.generic)):
            return x
        if isinstance(x, np.ndarray):
            if check is not None:
                check(x.dtype)
            return make(registry.tensor_class, x)
        raise error(f"{op}: wanted {wanted} or a number, got {type(x).__name__}")

    return operand


def sizes_per_axis(
    integer: Callable[[str, str, Any], int], error: type[Exception]
) -> Callable[[str, str, Any, int], tuple[int, ...]]:
    """`per_axis(op, name, value, axes)`: an int, or a sequence of one int or one per axis, as a tuple.

    integer: how one number is taken. error: what another number of them raises.
    """

    def per_axis(op: str, name: str, value: Any, axes: int) -> tuple[int, ...]:
        """An int, or a sequence of one int or one per axis, as a tuple; raises an error for another number of them."""
        kind = type(value)
        if kind is int:
            return (value,) * axes
        if (kind is tuple or kind is list) and len(value) == axes:  # the everyday case
            for n in value:
                if type(n) is not int:
                    break
            else:
                return value if kind is tuple else tuple(value)
        if isinstance(value, (Value, np.ndarray)):
            value = concrete(op, value).tolist()
        if not isinstance(value, (tuple, list)):
            return (integer(op, name, value),) * axes
        sizes = tuple(integer(op, name, n) for n in value)
        if len(sizes) == axes:
            return sizes
        if len(sizes) == 1:
            return sizes * axes
        raise error(f"{op}: {name} must be one int or {axes} of them, got {len(sizes)}: {value}")

    return per_axis


def raising(error: type[Exception], *caught: type[Exception]) -> Callable[[F], F]:
    """A decorator: what the function raises of the types `caught` is raised as `error`."""

    def decorate(f: F) -> F:
        @functools.wraps(f)
        def function(*args: Any, **kwargs: Any) -> Any:
            try:
                return f(*args, **kwargs)
            except caught as found:
                raise error(str(found)) from None

        return function  # type: ignore[return-value]

    return decorate
