"""Determinants, inverses, solving, least squares, the matrix exponential."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backend.dtypes import real_of
from ....core.unwrap import concrete
from ....core.value import Value, dtype_of, ndim_of, shape_of
from ....ops import linalg as la
from ....ops import linalg_factor as lf
from ....ops.structural import cast, getitem, reshape, transpose
from .._graph_nodes import NAMES, show_as
from .._return_types import return_type
from .._tensor import Tensor, beside
from ._checks import broadcast, fit, floating, matrices, same_dtype, shape_argument, takes_out

NAMES.update({
    "inv": "LinalgInvExBackward0", "solve": "LinalgSolveExBackward0", "det": "LinalgDetBackward0",
    "solve_triangular": "LinalgSolveTriangularBackward0", "slogdet": "LinalgSlogdetBackward0",
    "solve_kept": "LinalgSolveExBackward0", "slogdet_kept": "LinalgSlogdetBackward0",
    "matrix_exp": "LinalgMatrixExpBackward0", "pinv": "LinalgPinvBackward0", "lstsq": "LinalgLstsqBackward0",
})  # fmt: skip

_SLOGDET = return_type("linalg_slogdet", "sign", "logabsdet")
_INV_EX = return_type("linalg_inv_ex", "inverse", "info")
_SOLVE_EX = return_type("linalg_solve_ex", "result", "info")
_LSTSQ = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")

# ------------------------------------------------------------------------------------------ determinants


@takes_out
def det(A: Any) -> Tensor:
    """The determinant of each square matrix."""
    matrices("linalg.det", A, square=True)
    return la.det(A)


@takes_out
def slogdet(A: Any) -> Any:
    """Sign (for complex matrices the phase) and logarithm of the absolute value of the determinant."""
    matrices("linalg.slogdet", A, square=True, half=RuntimeError)
    return _SLOGDET(la.slogdet(A))


# ------------------------------------------------------------------------------------------ inverse and solve


@takes_out
def inv(A: Any) -> Tensor:
    """The inverse of each square matrix; raises LinAlgError for a singular one."""
    matrices("linalg.inv", A, square=True, half=RuntimeError)
    return la.inv(A)


@takes_out
def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """The inverse of each square matrix, and 0 or the position of the first zero pivot of singular ones."""
    matrices("linalg.inv_ex", A, square=True, half=RuntimeError)
    return _INV_EX((la.inv(A, check=check_errors), lf.lu_info(A)))


def is_vector(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether a right-hand side is a batch of vectors rather than of matrices."""
    return len(b) == 1 or (len(a) - 1 == len(b) and a[:-1] == b)


def _solve_checked(op: str, A: Any, B: Any, left: bool) -> bool:
    a = matrices(op, A, square=True)
    b = shape_argument(op, B, "B")
    floating(op, B, "B")
    same_dtype(op, A, B)
    vector = is_vector(a, b)
    if vector and not left:
        raise RuntimeError(f"{op}: a vector B needs left=True, since XA = B has matrices on its right-hand side")
    if not b:
        raise RuntimeError(f"{op}: B must have at least 1 dimension, got 0")
    fit(op, a, (*b, 1) if vector else b, left)
    return vector


@takes_out
def solve(A: Any, B: Any, *, left: bool = True) -> Tensor:
    """The X with AX = B (XA = B unless `left`); raises LinAlgError for a singular matrix."""
    vector = _solve_checked("linalg.solve", A, B, left)
    return la.solve(A, B, left=left, vector=vector)


@takes_out
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """The X with AX = B, and 0 or the position of the first zero pivot of singular matrices."""
    vector = _solve_checked("linalg.solve_ex", A, B, left)
    return _SOLVE_EX((la.solve(A, B, left=left, vector=vector, check=check_errors), lf.lu_info(A)))


