"""`paddle.sparse`: what makes sparse tensors and what is computed with them (see _sparse_tensor.py)."""

from __future__ import annotations

import math as _math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _arithmetic
from .. import _creation
from .. import _joining
from .. import _reductions
from .. import _shape
from .. import _unary
from ....core.value import Value
from ....learn import sparse as math
from ..._shared.axes import axis_of
from .._api import attributes as _attributes
from .._device import check_device
from .._dtype import as_dtype
from .._sparse_tensor import FUNCTIONS_OF, SparseTensor, as_dense, by_rows
from .._tensor import Tensor, from_array

_Slice = slice

# ------------------------------------------------------------------------------------------ making them


def _given(op: str, x: Any, dtype: Any = None) -> Any:
    return x if isinstance(x, Tensor) and dtype is None else _creation.to_tensor(x, dtype)


def _values(op: str, values: Any, dtype: Any, stop_gradient: bool) -> Any:
    """The values as a tensor, and whether gradients flow to them."""
    v = values if isinstance(values, Tensor) else _creation.to_tensor(values)
    if dtype is not None and v.dtype is not as_dtype(op, dtype):
        v = v.astype(dtype)
    if v.stop_gradient and not stop_gradient:
        v = v.detach()
        v.stop_gradient = False
    elif not v.stop_gradient and stop_gradient:
        v = v.detach()
    return v


def _positions(op: str, x: Any) -> np.ndarray:
    array = _given(op, x).numpy()
    if array.dtype.kind not in "iu":
        raise ValueError(f"{op}: positions must be integers, got dtype {array.dtype}")
    return np.asarray(array, np.int64)


