"""`paddle.linalg`: products, decompositions, solvers and norms of matrices in the last two axes, in batches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._errors import ShapeError
from ...backend.dtypes import real_of
from ...core.value import Value, dtype_of, shape_of
from ...ops import elementwise as ew
from ...ops import linalg as la
from ...ops import linalg_factor as factor
from ...ops import linalg_orthogonal as orth
from ...ops import linalg_spectral as spectral
from ...ops import norms
from ...ops import reduction as red
from ...ops import structural as st
from ...ops import triangular as tri
from ...tensor import linalg as native
from .._shared.arguments import raising
from .._shared.axes import axes_of, integer, integers
from ._api import REGISTRY, api, attributes, row, write_out
from ._arithmetic import matmul
from ._binary import same_dtype
from ._diagonals import diagonal
from ._dtype import FROM_NUMPY, int32
from ._matmul import cross, vecdot
from ._promote import single, to_dtype
from ._random_matrices import pca_lowrank, svd_lowrank
from ._reductions import in_dtype
from ._shape import matrix_transpose
from ._statistics import corrcoef, cov
from ._tensor import from_array

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "corrcoef", "cov", "cross", "det", "diagonal", "eig",
    "eigh", "eigvals", "eigvalsh", "householder_product", "inv", "lstsq", "lu", "lu_solve", "lu_unpack", "matmul",
    "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "ormqr",
    "pca_lowrank", "pinv", "qr", "slogdet", "solve", "svd", "svd_lowrank", "svdvals", "triangular_solve", "vecdot",
    "vector_norm",
]  # fmt: skip


_plain_errors = raising(ValueError, ShapeError, np.linalg.LinAlgError, np.exceptions.AxisError)
"""Let a function raise ValueError, as PaddlePaddle does, for shapes, axes and singular matrices."""


def _matrices(op: str, x: Any, *, square: bool = False) -> Any:
    x = single(op, x)
    shape = shape_of(x)
    if dtype_of(x).kind not in "fc":
        raise RuntimeError(f"{op}: wanted a floating or complex tensor, got {FROM_NUMPY[dtype_of(x)]}")
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        raise ValueError(f"{op}: wanted {'square ' if square else ''}matrices, got shape {list(shape)}")
    return x


def _upper(op: str, uplo: str) -> bool:
    if uplo not in ("L", "U"):
        raise ValueError(f"{op}: UPLO must be 'L' or 'U', got {uplo!r}")
    return uplo == "U"


# ------------------------------------------------------------------------------------------ decompositions


@api()
@_plain_errors
def cholesky(x: Any, upper: bool = False, name: Any = None) -> Any:
    """The lower (or upper) triangular factor of symmetric positive definite matrices."""
    x = _matrices("cholesky", x)
    if shape_of(x)[-1] != shape_of(x)[-2]:
        raise AssertionError(f"cholesky: wanted square matrices, got shape {list(shape_of(x))}")
    return factor.cholesky(x, upper=bool(upper))


def _triangle(op: str, x: Any, upper: Any) -> Any:
    """The triangle of a factor that counts; what stands in the other gets no gradient."""
    return (tri.triu if upper else tri.tril)(_matrices(op, x, square=True), k=0)


@api(function=False)
def cholesky_solve(x: Any, y: Any, upper: bool = False, name: Any = None) -> Any:
    """The solution of A out = x, where y is the Cholesky factor of A."""
    same_dtype("cholesky_solve", x, y)
    return factor.cholesky_solve(x, _triangle("cholesky_solve", y, upper), upper=bool(upper))


@api(function=False)
def cholesky_inverse(x: Any, upper: bool = False, name: Any = None) -> Any:
    """The inverse of the matrix whose Cholesky factor is given."""
    return factor.cholesky_inverse(_triangle("cholesky_inverse", x, upper), upper=bool(upper))


@api(function=False)
def qr(x: Any, mode: str = "reduced", name: Any = None) -> Any:
    """Q with orthonormal columns and upper triangular R; "complete" makes Q square, "r" gives R only."""
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    q, r = orth.qr(_matrices("qr", x), mode="reduced" if mode == "r" else mode)
    return r if mode == "r" else (q, r)


@api(function=False)
@_plain_errors
def lu(x: Any, pivot: bool = True, get_infos: bool = False, name: Any = None) -> Any:
    """Both factors packed in one matrix, the row exchanges counted from 1, and 0 for success if `get_infos`."""
    if not pivot:
        raise NotImplementedError("lu: pivot=False is not offered; the factors need row exchanges")
    x = _matrices("lu", x)
    packed, pivots = factor.lu_factor(x)
    pivots = to_dtype(pivots, int32) + 1
    if not get_infos:
        return packed, pivots
    return packed, pivots, to_dtype(factor.lu_info(packed), int32)


@api(function=False)
def lu_unpack(x: Any, y: Any, unpack_ludata: bool = True, unpack_pivots: bool = True, name: Any = None) -> Any:
    """P, L and U from what `lu` returned; None for what is not asked for."""
    p, lower, upper = factor.lu_unpack(_matrices("lu_unpack", x), y - 1)
    return p if unpack_pivots else None, lower if unpack_ludata else None, upper if unpack_ludata else None


def lu_solve(b: Any, lu: Any, pivots: Any, trans: str = "N", name: Any = None) -> Any:
    """The solution of A x = b (of A^T x = b with "T", of A^H x = b with "C") from what `lu` returned for A."""
    if trans not in ("N", "T", "C"):
        raise ValueError(f"lu_solve: trans must be 'N', 'T' or 'C', got {trans!r}")
    same_dtype("lu_solve", b, lu)
    if trans == "T":
        lu = st.conj(lu)
    return factor.lu_solve(lu, pivots - 1, b, adjoint=trans != "N")


def svd(x: Any, full_matrices: bool = False, name: Any = None, *, out: Any = None) -> Any:
    """U, the singular values in descending order, and V^H; U and V square if `full_matrices`."""
    found = tuple(spectral.svd(_matrices("svd", x), full=bool(full_matrices)))
    return found if out is None else write_out("svd", found, out)


def svdvals(x: Any, name: Any = None) -> Any:
    """The singular values in descending order."""
    return spectral.svdvals(_matrices("svdvals", x))


def eigh(x: Any, UPLO: str = "L", name: Any = None) -> Any:
    """Ascending eigenvalues and eigenvectors (columns) of Hermitian matrices, of which one triangle is read."""
    return tuple(spectral.eigh(_matrices("eigh", x, square=True), upper=_upper("eigh", UPLO)))


@api()
def eigvalsh(x: Any, UPLO: str = "L", name: Any = None) -> Any:
    """The eigenvalues of Hermitian matrices in ascending order."""
    return spectral.eigvalsh(_matrices("eigvalsh", x, square=True), upper=_upper("eigvalsh", UPLO))


eig = row("eig", lambda x, name=None: tuple(spectral.eig(_matrices("eig", x, square=True))),
    "The eigenvalues and eigenvectors (columns) of square matrices, complex.", function=False)  # fmt: skip
eigvals = row("eigvals", lambda x, name=None: spectral.eigvals(_matrices("eigvals", x, square=True)),
    "The eigenvalues of square matrices, complex.", function=False)  # fmt: skip


@api(function=False)
def householder_product(x: Any, tau: Any, name: Any = None) -> Any:
    """The first columns of the product of the reflections whose vectors stand below the diagonal of x."""
    same_dtype("householder_product", x, tau)
    return orth.householder_product(_matrices("householder_product", x), tau)


@api(function=False)
def ormqr(x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False, name: Any = None) -> Any:
    """The product of y and the square Q of the reflections in x and tau, on its left or right, transposed if asked."""
    same_dtype("ormqr", x, tau, y)
    return orth.householder_multiply(_matrices("ormqr", x), tau, y, left=bool(left), adjoint=bool(transpose))


# ------------------------------------------------------------------------------------------ solvers, determinants


@_plain_errors
def inv(x: Any, name: Any = None) -> Any:
    """The inverse of each square matrix; raises ValueError for a singular one."""
    return la.inv(_matrices("inverse", x, square=True))


api("inverse")(inv)


@api(function=False)
@_plain_errors
def pinv(x: Any, rcond: Any = 1e-15, hermitian: bool = False, name: Any = None) -> Any:
    """The pseudo-inverse: singular values below `rcond` times the largest count as 0."""
    x = _matrices("pinv", x)
    cut = rcond if isinstance(rcond, Value) else max(float(rcond), float(np.finfo(real_of(dtype_of(x))).eps))
    return la.pinv(x, rtol=cut, hermitian=bool(hermitian))


@api(function=False, out=True)
@_plain_errors
def solve(x: Any, y: Any, left: bool = True, name: Any = None) -> Any:
    """The solution of x out = y, or of out x = y without `left`; y is a vector or matrices."""
    same_dtype("solve", x, y)
    if left:
        return native.solve(_matrices("solve", x, square=True), y)
    return native.solve(_matrices("solve", x, square=True).mT, y.mT).mT


@_plain_errors
def triangular_solve(x: Any, y: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False,
                     name: Any = None) -> Any:  # fmt: skip
    """The solution of x out = y, of which one triangle of x is read (its diagonal not, if `unitriangular`)."""
    same_dtype("triangular_solve", x, y)
    x = _matrices("triangular_solve", x, square=True)
    if shape_of(x)[-1] != (tuple(shape_of(y))[-2:-1] or (0,))[0]:
        raise ValueError(f"triangular_solve: {list(shape_of(x))} and {list(shape_of(y))} do not fit each other")
    if transpose:
        x, upper = x.mT, not upper
    return la.solve_triangular(x, y, upper=bool(upper), unit=bool(unitriangular))


@api(function=False)
@_plain_errors
def lstsq(x: Any, y: Any, rcond: float | None = None, driver: str | None = None, name: Any = None) -> Any:
    """The least-squares solution of x out = y, the residuals, the rank and the singular values of x."""
    same_dtype("lstsq", x, y)
    x = _matrices("lstsq", x)
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise ValueError(f"lstsq: driver must be gels, gelsy, gelsd or gelss, got {driver!r}")
    m, n = shape_of(x)[-2:]
    cut = max(m, n) * float(np.finfo(dtype_of(x)).eps) if rcond is None else float(rcond)
    solution, residuals, rank, values = la.lstsq(x, y, rcond=cut, driver=driver)
    nothing = from_array(np.zeros(0, dtype_of(x)))
    full = m > n and driver != "gelsy" and bool((np.asarray(rank.numpy()) == n).all())
    return (
        solution, residuals if full else nothing, to_dtype(rank, int32),
        values if driver in ("gelsd", "gelss") else nothing,
    )  # fmt: skip


def det(x: Any, name: Any = None) -> Any:
    """The determinant of each square matrix."""
    return la.det(_matrices("det", x, square=True))


slogdet = row("slogdet", lambda x, name=None: st.stack(*la.slogdet(_matrices("slogdet", x, square=True)), axis=0),
    "The sign and the logarithm of the absolute value of each determinant, stacked.", function=False)  # fmt: skip


@api(function=False)
@_plain_errors
def matrix_power(x: Any, n: int, name: Any = None) -> Any:
    """The product of n copies of each square matrix; of its inverse for negative n."""
    n = integer("matrix_power", "n", n)
    x = _matrices("matrix_power", x, square=True)
    if n == 0:
        return from_array(np.array(np.broadcast_to(np.eye(shape_of(x)[-1], dtype=dtype_of(x)), shape_of(x))))
    return native.matrix_power(x, n)


def matrix_exp(x: Any, name: Any = None) -> Any:
    """The exponential of each square matrix."""
    if dtype_of(single("matrix_exp", x)) not in (np.float32, np.float64):
        raise ValueError(f"matrix_exp: wanted a tensor of dtype float32 or float64, got {x.dtype}")
    return la.matrix_exp(_matrices("matrix_exp", x, square=True))


@api(function=False)
@_plain_errors
def multi_dot(x: Any, name: Any = None) -> Any:
    """The product of matrices (vectors at the ends), multiplied in the cheapest order."""
    if not isinstance(x, (list, tuple)) or len(x) < 2:
        raise ValueError("multi_dot: wanted two or more Tensors in a list")
    same_dtype("multi_dot", *x)
    return native.multi_dot(list(x))


def matrix_rank(x: Any, tol: Any = None, hermitian: bool = False, atol: Any = None, rtol: Any = None,
                name: Any = None) -> Any:  # fmt: skip
    """How many singular values lie above the tolerance: `tol`, or the larger of `atol` and `rtol` times the largest."""
    x = _matrices("matrix_rank", x)
    d = real_of(dtype_of(x))
    least = tol if tol is not None else 0.0 if atol is None else atol
    if rtol is None:
        rtol = 0.0 if tol is not None or atol is not None else max(shape_of(x)[-2:]) * float(np.finfo(d).eps)
    least, part = (v if isinstance(v, Value) else np.asarray(v, d) for v in (least, rtol))
    return norms.matrix_rank(x, atol=least, rtol=part, **({"hermitian": True} if hermitian else {}))


@api(function=False)
@_plain_errors
def cond(x: Any, p: Any = None, name: Any = None) -> Any:
    """The condition number of each matrix: in the 2-norm, or in that of order p."""
    return native.cond(_matrices("cond", x, square=p not in (None, 2, -2)), p)


# ------------------------------------------------------------------------------------------ norms

_ORDERS = ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf)


def _floating(op: str, x: Any) -> Any:
    x = single(op, x)
    if dtype_of(x).kind not in "fVc":
        raise RuntimeError(f"{op}: wanted a floating or complex tensor, got {FROM_NUMPY[dtype_of(x)]}")
    return x


def vector_norm(x: Any, p: float = 2.0, axis: Any = None, keepdim: bool = False, name: Any = None, *,
                dtype: Any = None, out: Any = None) -> Any:  # fmt: skip
    """(sum of |x|^p)^(1/p) over axes (all, if none is given); inf and -inf for extremes, 0 for the count."""
    x = in_dtype("vector_norm", _floating("vector_norm", x), dtype)
    if not isinstance(p, (int, float)):
        raise ValueError(f"vector_norm: p must be a number, got {p!r}")
    axes = axes_of("vector_norm", axis, len(shape_of(x)))
    if math.isinf(p):  # equal extremes get the whole gradient each
        found = (red.amax if p > 0 else red.amin)(ew.absolute_stopped(x), axis=axes, keepdims=bool(keepdim), ties="all")
    else:
        found = native.vector_norm(x, axis=axes, keepdims=bool(keepdim), ord=p)
    return found if out is None else write_out("vector_norm", found, out)


@_plain_errors
def matrix_norm(x: Any, p: Any = "fro", axis: Any = (-2, -1), keepdim: bool = False, name: Any = None) -> Any:
    """The norm of each matrix in two axes: "fro", "nuc", 2, -2, 1, -1, inf or -inf."""
    x = _floating("matrix_norm", x)
    if p not in _ORDERS:
        raise ValueError(f"matrix_norm: p must be one of {_ORDERS}, got {p!r}")
    axes = integers("matrix_norm", "axis", axis)
    if len(axes) != 2:
        raise ValueError(f"matrix_norm: wanted two axes, got {list(axes)}")
    return native.norm(x, p, axes, bool(keepdim))


@api()
def norm(x: Any, p: Any = None, axis: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None,
         name: Any = None) -> Any:  # fmt: skip
    """The vector norm of order p (2) over one axis or all elements; the matrix norm over two axes."""
    x = in_dtype("norm", _floating("norm", x), dtype)
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise ValueError(f"norm: p must be a number, 'fro' or 'nuc', got {p!r}")
    axes = None if axis is None else integers("norm", "axis", axis)
    if p == "nuc" and axes is None and len(shape_of(x)) == 2:
        axes = (0, 1)
    if axes is not None and len(axes) == 2:
        found = matrix_norm(x, 2 if p is None else p, axes, keepdim)
    elif p == "nuc" or (p == "fro" and axes is not None):
        raise ValueError(f"norm: p={p!r} is a norm of matrices; give two axes")
    else:
        found = vector_norm(x, 2.0 if p in (None, "fro") else p, axes, keepdim)
    return found if out is None else write_out("norm", found, out)


for _name in __all__:  # `input=` and `dim=`, as the functions of the module `paddle` take them
    globals()[_name] = REGISTRY.renaming(globals()[_name])

__getattr__ = attributes(globals())
