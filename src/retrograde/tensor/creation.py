"""Creation functions of the namespace: filled, ranges, identities, grids, triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import device_of, of_library
from ..core.arrays import full as full_beside
from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, shape_of
from ..ops import structural as st
from ..ops import triangular
from . import manipulation
from ._values import check_device, made, matrices, new, rank, shape_tuple
from .conversion import value
from .dtypes import as_dtype
from .operators import described
from .promotion import to_dtype

if TYPE_CHECKING:
    from .core import Tensor

_EXAMPLES = {
    "zeros": "(2,) -> Tensor([0., 0.])",
    "tril": "rg.asarray([[1, 2], [3, 4]]) -> Tensor([[1, 0],\n        [3, 4]])",
    "ones": "(2,), dtype=rg.float32 -> Tensor([1., 1.], dtype=float32)",
    "zeros_like": "rg.asarray([1, 2]) -> Tensor([0, 0])",
    "ones_like": "rg.asarray([1.0, 2.0]) -> Tensor([1., 1.])",
    "triu": "rg.asarray([[1, 2], [3, 4]]) -> Tensor([[1, 2],\n        [0, 4]])",
}  # fmt: skip
"""What functions that are made below do to a few numbers, for their documentation."""


def _filled(name: str, doc: str) -> Callable[..., Tensor]:
    """NumPy's function of the name, which is looked up when it is called (compile/trace/sizes.py)."""

    def f(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        check_device(name, device)
        return made(getattr(np, name)(shape_tuple(shape), np.float64 if dtype is None else as_dtype(dtype)), device)

    return described(f, name, doc, "`shape` is an int or a tuple of ints; raises ValueError for a negative one.")


empty = _filled(
    "empty", "A Tensor of a shape with elements that nobody has set; float64 unless `dtype` says otherwise."
)
zeros = _filled("zeros", "A Tensor of zeros; float64 unless `dtype` says otherwise.")
ones = _filled("ones", "A Tensor of ones; float64 unless `dtype` says otherwise.")


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
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
    return made(np.full(shape, fill_value, None if dtype is None else as_dtype(dtype)), device)


def _as_in(x: Any, shape: Any, dtype: Any, device: Any) -> tuple[Any, Any, Any]:
    """Shape and dtype of `x` unless others are given, and its array where a library other than NumPy's is to fill one."""
    x = value(x)
    library = of_library(x) if device is None or str(device) == str(device_of(x)) else None
    return shape_of(x) if shape is None else shape, dtype_of(x) if dtype is None else dtype, library


def _like(create: Any, filled: float) -> Callable[..., Tensor]:
    def f(x: Any, /, *, dtype: Any = None, shape: Any = None, device: Any = None) -> Any:
        shape, dtype, library = _as_in(x, shape, dtype, device)
        if library is not None:
            return new(full_beside(shape_tuple(shape), filled, as_dtype(dtype), library))
        return create(shape, dtype=dtype, device=device)

    name = create.__name__
    doc = f"`{name}` in the shape and dtype of `x` unless others are given, of its library and where it is."
    return described(f, f"{name}_like", doc)


empty_like, zeros_like, ones_like = _like(empty, 0), _like(zeros, 0), _like(ones, 1)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, shape: Any = None, device: Any = None) -> Tensor:
    """`full` in the shape and dtype of `x` unless others are given, of its library and where it is.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.full_like(rg.asarray([1.0, 2.0]), 7)
    Tensor([7., 7.])
    """
    shape, dtype, library = _as_in(x, shape, dtype, device)
    if library is not None and not isinstance(fill_value, Value):
        return new(full_beside(shape_tuple(shape), fill_value, as_dtype(dtype), library))
    return full(shape, fill_value, dtype=dtype, device=device)


# ------------------------------------------------------------------------------------------ sequences


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The numbers from `start` (0 if only one is given) to before `stop`, `step` apart; int64 if all are integers.

    One axis, of ceil((stop - start) / step) numbers. Raises ValueError for a step of 0.

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
    return made(np.arange(start, stop, step, wanted), device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Tensor:
    """`num` numbers in equal distances from `start` to `stop`, which is the last one if `endpoint`.

    The shape is (num,). Raises ValueError for a negative `num`.

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
        return made(line, device)
    return made(np.linspace(start, stop, num, endpoint=endpoint, dtype=wanted), device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones on the `k`-th diagonal of a matrix, zeros elsewhere.

    The shape is (n_rows, n_cols), square if `n_cols` is left out.

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
    return made(np.eye(n, m, k, np.float64 if dtype is None else as_dtype(dtype)), device)


def meshgrid(*arrays: Any, indexing: str = "xy", sparse: bool = False) -> list[Tensor]:
    """For one-dimensional coordinates, the arrays of each coordinate over the whole grid; recorded.

    indexing: "ij" for the order of the arguments, "xy" with the first two axes exchanged. sparse: each array has only the
    axis of its own coordinate, with length 1 along the others.

    Of coordinates of m and n numbers the arrays have the shape (m, n) for "ij" and (n, m) for "xy". Raises
    ValueError for another indexing and for coordinates of another number of axes.

    Examples
    --------
    >>> import retrograde as rg
    >>> meshgrid(rg.asarray([1, 2]), rg.asarray([3, 4]), indexing="ij")[0]
    Tensor([[1, 1],
            [2, 2]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    axes = list(range(len(arrays)))
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    along = []
    for x, axis in zip(arrays, axes):
        if rank(value(x)) > 1:
            raise ValueError(f"meshgrid: wanted one-dimensional coordinates, got shape {tuple(shape_of(x))}")
        along.append(manipulation.reshape(x, [-1 if i == axis else 1 for i in range(len(axes))]))
    return along if sparse else [st.copy(x) for x in manipulation.broadcast_arrays(*along)]


def _triangle(name: str, op: Any, doc: str) -> Callable[..., Tensor]:
    def f(x: Any, /, *, k: int = 0) -> Any:
        x = value(x)
        matrices(name, x)
        return op(x, k=int(k))

    more = "`x` has the shape (..., m, n), and so has the result. Raises ValueError for fewer than two axes."
    return described(f, name, doc, more)


tril = _triangle(
    "tril", triangular.tril, "The elements on and below the `k`-th diagonal of each matrix, zeros above; recorded."
)
triu = _triangle(
    "triu", triangular.triu, "The elements on and above the `k`-th diagonal of each matrix, zeros below; recorded."
)
