"""`COOTensor` and `CSRTensor`: the elements of matrices that are not zero, with where they are; differentiable in the values.
`RowTensor`: rows of a tensor with their numbers.

Positions are plain integers, so what depends on them alone is computed on the arrays. Functions of one sparse tensor are
`ops.coo_NAME` and `ops.csr_NAME`, which apply `ops.NAME` to the values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...core.value import dtype_of
from ...learn import sparse as math
from .._shared.axes import axis_of
from .._shared.registry import defined
from . import _activations, _arithmetic, _joining, _repr, _shape, _unary
from ._api import api
from ._dtype import Number, as_dtype
from ._promote import pair, tensor_argument
from ._tensor import Tensor, from_array

_Self = TypeVar("_Self", bound="_Sparse")


def _positions(op: str, name: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise TypeError(f"{op}: {name} must be a Tensor, got {type(x).__name__}")
    if x.dtype.name not in ("int16", "int32", "int64"):
        raise TypeError(f"{op}: {name} must be int16, int32 or int64, got {x.dtype}")
    return x


def _checked_shape(op: str, shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, tuple):
        raise TypeError(f"{op}: shape must be a tuple, got {type(shape).__name__}")
    for n in shape:
        if isinstance(n, bool) or not isinstance(n, int):
            raise TypeError(f"{op}: shape must be made of ints, got {n!r}")
        if n <= 0:
            raise ValueError(f"{op}: shape must be made of positive ints, got {n}")
    return shape


def _inner(x: Tensor) -> str:
    head, _, body = _repr.described(x._concrete("repr")).partition("value=")
    return f"{head}value={body.lstrip(' ').replace(',', '')}"


class _Sparse:
    """What both kinds have: values, and arithmetic beside tensors of their shape."""

    _beside_dense = True
    """Dense tensors leave operators to these."""
    values: Any
    shape: tuple[int, ...]

    @property
    def dtype(self) -> Number:
        """The dtype of the values."""
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of values that are kept."""
        return int(self.values.size)

    @property
    def itemsize(self) -> int:
        """The bytes of one value."""
        return int(self.values.itemsize)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def _parts(self) -> tuple[tuple[str, Tensor], ...]:
        raise NotImplementedError

    def _with(self: _Self, values: Any) -> _Self:
        """Other values in the same places."""
        raise NotImplementedError

    def _coordinates(self) -> np.ndarray:
        """The places of the values, one row each."""
        raise NotImplementedError

    @property
    def _places(self) -> np.ndarray:
        """The same, one row for each axis."""
        return self._coordinates().astype(np.int64).T

    def to_tuple(self) -> tuple[Any, ...]:
        """Positions, values and shape."""
        return (*(x for _, x in self._parts()), self.shape)

    def to_dense(self) -> Any:
        """The tensor with all its zeros; values in one place are added."""
        return math.dense(self._places, self.values, self.shape)

    def astype(self: _Self, dtype: Any) -> _Self:
        """The same with values in another dtype."""
        return self._with(self.values.astype(as_dtype(dtype, "astype")))

    def abs(self: _Self) -> _Self:
        """The absolute values."""
        return self._with(_arithmetic.absolute(self.values))

    def __neg__(self: _Self) -> _Self:
        return self._with(-self.values)

    def _scaled(self: _Self, other: Any, f: Callable[[Any, Any], Any]) -> Any:
        """Values times (or over) the elements of a dense tensor in their places, or a number."""
        if isinstance(other, Tensor) and other.ndim:
            other = math.picked(_shape.broadcast_to(other, self.shape), self._places)
        elif isinstance(other, _Sparse):
            return NotImplemented
        return self._with(f(self.values, other))

    def __mul__(self, other: Any) -> Any:
        return self._scaled(other, operator.mul)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._scaled(other, operator.truediv)

    def _sum(self, other: Any, sign: int) -> Any:
        """The dense sum with a dense tensor."""
        if not isinstance(other, Tensor):
            return NotImplemented
        if tuple(other.shape) != self.shape:
            raise ValueError(f"{type(self).__name__}: a tensor of shape {other.shape} does not go with shape {self.shape}")
        return self.to_dense() + (other if sign > 0 else -other)

    def __add__(self, other: Any) -> Any:
        return self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, -1)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={_inner(x)}" for name, x in self._parts())
        return f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, {parts})"