@takes_out
def solve_triangular(input: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """The X with AX = B (XA = B unless `left`) for triangular A, of which only that triangle is read."""
    op = "linalg.solve_triangular"
    a = matrices(op, input, square=True, integer=NotImplementedError)
    b = matrices(op, B, "B", integer=NotImplementedError)
    fit(op, a, b, left)
    if dtype_of(input) != dtype_of(B):
        common = np.result_type(dtype_of(input), dtype_of(B))
        input, B = (x if dtype_of(x) == common else cast(x, dtype=common) for x in (input, B))
    return la.solve_triangular(input, B, upper=bool(upper), left=left, unit=unitriangular)


def _swap_axes(order: list[int], dims: tuple[int, ...], n: int) -> tuple[int, ...]:
    dims = tuple(d % n for d in dims)
    return (*(i for i in order if i not in dims), *dims)


@takes_out
def tensorsolve(input: Any, other: Any, dims: Any = None) -> Tensor:
    """The X with `tensordot(A, X, X.ndim) = B`; `dims` of A are moved to its end first."""
    op = "linalg.tensorsolve"
    shape_argument(op, input), shape_argument(op, other, "B")
    n = ndim_of(input)
    if dims is not None:
        given = (dims,) if isinstance(dims, int) else tuple(dims)
        input = transpose(input, axes=_swap_axes(list(range(n)), given, n))
    shape, rows = tuple(shape_of(input)), ndim_of(other)
    size, unknowns = math.prod(shape[:rows]), math.prod(shape[rows:])
    if size != unknowns:
        raise RuntimeError(
            f"{op}: the first {rows} dimensions of A must hold as many elements as its others, got {size} "
            f"and {unknowns}"
        )
    square = reshape(input, shape=(size, size))
    return reshape(solve(square, reshape(other, shape=(math.prod(shape_of(other)),))), shape=shape[rows:])


@takes_out
def tensorinv(input: Any, ind: int = 2) -> Tensor:
    """The inverse of the linear map that `tensordot(A, ., ind)` is: its first `ind` dimensions are the rows."""
    op = "linalg.tensorinv"
    shape = shape_argument(op, input)
    if ind <= 0:
        raise RuntimeError(f"{op}: ind must be positive, got {ind}")
    size, others = math.prod(shape[:ind]), math.prod(shape[ind:])
    if size != others:
        raise RuntimeError(
            f"{op}: the first {ind} dimensions must hold as many elements as the others, got {size} and {others}"
        )
    inverse = inv(reshape(input, shape=(size, size)))
    return reshape(inverse, shape=(*shape[ind:], *shape[:ind]))


# ------------------------------------------------------------------------------------------ least squares


def cutoffs(op: str, x: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Absolute and relative cut-off of singular values, as arrays or tensors; rtol's default as PyTorch has it."""
    dtype = real_of(dtype_of(x))
    default = max(shape_of(x)[-2:]) * float(np.finfo(dtype).eps)
    for name, tol in (("atol", atol), ("rtol", rtol)):
        if isinstance(tol, Value) and dtype_of(tol).kind == "c":
            raise RuntimeError(f"{op}: {name} must be real, got a complex tensor")
        if tol is not None and not isinstance(tol, (Value, int, float, np.generic)):
            raise TypeError(f"{op}: {name} must be a number or a tensor, got {type(tol).__name__}")
    atol, rtol = (concrete(op, t) if isinstance(t, Value) else t for t in (atol, rtol))
    if rtol is None:
        rtol = default if atol is None else np.where(np.asarray(atol) > 0, 0.0, default)
    return np.asarray(0.0 if atol is None else atol, dtype), np.asarray(rtol, dtype)


@takes_out
def pinv(input: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The Moore-Penrose pseudo-inverse; singular values up to max(atol, rtol * the largest) count as zero."""
    op = "linalg.pinv"
    if rcond is not None:
        if atol is not None or rtol is not None:
            raise TypeError(f"{op}: rcond is the old name of rtol; give either rcond or atol and rtol")
        atol, rtol = 0.0, rcond
    matrices(op, input, square=hermitian, half=RuntimeError)
    low, relative = cutoffs(op, input, atol, rtol)
    return la.pinv(input, atol=low, rtol=relative, hermitian=hermitian)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@takes_out
def lstsq(input: Any, b: Any, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """A solution of least ||AX - B||: with it the squared residuals (overdetermined systems of full rank, and not by
    gelsy), the rank (not by gels) and the singular values (by gelsd and gelss)."""
    op = "linalg.lstsq"
    shape = matrices(op, input, half=RuntimeError)
    other = shape_argument(op, b, "B")
    same_dtype(op, input, b)
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(f"{op}: driver must be one of {', '.join(_DRIVERS)}, got {driver!r}")
    vector = len(other) == 1 or (len(shape) - 1 == len(other) and shape[:-1] == other)
    if vector:
        b = reshape(b, shape=(*other, 1))
        other = (*other, 1)
    (m, n), lead = shape[-2:], broadcast(op, shape[:-2], other[:-2])
    if len(other) < 2 or other[-2] != m:
        raise RuntimeError(f"{op}: A has {m} rows, B {other[-2] if len(other) > 1 else other}; they must be as many")
    if rcond is None:
        rcond = float(np.finfo(dtype_of(input)).eps) * max(m, n)
    solution, residuals, rank, s = la.lstsq(input, b, rcond=float(rcond), driver=driver)
    if not input._level and not b._level and rank.shape:
        rank, s = (_unspread(x, shape[:-2], lead) for x in (rank, s))
    full = rank._level or m <= n or bool((rank._a == n).all())
    if driver == "gelsy" or m <= n or not full:
        flat = reshape(residuals, shape=(math.prod(shape_of(residuals)),))
        residuals = show_as(getitem(flat, index=(slice(0, 0),)), "LinalgLstsqBackward0")  # none, though of the graph
    if driver == "gels":
        rank = beside(np.zeros((0,), np.int64), input)
    if driver in ("gels", "gelsy"):
        s = beside(np.zeros((0,), dtype_of(s)), input)
    if vector:
        solution = show_as(getitem(solution, index=(Ellipsis, 0)), "LinalgLstsqBackward0")
    return _LSTSQ((solution, residuals, rank, s))


def _unspread(x: Any, own: tuple[int, ...], lead: tuple[int, ...]) -> Any:
    """What depends on A alone, without the batch that only B has."""
    if own == lead:
        return x
    index = (*(0,) * (len(lead) - len(own)), *(slice(0, 1) if k == 1 else slice(None) for k in own))
    return getitem(x, index=(*index, Ellipsis))


@takes_out
def matrix_exp(input: Any) -> Tensor:
    """The exponential of each square matrix."""
    matrices("linalg.matrix_exp", input, square=True)
    return la.matrix_exp(input)
