"""`mindspore.mint.linalg`."""

from __future__ import annotations

from typing import Any

from .. import _linear, _norms

inv = _linear.inverse
matrix_norm = _norms.matrix_norm
qr = _linear.qr


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm over axes: of vectors, or of matrices."""
    return _norms.norm(A, ord, dim, keepdim, dtype=dtype)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of vectors along axes."""
    return _norms.vector_norm(x, ord, dim, keepdim, dtype=dtype)
