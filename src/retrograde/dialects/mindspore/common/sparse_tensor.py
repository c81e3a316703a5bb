"""`mindspore.common.sparse_tensor`: sparse matrices under their older path."""

from .._sparse import COOTensor, CSRTensor, RowTensor

__all__ = ["COOTensor", "CSRTensor", "RowTensor"]
