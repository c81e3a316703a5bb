"""`mindspore.common.sparse_tensor`: sparse matrices under their older path."""

from .._sparse import COOTensor, CSRTensor

__all__ = ["COOTensor", "CSRTensor"]