def sparse_coo_tensor(
    indices: Any, values: Any, shape: Any = None, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> SparseTensor:
    """A sparse tensor with `values[k]` at `indices[:, k]`; the shape is the smallest that holds them if left out.

    Raises ValueError for indices that are no matrix, a number of values that does not match, and indices outside the shape.
    """
    op = "sparse_coo_tensor"
    check_device(op, place)
    places, v = _positions(op, indices), _values(op, values, dtype, stop_gradient)
    if places.ndim != 2 or not v.ndim or v.shape[0] != places.shape[1]:
        raise ValueError(
            f"{op}: indices of shape {list(places.shape)} and values of shape {list(v.shape)} do not go together; indices are "
            "(axes, elements), values (elements, ...)"
        )
    least = [*(int(n) + 1 for n in places.max(axis=1, initial=-1)), *v.shape[1:]]
    sizes = least if shape is None else [int(n) for n in shape]
    if len(sizes) != len(least) or (places.size and places.min() < 0) or any(n < m for n, m in zip(sizes, least)):
        raise ValueError(f"{op}: the shape {sizes} does not hold the indices, which need at least {least}")
    return SparseTensor(places, v, sizes)


def sparse_csr_tensor(
    crows: Any, cols: Any, values: Any, shape: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> SparseTensor:
    """A sparse matrix (or a batch of them) by rows: row i has the values `crows[i]` to `crows[i + 1]`, in the columns `cols`.

    Raises ValueError where these do not go together.
    """
    op = "sparse_csr_tensor"
    check_device(op, place)
    starts, columns, v = _positions(op, crows), _positions(op, cols), _values(op, values, dtype, stop_gradient)
    sizes = [int(n) for n in shape]
    if len(sizes) not in (2, 3):
        raise ValueError(f"{op}: wanted a matrix or a batch of them, got shape {sizes}")
    batch, rows = (sizes[0] if len(sizes) == 3 else 1), sizes[-2]
    whole = starts.ndim == columns.ndim == v.ndim == 1 and len(columns) == len(v)
    if not whole or len(starts) != batch * (rows + 1):
        raise ValueError(
            f"{op}: wanted {rows + 1} beginnings of rows for each of {batch} matrices and as many columns as values, got "
            f"crows {list(starts.shape)}, cols {list(columns.shape)}, values {list(v.shape)} for the shape {sizes}"
        )
    each = starts.reshape(batch, rows + 1)
    if (each[:, 0] != 0).any() or (np.diff(each) < 0).any() or each[:, -1].sum() != len(columns):
        raise ValueError(f"{op}: the beginnings {starts.tolist()} must rise from 0 to the number of values")
    if columns.size and not 0 <= columns.min() <= columns.max() < sizes[-1]:
        raise ValueError(f"{op}: a column lies outside the shape {sizes}")
    along = [np.repeat(np.arange(batch), each[:, -1])] if len(sizes) == 3 else []
    places = np.stack([*along, np.concatenate([math.rows_of(row) for row in each]), columns])
    return SparseTensor(places, v, sizes, by_rows=True, coalesced=True)


# ------------------------------------------------------------------------------------------ value by value


def _sparse(op: str, x: Any, argument: str = "x") -> SparseTensor:
    if not isinstance(x, SparseTensor):
        got = "a dense one" if isinstance(x, Value) else type(x).__name__
        raise ValueError(f"{op}: {argument} must be a sparse tensor, got {got}")
    return x


def _of_values(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, *args: Any, name: Any = None, **options: Any) -> SparseTensor:
        x = _sparse(function.__name__, x)
        return x.with_values(f(x._v, *args, **options))  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`paddle.{name}` of the values, which leaves zeros zeros."
    FUNCTIONS_OF[name] = function
    return function


for _f in (
    _unary.sin, _unary.tan, _unary.asin, _unary.atan, _unary.sinh, _unary.tanh, _unary.asinh, _unary.atanh, _unary.sqrt,
    _unary.square, _unary.log1p, _unary.absolute, _unary.neg, _unary.deg2rad, _unary.rad2deg, _unary.expm1,
    _unary.isnan,
):  # fmt: skip
    globals()[_f.__name__] = _of_values(_f.__name__, _f)
pow = _of_values("pow", lambda v, factor: _arithmetic.pow(v, factor))


def cast(x: Any, index_dtype: Any = None, value_dtype: Any = None, name: Any = None) -> SparseTensor:
    """The same with values, and positions, in other dtypes."""
    x = _sparse("cast", x)
    places = x._places if index_dtype is None else x._places.astype(as_dtype("cast", index_dtype).np)
    values = x._v if value_dtype is None else x._v.astype(value_dtype)
    return SparseTensor(places, values, x._shape, by_rows=x._by_rows, coalesced=x._coalesced)


def coalesce(x: Any, name: Any = None) -> SparseTensor:
    """Each place once, in order, the values of equal ones added."""
    return _sparse("coalesce", x).coalesce()


def is_same_shape(x: Any, y: Any) -> bool:
    """Whether two tensors, sparse or dense, have one shape."""
    return tuple(x.shape) == tuple(y.shape)


# ------------------------------------------------------------------------------------------ two operands


def _alike(op: str, x: SparseTensor, y: SparseTensor) -> None:
    if x._by_rows is not y._by_rows:
        raise ValueError(f"{op}: one tensor is kept by coordinates and the other by rows; convert one with to_sparse_coo()")
    if x._shape != y._shape:
        raise ValueError(f"{op}: the shapes {list(x._shape)} and {list(y._shape)} differ; sparse tensors do not broadcast")


def _joined(x: SparseTensor, y: SparseTensor, sign: int) -> SparseTensor:
    x, y = x.in_order(), y.in_order()
    values = _joining.concat([x._v, y._v if sign > 0 else -y._v], 0)
    places = np.concatenate([x._places, y._places], axis=1)
    there, added = math.coalesced(places, values, x._shape)
    return SparseTensor(there, added, x._shape, by_rows=x._by_rows, coalesced=True)


def _sum(op: str, sign: int, dense: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, y: Any, name: Any = None) -> Any:
        """The sum (difference) of two sparse tensors of one layout, or of a sparse and a dense one, which is sparse."""
        x = _sparse(op, x)
        if not isinstance(y, SparseTensor):
            if not isinstance(y, Value):
                raise ValueError(f"{op}: y must be a tensor, got {type(y).__name__}")
            return x.with_values(dense(x._v, math.picked(y, x._places)))
        if x.dtype is not y.dtype:
            y = y.astype(x.dtype)
        _alike(op, x, y)
        return _joined(x, y, sign)

    function.__name__ = function.__qualname__ = op
    FUNCTIONS_OF[op] = function
    return function


add, subtract = _sum("add", 1, _arithmetic.add), _sum("subtract", -1, _arithmetic.subtract)


def multiply(x: Any, y: Any, name: Any = None) -> SparseTensor:
    """The product of a sparse tensor with a number, or of two of one layout, value by value."""
    x, y = (x, y) if isinstance(x, SparseTensor) else (y, x)
    x = _sparse("multiply", x)
    if isinstance(y, (int, float)):
        return x.with_values(_unary.scale(x._v, float(y)))
    y = _sparse("multiply", y, "y")
    _alike("multiply", x, y)
    x, y = x.in_order(), y.in_order()
    mine, yours = math.common(math.flat(x._places, x._shape), math.flat(y._places, y._shape))
    values = _arithmetic.multiply(x._v[from_array(mine)], y._v[from_array(yours)])
    return SparseTensor(x._places[:, mine], values, x._shape, by_rows=x._by_rows, coalesced=True)


def divide(x: Any, y: Any, name: Any = None) -> SparseTensor:
    """A sparse tensor over a number, or over another of its layout, where either has a value."""
    x = _sparse("divide", x)
    if isinstance(y, (int, float)):
        return x.with_values(_unary.scale(x._v, 1.0 / float(y)))
    y = _sparse("divide", y, "y")
    _alike("divide", x, y)
    x, y = x.in_order(), y.in_order()
    if np.array_equal(x._places, y._places):
        return x.with_values(_arithmetic.divide(x._v, y._v))
    both = np.unique(np.concatenate([math.flat(x._places, x._shape), math.flat(y._places, y._shape)]))
    places = np.stack(np.unravel_index(both, x._shape[: len(x._places)])).astype(np.int64)
    values = _arithmetic.divide(math.picked(x.to_dense(), places), math.picked(y.to_dense(), places))
    return SparseTensor(places, values, x._shape, by_rows=x._by_rows, coalesced=True)


for _f in (multiply, divide, cast, coalesce, is_same_shape):
    FUNCTIONS_OF[_f.__name__] = _f

# ------------------------------------------------------------------------------------------ products


def matmul(x: Any, y: Any, name: Any = None) -> Any:
    """A sparse matrix times a dense one, which is dense, or times another sparse one, which is sparse; and batches of them.

    Raises ValueError where the shapes do not fit, or x is dense.
    """
    x = _sparse("matmul", x)
    if not isinstance(y, (Value, SparseTensor)) or x.ndim != y.ndim or x.shape[-1] != y.shape[-2]:
        raise ValueError(f"matmul: shapes {list(x.shape)} and {list(getattr(y, 'shape', ()))} do not multiply")
    if x.ndim == 2 and not isinstance(y, SparseTensor):
        return math.product(x._places, x._v, y, x._shape[0])
    found = _arithmetic.matmul(x.to_dense(), as_dense(y))
    if not isinstance(y, SparseTensor):
        return found
    out = found.to_sparse_coo(found.ndim)
    return by_rows("matmul", out) if x._by_rows else out


def masked_matmul(x: Any, y: Any, mask: Any, name: Any = None) -> SparseTensor:
    """The product of two dense matrices at the places of a sparse one only."""
    mask = _sparse("masked_matmul", mask, "mask")
    *batch, rows, columns = mask._places
    left = math.picked(x, np.stack([*batch, rows]))
    right = math.picked(_shape.transpose(y, [*range(y.ndim - 2), y.ndim - 1, y.ndim - 2]), np.stack([*batch, columns]))
    return mask.with_values(_reductions.sum(left * right, -1))


def mask_as(x: Any, mask: Any, name: Any = None) -> SparseTensor:
    """The elements of a dense tensor at the places of a sparse one."""
    mask = _sparse("mask_as", mask, "mask")
    if tuple(x.shape) != mask._shape or x.dtype is not mask.dtype:
        raise ValueError(f"mask_as: x is {x.dtype} of shape {list(x.shape)}, the mask {mask.dtype} of shape {list(mask._shape)}")
    return mask.with_values(math.picked(x, mask._places))


def mv(x: Any, vec: Any, name: Any = None) -> Any:
    """A sparse matrix times a vector."""
    x = _sparse("mv", x)
    if x.ndim != 2 or vec.ndim != 1 or x.shape[1] != vec.shape[0]:
        raise ValueError(f"mv: shapes {list(x.shape)} and {list(vec.shape)} do not multiply")
    return math.product(x._places, x._v, vec, x._shape[0])


def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: Any = None) -> Any:
    """`beta * input + alpha * (x @ y)` with a sparse x."""
    found = matmul(x, y)
    if isinstance(input, SparseTensor):
        return add(multiply(input, float(beta)), multiply(found, float(alpha)))
    return _unary.scale(input, beta) + _unary.scale(found, alpha)


FUNCTIONS_OF.update(matmul=matmul, mv=mv)

# ------------------------------------------------------------------------------------------ axes


def _like(x: SparseTensor, places: np.ndarray, values: Any, shape: Sequence[int]) -> SparseTensor:
    out = SparseTensor(places, values, shape).in_order()
    return by_rows("sparse", out) if x._by_rows else out


def transpose(x: Any, perm: Sequence[int], name: Any = None) -> SparseTensor:
    """The axes in another order."""
    x = _sparse("transpose", x)
    order = [axis_of("transpose", axis, x.ndim) for axis in perm]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"transpose: {list(perm)} is no order of {x.ndim} axes")
    kept = len(x._places)
    if sorted(order[:kept]) != list(range(kept)):
        raise ValueError("transpose: sparse axes stay in front of those that each value has")
    values = x._v
    if order[kept:] != list(range(kept, x.ndim)):
        values = _shape.transpose(values, [0, *(axis - kept + 1 for axis in order[kept:])])
    return _like(x, x._places[order[:kept]], values, [x._shape[axis] for axis in order])


