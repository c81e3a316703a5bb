"""The functions of linear algebra that PyTorch also offers as `torch.NAME` and as methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.value import dtype_of, ndim_of, shape_of
from ....ops import linalg as la
from ....ops import linalg_factor as lf
from ....ops import linalg_orthogonal as lo
from ....ops.comparison import equal
from ....ops.contraction import matmul, matrix_transpose
from ....ops.elementwise import add, log
from ....ops.manipulation import flip
from ....ops.reduction import mean
from ....ops.selection import where
from ....ops.structural import broadcast_to, cast, conj, copy
from ....ops.structural import transpose as permute
from ....tape import inplace
from ..._shared.axes import count
from ..._shared.registry import defined
from .. import random
from .._api import api, row, write_out
from .._graph_nodes import show_as
from .._return_types import return_type
from .._tensor import Tensor, beside
from . import _factor, _products, _solve
from ._checks import broadcast, matrices, same_dtype, shape_argument

_SVD = return_type("svd", "U", "S", "V")
_QR = return_type("qr", "Q", "R")
_GEQRF = return_type("geqrf", "a", "tau")
_SLOGDET = return_type("slogdet", "sign", "logabsdet")
_LU_UNPACK = return_type("lu_unpack", "P", "L", "U")
_LU_INFO = return_type("_lu_with_info", "LU", "pivots", "info")
_TRIANGULAR = return_type("triangular_solve", "solution", "cloned_coefficient")

# ------------------------------------------------------------------------------------------ determinants and inverses

det = row("det", lambda input: _solve.det(input), "The determinant of each square matrix.")
slogdet = row("slogdet", lambda input: _SLOGDET(_solve.slogdet(input)),
    "Sign and logarithm of the absolute value of the determinant.", out=True)  # fmt: skip


@api()
def logdet(input: Any) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
    matrices("logdet", input, square=True, half=RuntimeError)
    sign, value = la.slogdet(input)
    if dtype_of(input).kind == "c":
        return add(log(sign), value)
    return where(equal(sign, np.asarray(-1, dtype_of(sign))), np.asarray(math.nan, dtype_of(value)), value)


inverse = row("inverse", lambda input: _solve.inv(input),
    "The inverse of each square matrix; raises LinAlgError for a singular one.", out=True)  # fmt: skip
pinverse = row("pinverse", lambda input, rcond=1e-15: _solve.pinv(input, rcond),
    "The Moore-Penrose pseudo-inverse; singular values up to rcond times the largest count as zero.")  # fmt: skip
matrix_exp = row("matrix_exp", lambda input: _solve.matrix_exp(input), "The exponential of each square matrix.")


@api(out=True)
def matrix_power(input: Any, n: int) -> Tensor:
    """The n-th power of each square matrix, of its inverse for negative n."""
    return _products.matrix_power(input, n)


@api(method=False)
def chain_matmul(*matrices: Any, out: Any = None) -> Tensor:
    """The product of matrices in the cheapest order; an old name of linalg.multi_dot."""
    product = _products.multi_dot(matrices)
    return product if out is None else write_out("chain_matmul", product, out)


@api()
def trace(input: Any) -> Tensor:
    """The sum of the diagonal of a matrix."""
    shape = shape_argument("trace", input, "input")
    if len(shape) != 2:
        raise RuntimeError(f"trace: the input must be a matrix, got {len(shape)} dimensions")
    if dtype_of(input).kind in "iub":
        input = cast(input, dtype=np.dtype(np.int64))
    return la.trace(input)


# ------------------------------------------------------------------------------------------ Cholesky


@api(out=True)
def cholesky(input: Any, upper: bool = False) -> Tensor:
    """The triangular Cholesky factor of positive definite matrices; raises LinAlgError for others."""
    matrices("cholesky", input, square=True)
    return show_as(lf.cholesky(input, upper=upper), "CholeskyBackward0")


@api(out=True)
def cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Tensor:
    """The X with AX = B for the matrices A of which `input2` is the Cholesky factor."""
    op = "cholesky_solve"
    b = matrices(op, input, "B", integer=NotImplementedError)
    a = matrices(op, input2, "L", square=True, integer=NotImplementedError)
    same_dtype(op, input, input2, ("B", "L"))
    if b[-2] != a[-1]:
        raise RuntimeError(f"{op}: L is {a[-2]} by {a[-1]}, which does not fit B with {b[-2]} rows")
    broadcast(op, a[:-2], b[:-2])
    return lf.cholesky_solve(input, input2, upper=upper)


@api(out=True)
def cholesky_inverse(input: Any, upper: bool = False) -> Tensor:
    """The inverse of the matrices of which the input is the Cholesky factor."""
    matrices("cholesky_inverse", input, square=True)
    return lf.cholesky_inverse(input, upper=upper)


# ------------------------------------------------------------------------------------------ LU and triangular systems


@api("lu", "_lu_with_info", method=False)
def lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """The LU factors in one matrix and the row exchanges; with `get_infos` the position of the first zero pivot too."""
    factors, pivots, info = _factor.lu_factor_ex(A, pivot=pivot)
    results = _LU_INFO((factors, pivots, info)) if get_infos else (factors, pivots)
    if out is None:
        return results
    return write_out("lu", results, out)


_lu_method = row("lu", lambda self, pivot=True, get_infos=False: lu(self, pivot, get_infos),
    "The LU factors in one matrix and the row exchanges.", function=False)  # fmt: skip
lu_solve = row("lu_solve", lambda input, LU_data, LU_pivots: _factor.lu_solve(LU_data, LU_pivots, input),
    "The X with AX = B for the matrix that `lu` has factorised.", out=True)  # fmt: skip


@api(method=False, out=True)
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from packed factors and row exchanges; empty tensors in place of what is not asked for."""
    op = "lu_unpack"
    shape = matrices(op, LU_data, "LU_data")
    rows = _factor.from_zero(op, LU_pivots)
    if tuple(shape_of(LU_pivots)) != (*shape[:-2], min(shape[-2:])):
        raise RuntimeError(f"{op}: pivots of shape {list(shape_of(LU_pivots))} do not belong to factors {list(shape)}")
    p, lower, upper = lf.lu_unpack(LU_data, rows)
    nothing = beside(np.zeros((0,), dtype_of(LU_data)), LU_data)
    return _LU_UNPACK((p if unpack_pivots else nothing, *((lower, upper) if unpack_data else (nothing, nothing))))


