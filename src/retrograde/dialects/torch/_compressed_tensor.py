"""`CompressedTensor`: a sparse matrix whose rows (CSR) or columns (CSC) are compressed.

It is the coordinate form seen another way: everything is computed there (sparse.py), and what comes out as a sparse matrix
is compressed again. Its values carry the gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...learn.sparse import row_starts, rows_of
from ._api import METHODS, api
from ._creation import as_tensor
from ._graph_nodes import show_as
from ._size import Size, only_on_cpu
from ._sparse_tensor import ANSWERS, SparseTensor, filled, unsupported
from ._tensor import Tensor, from_array


def _only_coordinates(name: str) -> Exception:
    return RuntimeError(f"{name}: not available for compressed matrices; convert with to_sparse() first")


class CompressedTensor(SparseTensor):
    """A sparse matrix in compressed form; `_i` holds its coordinates, in the order of the rows (or columns)."""

    is_sparse = False

    def __init__(self, indices: Tensor, values: Tensor, shape: Any, by_columns: bool = False) -> None:
        super().__init__(indices, values, shape, True)
        self._by_columns = by_columns

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name in ("__set__", "lobpcg", "save"):
            return super().__torch_function__(func, types, args, kwargs)
        return _answered(name, args, kwargs or {})

    def _answer(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return _answered(name, (self, *args), kwargs)

    @property
    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether the rows are compressed."""
        return not self._by_columns

    @property
    def layout(self) -> Any:  # type: ignore[override]
        """`torch.sparse_csr` or `torch.sparse_csc`."""
        return LAYOUTS[self._by_columns]

    def _indices_of(self, plain: bool) -> Tensor:
        """Where each row (or column) begins among the elements, or the places of these along the other axis."""
        axis = int(self._by_columns)
        if plain:
            return from_array(self._places[1 - axis].copy())
        return from_array(row_starts(self._places[axis], self.shape[axis]))

    def _of(self, what: str, by_columns: bool, plain: bool) -> Tensor:
        if self._by_columns is not by_columns:
            raise RuntimeError(f"{what}: this matrix is compressed along the other axis")
        return self._indices_of(plain)

    def crow_indices(self) -> Tensor:
        """Where each row begins among the elements, and their number; raises RuntimeError for compressed columns."""
        return self._of("crow_indices", False, False)

    def col_indices(self) -> Tensor:
        """The column of each element; raises RuntimeError for compressed columns."""
        return self._of("col_indices", False, True)

    def ccol_indices(self) -> Tensor:
        """Where each column begins among the elements, and their number; raises RuntimeError for compressed rows."""
        return self._of("ccol_indices", True, False)

    def row_indices(self) -> Tensor:
        """The row of each element; raises RuntimeError for compressed rows."""
        return self._of("row_indices", True, True)

    def indices(self) -> Tensor:
        """Raises RuntimeError: these are of the coordinate form."""
        raise _only_coordinates("indices")

    def coalesce(self) -> SparseTensor:
        """Raises RuntimeError, as `indices` does."""
        raise _only_coordinates("coalesce")

    def is_coalesced(self) -> bool:
        """Raises RuntimeError, as `indices` does."""
        raise _only_coordinates("is_coalesced")

    def to_sparse(self, *args: Any, layout: Any = None) -> SparseTensor:
        """This matrix in coordinate form, or in the layout given."""
        plain = SparseTensor(self._i, self._v, self.shape, not self._by_columns)
        return plain.coalesce() if layout is None else in_layout(plain, layout)

    to_sparse_coo = to_sparse

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Raises NotImplementedError: gradients are those of the values."""
        if requires_grad:
            raise NotImplementedError(
                "requires_grad_: the gradient of a compressed matrix is dense in PyTorch; make it of values that require grad"
            )
        return self

    def with_values(self, values: Tensor, name: str | None = None) -> CompressedTensor:
        """Other values at the same positions, computed under the name of a node."""
        return CompressedTensor(self._i, values if name is None else show_as(values, name), self.shape, self._by_columns)

    def clone(self) -> SparseTensor:
        """A copy."""
        return self.with_values(self._v.clone())

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """The other axis first: compressed rows become compressed columns."""
        if {dim0 % 2, dim1 % 2} != {0, 1}:
            return self
        return CompressedTensor(self._i.flip(0), self._v, Size(self.shape[::-1]), not self._by_columns)

    def t(self) -> SparseTensor:
        """The transpose: compressed rows become compressed columns."""
        return self.transpose(0, 1)

    def permute(self, *dims: Any) -> SparseTensor:
        """Raises NotImplementedError: rows stay rows."""
        raise unsupported("permute of a compressed matrix")

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseTensor:
        memo[id(self)] = out = self.detach().clone()
        return out

    def parts(self) -> tuple[Any, ...]:
        """What a file holds of this matrix: both kinds of indices, the values, the shape."""
        return self._indices_of(False), self._indices_of(True), self._values(), self.shape

    def __reduce_ex__(self, protocol: Any) -> Any:
        return CompressedTensor, (self._i, self._v, tuple(self.shape), self._by_columns)

    def __repr__(self) -> str:
        outer, inner = ("ccol", "row") if self._by_columns else ("crow", "col")
        indent = " " * 7
        facts = [f"values={self._numbers(self._v, 14)}", f"size={tuple(self.shape)}", f"nnz={self._nnz()}", *self._notes()]
        text = f"tensor({outer}_indices={self._numbers(self._indices_of(False), 20)},\n"
        text += f"{indent}{inner}_indices={self._numbers(self._indices_of(True), 19)},\n{indent}"
        return filled(text, facts, indent) + ")"


LAYOUTS: list[Any] = []
"""The layouts for compressed rows and columns; set in __init__.py, where layouts are."""


def compressed(x: SparseTensor, by_columns: bool = False) -> CompressedTensor:
    """A sparse matrix in compressed form; raises RuntimeError for another number of axes."""
    if x.ndim != 2 or x.dense_dim():
        raise RuntimeError(f"to_sparse_{'csc' if by_columns else 'csr'}: wanted a matrix, got shape {list(x.shape)}")
    x = x.coalesce()
    if not by_columns:
        return CompressedTensor(x._i, x._v, x.shape)
    order = from_array(np.lexsort(x._places).astype(np.int64))
    return CompressedTensor(x._i.index_select(1, order), x._v.index_select(0, order), x.shape, True)


def in_layout(x: SparseTensor, layout: Any) -> Any:
    """A sparse tensor in another layout."""
    if layout in LAYOUTS:
        return compressed(x, layout is LAYOUTS[1])
    if layout is SparseTensor.layout:
        return x
    raise unsupported(f"the layout {layout}")


def _in_coordinates(x: Any) -> Any:
    """An argument, or a list of them, with compressed matrices in coordinate form."""
    if isinstance(x, (tuple, list)):
        return [_in_coordinates(part) for part in x]
    return x.to_sparse() if isinstance(x, CompressedTensor) else x


def _answered(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute a call with compressed matrices in coordinate form; a matrix comes out compressed as the first of them."""
    listed = args[0] if args and isinstance(args[0], (tuple, list)) else args
    first = next((x for x in listed if isinstance(x, CompressedTensor)), None)
    if first is not None and args[0] is first and name in vars(CompressedTensor) and name[:1] != "_":
        return getattr(CompressedTensor, name)(*args, **kwargs)
    if name not in ANSWERS:
        raise unsupported(name)
    plain = [_in_coordinates(x) for x in args]
    if name == "add" and first is args[0] and not isinstance(plain[1], SparseTensor):
        plain[:2] = plain[1::-1]  # a dense one is what coordinates are added to
    out = ANSWERS[name.rstrip("_")](*plain, **kwargs)
    if first is None or not (type(out) is SparseTensor and out.ndim == 2):
        return out
    made = compressed(out, first._by_columns)
    return first.become(made) if name.endswith("_") and args[0] is first else made


