"""`SparseTensor`: a tensor that keeps only some elements, by coordinates (COO) or by the rows of matrices (CSR).

Only `isinstance` says that it is a Tensor. Its values carry the gradients, and its functions are in the package sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...learn import sparse as math
from .._shared.sparse import Kept
from . import _repr
from ._api import api, submodule
from ._device import CPU
from ._size import Size, TensorSize
from ._tensor import Tensor, from_array

FUNCTIONS_OF: dict[str, Callable[..., Any]] = {}
"""The functions of `paddle.sparse` that sparse tensors have as methods too, by name; filled when it is imported."""


def functions() -> dict[str, Callable[..., Any]]:
    """FUNCTIONS_OF, with `paddle.sparse` imported."""
    submodule(str(__package__), "sparse")
    return FUNCTIONS_OF


class SparseTensor(Kept):
    """Values at the places that an integer array names, a row for each sparse axis; `by_rows` says that it is a CSR matrix, or
    a batch of them, whose values are in order."""

    __class__ = Tensor  # type: ignore[assignment]
    __array_priority__ = 2000
    _dialect, _level, _base, _views = "paddle", 0, None, None
    place = CPU
    persistable = False

    def __init__(
        self, places: np.ndarray, values: Any, shape: Sequence[int], *, by_rows: bool = False, coalesced: bool = False
    ) -> None:  # fmt: skip
        self._places, self._v, self._shape = places, values, tuple(shape)
        self._by_rows, self._coalesced = by_rows, coalesced

    def with_values(self, values: Any) -> SparseTensor:
        """Other values at the same places."""
        return SparseTensor(
            self._places, values, (*self._shape[: len(self._places)], *values.shape[1:]), by_rows=self._by_rows,
            coalesced=self._coalesced,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        f = None if name[:1] == "_" else functions().get(name)
        if f is None:
            if hasattr(Tensor, name) and name[:2] != "__":
                raise refused(name)
            raise AttributeError(f"a sparse tensor has no attribute {name!r}; to_dense() gives one that has all elements")
        return lambda *args, **options: f(self, *args, **options)

    # -------------------------------------------------------------------- what it is

    @property
    def shape(self) -> Size:  # type: ignore[override]
        """The size along each axis."""
        return Size(self._shape)

    dim = ndimension = property(lambda self: lambda: self.ndim)

    @property
    def size(self) -> TensorSize:
        """The number of elements, those that are not kept included."""
        return TensorSize(self._shape)

    @property
    def layout(self) -> str:
        """The name of the layout."""
        return "SPARSE_CSR" if self._by_rows else "SPARSE_COO"

    def nnz(self) -> int:
        """How many values are kept."""
        return int(self._places.shape[1])

    def is_sparse(self) -> bool:
        """True."""
        return True

    def is_sparse_coo(self) -> bool:
        """Whether the places are coordinates."""
        return not self._by_rows

    def is_sparse_csr(self) -> bool:
        """Whether the values are kept by rows."""
        return self._by_rows

    def is_dense(self) -> bool:
        """False."""
        return False

    is_selected_rows = is_dist = is_dense

    def is_same_shape(self, y: Any) -> bool:
        """Whether another tensor has the same shape."""
        return tuple(y.shape) == self._shape

    def indices(self) -> Any:
        """The places, a row for each sparse axis; raises ValueError for one that is kept by rows."""
        self._only(False, "indices")
        return from_array(self._places)

    def values(self) -> Any:
        """The values, in their order."""
        return self._v

    def crows(self) -> Any:
        """Where each row begins among the values; raises ValueError for coordinates."""
        self._only(True, "crows")
        *batch, rows, _ = self._shape
        if not batch:
            return from_array(math.row_starts(self._places[0], rows))
        each = [math.row_starts(self._places[1][self._places[0] == k], rows) for k in range(batch[0])]
        return from_array(np.concatenate(each))

    def cols(self) -> Any:
        """The column of each value; raises ValueError for coordinates."""
        self._only(True, "cols")
        return from_array(self._places[-1].copy())

    def _only(self, by_rows: bool, name: str) -> None:
        if self._by_rows is not by_rows:
            kind = "csr" if by_rows else "coo"
            raise ValueError(f"{name}: of {kind.upper()} tensors; to_sparse_{kind}() makes one")

    # -------------------------------------------------------------------- the tape

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows to or through the values."""
        return self._v.stop_gradient  # type: ignore[no-any-return]

    @stop_gradient.setter
    def stop_gradient(self, wanted: bool) -> None:
        self._v.stop_gradient = wanted

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zero, or forget it."""
        self._v.clear_gradient(set_to_zero)

    clear_grad = clear_gradient

    def retain_grads(self) -> None:
        """Keep the gradient of this tensor although it is no leaf."""
        self._v.retain_grads()

    def backward(self, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """Add the gradients to the leaves' `.grad`; grad_tensor: a sparse or dense tensor, ones if left out."""
        if grad_tensor is not None:
            same = isinstance(grad_tensor, SparseTensor) and np.array_equal(grad_tensor._places, self._places)
            grad_tensor = grad_tensor._v if same else math.picked(as_dense(grad_tensor), self._places)
        self._v.backward(grad_tensor, retain_graph)

    def clone(self) -> SparseTensor:
        """A copy, through which gradients pass."""
        return self.with_values(self._v.clone())

    # -------------------------------------------------------------------- conversion

    def to_dense(self) -> Any:
        """The tensor with all its elements."""
        return math.dense(self._places, self._v, self._shape)

    def coalesce(self) -> SparseTensor:
        """Each place once, in order, the values of equal ones added; raises ValueError for one that is kept by rows."""
        self._only(False, "coalesce")
        return self.in_order()

    def in_order(self) -> SparseTensor:
        """The same with each place once and in order."""
        if self._coalesced:
            return self
        places, values = math.coalesced(self._places, self._v, self._shape)
        return SparseTensor(places, values, self._shape, coalesced=True)

    def to_sparse_coo(self, sparse_dim: int | None = None) -> SparseTensor:
        """The same by coordinates."""
        return SparseTensor(self._places, self._v, self._shape, coalesced=True) if self._by_rows else self

    def to_sparse_csr(self) -> SparseTensor:
        """The same by rows; raises ValueError for other than matrices and batches of them."""
        return self if self._by_rows else by_rows("to_sparse_csr", self)

    def astype(self, dtype: Any) -> SparseTensor:
        """The same with values in another dtype."""
        return self.with_values(self._v.astype(dtype))

    cast = astype

    def numpy(self) -> np.ndarray:
        """Raises ValueError: the elements that are not kept are no part of it."""
        raise refused("numpy")

    # -------------------------------------------------------------------- printing

    def __repr__(self) -> str:
        head = f"shape={list(self._shape)}, dtype={self.dtype}, place={self.place}, stop_gradient={self.stop_gradient}"
        parts = ("crows", "cols", "values") if self._by_rows else ("indices", "values")
        gap = " " * 7
        rows = []
        for part in parts:
            shown = _repr.numbers(getattr(self, part)().detach().numpy()).replace("\n", "\n" + " " * (len(part) + 1))
            rows.append(f"{gap}{part}={shown}")
        return f"Tensor({head}, \n" + ", \n".join(rows) + ")"

    __str__ = __repr__

    def __bool__(self) -> bool:
        raise refused("the truth value")


