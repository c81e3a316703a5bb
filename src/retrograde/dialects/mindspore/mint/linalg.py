"""`mindspore.mint.linalg`."""

from __future__ import annotations

from typing import Any

from .. import _linalg, _statistics

inv = _linalg.inverse
matrix_norm = _statistics.matrix_norm
qr = _linalg.qr


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm over axes: of vectors, or of matrices."""
    return _statistics.norm(A, ord, dim, keepdim, dtype=dtype)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of vectors along axes."""
    return _statistics.vector_norm(x, ord, dim, keepdim, dtype=dtype)