@api(out=True)
def triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The X with AX = B (A^T X = B if `transpose`) for triangular A, and a copy of A."""
    op = "triangular_solve"
    b, a = matrices(op, input, "B"), matrices(op, A, square=True)
    same_dtype(op, input, A, ("B", "A"))
    if b[-2] != a[-1]:
        raise RuntimeError(f"{op}: A is {a[-2]} by {a[-1]}, which does not fit B with {b[-2]} rows")
    lead = broadcast(op, a[:-2], b[:-2])
    used = matrix_transpose(A) if transpose else A
    x = la.solve_triangular(used, input, upper=upper != transpose, unit=unitriangular)
    copied = copy(A if a[:-2] == lead else broadcast_to(A, shape=(*lead, *a[-2:])))
    return _TRIANGULAR((show_as(x, "TriangularSolveBackward0"), copied))


# ------------------------------------------------------------------------------------------ QR

qr = row("qr", lambda input, some=True: _QR(_factor.qr(input, "reduced" if some else "complete")),
    "A = QR; Q is square unless `some`.", out=True)  # fmt: skip


@api(out=True)
def geqrf(input: Any) -> Any:
    """R above the diagonal, Householder vectors below it, and their factors."""
    matrices("geqrf", input)
    return _GEQRF(lo.geqrf(input))


@api(out=True)
def orgqr(input: Any, input2: Any) -> Tensor:
    """The first columns of the unitary matrix that Householder vectors make; linalg.householder_product."""
    return _factor.householder_product(input, input2)


@api(out=True)
def ormqr(input: Any, input2: Any, input3: Any, left: bool = True, transpose: bool = False) -> Tensor:
    """QC (CQ unless `left`) for the unitary matrix Q, or its adjoint, that Householder vectors make."""
    op = "ormqr"
    a, tau, c = matrices(op, input, "input"), shape_argument(op, input2, "tau"), matrices(op, input3, "other")
    same_dtype(op, input, input2, ("input", "tau"))
    same_dtype(op, input, input3, ("input", "other"))
    if not tau or tau[-1] > a[-1]:
        raise RuntimeError(f"{op}: tau has {tau[-1:]} reflections, input only {a[-1]} columns")
    n, what = (c[-2], "rows") if left else (c[-1], "columns")
    if n != a[-2]:
        raise RuntimeError(f"{op}: other has {n} {what} and input {a[-2]} rows; they must be as many")
    broadcast(op, a[:-2], c[:-2])
    return lo.householder_multiply(input, input2, input3, left=left, adjoint=transpose)


# ------------------------------------------------------------------------------------------ singular values


@api(out=True)
def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """A = U diag(S) V^H; zeros in place of U and V unless `compute_uv`."""
    if compute_uv:
        u, s, vh = _factor.svd(input, not some)
        n = ndim_of(vh)
        v = inplace.view(permute, vh, axes=(*range(n - 2), n - 1, n - 2))
        return _SVD((u, s, conj(v) if dtype_of(v).kind == "c" else v))
    s = _factor.svdvals(input)
    *lead, m, n = shape_of(input)
    u, v = (beside(np.zeros((*lead, k, k), dtype_of(input)), input) for k in (m, n))
    return _SVD((u, s, v))


@api(method=False)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix of a vector: descending powers (ascending if `increasing`) of each element in a row."""
    shape = shape_argument("vander", x, "x")
    if len(shape) != 1:
        raise RuntimeError(f"vander: x must have 1 dimension, got {len(shape)}")
    n = shape[0] if N is None else N
    if n < 0:
        raise RuntimeError(f"vander: N cannot be negative, got {n}")
    if n == 0:
        return beside(np.zeros((shape[0], 0), dtype_of(x)), x)
    rows = _products.powers(x, n)
    return rows if increasing else flip(rows, axes=(1,))


