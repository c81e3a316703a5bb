"""What the functions of `torch.linalg` ask of their arguments, and how their results are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from .._api import with_out
from .._dtype import FROM_NUMPY
from .._elementwise import tensor_argument

F = TypeVar("F", bound=Callable[..., Any])


def takes_out(f: F) -> F:
    """Give a function of the module its `out=`."""
    return with_out(f"linalg.{f.__name__}", f)


def shape_argument(op: str, x: Any, name: str = "A") -> tuple[int, ...]:
    """The shape of a tensor argument; raises TypeError for anything else."""
    if not isinstance(x, Value):
        tensor_argument(op, x, name)
    return tuple(shape_of(x))


def floating(op: str, x: Any, name: str = "A", *, half: type[Exception] = NotImplementedError,
             integer: type[Exception] = RuntimeError) -> None:  # fmt: skip
    """Raise unless `x` has a dtype that LAPACK computes in."""
    dtype = dtype_of(x)
    if dtype.char in "fdFD":
        return
    if dtype.kind in "iub":
        raise integer(f"{op}: {name} must be floating or complex, got {FROM_NUMPY[dtype]!r}; convert it first")
    raise half(f"{op}: not offered for {FROM_NUMPY[dtype]!r}; compute in float32 and convert the result")


def matrices(op: str, x: Any, name: str = "A", *, square: bool = False, **kinds: Any) -> tuple[int, ...]:
    """The shape of a batch of (square) matrices of floating or complex numbers."""
    shape = shape_argument(op, x, name)
    if len(shape) < 2:
        raise RuntimeError(f"{op}: {name} must have at least 2 dimensions, got {len(shape)}")
    if square and shape[-1] != shape[-2]:
        raise RuntimeError(f"{op}: {name} must be a batch of square matrices, got {shape[-2]} by {shape[-1]} ones")
    floating(op, x, name, **kinds)
    return shape


def same_dtype(op: str, x: Any, y: Any, names: tuple[str, str] = ("A", "B")) -> None:
    """Raise unless both have one dtype."""
    if dtype_of(x) != dtype_of(y):
        raise RuntimeError(
            f"{op}: {names[0]} and {names[1]} must have one dtype, got {FROM_NUMPY[dtype_of(x)]!r} and "
            f"{FROM_NUMPY[dtype_of(y)]!r}; convert one of them"
        )


def fit(op: str, a: tuple[int, ...], b: tuple[int, ...], left: bool) -> None:
    """Raise unless `b` can be the right-hand side of an equation with the square matrices `a`, batches included."""
    if a[-1] != b[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"{op}: shapes do not fit {equation}: A is {a[-2]} by {a[-1]}, B is {b[-2]} by {b[-1]}")
    broadcast(op, a[:-2], b[:-2])


def broadcast(op: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The common batch shape; raises where there is none."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise RuntimeError(f"{op}: the batch shapes {list(a)} and {list(b)} do not broadcast") from None
