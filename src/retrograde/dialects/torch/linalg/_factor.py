"""Factorisations, eigenvalues and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import dtype_of, shape_of
from ....ops import linalg_factor as lf
from ....ops import linalg_orthogonal as lo
from ....ops import linalg_spectral as ls
from ....ops.comparison import isfinite
from ....ops.elementwise import add, subtract
from .._data import computed_there
from .._graph_nodes import NAMES
from .._return_types import return_type
from .._tensor import Tensor
from ._checks import fit, matrices, same_dtype, shape_argument, takes_out

NAMES.update({
    "cholesky": "LinalgCholeskyExBackward0", "lu_factor": "LinalgLuFactorExBackward0", "lu": "LinalgLuBackward0",
    "lu_solve": "LinalgLuSolveBackward0", "qr": "LinalgQrBackward0", "householder_multiply": "OrmqrBackward0",
    "householder_product": "LinalgHouseholderProductBackward0", "ldl_factor": "NotImplemented",
    "ldl_solve": "NotImplemented", "eigh": "LinalgEighBackward0", "eigvalsh": "LinalgEighBackward0",
    "eig": "LinalgEigBackward0", "eigvals": "LinalgEigBackward0", "svd": "LinalgSvdBackward0",
    "svdvals": "LinalgSvdBackward0",
})  # fmt: skip

_CHOLESKY_EX = return_type("linalg_cholesky_ex", "L", "info")
_LU = return_type("linalg_lu", "P", "L", "U")
_LU_FACTOR = return_type("linalg_lu_factor", "LU", "pivots")
_LU_FACTOR_EX = return_type("linalg_lu_factor_ex", "LU", "pivots", "info")
_LDL = return_type("linalg_ldl_factor", "LD", "pivots")
_LDL_EX = return_type("linalg_ldl_factor_ex", "LD", "pivots", "info")
_QR = return_type("linalg_qr", "Q", "R")
_EIGH = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
_EIG = return_type("linalg_eig", "eigenvalues", "eigenvectors")
_SVD = return_type("linalg_svd", "U", "S", "Vh")

# ------------------------------------------------------------------------------------------ Cholesky, LU, LDL


@takes_out
def cholesky(input: Any, *, upper: bool = False) -> Tensor:
    """The lower L with A = LL^H (upper U with A = U^H U); raises LinAlgError unless A is positive definite."""
    matrices("linalg.cholesky", input, square=True)
    return lf.cholesky(input, upper=upper)


@takes_out
def cholesky_ex(input: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor, and 0 or the order of the first leading minor that is not positive."""
    matrices("linalg.cholesky_ex", input, square=True)
    return _CHOLESKY_EX((lf.cholesky(input, upper=upper, check=check_errors), lf.cholesky_info(input, upper=upper)))


