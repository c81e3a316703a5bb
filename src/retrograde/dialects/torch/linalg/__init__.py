"""`torch.linalg`."""

from __future__ import annotations

from .._api import attributes as _attributes
from .._linalg_error import _LinAlgError as LinAlgError
from . import _top_level as _top_level
from ._factor import (
    cholesky, cholesky_ex, eig, eigh, eigvals, eigvalsh, householder_product, ldl_factor, ldl_factor_ex, ldl_solve,
    lu, lu_factor, lu_factor_ex, lu_solve, qr, svd, svdvals,
)  # fmt: skip
from ._norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from ._products import cross, diagonal, matmul, matrix_power, multi_dot, vander, vecdot
from ._solve import (
    det, inv, inv_ex, lstsq, matrix_exp, pinv, slogdet, solve, solve_ex, solve_triangular, tensorinv, tensorsolve,
)  # fmt: skip

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor",
    "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot",
    "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv",
    "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

__getattr__ = _attributes(globals())
