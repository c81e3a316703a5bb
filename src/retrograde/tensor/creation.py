"""Creation functions of the namespace: filled, ranges, identities, grids, triangles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, shape_of
from ..ops import structural as st
from ..ops import triangular
from ._values import check_device, matrices, new, rank, shape_tuple
from .conversion import value
from .dtypes import as_dtype
from .promotion import to_dtype


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A Tensor of a shape with elements that nobody has set; float64 unless `dtype` says otherwise."""
    check_device("empty", device)
    return new(np.empty(shape_tuple(shape), np.float64 if dtype is None else as_dtype(dtype)))


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A Tensor of zeros; float64 unless `dtype` says otherwise.

    Examples
    --------
    >>> zeros((2,))
    Tensor([0., 0.])
    """
    check_device("zeros", device)
    return new(np.zeros(shape_tuple(shape), np.float64 if dtype is None else as_dtype(dtype)))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A Tensor of ones; float64 unless `dtype` says otherwise."""
    check_device("ones", device)
    return new(np.ones(shape_tuple(shape), np.float64 if dtype is None else as_dtype(dtype)))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A Tensor with every element the same number (or 0-d tensor, which keeps its history); the number's dtype.

    Examples
    --------
    >>> full((2,), 7)
    Tensor([7, 7])
    """
    check_device("full", device)
    shape = shape_tuple(shape)
    if isinstance(fill_value, Value):
        filled = st.copy(st.broadcast_to(fill_value, shape=shape))
        return filled if dtype is None else to_dtype(filled, as_dtype(dtype))
    return new(np.full(shape, fill_value, None if dtype is None else as_dtype(dtype)))


def _like(x: Any, dtype: Any, device: Any) -> tuple[tuple[int, ...], np.dtype]:
    check_device("creation", device)
    x = value(x)
    return tuple(shape_of(x)), dtype_of(x) if dtype is None else as_dtype(dtype)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """`empty` in the shape and dtype of `x`."""
    return new(np.empty(*_like(x, dtype, device)))


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """`zeros` in the shape and dtype of `x`."""
    return new(np.zeros(*_like(x, dtype, device)))


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """`ones` in the shape and dtype of `x`."""
    return new(np.ones(*_like(x, dtype, device)))


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """`full` in the shape and dtype of `x`."""
    shape, wanted = _like(x, dtype, device)
    return full(shape, fill_value, dtype=wanted)


# ------------------------------------------------------------------------------------------ sequences


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """The numbers from `start` (0 if only one is given) to before `stop`, `step` apart; int64 if all are integers.

    Examples
    --------
    >>> arange(2, 8, 3)
    Tensor([2, 5])
    """
    check_device("arange", device)
    if stop is None:
        start, stop = 0, start
    start, stop, step = (concrete("arange", x).item() if isinstance(x, Value) else x for x in (start, stop, step))
    if step == 0:
        raise ValueError("arange: the step must not be 0")
    wanted: Any = None if dtype is None else as_dtype(dtype)
    return new(np.arange(start, stop, step, wanted))


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Any:
    """`num` numbers in equal distances from `start` to `stop`, which is the last one if `endpoint`.

    Examples
    --------
    >>> linspace(0, 1, 3)
    Tensor([0. , 0.5, 1. ])
    """
    check_device("linspace", device)
    if isinstance(start, Value) or isinstance(stop, Value):
        start, stop = value(start), value(stop)
        steps = np.linspace(0.0, 1.0, num, endpoint=endpoint)
        steps = steps.reshape(-1, *(1,) * max(rank(start), rank(stop)))
        line = start * (1 - steps) + stop * steps
        return line if dtype is None else to_dtype(line, as_dtype(dtype))
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is not None and wanted.kind in "fc":
        # In the wanted precision: rounded down from float64, the last elements may miss the end or overflow.
        line = np.linspace(start, stop, num, endpoint=endpoint, dtype=np.result_type(wanted, np.float64)).astype(wanted)
        if endpoint and num > 1:
            line[-1] = stop
        return new(line)
    return new(np.linspace(start, stop, num, endpoint=endpoint, dtype=wanted))


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    """Ones on the `k`-th diagonal of a matrix, zeros elsewhere.

    Examples
    --------
    >>> eye(2)
    Tensor([[1., 0.],
            [0., 1.]])
    """
    check_device("eye", device)
    n, m = int(n_rows), int(n_rows if n_cols is None else n_cols)
    # A diagonal outside the matrix: NumPy takes no k beyond an int64.
    k = max(-n, min(m, int(k)))
    return new(np.eye(n, m, k, np.float64 if dtype is None else as_dtype(dtype)))


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """For one-dimensional coordinates, the arrays of each coordinate over the whole grid; recorded.

    indexing: "ij" for the order of the arguments, "xy" with the first two axes exchanged.

    Examples
    --------
    >>> import retrograde as rg
    >>> meshgrid(rg.asarray([1, 2]), rg.asarray([3, 4]), indexing="ij")[0]
    Tensor([[1, 1],
            [2, 2]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    given = [value(x) for x in arrays]
    for x in given:
        if rank(x) > 1:
            raise ValueError(f"meshgrid: wanted one-dimensional coordinates, got shape {tuple(shape_of(x))}")
    n = len(given)
    sizes = [math.prod(shape_of(x)) for x in given]
    axes = list(range(n))
    if indexing == "xy" and n > 1:
        axes[0], axes[1] = 1, 0
    shape = [0] * n
    for i, axis in enumerate(axes):
        shape[axis] = sizes[i]
    out = []
    for i, x in enumerate(given):
        own = [1] * n
        own[axes[i]] = sizes[i]
        out.append(st.copy(st.broadcast_to(st.reshape(x, shape=tuple(own)), shape=tuple(shape))))
    return out


def _triangle(name: str, op: Any, x: Any, k: int) -> Any:
    x = value(x)
    matrices(name, x)
    return op(x, k=int(k))


def tril(x: Any, /, *, k: int = 0) -> Any:
    """The elements on and below the `k`-th diagonal of each matrix, zeros above; recorded.

    Examples
    --------
    >>> tril(ones((2, 2)))
    Tensor([[1., 0.],
            [1., 1.]])
    """
    return _triangle("tril", triangular.tril, x, k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """The elements on and above the `k`-th diagonal of each matrix, zeros below; recorded."""
    return _triangle("triu", triangular.triu, x, k)
