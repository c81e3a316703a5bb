"""Linear algebra: inverses, determinants, factorisations, systems of equations; names over the native namespace."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import dtype_of
from ...ops import elementwise as ew
from ...ops import linalg as la
from ...ops import linalg_factor as factor
from ...ops import linalg_orthogonal as orthogonal
from ...ops import structural as st
from ...ops import triangular
from ...tensor import linalg as native_linalg
from ._api import api, row
from ._arguments import function, square
from ._matmul import transposed
from ._promote import FLOAT, FLOATING, single, tensor_argument
from ._statistics import matrix_norm
from ._tensor import from_array

inverse = row("inverse", lambda input: native_linalg.inv(square("inverse", input)),
    "The inverse of matrices; raises RuntimeError for a singular one.")  # fmt: skip

det = row("det matrix_determinant", lambda input: native_linalg.det(square("det", input)),
    "The determinant of matrices.")  # fmt: skip

slogdet = row("slogdet log_matrix_determinant", lambda input: tuple(native_linalg.slogdet(square("slogdet", input))),
    "The sign of the determinant and the logarithm of its size.")  # fmt: skip


@api()
def logdet(input: Any) -> Any:
    """The logarithm of the determinant."""
    return ew.log(native_linalg.det(square("logdet", input)))


matrix_power = function("matrix_power", "input: Square, n: Int", lambda x, n: native_linalg.matrix_power(x, n),
    "A power of matrices; a negative one of their inverse.")  # fmt: skip


@api(method=False)
def matrix_exp(input: Any) -> Any:
    """The exponential of matrices."""
    return la.matrix_exp(square("matrix_exp", input))


cholesky = function("cholesky", "input_x: Square, upper: bool = False", native_linalg.cholesky,
    "The Cholesky factor of positive definite matrices.")  # fmt: skip


@api("cholesky_inverse")
def cholesky_inverse(input_x: Any, upper: bool = False) -> Any:
    """The inverse of the matrices of which these are the Cholesky factors."""
    return factor.cholesky_inverse(square("cholesky_inverse", input_x, "input_x"), upper=bool(upper))


cholesky_solve = function("cholesky_solve", "input: Floating, input2: Square, upper: bool = False", factor.cholesky_solve,
    "The solution of A X = input, from the Cholesky factor of A.")  # fmt: skip


@api(method=False)
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """The solution of matrix @ X = rhs."""
    a = square("matrix_solve", matrix, "matrix")
    if adjoint:
        a = transposed(st.conj(a) if dtype_of(a).kind == "c" else a)
    b = tensor_argument("matrix_solve", rhs, "rhs")
    if b.ndim != a.ndim or b.shape[-2] != a.shape[-1]:
        raise ValueError(f"matrix_solve: rhs {b.shape} does not fit the matrix {a.shape}")
    return native_linalg.solve(a, b)


@api("triangular_solve", function=False)
def triangular_solve(self: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """The solution of A X = self for triangular A, and A."""
    a = square("triangular_solve", A, "A")
    return solve_triangular(transposed(a) if transpose else a, self, upper != transpose, unitriangular), a


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The solution of a X = b, of which only a triangle is used."""
    return la.solve_triangular(a, b, upper=bool(upper), left=True, unit=bool(unit))


