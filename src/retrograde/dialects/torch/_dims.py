"""`dim` arguments: from PyTorch's, which may be negative, to the engine's axes."""

from __future__ import annotations

from typing import Any


def axis(op: str, dim: Any, ndim: int) -> int:
    """A dimension as a non-negative axis; raises IndexError out of range. A 0-d tensor has the dimensions 0 and -1."""
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"{op}: dim must be an int, got {type(dim).__name__}")
    d, n = dim.__index__(), max(ndim, 1)
    if not -n <= d < n:
        raise IndexError(f"{op}: dim {d} is out of range, a tensor of {ndim} dimensions has {-n} to {n - 1}")
    return d % n


def axes(op: str, dims: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions (one, or several different ones) as non-negative axes in the order given; all of them for None."""
    if dims is None:
        return tuple(range(ndim))
    if not isinstance(dims, (tuple, list)):
        dims = (dims,)
    found = tuple(axis(op, d, ndim) for d in dims)
    if len(set(found)) != len(found):
        raise RuntimeError(f"{op}: a dimension appears more than once in {list(dims)}")
    return found if ndim else ()