def from_parts(layout: Any, outer: Tensor, inner: Tensor, values: Tensor, size: Any) -> CompressedTensor:
    """The matrix of a layout that `parts` describes."""
    by_columns = layout is LAYOUTS[1]
    return _made("load", outer, inner, values, size, None, False, by_columns)


def _made(
    op: str, outer: Any, inner: Any, values: Any, size: Any, dtype: Any, requires_grad: bool, by_columns: bool
) -> CompressedTensor:
    begins, at = (np.asarray(as_tensor(x)._a).astype(np.int64) for x in (outer, inner))
    v = as_tensor(values) if dtype is None else as_tensor(values, dtype=dtype)
    if begins.ndim != 1 or at.ndim != 1 or v.ndim != 1:
        raise unsupported(f"{op} with batches or blocks")
    if not len(begins) or begins[0] != 0 or (np.diff(begins) < 0).any() or begins[-1] != len(at) or len(at) != len(v):
        raise RuntimeError(
            f"{op}: {len(at)} places and {len(v)} values do not go with beginnings {begins.tolist()}, which must rise from 0 "
            "to the number of elements"
        )
    lines = rows_of(begins)
    across = int(at.max(initial=-1)) + 1
    if size is None:
        size = (across, len(begins) - 1) if by_columns else (len(begins) - 1, across)
    size = tuple(size)
    if len(size) != 2 or size[by_columns] != len(begins) - 1 or size[1 - by_columns] < across or at.min(initial=0) < 0:
        raise RuntimeError(f"{op}: the indices do not go with the size {list(size)}")
    if requires_grad:
        v = v.detach().requires_grad_()
    elif v.requires_grad:
        v = show_as(v.clone(), "SparseCompressedTensorBackward0")
    indices = from_array(np.stack([at, lines] if by_columns else [lines, at]))
    return CompressedTensor(indices, v, size, by_columns)


@api(method=False)
def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
) -> CompressedTensor:  # fmt: skip
    """A sparse matrix with compressed rows: row i has the elements `crow_indices[i]` to `crow_indices[i + 1]`, in the
    columns `col_indices`. Raises RuntimeError where these do not go together."""
    only_on_cpu("sparse_csr_tensor", device)
    return _made("sparse_csr_tensor", crow_indices, col_indices, values, size, dtype, requires_grad, False)


@api(method=False)
def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
) -> CompressedTensor:  # fmt: skip
    """A sparse matrix with compressed columns; see `sparse_csr_tensor`."""
    only_on_cpu("sparse_csc_tensor", device)
    return _made("sparse_csc_tensor", ccol_indices, row_indices, values, size, dtype, requires_grad, True)


def _of_dense(name: str, by_columns: bool) -> None:
    def method(self: Tensor) -> CompressedTensor:
        if self.ndim != 2:
            raise IndexError(f"{name}: wanted a matrix, got shape {list(self.shape)}")
        if self.requires_grad:
            raise NotImplementedError(
                f"{name}: the gradient would be that of a dense matrix; make it of values that require grad, or detach()"
            )
        return compressed(self.to_sparse(), by_columns)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "This matrix's non-zero elements, compressed; raises IndexError for another number of axes."
    METHODS[name] = method
    ANSWERS[name] = lambda x: compressed(x.to_sparse(), by_columns)


_of_dense("to_sparse_csr", False)
_of_dense("to_sparse_csc", True)