@api("svd")
def svd(input: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """The singular values, and (compute_uv) the left and right singular vectors: s, u, v."""
    x = single("svd", input, "xx..")
    if x.ndim < 2:
        raise ValueError(f"svd: wanted at least two axes, got shape {x.shape}")
    if not compute_uv:
        return native_linalg.svdvals(x)
    u, s, vh = native_linalg.svd(x, full_matrices=bool(full_matrices))
    return s, u, transposed(st.conj(vh) if dtype_of(vh).kind == "c" else vh)

eig = row("eig", lambda A: tuple(native_linalg.eig(square("eig", A, "A"))),
    "The eigenvalues and eigenvectors of matrices.", method=False)  # fmt: skip

eigvals = row("eigvals", lambda A: native_linalg.eigvals(square("eigvals", A, "A")), "The eigenvalues of matrices.")


@api("qr", method=False)
def qr(input: Any, mode: str = "reduced") -> tuple[Any, Any]:
    """An orthogonal and an upper triangular matrix whose product is the input."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode must be 'reduced' or 'complete', got {mode!r}")
    return tuple(native_linalg.qr(single("qr", input, "xx.."), mode=mode))  # type: ignore[return-value]

qr_method = row("qr", lambda self, some=True: qr(self, "reduced" if some else "complete"),
    "An orthogonal and an upper triangular matrix whose product is the tensor.", function=False)  # fmt: skip


@api(method=False)
def pinv(x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The pseudo-inverse; singular values up to max(atol, rtol s_max) count as 0."""
    x = single("pinv", x, "xx..")
    rtol = 0.0 if rtol is None and atol else rtol
    return la.pinv(x, atol=0.0 if atol is None else atol, rtol=rtol, hermitian=bool(hermitian))


@api(method=False)
def lstsq(input: Any, A: Any) -> Any:
    """The least-squares solution of input @ X = A."""
    a, b = single("lstsq", input, FLOATING), single("lstsq", A, FLOATING)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(f"lstsq: shapes {a.shape} and {b.shape} do not fit")
    b = b if b.ndim == 2 else st.reshape(b, shape=(b.shape[0], 1))
    return native_linalg.pinv(a) @ b

api("lstsq", function=False)(lambda self, A: lstsq(self, A))


@api()
def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """The solution of A X = b, from the LU factors of A."""
    pivots = np.asarray(tensor_argument("lu_solve", LU_pivots, "LU_pivots")._concrete("lu_solve")) - 1  # as LAPACK counts
    return factor.lu_solve(square("lu_solve", LU_data, "LU_data"), from_array(pivots), single("lu_solve", b, FLOATING),
                     left=True, adjoint=False)  # fmt: skip


@api(method=False)
def cond(A: Any, p: Any = None) -> Any:
    """The condition number of matrices in a norm."""
    x = single("cond", A, FLOAT)
    if p is None or p in (2, -2):
        s = native_linalg.svdvals(x)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    return matrix_norm(x, p) * matrix_norm(inverse(x), p)


geqrf = function("geqrf", "input: Floating", orthogonal.geqrf,
    "The QR factors as LAPACK stores them: Householder vectors and their scales.")  # fmt: skip
orgqr = function("orgqr", "input: Floating, input2: Floating", orthogonal.householder_product,
    "The orthogonal matrix of Householder vectors and their scales.")  # fmt: skip
ormqr = function("ormqr", "input: Floating, tau: Floating, other: Floating, left: bool = True, transpose: bool = False",
    orthogonal.householder_multiply, "A matrix multiplied by the orthogonal one of Householder vectors and their scales.",
    called={"transpose": "adjoint"})  # fmt: skip


def lu_factors(op: str, a: Any) -> tuple[Any, Any]:
    """The LU factors of square matrices as LAPACK stores them, and the pivots."""
    return factor.lu_factor(square(op, a, "a"), check=False)  # type: ignore[no-any-return]


@api(method=False)
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The permutation and the two triangular matrices that LU factors and pivots stand for."""
    lu = single("lu_unpack", LU_data, FLOATING)
    n, m = lu.shape[-2:]
    pivots = np.asarray(tensor_argument("lu_unpack", LU_pivots, "LU_pivots")._concrete("lu_unpack")) - 1  # as LAPACK counts
    p = factor.permutation_matrix(from_array(pivots), n=n, dtype=dtype_of(lu)) if unpack_pivots else None
    if not unpack_data:
        return p, None, None
    small = min(n, m)
    lower = triangular.tril(lu[..., :, :small], k=-1) + from_array(np.eye(n, small, dtype=dtype_of(lu)))
    return p, lower, triangular.triu(lu[..., :small, :], k=0)
