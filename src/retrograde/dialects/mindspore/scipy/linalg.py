"""`mindspore.scipy.linalg`: SciPy's names over the functions of `ops`; NumPy arrays are taken too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import Value, dtype_of
from ....ops import structural as st
from ....tensor import linalg as native
from .. import _joining, _linalg, _matmul, _reductions
from .._api import attributes
from .._tensor import from_array

block_diag = _joining.block_diag


def _matrix(a: Any) -> Any:
    """A tensor of a floating dtype."""
    if not isinstance(a, Value):
        a = from_array(np.asarray(a))
    return st.cast(a, dtype=np.dtype(np.float32)) if dtype_of(a).kind in "iub" else a


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverse of a matrix."""
    return _linalg.inverse(_matrix(a))


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant of a matrix."""
    return _linalg.det(_matrix(a))


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The Cholesky factor of a positive definite matrix: upper, unless lower=True."""
    return _linalg.cholesky(_matrix(a), not lower)


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, bool]:
    """The Cholesky factor as `cho_solve` takes it."""
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The solution of A x = b, from the Cholesky factor of A."""
    factor, lower = c_and_lower
    b, vector = _columns(_matrix(b))
    out = _linalg.cholesky_solve(b, factor, not lower)
    return st.reshape(out, shape=out.shape[:-1]) if vector else out


def _columns(b: Any) -> tuple[Any, bool]:
    """The right sides as columns of a matrix, and whether there is one only."""
    return (st.reshape(b, shape=(*b.shape, 1)), True) if b.ndim == 1 else (b, False)


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False,
                     overwrite_b: bool = False, debug: Any = None, check_finite: bool = True) -> Any:  # fmt: skip
    """The solution of a x = b (trans: of the transpose), of which only a triangle is used."""
    a = _matrix(a)
    turned = trans in (1, 2, "T", "C")
    right, vector = _columns(_matrix(b))
    out = _linalg.solve_triangular(_matmul.transposed(a) if turned else a, right, lower == turned, unit_diagonal)
    return st.reshape(out, shape=out.shape[:-1]) if vector else out


def eigh(a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
         overwrite_b: bool = False, turbo: bool = True, eigvals: Any = None, type: int = 1,
         check_finite: bool = True) -> Any:  # fmt: skip
    """The eigenvalues and eigenvectors of a symmetric matrix."""
    if b is not None or eigvals is not None or type != 1:
        raise ValueError("eigh: b, eigvals and type are not supported; use the defaults")
    x = _matrix(a) if lower else _matmul.transposed(_matrix(a))
    values, vectors = native.eigh(x)
    return values if eigvals_only else (values, vectors)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """The LU factors of a matrix as LAPACK stores them, and the pivots."""
    factors, pivots = _linalg.lu_factors("lu_factor", _matrix(a))
    return factors, st.cast(pivots, dtype=np.dtype(np.int32))


def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The permutation and the triangular factors of a matrix; with `permute_l` the first two multiplied."""
    factors, pivots = lu_factor(a)
    p, lower, upper = _linalg.lu_unpack(factors, pivots + 1)
    return (p @ lower, upper) if permute_l else (st.cast(p, dtype=np.dtype(np.int32)), lower, upper)


def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, overwrite_b: bool = False,
             check_finite: bool = True) -> Any:  # fmt: skip
    """The solution of A x = b, from the LU factors of A."""
    from ....ops.linalg_factor import lu_solve as primitive

    factors, pivots = lu_and_piv
    right, vector = _columns(_matrix(b))
    out = primitive(factors, pivots, right, left=True, adjoint=bool(trans))
    return st.reshape(out, shape=out.shape[:-1]) if vector else out


def lstsq(A: Any, B: Any, rcond: Any = None, driver: Any = None) -> tuple[Any, Any, Any, Any]:
    """The least-squares solution of A x = B, the residuals, the rank and the singular values of A."""
    a, b = _matrix(A), _matrix(B)
    s = native.svdvals(a)
    rank = int((s._concrete("lstsq") > (s._concrete("lstsq").max(initial=0) * max(a.shape) * np.finfo(dtype_of(a)).eps)).sum())
    solution = native.pinv(a, rtol=rcond) @ b
    difference = a @ solution - b
    return solution, _reductions.sum(difference * difference, 0), from_array(np.asarray(rank)), s


__getattr__ = attributes(globals())