# ------------------------------------------------------------------------------------------ random low-rank factors


def _orthonormal(A: Any, q: int, niter: int) -> Tensor:
    """Columns that nearly span the range of A: powers of it on random ones (Halko, Martinsson, Tropp 2009, 4.4)."""
    shape = tuple(shape_of(A))
    columns = random.randn(shape[-1], q, dtype=A.dtype, device=A.device)
    basis = _factor.qr(matmul(A, columns)).Q
    for _ in range(niter):
        basis = _factor.qr(matmul(la.adjoint(A), basis)).Q
        basis = _factor.qr(matmul(A, basis)).Q
    return basis


@api(method=False)
def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """U, S and V of a random approximation of rank q of A - M (Halko, Martinsson, Tropp 2009, 5.1)."""
    op = "svd_lowrank"
    matrices(op, A)
    if M is not None:
        A = A - broadcast_to(M, shape=tuple(shape_of(A)))
    m, n = shape_of(A)[-2:]
    rank, times = 6 if q is None else q, 2 if niter is None else count(op, "niter", niter)
    wide = m < n
    if wide:
        A = la.adjoint(A)
    basis = _orthonormal(A, rank, times)
    u, s, vh = _factor.svd(matmul(la.adjoint(basis), A), full_matrices=False)
    u, v = matmul(basis, u), la.adjoint(vh)
    return (v, s, u) if wide else (u, s, v)


@api(method=False)
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """U, S and V of a random approximation of rank q (6 at most, if not given) of A, its columns centred if asked."""
    op = "pca_lowrank"
    m, n = matrices(op, A)[-2:]
    rank = min(6, m, n) if q is None else q
    if not 0 <= rank <= min(m, n):
        raise ValueError(f"{op}: q must lie between 0 and {min(m, n)} for {m} by {n} matrices, got {rank}")
    if niter < 0:
        raise ValueError(f"{op}: niter cannot be negative, got {niter}")
    if center:
        A = A - mean(A, axis=(ndim_of(A) - 2,), keepdims=True)
    return svd_lowrank(A, rank, niter)

# ------------------------------------------------------------------------------------------ what PyTorch has taken out


def _removed(name: str, remedy: str, method: bool = True) -> None:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name} was taken out of PyTorch; use {remedy}")

    api(method=method)(defined(name, function, f"Raises RuntimeError: taken out in favour of {remedy}."))


_removed("symeig", "torch.linalg.eigh")
_removed("eig", "torch.linalg.eig")
_removed("solve", "torch.linalg.solve, whose arguments come in the other order")
_removed("lstsq", "torch.linalg.lstsq, whose arguments come in the other order")
_removed("matrix_rank", "torch.linalg.matrix_rank", method=False)