def refused(what: str) -> ValueError:
    """The error for what sparse tensors do not have."""
    return ValueError(f"{what}: not available for sparse tensors; convert with to_dense() first")


def as_dense(x: Any) -> Any:
    """A tensor with all its elements."""
    return x.to_dense() if isinstance(x, SparseTensor) else x


def by_rows(op: str, x: SparseTensor) -> SparseTensor:
    """A sparse tensor kept by rows; raises ValueError for other than matrices and batches of them."""
    if x.ndim not in (2, 3) or x.dense_dim():
        raise ValueError(f"{op}: wanted a matrix or a batch of them, got shape {list(x._shape)}")
    x = x.in_order()
    return SparseTensor(x._places, x._v, x._shape, by_rows=True, coalesced=True)


@api("to_sparse_coo", function=False)
def to_sparse_coo(self: Tensor, sparse_dim: int) -> Any:
    """The elements that are not zero by coordinates along the first `sparse_dim` axes; raises ValueError for too many."""
    if not 1 <= sparse_dim <= self.ndim:
        raise ValueError(f"to_sparse_coo: sparse_dim must be in [1, {self.ndim}], got {sparse_dim}")
    places = math.nonzero(np.asarray(self.detach().numpy()), sparse_dim)
    return SparseTensor(places, math.picked(self, places), tuple(self.shape), coalesced=True)


@api("to_sparse_csr", function=False)
def to_sparse_csr(self: Tensor) -> Any:
    """The elements of a matrix, or of a batch of them, that are not zero, by rows; raises ValueError for other shapes."""
    if self.ndim not in (2, 3):
        raise ValueError(f"to_sparse_csr: wanted a matrix or a batch of them, got shape {list(self.shape)}")
    return by_rows("to_sparse_csr", to_sparse_coo(self, self.ndim))


@api("to_dense", function=False)
def to_dense(self: Tensor) -> Any:
    """This tensor, which is dense."""
    return self


def _coordinates_only(name: str) -> None:
    @api(name, function=False)
    def method(self: Tensor) -> Any:
        """Of sparse tensors; raises ValueError for this one, which is dense."""
        raise ValueError(f"{name}: this tensor is dense; to_sparse_coo() and to_sparse_csr() make sparse ones")

    method.__name__ = method.__qualname__ = name


for _name in ("coalesce", "cols", "crows", "dense_dim", "indices", "is_coalesced", "nnz", "sparse_dim", "values"):
    _coordinates_only(_name)


def _operator(name: str, symbol: str) -> None:
    def forward(self: SparseTensor, other: Any) -> Any:
        return functions()[name](self, other)

    def backward(self: SparseTensor, other: Any) -> Any:
        return functions()[name](other, self)

    setattr(SparseTensor, f"__{symbol}__", forward)
    setattr(SparseTensor, f"__r{symbol}__", backward)


for _name, _symbol in (("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "truediv"), ("matmul", "matmul")):
    _operator(_name, _symbol)
SparseTensor.__neg__ = lambda self: functions()["neg"](self)  # type: ignore[attr-defined]
SparseTensor.__pow__ = lambda self, factor: functions()["pow"](self, factor)  # type: ignore[attr-defined]

__all__ = ["FUNCTIONS_OF", "SparseTensor", "as_dense", "by_rows", "refused", "to_dense", "to_sparse_coo", "to_sparse_csr"]
