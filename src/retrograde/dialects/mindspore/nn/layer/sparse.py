"""Cells over sparse matrices."""

from __future__ import annotations

from typing import Any

from ..._sparse import COOTensor, given, sparse_dense_matmul
from ..cell import Cell


class SparseToDense(Cell):
    """The tensor with all its zeros."""

    def construct(self, coo_tensor: Any) -> Any:
        """The dense form of a COOTensor."""
        return given("SparseToDense", coo_tensor, COOTensor).to_dense()


class SparseTensorDenseMatmul(Cell):
    """The product of a sparse matrix, given by its parts, with a dense one."""

    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None:
        super().__init__()
        self.adjoint_st, self.adjoint_dt = adjoint_st, adjoint_dt

    def construct(self, indices: Any, values: Any, sparse_shape: Any, dense: Any) -> Any:
        """The product, dense."""
        return sparse_dense_matmul(
            indices, values, sparse_shape, dense, adjoint_st=self.adjoint_st, adjoint_dt=self.adjoint_dt
        )
