"""Creation functions of the namespace, `asarray` foremost: plain data, arrays of any library, nested sequences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend import backend_of, is_array
from ..core import value as values
from ..core.value import Value, dtype_of, make, shape_of
from ..ops import structural as st
from ..ops import triangular
from ._values import check_device, concrete, new, rank, shape_tuple, value
from .dtypes import as_dtype
from .promotion import common_dtype, to_dtype


def _contains_value(obj: Any) -> bool:
    if isinstance(obj, (list, tuple)):
        return any(_contains_value(x) for x in obj)
    return isinstance(obj, Value)


def _stacked(obj: Any) -> Value:
    """A nested sequence with tensors in it, as one tensor that depends on them."""
    if not isinstance(obj, (list, tuple)):
        return value(obj)
    rows = [_stacked(x) for x in obj]
    shapes = {tuple(shape_of(x)) for x in rows}
    if len(shapes) > 1:
        raise ValueError(f"asarray: the elements of a sequence have different shapes, {sorted(shapes)}")
    dtype = common_dtype(*(dtype_of(x) for x in rows))
    return st.stack(*(to_dtype(x, dtype) for x in rows), axis=0)


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Any:
    """A Tensor around an array, number or nested sequence.

    An array (of NumPy, or of another library with a backend) is shared unless `copy` or a change of dtype asks
    otherwise; a tensor keeps its history, also inside a sequence. With `requires_grad`, a leaf without history.

    Raises ValueError where `copy=False` and a copy is needed, or where a sequence is ragged.

    Examples
    --------
    >>> asarray([1, 2]).dtype
    dtype('int64')
    >>> import retrograde as rg
    >>> rg.grad(lambda x: rg.asarray([x, x * x]).sum())(3.0)
    Tensor(7.)
    """
    check_device("asarray", device)
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(obj, (list, tuple)) and _contains_value(obj):
        if copy is False:
            raise ValueError("asarray: a sequence of tensors cannot be shared; leave copy=False out")
        obj, copy = _stacked(obj), None
    if isinstance(obj, Value):
        tensor = _from_value(obj, wanted, copy)
    else:
        tensor = new(_array(obj, wanted, copy))
    if requires_grad:
        if tensor._node is not None:
            tensor = tensor.detach()
        elif tensor is obj:
            tensor = make(type(tensor)._result, tensor._a, None, tensor._level)
        return tensor.requires_grad_()
    return tensor


def _from_value(x: Value, dtype: np.dtype | None, copy: bool | None) -> Any:
    if not isinstance(x, values.core_class):
        x = values.as_core(x)
    if dtype is not None and dtype != dtype_of(x):
        if copy is False:
            raise ValueError(
                f"asarray: a tensor of dtype {dtype_of(x)} cannot be shared as {dtype}; leave copy=False out"
            )
        return st.cast(x, dtype=dtype)
    return st.copy(x) if copy else x


def _array(obj: Any, dtype: np.dtype | None, copy: bool | None) -> Any:
    if isinstance(obj, (np.ndarray, np.generic, bool, int, float, complex, list, tuple, range)):
        array = np.array(obj, dtype=dtype, copy=copy)
        return array if type(array) is np.ndarray else array.view(np.ndarray)
    if is_array(obj) or hasattr(type(obj), "__array_namespace__"):
        backend = backend_of(obj)
        array = backend.wrap(obj)
        if dtype is not None and dtype != array.dtype:
            if copy is False:
                raise ValueError(f"asarray: an array of dtype {array.dtype} cannot be shared as {dtype}")
            return array.astype(dtype)
        return backend.xp.asarray(array, copy=True) if copy else array
    array = np.array(obj, dtype=dtype, copy=copy)
    if array.dtype == object:
        raise TypeError(f"asarray: wanted numbers, arrays or nested sequences of them, got {type(obj).__name__}")
    return array


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """A Tensor that shares the memory of an array of any library on the CPU, through DLPack.

    Examples
    --------
    >>> import numpy as np
    >>> shared = np.zeros(2)
    >>> tensor = from_dlpack(shared)
    >>> shared[0] = 1
    >>> tensor
    Tensor([1., 0.])
    """
    check_device("from_dlpack", device)
    array = np.from_dlpack(x)
    if copy:
        array = array.copy()
    return new(array)


# ------------------------------------------------------------------------------------------ filled


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
    >>> meshgrid(asarray([1, 2]), asarray([3, 4]), indexing="ij")[0]
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
    if rank(x) < 2:
        raise ValueError(f"{name}: wanted at least 2 axes, got shape {tuple(shape_of(x))}")
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