def _pivoted(op: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{op}: pivot=False is not offered on the CPU; factorise with pivoting")


_ONE = np.asarray(1, np.int32)


def from_one(pivots: Any) -> Any:
    """Row numbers counted from 1, as PyTorch returns them."""
    return add(pivots, _ONE)


def from_zero(op: str, pivots: Any) -> Any:
    """Row numbers counted from 0, as the operations below take them."""
    shape_argument(op, pivots, "pivots")
    if dtype_of(pivots) != np.int32:
        raise RuntimeError(f"{op}: pivots must be int32, as lu_factor returns them")
    return subtract(pivots, _ONE)


@takes_out
def lu(A: Any, *, pivot: bool = True) -> Any:
    """A = PLU with a permutation, a unit lower and an upper triangular matrix."""
    matrices("linalg.lu", A, integer=NotImplementedError)
    _pivoted("linalg.lu", pivot)
    return _LU(lf.lu(A))


@takes_out
def lu_factor(A: Any, *, pivot: bool = True) -> Any:
    """The LU factors in one matrix, and the row exchanges; raises RuntimeError for a singular matrix."""
    matrices("linalg.lu_factor", A, integer=NotImplementedError)
    _pivoted("linalg.lu_factor", pivot)
    factors, pivots = lf.lu_factor(A, check=True)
    return _LU_FACTOR((factors, from_one(pivots)))


@takes_out
def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """The LU factors in one matrix, the row exchanges, and 0 or the position of the first zero pivot."""
    matrices("linalg.lu_factor_ex", A, integer=NotImplementedError)
    _pivoted("linalg.lu_factor_ex", pivot)
    factors, pivots = lf.lu_factor(A, check=check_errors)
    return _LU_FACTOR_EX((factors, from_one(pivots), lf.lu_info(A)))


@takes_out
def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The X with AX = B (XA = B unless `left`) for the matrix, or its adjoint, that `lu_factor` has factorised."""
    op = "linalg.lu_solve"
    a = matrices(op, LU, "LU", square=True, integer=NotImplementedError)
    b = matrices(op, B, "B", integer=NotImplementedError)
    same_dtype(op, LU, B, ("LU", "B"))
    rows = from_zero(op, pivots)
    if tuple(shape_of(pivots)) != a[:-1]:
        raise RuntimeError(f"{op}: pivots must have the shape {list(a[:-1])}, got {list(shape_of(pivots))}")
    fit(op, a, b, left)
    return lf.lu_solve(LU, rows, B, left=left, adjoint=adjoint)


@takes_out
def ldl_factor(input: Any, *, hermitian: bool = False) -> Any:
    """The LDL factors of symmetric (Hermitian) matrices in LAPACK's packed form, and the pivots."""
    return _LDL(_ldl("linalg.ldl_factor", input, hermitian, True)[:2])


@takes_out
def ldl_factor_ex(input: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """The LDL factors, the pivots, and 0 or the position of the first zero block."""
    return _LDL_EX(_ldl("linalg.ldl_factor_ex", input, hermitian, check_errors))


def _ldl(op: str, A: Any, hermitian: bool, check: bool) -> Any:
    matrices(op, A, square=True)
    results = lf.ldl_factor(A, hermitian=hermitian)
    if check and bool(np.any(results[2].detach().numpy())):
        raise RuntimeError(f"{op}: a diagonal block is zero, so the factors cannot be used to solve; A is singular")
    return results


@takes_out
def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Tensor:
    """The X with AX = B for the matrix that `ldl_factor` has factorised."""
    op = "linalg.ldl_solve"
    a, b = matrices(op, LD, "LD", square=True), matrices(op, B, "B")
    same_dtype(op, LD, B, ("LD", "B"))
    fit(op, a, b, True)
    return lf.ldl_solve(LD, pivots, B, hermitian=hermitian)


# ------------------------------------------------------------------------------------------ QR


@takes_out
def qr(A: Any, mode: str = "reduced") -> Any:
    """A = QR with orthonormal columns in Q and an upper triangular R."""
    matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"linalg.qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    return _QR(lo.qr(A, mode=mode))


@takes_out
def householder_product(input: Any, tau: Any) -> Tensor:
    """The first columns of the product of the reflections whose vectors stand below the diagonal of the input."""
    op = "linalg.householder_product"
    shape, factors = matrices(op, input, "input", integer=NotImplementedError), shape_argument(op, tau, "tau")
    same_dtype(op, input, tau, ("input", "tau"))
    if shape[-2] < shape[-1]:
        raise RuntimeError(f"{op}: input must have at least as many rows as columns, got {shape[-2]} by {shape[-1]}")
    if not factors or factors[-1] > shape[-1]:
        raise RuntimeError(f"{op}: tau has {factors[-1:]} reflections, input only {shape[-1]} columns")
    if factors[:-1] != shape[:-2]:
        raise RuntimeError(f"{op}: tau must have the batch shape {list(shape[:-2])}, got {list(factors[:-1])}")
    return lo.householder_product(input, tau)


# ------------------------------------------------------------------------------------------ eigenvalues


def uplo(op: str, UPLO: str) -> bool:
    """Whether the upper triangle is the one to read."""
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"{op}: UPLO must be 'L' or 'U', got {UPLO!r}")
    return UPLO in "Uu"


@takes_out
def eigh(input: Any, UPLO: str = "L") -> Any:
    """Ascending eigenvalues and orthonormal eigenvectors of Hermitian matrices, of which one triangle is read."""
    matrices("linalg.eigh", input, square=True, integer=NotImplementedError)
    return _EIGH(ls.eigh(input, upper=uplo("linalg.eigh", UPLO)))


@takes_out
def eigvalsh(input: Any, UPLO: str = "L") -> Tensor:
    """The eigenvalues of Hermitian matrices in ascending order."""
    matrices("linalg.eigvalsh", input, square=True, integer=NotImplementedError)
    return ls.eigvalsh(input, upper=uplo("linalg.eigvalsh", UPLO))


def _finite(op: str, A: Any) -> None:
    if not A._level and not computed_there(op, isfinite(A.detach()), lambda array: array.all()):
        raise RuntimeError(f"{op}: A has elements that are inf or nan, for which there are no eigenvalues")


@takes_out
def eig(input: Any) -> Any:
    """Complex eigenvalues and eigenvectors (of norm one) of square matrices."""
    matrices("linalg.eig", input, square=True)
    _finite("linalg.eig", input)
    return _EIG(ls.eig(input))


@takes_out
def eigvals(input: Any) -> Tensor:
    """The complex eigenvalues of square matrices."""
    matrices("linalg.eigvals", input, square=True)
    _finite("linalg.eigvals", input)
    return ls.eigvals(input)


# ------------------------------------------------------------------------------------------ singular values


def _no_driver(op: str, driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(f"{op}: driver= chooses a method on CUDA devices; leave it out on the CPU")


@takes_out
def svd(A: Any, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """A = U diag(S) Vh with singular values in descending order."""
    matrices("linalg.svd", A)
    _no_driver("linalg.svd", driver)
    return _SVD(ls.svd(A, full=full_matrices))


@takes_out
def svdvals(A: Any, *, driver: str | None = None) -> Tensor:
    """The singular values in descending order."""
    matrices("linalg.svdvals", A)
    _no_driver("linalg.svdvals", driver)
    return ls.svdvals(A)
