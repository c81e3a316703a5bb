"""`torch.sparse`: sparse tensors in coordinate form, enough to build one, multiply with it and make it dense.

A sparse tensor here is an object of its own (indices, values, shape), not a Tensor: operations that do not know it
raise a TypeError instead of computing something wrong. Its values carry gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value
from ._api import api
from ._creation import as_tensor, zeros
from ._dtype import int64
from ._size import Size
from ._tensor import Tensor, from_array


class SparseTensor:
    """A tensor that keeps only some elements: `values[k]` at `indices[:, k]`; elements given twice are added."""

    is_sparse = True
    __array_priority__ = 2000

    def __init__(self, indices: Tensor, values: Tensor, shape: tuple[int, ...], coalesced: bool = False) -> None:
        self._i, self._v, self.shape, self._coalesced = indices, values, Size(shape), coalesced

    # -------------------------------------------------------------------- what it is

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._v.dtype

    @property
    def requires_grad(self) -> bool:
        """Whether the values take part in a graph."""
        return self._v.requires_grad

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size along one axis."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def indices(self) -> Tensor:
        """The positions, one column per element; raises RuntimeError before `coalesce()`."""
        self._need_coalesced("indices")
        return self._i

    def values(self) -> Tensor:
        """The elements; raises RuntimeError before `coalesce()`."""
        self._need_coalesced("values")
        return self._v

    def _need_coalesced(self, what: str) -> None:
        if not self._coalesced:
            raise RuntimeError(f"{what}: this sparse tensor may hold an element twice; call coalesce() first")

    def _indices(self) -> Tensor:
        return self._i

    def _values(self) -> Tensor:
        return self._v

    def _nnz(self) -> int:
        return self._i.shape[1]

    def is_coalesced(self) -> bool:
        """Whether each position occurs once, in order."""
        return self._coalesced

    # -------------------------------------------------------------------- conversion

    def coalesce(self) -> SparseTensor:
        """The same tensor with each position once, in order, the elements of equal ones added."""
        if self._coalesced:
            return self
        positions = np.asarray(self._i._a)
        flat = np.ravel_multi_index(tuple(positions), tuple(self.shape[: len(positions)]))
        unique, inverse = np.unique(flat, return_inverse=True)
        target = zeros((len(unique), *self._v.shape[1:]), dtype=self._v.dtype)
        values = target.index_add(0, from_array(inverse.reshape(-1)), self._v)
        indices = from_array(np.stack(np.unravel_index(unique, tuple(self.shape[: len(positions)]))).astype(np.int64))
        return SparseTensor(indices, values, self.shape, True)

    def to_dense(self) -> Tensor:
        """The tensor with all its elements."""
        target = zeros(tuple(self.shape), dtype=self._v.dtype)
        return target.index_put(tuple(self._i[k] for k in range(self._i.shape[0])), self._v, accumulate=True)

    def t(self) -> SparseTensor:
        """The transpose of a sparse matrix."""
        if len(self.shape) != 2 or self._i.shape[0] != 2:
            raise RuntimeError(f"t: wanted a sparse matrix, got shape {list(self.shape)}")
        return SparseTensor(self._i.flip(0), self._v, (self.shape[1], self.shape[0]))

    def detach(self) -> SparseTensor:
        """The same elements without history."""
        return SparseTensor(self._i, self._v.detach(), self.shape, self._coalesced)

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Say whether gradients with respect to the values are wanted."""
        self._v.requires_grad_(requires_grad)
        return self

    # -------------------------------------------------------------------- products

    def __matmul__(self, other: Any) -> Tensor:
        return mm(self, other)

    def matmul(self, other: Any) -> Tensor:
        """The product with a dense matrix or vector."""
        return mm(self, other)

    mm = matmul

    def __mul__(self, factor: Any) -> SparseTensor:
        if isinstance(factor, (int, float, complex)) or (isinstance(factor, Tensor) and factor.ndim == 0):
            return SparseTensor(self._i, self._v * factor, self.shape, self._coalesced)
        return NotImplemented

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return (
            f"tensor(indices={self._i!r},\n       values={self._v!r},\n       "
            f"size={tuple(self.shape)}, nnz={self._nnz()}, layout=torch.sparse_coo)"
        )


@api(method=False)
def sparse_coo_tensor(
    indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    check_invariants: bool | None = None, is_coalesced: bool | None = None,
) -> SparseTensor:  # fmt: skip
    """A sparse tensor with `values[k]` at `indices[:, k]`; the size is the smallest that holds them if left out.

    Raises RuntimeError for indices outside the size, or a number of values that does not match.
    """
    i = as_tensor(indices)
    i = i.to(int64) if i.dtype is not int64 else i
    v = as_tensor(values) if dtype is None else as_tensor(values, dtype=dtype)
    if i.ndim != 2 or (v.ndim and v.shape[0] != i.shape[1]):
        raise RuntimeError(
            f"sparse_coo_tensor: indices of shape {list(i.shape)} and values of shape {list(v.shape)} do not match; "
            "indices are (axes, elements), values (elements, ...)"
        )
    positions = np.asarray(i._a)
    if size is None:
        size = (*(int(n) + 1 for n in positions.max(axis=1, initial=-1)), *v.shape[1:])
    size = tuple(size)
    limits = np.asarray(size[: len(positions)]).reshape(-1, 1)
    if positions.size and (positions.min() < 0 or (positions >= limits).any()):
        raise RuntimeError(f"sparse_coo_tensor: an index lies outside the size {list(size)}")
    if requires_grad:
        v = v.detach().requires_grad_()
    return SparseTensor(i, v, size, bool(is_coalesced))


def mm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse matrix with a dense matrix or vector."""
    if not isinstance(mat1, SparseTensor):
        raise TypeError(f"sparse.mm: the first operand must be sparse, got {type(mat1).__name__}")
    if isinstance(mat2, SparseTensor):
        mat2 = mat2.to_dense()
    if not isinstance(mat2, Value) or len(mat1.shape) != 2 or mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"sparse.mm: shapes {list(mat1.shape)} and {list(getattr(mat2, 'shape', ()))} do not multiply"
        )
    rows, columns = mat1._i[0], mat1._i[1]
    picked = mat2[columns]
    scale = mat1._v.reshape((-1, *(1,) * (picked.ndim - 1)))
    target = zeros((mat1.shape[0], *mat2.shape[1:]), dtype=picked.dtype)
    return target.index_add(0, rows, scale * picked)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of a sparse tensor's elements, as a dense tensor."""
    dense = input.to_dense() if isinstance(input, SparseTensor) else input
    return dense.sum(dtype=dtype) if dim is None else dense.sum(dim, dtype=dtype)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * (mat1 @ mat2)` with a sparse `mat1`."""
    return input * beta + mm(mat1, mat2) * alpha


@api("to_sparse", function=False)
def to_sparse(self: Tensor, sparse_dim: int | None = None) -> SparseTensor:
    """This tensor's non-zero elements as a sparse tensor."""
    positions = np.stack(np.nonzero(np.asarray(self._a))).astype(np.int64)
    i = from_array(positions)
    return SparseTensor(i, self[tuple(i[k] for k in range(i.shape[0]))], tuple(self.shape), True)


@api("to_dense", function=False)
def to_dense(self: Tensor, dtype: Any = None) -> Tensor:
    """This tensor, which is dense."""
    return self if dtype is None else self.to(dtype)


__all__ = ["SparseTensor", "addmm", "mm", "sparse_coo_tensor", "sum", "to_sparse"]