def reshape(x: Any, shape: Sequence[int], name: Any = None) -> SparseTensor:
    """The same elements in another shape, of which one size may be -1, and 0 stands for that of the same axis."""
    x = _sparse("reshape", x)
    kept, rest = len(x._places), x._shape[len(x._places) :]
    sizes = [x._shape[k] if n == 0 and k < x.ndim else int(n) for k, n in enumerate(shape)]
    total = _math.prod(x._shape)
    if -1 in sizes:
        sizes[sizes.index(-1)] = total // max(-_math.prod(sizes), 1)
    if _math.prod(sizes) != total:
        raise ValueError(f"reshape: {total} elements of shape {list(x._shape)} do not fit {list(shape)}")
    front = sizes[: len(sizes) - len(rest)] if rest else sizes
    if rest and tuple(sizes[len(front) :]) != rest:
        raise ValueError(f"reshape: the axes that each value has, {list(rest)}, stay as they are")
    places = np.stack(np.unravel_index(math.flat(x._places, x._shape[:kept]), tuple(front))).astype(np.int64)
    return _like(x, places, x._v, sizes)


def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: Any = None) -> SparseTensor:
    """The sum along axes (all), which is sparse too."""
    x = _sparse("sum", x)
    values = x._v if dtype is None else x._v.astype(dtype)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    places, inner, shape = math.summed(x._places, x._shape, {axis_of("sum", a, x.ndim) for a in axes}, keepdim)
    if inner:
        values = _reductions.sum(values, inner, keepdim=keepdim)
    if not len(places):
        places, shape = np.zeros((1, x.nnz()), np.int64), [1, *shape]
    return _like(x, places, values, shape) if x._by_rows and len(shape) > 1 else SparseTensor(places, values, shape).in_order()