class COOTensor(_Sparse):
    """Values with the row and column of each: `COOTensor(indices, values, shape)`, or a copy of `coo_tensor`.

    Raises:
        TypeError: parts that are no tensors, positions that are no integers, a shape that is no tuple of ints.
        ValueError: parts whose shapes do not go together.
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None) -> None:
        op = "COOTensor"
        if coo_tensor is not None:
            if not isinstance(coo_tensor, COOTensor):
                raise TypeError(f"{op}: coo_tensor must be a COOTensor, got {type(coo_tensor).__name__}")
            indices, values, shape = coo_tensor.to_tuple()
        self.indices = _positions(op, "indices", indices)
        self.values = tensor_argument(op, values, "values")
        self.shape = _checked_shape(op, shape)
        if indices.ndim != 2 or values.ndim != 1 or indices.shape[0] != values.shape[0] or indices.shape[1] != len(shape):
            raise ValueError(
                f"{op}: wanted a row of {len(shape)} indices for each value, got indices {indices.shape} and values "
                f"{values.shape} for the shape {shape}"
            )

    def _parts(self) -> tuple[tuple[str, Tensor], ...]:
        return ("indices", self.indices), ("values", self.values)

    def _with(self, values: Any) -> COOTensor:
        return COOTensor(self.indices, values, self.shape)

    def _coordinates(self) -> np.ndarray:
        return self.indices._concrete("COOTensor")

    def coalesce(self) -> COOTensor:
        """The same in the order of rows and columns, with values in one place added."""
        places, values = math.coalesced(self._places, self.values, self.shape)
        return COOTensor(from_array(places.T.astype(dtype_of(self.indices))), values, self.shape)

    def to_csr(self) -> CSRTensor:
        """The same by rows; raises ValueError for other than two axes."""
        if self.ndim != 2:
            raise ValueError(f"COOTensor.to_csr: wanted two axes, got shape {self.shape}")
        sorted_ = self.coalesce()
        places = sorted_._coordinates()
        indptr = math.row_starts(places[:, 0], self.shape[0]).astype(places.dtype)
        return CSRTensor(from_array(indptr), from_array(places[:, 1].copy()), sorted_.values, self.shape)

    def add(self, other: COOTensor, thresh: Any) -> COOTensor:
        """The sum, without values smaller than `thresh`. Raises TypeError for other things, ValueError for another shape."""
        if not isinstance(other, COOTensor):
            raise TypeError(f"COOTensor.add: wanted a COOTensor, got {type(other).__name__}")
        if other.shape != self.shape:
            raise ValueError(f"COOTensor.add: shapes {self.shape} and {other.shape} are not the same")
        both = COOTensor(
            _joining.concat((self.indices, other.indices), 0), _joining.concat((self.values, other.values), 0), self.shape
        ).coalesce()
        bound = float(thresh)
        if bound <= 0:
            return both
        kept = from_array(np.flatnonzero(np.abs(both.values._concrete("COOTensor.add")) >= bound))
        return COOTensor(both.indices[kept], both.values[kept], self.shape)

    def __add__(self, other: Any) -> Any:
        return self.add(other, 0.0) if isinstance(other, COOTensor) else self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self.add(-other, 0.0) if isinstance(other, COOTensor) else self._sum(other, -1)


class RowTensor:
    """Rows of a tensor whose other rows are zero, as a gradient of a lookup in a table: `RowTensor(indices, values, shape)`.

    indices: the number of each row, of shape (n,); values: the rows, of shape (n, ...); shape: of the whole tensor.

    Raises:
        TypeError: parts that are no tensors, positions that are no integers, a shape that is no tuple of ints.
        ValueError: parts whose shapes do not go together.
    """

    def __init__(self, indices: Any = None, values: Any = None, shape: Any = None, row_tensor: Any = None) -> None:
        op = "RowTensor"
        if row_tensor is not None:
            if not isinstance(row_tensor, RowTensor):
                raise TypeError(f"{op}: row_tensor must be a RowTensor, got {type(row_tensor).__name__}")
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        self.indices = _positions(op, "indices", indices)
        self.values = tensor_argument(op, values, "values")
        self.dense_shape = _checked_shape(op, shape)
        if indices.ndim != 1 or values.shape != (*indices.shape, *shape[1:]):
            raise ValueError(
                f"{op}: wanted a row of shape {shape[1:]} for each index, got indices {indices.shape} and values {values.shape}"
            )

    def __repr__(self) -> str:
        parts = f"indices={_inner(self.indices)}, values={_inner(self.values)}"
        return f"RowTensor(shape={list(self.dense_shape)}, dtype={self.values.dtype}, {parts})"


class CSRTensor(_Sparse):
    """Values by rows: `CSRTensor(indptr, indices, values, shape)` with where each row begins and the columns.

    Raises:
        TypeError: parts that are no tensors, positions that are no integers, a shape that is no tuple of ints.
        ValueError: parts whose shapes do not go together.
    """

    def __init__(
        self, indptr: Any = None, indices: Any = None, values: Any = None, shape: Any = None, csr_tensor: Any = None
    ) -> None:
        op = "CSRTensor"
        if csr_tensor is not None:
            if not isinstance(csr_tensor, CSRTensor):
                raise TypeError(f"{op}: csr_tensor must be a CSRTensor, got {type(csr_tensor).__name__}")
            indptr, indices, values, shape = csr_tensor.to_tuple()
        self.indptr, self.indices = _positions(op, "indptr", indptr), _positions(op, "indices", indices)
        self.values = tensor_argument(op, values, "values")
        self.shape = _checked_shape(op, shape)
        if len(shape) != 2 or indptr.shape != (shape[0] + 1,):
            raise ValueError(f"{op}: indptr must have one element more than there are rows, got {indptr.shape} for {shape}")
        if indices.ndim != 1 or values.shape != indices.shape:
            raise ValueError(f"{op}: wanted a column for each value, got indices {indices.shape}, values {values.shape}")

    def _parts(self) -> tuple[tuple[str, Tensor], ...]:
        return ("indptr", self.indptr), ("indices", self.indices), ("values", self.values)

    def _with(self, values: Any) -> CSRTensor:
        return CSRTensor(self.indptr, self.indices, values, self.shape)

    def _rows(self) -> np.ndarray:
        return math.rows_of(self.indptr._concrete("CSRTensor")).astype(dtype_of(self.indices))

    def _coordinates(self) -> np.ndarray:
        return np.stack([self._rows(), self.indices._concrete("CSRTensor")], axis=1)

    def to_coo(self) -> COOTensor:
        """The same with a row and column for each value."""
        return COOTensor(from_array(self._coordinates()), self.values, self.shape)

    def mm(self, matrix: Any) -> Any:
        """The product with a dense (or CSR) matrix, which is dense. Raises ValueError where the shapes do not fit."""
        dense = matrix.to_dense() if isinstance(matrix, _Sparse) else tensor_argument("CSRTensor.mm", matrix, "matrix")
        if dense.ndim != 2 or dense.shape[0] != self.shape[1]:
            raise ValueError(f"CSRTensor.mm: matrices of shapes {self.shape} and {dense.shape} cannot be multiplied")
        return math.product(self._places, *pair("CSRTensor.mm", self.values, dense), self.shape[0])

    def mv(self, dense_vector: Any) -> Any:
        """The product with a matrix of one column."""
        x = tensor_argument("CSRTensor.mv", dense_vector, "dense_vector")
        if x.ndim != 2 or x.shape[1] != 1:
            raise ValueError(f"CSRTensor.mv: wanted a matrix of one column, got shape {x.shape}")
        return self.mm(x)

    def sum(self, axis: int) -> Any:
        """The sums of the rows, as a column. Raises ValueError for another axis than 1 or -1."""
        if axis not in (1, -1):
            raise ValueError(f"CSRTensor.sum: axis must be 1 or -1, got {axis}")
        return _shape.expand_dims(math.added(self.values, self._places[0], self.shape[0]), 1)

    def add(self, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
        """alpha self + beta b. Raises TypeError for what is no CSRTensor."""
        if not isinstance(b, CSRTensor):
            raise TypeError(f"CSRTensor.add: wanted a CSRTensor, got {type(b).__name__}")
        return self._with(self.values * alpha).to_coo().add(b._with(b.values * beta).to_coo(), 0.0).to_csr()

    def __add__(self, other: Any) -> Any:
        return self.add(other, 1, 1) if isinstance(other, CSRTensor) else self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self.add(other, 1, -1) if isinstance(other, CSRTensor) else self._sum(other, -1)


# ------------------------------------------------------------------------------------------ functions


def given(op: str, x: Any, kind: type[_Sparse]) -> Any:
    if not isinstance(x, kind):
        raise TypeError(f"{op}: wanted a {kind.__name__}, got {type(x).__name__}")
    return x


def _of_values(prefix: str, function: Callable[[Any], Any], kind: type[_Sparse]) -> None:
    def f(x: Any) -> Any:
        return given(f.__name__, x, kind)._with(function(x.values))

    name = function.__name__
    api(method=False)(defined(f"{prefix}_{name}", f, f"`{name}` of the values."))


for _f in (
    _arithmetic.absolute, _unary.acos, _unary.acosh, _unary.asin, _unary.asinh, _unary.atan, _unary.atanh, _unary.ceil,
    _unary.cos, _unary.cosh, _unary.exp, _unary.expm1, _unary.floor, _unary.inv, _unary.isfinite, _unary.isinf,
    _unary.isnan, _unary.log, _unary.log1p, _arithmetic.neg, _activations.relu, _activations.relu6, _unary.round,
    _activations.sigmoid, _unary.sin, _unary.sinh, _activations.softsign, _unary.sqrt, _unary.square, _unary.tan,
    _unary.tanh,
):  # fmt: skip
    _of_values("coo", _f, COOTensor)
    _of_values("csr", _f, CSRTensor)


def _calling(name: str, kind: type[_Sparse], method: str, count: int = 0) -> None:
    def f(x: Any, *args: Any) -> Any:
        found = getattr(given(name, x, kind), method)
        if not callable(found):
            return found
        if len(args) != count:
            raise TypeError(f"{name}: wanted {count} arguments behind the {kind.__name__}, got {len(args)}")
        return found(*args)

    api(name, method=False)(defined(name, f, f"`{kind.__name__}.{method}`."))


for _name, _kind, _method, _count in (
    ("coo_add", COOTensor, "add", 2), ("csr_add", CSRTensor, "add", 3), ("csr_mm", CSRTensor, "mm", 1),
    ("csr_mv", CSRTensor, "mv", 1), ("csr_mul", CSRTensor, "__mul__", 1), ("csr_div", CSRTensor, "__truediv__", 1),
    ("csr_reduce_sum", CSRTensor, "sum", 1), ("csr_to_coo", CSRTensor, "to_coo", 0), ("csr_to_dense", CSRTensor, "to_dense", 0),
    ("coo_tensor_get_dense_shape", COOTensor, "shape", 0), ("coo_tensor_get_indices", COOTensor, "indices", 0),
    ("coo_tensor_get_values", COOTensor, "values", 0), ("csr_tensor_get_dense_shape", CSRTensor, "shape", 0),
    ("csr_tensor_get_indices", CSRTensor, "indices", 0), ("csr_tensor_get_indptr", CSRTensor, "indptr", 0),
    ("csr_tensor_get_values", CSRTensor, "values", 0),
):  # fmt: skip
    _calling(_name, _kind, _method, _count)


@api(method=False)
def coo_concat(sp_input: Any, concat_dim: int = 0) -> COOTensor:
    """Sparse tensors behind one another along an axis; raises ValueError for a single one."""
    parts = [given("coo_concat", x, COOTensor) for x in sp_input]
    if len(parts) < 2:
        raise ValueError(f"coo_concat: wanted at least two COOTensors, got {len(parts)}")
    axis = axis_of("coo_concat", concat_dim, parts[0].ndim, "concat_dim")
    at, shape = math.joined([x._places for x in parts], [x.shape for x in parts], axis)
    order = np.lexsort(at[::-1])
    places = from_array(at[:, order].T.astype(dtype_of(parts[0].indices)))
    return COOTensor(places, _joining.concat([x.values for x in parts], 0)[from_array(order)], tuple(shape))


@api(method=False)
def dense_to_sparse_coo(tensor: Any) -> COOTensor:
    """The elements of a tensor that are not zero, with where they are."""
    x = tensor_argument("dense_to_sparse_coo", tensor, "tensor")
    places = math.nonzero(x._concrete("dense_to_sparse_coo"), x.ndim)
    return COOTensor(from_array(places.T.astype(np.int32)), math.picked(x, places), tuple(x.shape))


@api(method=False)
def dense_to_sparse_csr(tensor: Any) -> CSRTensor:
    """The elements of a matrix that are not zero, by rows."""
    return dense_to_sparse_coo(tensor).to_csr()


api("to_coo", function=False)(dense_to_sparse_coo)
api("to_csr", function=False)(dense_to_sparse_csr)


@api(method=False)
def coo2csr(row_indices: Any, height: int) -> Any:
    """Where each of `height` rows begins, from the sorted rows of values."""
    rows = tensor_argument("coo2csr", row_indices, "row_indices")._concrete("coo2csr")
    return from_array(math.row_starts(rows, height).astype(rows.dtype))


@api(method=False)
def csr2coo(indptr: Any, value_count: int) -> Any:
    """The row of each of `value_count` values, from where the rows begin."""
    starts = tensor_argument("csr2coo", indptr, "indptr")._concrete("csr2coo")
    found = math.rows_of(starts).astype(starts.dtype)
    if len(found) != value_count:
        raise ValueError(f"csr2coo: the rows hold {len(found)} values, not {value_count}")
    return from_array(found)


@api(method=False)
def csr_softmax(logits: Any, dtype: Any) -> CSRTensor:
    """The softmax of each row over its values."""
    x = given("csr_softmax", logits, CSRTensor)
    values = math.softmax(x._places[0], x.shape[0], x.values)
    return x._with(values.astype(as_dtype(dtype, "csr_softmax")))  # type: ignore[no-any-return]


@api(method=False)
def sparse_add(x1: Any, x2: Any, thresh: Any) -> COOTensor:
    """The sum of two COOTensors, without values smaller than `thresh`."""
    return given("sparse_add", x1, COOTensor).add(x2, thresh)  # type: ignore[no-any-return]


def sparse_to_dense(indices: Any, values: Any, sparse_shape: Any) -> Any:
    """The tensor with all its zeros, from the parts of a COOTensor."""
    return COOTensor(indices, values, tuple(sparse_shape)).to_dense()


def sparse_dense_matmul(
    indices: Any, values: Any, sparse_shape: Any, dense: Any, *, adjoint_st: bool = False, adjoint_dt: bool = False
) -> Any:
    """The product of a matrix given by the parts of a COOTensor with a dense one; either may be transposed first."""
    if adjoint_st:
        indices, sparse_shape = _shape.flip(indices, (1,)), tuple(sparse_shape)[::-1]
    rows = COOTensor(indices, values, tuple(sparse_shape)).to_csr()
    return rows.mm(dense.T if adjoint_dt else dense)