def slice(x: Any, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: Any = None) -> SparseTensor:
    """The part between a start and an end along each of some axes."""
    x = _sparse("slice", x)
    places, shape = x._places.copy(), list(x._shape)
    among = np.ones(x.nnz(), bool)
    values = x._v
    for axis, start, end in zip(axes, starts, ends):
        i = axis_of("slice", axis, x.ndim)
        low, high, _ = _Slice(int(start), int(end)).indices(shape[i])
        shape[i] = max(high - low, 0)
        if i < len(places):
            among &= (places[i] >= low) & (places[i] < high)
            places[i] -= low
        else:
            values = _joining.slice_part(values, [i - len(places) + 1], [low], [high])
    return _like(x, places[:, among], values[from_array(np.flatnonzero(among))], shape)


def pca_lowrank(x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: Any = None) -> Any:
    """The leading singular values and vectors of a sparse matrix, whose columns are centred first."""
    from ..linalg import pca_lowrank as dense

    return dense(_sparse("pca_lowrank", x).to_dense(), q, center, niter)


FUNCTIONS_OF.update(transpose=transpose, reshape=reshape, sum=sum)

__all__ = [
    "abs", "add", "addmm", "asin", "asinh", "atan", "atanh", "cast", "coalesce", "deg2rad", "divide", "expm1",
    "is_same_shape", "isnan", "log1p", "mask_as", "masked_matmul", "matmul", "multiply", "mv", "neg", "pca_lowrank", "pow",
    "rad2deg", "reshape", "sin", "sinh", "slice", "sparse_coo_tensor", "sparse_csr_tensor", "sqrt", "square", "subtract",
    "sum", "tan", "tanh", "transpose",
]  # fmt: skip

__getattr__ = _attributes(globals(), "nn")
