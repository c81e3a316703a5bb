"""Linear algebra over the last two axes: solving, inverses, determinants, exponentials, least squares.

Leading axes are a batch and broadcast between operands. Factorisations stand in linalg_factor.py, eigen- and singular
value problems in linalg_spectral.py; what all of them share is here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..backend.dtypes import astype, dtype_in, real_of
from ..backend.jit.factor import MOST, Triangle, solved, suited
from ..core.arrays import bottom, from_host, full
from ..core.aval import Aval
from ..core.bind import recorded
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from . import linalg_standard as standard
from .contraction import matmul, matrix_transpose
from .kernels import matrices_numpy, no_zeros, widened
from .reduction import sum as reduce_sum
from .rules import batch_size, conj, from_vjp, linear, materialise_batch, move_batch, sum_tangents
from .samples import complex_normal, normal, sample
from .shapes import at_least, leading, meeting, square
from .structural import broadcast_to, concatenate, getitem, imag, real, reshape
from .triangular import diagonal_embed, tril, triu

# ------------------------------------------------------------------------------------------ what all files share


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    if type(x) is np.ndarray and x.dtype.kind != "c":
        return x.swapaxes(-1, -2)
    return conj(matrix_transpose(x))


def column(x: Any) -> Any:
    """A batch of vectors as matrices of one column."""
    return reshape(x, shape=(*shape_of(x), 1))


def row(x: Any) -> Any:
    """A batch of vectors as matrices of one row."""
    shape = shape_of(x)
    return reshape(x, shape=(*shape[:-1], 1, shape[-1]))


def scalars(x: Any) -> Any:
    """A batch of numbers as 1 x 1 matrices."""
    return reshape(x, shape=(*shape_of(x), 1, 1))


def identity_like(x: Any, rows: int, columns: int | None = None, dtype: np.dtype | None = None) -> Any:
    """Ones on the diagonal in the dtype of `x` (or another), a constant in rules that is where `x` is."""
    columns, dtype = rows if columns is None else columns, dtype_of(x) if dtype is None else dtype
    if type(bottom(x)) is np.ndarray:  # in a fifth of the time
        return from_host(np.eye(rows, columns, dtype=dtype), x)
    ones = full((min(rows, columns),), 1, dtype, x)
    return diagonal_embed(ones, shape=(rows, columns), offset=0, axis1=0, axis2=1)


def half_diagonal(x: Any) -> Any:
    """Ones, but halves on the diagonal: a constant to multiply matrices of the size of `x` with."""
    return 1 - identity_like(x, shape_of(x)[-1]) * 0.5


def hermitian_part(d: np.ndarray) -> np.ndarray:
    """Directions for the tests of operations on Hermitian matrices, of which kernels read one half."""
    return (d + np.conj(d.swapaxes(-1, -2))) / 2


def over_batch(
    f: Callable[..., Any], operands: Sequence[tuple[np.ndarray, int]], outs: Sequence[tuple[tuple[int, ...], Any]]
) -> tuple[np.ndarray, ...]:
    """Call `f` for every matrix of a batch.

    operands: arrays with the number of axes that belong to one call; the others broadcast. outs: shape (of one call)
    and dtype of each result; a call without elements to work on leaves zeros.
    """
    if all(x.ndim == core for x, core in operands):
        got = f(*(x for x, _ in operands))
        return tuple(
            np.array(value, dtype, order="C").reshape(shape)
            for value, (shape, dtype) in zip(got if isinstance(got, tuple) else (got,), outs)
        )
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - core] for x, core in operands))
    spread = [np.broadcast_to(x, (*batch, *x.shape[x.ndim - core :])) for x, core in operands]
    results = tuple(np.zeros((*batch, *shape), dtype) for shape, dtype in outs)
    for index in np.ndindex(batch):
        got = f(*(x[index] for x in spread))
        for result, value in zip(results, got if isinstance(got, tuple) else (got,)):
            result[index] = value
    return results


def batch_matrices(*cores: int | Callable[[dict[str, Any]], int]) -> Callable[..., Any]:
    """The batching rule of operations over leading axes that broadcast; `cores` counts the other axes of each operand.

    A count may depend on the parameters.
    """

    def rule(op: Any, arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
        size = batch_size(arrays, dims)
        counts = [core(params) if callable(core) else core for core in cores]
        present = [i for i, x in enumerate(arrays) if x is not None]
        rank = max(ndim_of(arrays[i]) - counts[i] - (dims[i] is not None) for i in present)
        moved = list(arrays)
        for i in present:
            if dims[i] is not None:
                x = move_batch(arrays[i], dims[i])
                missing = rank - (ndim_of(x) - 1 - counts[i])
                moved[i] = reshape(x, shape=(size, *(1,) * missing, *shape_of(x)[1:])) if missing else x
        out = op(*moved, **params)
        return (out, (0,) * len(out)) if isinstance(out, tuple) else (out, 0)

    return rule


def infer_square(avals: Sequence[Any], params: dict[str, Any]) -> Aval:
    """As the operands, which are square matrices."""
    square(*avals)
    return Aval((*leading(*((a, 2) for a in avals)), *avals[0].shape[-2:]), avals[0].dtype)


def well_conditioned(*shape: int, seed: int = 0) -> np.ndarray:
    """Samples: square matrices far from singular, or rectangular ones of full rank."""
    x = normal(*shape, seed=seed)
    return x + 3 * np.eye(shape[-2], shape[-1])


def complex_well_conditioned(*shape: int, seed: int = 0) -> np.ndarray:
    """The same with complex elements."""
    return complex_normal(*shape, seed=seed) + 3 * np.eye(shape[-2], shape[-1])


def positive_definite(*shape: int, seed: int = 0, complex_too: bool = False) -> np.ndarray:
    """Samples: Hermitian positive definite matrices."""
    x = complex_normal(*shape, seed=seed) if complex_too else normal(*shape, seed=seed)
    return x @ np.conj(x.swapaxes(-1, -2)) / 2 + 2 * np.eye(shape[-1])


def refuse(name: str, remedy: str) -> NoReturn:
    """What the derivative rules of an operation without one call: raises NotImplementedError."""
    raise NotImplementedError(f"{name}: the derivative is not implemented; {remedy}")


# ------------------------------------------------------------------------------------------ inverse and solve


def lapack(name: str, *arrays: np.ndarray) -> Any:
    """A LAPACK routine for the dtype of the arrays; SciPy is loaded at the first call."""
    return _routine(name, *[a.dtype for a in arrays])


@functools.cache
def _routine(name: str, *dtypes: np.dtype) -> Any:
    from scipy.linalg import lapack as module

    return module.get_lapack_funcs((name,), [np.empty((1, 1), dtype) for dtype in dtypes])[0]


@functools.cache
def _trsm(*dtypes: np.dtype) -> Any:
    """BLAS's solver of triangular systems for the dtypes of two arrays."""
    from scipy.linalg import blas

    return blas.get_blas_funcs("trsm", [np.empty((1, 1), dtype) for dtype in dtypes])


def plain_solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve with one square matrix by its LU factors, singular ones too: a zero pivot divides to inf and nan."""
    if not a.size or not b.size:
        return np.zeros(b.shape, b.dtype)
    lu, pivots, _ = lapack("getrf", a)(a)
    rows = np.arange(len(b))
    for i, p in enumerate(pivots):
        rows[[i, p]] = rows[[p, i]]
    trsm = _trsm(a.dtype)
    y = trsm(1.0, lu, b[rows], lower=1, diag=1)
    with np.errstate(all="ignore"):
        return trsm(1.0, lu, y)


# What LAPACK leaves of a matrix is kept as the transpose of its packed factors, in double precision whatever the matrix has
# (NumPy solves in double precision, too), and the order in which the rows of a right side stand beside them.
_L, _U = Triangle(upper=True, unit=True, transposed=True), Triangle(upper=False, transposed=True)
_LT, _UT = Triangle(upper=True, unit=True), Triangle(upper=False)
_DOUBLE = np.empty((1, 1))


_LEAST, _FEW, _LEAST_FOR_FEW = 32, 4, 48
"""Rows of matrices from which on LAPACK's factors and generated code for the two triangles are faster than NumPy's function
(100x100: 90 µs against 200), which takes half of the time of a smaller one (16x16: 8 µs against 18). With a few right sides it is
as fast, so that keeping the factors is all that is gained."""


def _by_factors(a: Any, b: Any = None) -> bool:
    """Whether `_factored` is the faster way for matrices, and with matrices of right sides for each."""
    shape, dtype = shape_of(a), dtype_of(a)
    if len(shape) < 2 or not (_LEAST <= shape[-1] <= MOST and shape[-1] == shape[-2] and dtype.char in "fd"):
        return False
    return b is None or dtype_of(b) == dtype


def _keeps_factors(a: Any, b: Any = None) -> bool:
    """Whether an operation keeps a matrix's factors for its derivative: it may be recorded, and what is kept are arrays."""
    return _by_factors(a, b) and recorded(a, *(() if b is None else (b,))) and type(bottom(a)) is np.ndarray


def _factored(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The factors of square matrices as they are kept, the order of the rows, and how many exchanges lead to it."""
    routine, n = lapack("getrf", _DOUBLE), x.shape[-1]
    if x.ndim == 2 and n:
        lu, pivots, _ = routine(x)
        return lu.T, *_order(pivots)
    factors, rows, exchanges = np.empty(x.shape), np.empty(x.shape[:-1], np.int64), np.zeros(x.shape[:-2], np.int64)
    if n:
        for index in np.ndindex(x.shape[:-2]):
            lu, pivots, _ = routine(x[index])
            factors[index] = lu.T
            rows[index], exchanges[index] = _order(pivots)
    return factors, rows, exchanges


def _order(pivots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each row comes from, after the exchanges that LAPACK tells one after the other, and how many they are."""
    rows = np.arange(len(pivots))
    moved = (pivots != rows).nonzero()[0]
    if moved.size:
        order = rows.tolist()
        for i, p in zip(moved.tolist(), pivots[moved].tolist()):
            order[i], order[p] = order[p], order[i]
        rows = np.array(order)
    return rows, np.array(moved.size)


def _straight(rows: np.ndarray) -> bool:
    """Whether no rows change places."""
    return bool((rows == _numbers(rows.shape[-1])).all())


@functools.lru_cache(64)
def _numbers(n: int) -> np.ndarray:
    return np.arange(n)


def _pivots(factors: np.ndarray) -> np.ndarray:
    """The diagonals of the upper factors."""
    return factors.diagonal(0, -2, -1)


def _at_rows(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return x[rows] if x.ndim == 2 else np.take_along_axis(x, rows[..., None], -2)


def _with_factors(factors: np.ndarray, rows: np.ndarray, b: np.ndarray, transposed: bool) -> np.ndarray:
    """The x with `a @ x = b` for the matrices `a` (or their transposes) that these are the factors of, in double precision."""
    straight = _straight(rows)
    if not transposed:
        given = np.array(b, np.float64, order="C") if straight else _at_rows(b, rows).astype(np.float64, copy=False)
        return _both(factors, given, _L, _U)
    found = _both(factors, np.array(b, np.float64, order="C"), _UT, _LT)
    return found if straight else _at_rows(found, np.argsort(rows, axis=-1))


def _inverse(factors: np.ndarray, rows: np.ndarray, size: Any, transposed: bool) -> np.ndarray:
    """The inverses (or their transposes) of the matrices that these are the factors of, times a number for each."""
    n = rows.shape[-1]
    b = np.zeros(factors.shape)
    b.reshape(*rows.shape[:-1], n * n)[..., :: n + 1] = size
    found = _both(factors, b, *((_UT, _LT) if transposed else (_L, _U)), lower=True)
    if _straight(rows):
        return found
    back = np.argsort(rows, axis=-1)
    return _at_rows(found, back) if transposed else np.take_along_axis(found, back[..., None, :], -1)


def _both(factors: np.ndarray, b: np.ndarray, *triangles: Triangle, lower: bool = False) -> np.ndarray:
    """Solve with two triangles one after the other; b may be overwritten."""
    if suited(factors, b):
        return solved(factors, b, *triangles, lower=lower)
    for t in triangles:
        a = factors.swapaxes(-1, -2) if t.transposed else factors
        one = functools.partial(_by_blas, upper=t.upper != t.transposed, left=True, unit=t.unit)
        b = over_batch(one, [(a, 2), (b, 2)], [(b.shape[-2:], b.dtype)])[0]
    return b


def _solved_numpy(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The x with `a @ x = b`; None where a matrix is singular."""
    factors, rows, _ = _factored(a)
    return _with_factors(factors, rows, b, False).astype(a.dtype, copy=False) if _pivots(factors).all() else None


def _inverse_numpy(a: np.ndarray) -> np.ndarray | None:
    """The inverses; None where a matrix is singular."""
    factors, rows, _ = _factored(a)
    return _inverse(factors, rows, 1.0, False).astype(a.dtype, copy=False) if _pivots(factors).all() else None


def _singular() -> NoReturn:
    raise np.linalg.LinAlgError("a matrix is singular: elimination comes to a column without a pivot other than zero")


@widened
def _inv_kernel(xp: Any, x: Any, *, check: bool) -> Any:
    return xp.linalg.inv(x)  # what a singular matrix gives, or raises, is the library's


@matrices_numpy
def _inv_numpy(x: Any, *, check: bool) -> Any:
    n = x.shape[-1]
    if n >= _LEAST and _by_factors(x) and x.size:
        out = _inverse_numpy(x)
        if out is not None:
            return out
        if check:
            _singular()
    else:
        try:
            return np.linalg.inv(x)
        except np.linalg.LinAlgError:
            if check:
                raise
    return over_batch(lambda a: plain_solve(a, np.eye(n, dtype=a.dtype)), [(x, 2)], [((n, n), x.dtype)])[0]


# check: raise LinAlgError for a singular matrix; otherwise its inverse is what division by zero makes of it.
inv_checked = primitive(
    "inv", kernel=_inv_kernel, numpy=_inv_numpy,
    vjps=[lambda g, out, _x, *, check: -matmul(matmul(adjoint(out), g), adjoint(out))],
    jvp=lambda tangents, out, x, *, check: -matmul(matmul(out, tangents[0]), out),
    batch=batch_matrices(2), infer=infer_square,
    samples=lambda: [sample(well_conditioned(3, 3), check=True), sample(well_conditioned(2, 2, 2), check=True),
                     sample(complex_well_conditioned(2, 2), check=False), sample(normal(0, 0), check=True)],
)  # fmt: skip


def inv(x: Any, *, check: bool = True) -> Any:
    """The inverse of each square matrix; raises LinAlgError for a singular one if `check`."""
    return inv_checked(x, check=check)


@widened
def _solve_kernel(xp: Any, a: Any, b: Any, *, left: bool, vector: bool, check: bool) -> Any:
    b = b[..., None] if vector else b
    if not left:
        a, b = xp.matrix_transpose(a), xp.matrix_transpose(b)
    out = xp.linalg.solve(*standard.broadcast_batch(xp, (a, 2), (b, 2)))
    out = out[..., 0] if vector else out
    return out if left else xp.matrix_transpose(out)


@matrices_numpy
def _solve_numpy(a: Any, b: Any, *, left: bool, vector: bool, check: bool) -> Any:
    if vector:
        b = b[..., None]
    if not left:
        a, b = a.swapaxes(-1, -2), b.swapaxes(-1, -2)
    out: Any
    if b.shape[-1] >= _FEW and a.shape[-1] >= _LEAST and _by_factors(a, b) and a.shape[:-1] == b.shape[:-1] and b.size:
        out = _solved_numpy(a, b)
        if out is None and check:
            _singular()
    else:
        try:
            out = np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            if check:
                raise
            out = None
    if out is None:
        out = over_batch(plain_solve, [(a, 2), (b, 2)], [(b.shape[-2:], a.dtype)])[0]
    out = out[..., 0] if vector else out
    return out if left else out.swapaxes(-1, -2)


def _solve_pull(needs: Any, g: Any, out: Any, a: Any, _b: Any, *, left: bool, vector: bool, check: bool) -> Any:
    return _solve_pulled(needs, solve(adjoint(a), g, left=left, vector=vector, check=check), out, left, vector)


def _solve_pulled(needs: Any, gb: Any, out: Any, left: bool, vector: bool) -> Any:
    """The cotangents of the matrices and of the right sides, from the latter."""
    if not needs[0]:
        return None, gb
    x, y = (column(out), column(gb)) if vector else (out, gb)
    return -(matmul(y, adjoint(x)) if left else matmul(adjoint(x), y)), gb if needs[1] else None


def _solve_push(tangents: Any, out: Any, a: Any, b: Any, *, left: bool, vector: bool, check: bool) -> Any:
    da, db = tangents
    if da is not None:
        x = column(out) if vector else out
        change = matmul(da, x) if left else matmul(x, da)
        db = sum_tangents([db, -(getitem(change, index=(Ellipsis, 0)) if vector else change)])
    return solve(a, db, left=left, vector=vector, check=check)


def _vector_core(params: dict[str, Any]) -> int:
    return 1 if params["vector"] else 2


def _infer_solve(avals: Any, p: dict[str, Any]) -> Aval:
    core = _vector_core(p)
    square(avals[0])
    at_least(core, avals[1])
    meeting(avals[0], avals[1], -1, -core if p["left"] or p["vector"] else -1)
    return Aval((*leading((avals[0], 2), (avals[1], core)), *avals[1].shape[-core:]), avals[0].dtype)


_solve = primitive(
    "solve", kernel=_solve_kernel, numpy=_solve_numpy, vjp=_solve_pull, saves={"out": ["a"]}, jvp=_solve_push,
    batch=batch_matrices(2, _vector_core),
    infer=_infer_solve,
    samples=lambda: [
        sample(well_conditioned(3, 3), normal(3, 2), left=True, vector=False, check=True),
        sample(well_conditioned(2, 2), normal(2), left=True, vector=True, check=True),
        sample(well_conditioned(2, 2), normal(3, 2), left=False, vector=False, check=False),
        sample(well_conditioned(2, 1, 2, 2), normal(3, 2, 1), left=True, vector=False, check=True),
        sample(complex_well_conditioned(2, 2), complex_normal(2, 2), left=True, vector=False, check=True),
    ],
)  # fmt: skip


def _kept_kernel(xp: Any, x: Any) -> tuple[Any, Any]:
    """The factors and the order of the rows, as they are kept."""
    lu, pivots, _ = standard.lu_factor(xp, astype(xp, x, dtype_in(xp, np.float64)))
    exchanged = standard.permutation(xp, pivots, x.shape[-1], lu.dtype)
    return xp.matrix_transpose(lu), xp.argmax(exchanged, axis=-2)


def _infer_kept(aval: Any) -> tuple[Aval, Aval]:
    return Aval(aval.shape, np.dtype(np.float64)), Aval(aval.shape[:-1], np.dtype(np.int64))


def _solve_kept_kernel(xp: Any, a: Any, b: Any, *, left: bool, vector: bool, check: bool) -> Any:
    return _solve_kernel(xp, a, b, left=left, vector=vector, check=check), *_kept_kernel(xp, a)


def _solve_kept_with(
    factors: np.ndarray, rows: np.ndarray, b: np.ndarray, left: bool, vector: bool, transposed: bool
) -> np.ndarray:
    """The solution, or with the transposes of the matrices, in the dtype of b."""
    given = b[..., None] if vector else b if left else b.swapaxes(-1, -2)
    out = _with_factors(factors, rows, given, transposed == left).astype(b.dtype, copy=False)
    return out[..., 0] if vector else out if left else np.ascontiguousarray(out.swapaxes(-1, -2))


@matrices_numpy
def _solve_kept_numpy(a: Any, b: Any, *, left: bool, vector: bool, check: bool) -> Any:
    factors, rows, _ = _factored(a)
    if _pivots(factors).all():
        return _solve_kept_with(factors, rows, b, left, vector, False), factors, rows
    if check:
        _singular()
    return _solve_numpy(a, b, left=left, vector=vector, check=False), factors, rows


def _solve_kept_pull(
    needs: Any, g: Any, out: Any, a: Any, _b: Any, *, left: bool, vector: bool, check: bool
) -> Any:
    (x, factors, rows), g = out, g[0]
    if type(g) is np.ndarray and type(factors) is np.ndarray and _pivots(factors).all():
        gb = _solve_kept_with(factors, rows, g, left, vector, True)
    else:
        gb = solve(adjoint(a), g, left=left, vector=vector, check=check)
    return _solve_pulled(needs, gb, x, left, vector)


def _batch_solve_kept(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """Matrices and right sides have the same leading axes: what lacks the batch gets it."""
    size = batch_size(arrays, dims)
    return op(*(materialise_batch(x, d, size) for x, d in zip(arrays, dims)), **params), (0, 0, 0)


# `solve`, for where it is recorded, with what its derivative solves with.
_solve_kept = primitive(
    "solve_kept", kernel=_solve_kept_kernel, numpy=_solve_kept_numpy, vjp=_solve_kept_pull, multi=True,
    diff_outs=(True, False, False),
    jvp=lambda tangents, out, a, b, **params: (_solve_push(tangents, out[0], a, b, **params), None, None),
    batch=_batch_solve_kept, infer=lambda avals, p: (_infer_solve(avals, p), *_infer_kept(avals[0])),
    params=("left", "vector", "check"),
    samples=lambda: [
        sample(well_conditioned(3, 3), normal(3, 2), left=True, vector=False, check=True),
        sample(normal(3, 3), normal(3), left=True, vector=True, check=True),
        sample(normal(2, 3, 3), normal(2, 2, 3), left=False, vector=False, check=False),
    ],
)  # fmt: skip


def _solve_keeps(a: Any, b: Any, left: bool, vector: bool) -> bool:
    """Whether `solve` does, of matrices and right sides that fit."""
    n, shape = shape_of(a)[-1], (*shape_of(b), 1) if vector else tuple(shape_of(b))
    if len(shape) < 2:
        return False
    rows, columns = shape[-2:] if left or vector else shape[:-3:-1]
    least = _LEAST if columns >= _FEW else _LEAST_FOR_FEW
    return rows == n >= least and shape[:-2] == tuple(shape_of(a)[:-2]) and _keeps_factors(a, b)


def solve(a: Any, b: Any, *, left: bool = True, vector: bool = False, check: bool = True) -> Any:
    """The x with `a @ x = b` (`x @ a = b` unless `left`); `b` is a batch of vectors instead of matrices if `vector`."""
    if shape_of(a)[-1] >= _LEAST and _solve_keeps(a, b, left, vector):
        return _solve_kept(a, b, left=left, vector=vector, check=check)[0]
    return _solve(a, b, left=left, vector=vector, check=check)


# ------------------------------------------------------------------------------------------ triangular matrices


def _by_blas(a: np.ndarray, b: np.ndarray, upper: bool, left: bool, unit: bool) -> np.ndarray:
    if not b.size:
        return b
    solver = _trsm(a.dtype, b.dtype)
    if a.flags.c_contiguous:  # whose transpose BLAS takes as it is
        return solver(1.0, a.T, b, side=0 if left else 1, lower=upper, trans_a=1, diag=unit)
    return solver(1.0, a, b, side=0 if left else 1, lower=not upper, diag=unit)


def _triangular(a: np.ndarray, b: np.ndarray, upper: bool, left: bool, unit: bool) -> np.ndarray:
    """The solution for matrices or batches of them, in C order."""
    x, y, system = (a, b, Triangle(upper, unit)) if left else (a.swapaxes(-1, -2), b.swapaxes(-1, -2), Triangle(not upper, unit))
    if suited(x, y):
        out = solved(x, np.array(y, order="C"), system)
        return out if left else np.ascontiguousarray(out.swapaxes(-1, -2))
    if a.ndim == 2 and b.ndim == 2:
        return np.ascontiguousarray(_by_blas(a, b, upper, left, unit))
    one = functools.partial(_by_blas, upper=upper, left=left, unit=unit)
    return over_batch(one, [(a, 2), (b, 2)], [(b.shape[-2:], a.dtype)])[0]


@widened
def _triangular_kernel(xp: Any, a: Any, b: Any, *, upper: bool, left: bool, unit: bool) -> Any:
    return standard.solve_triangular(xp, a, b, upper, left, unit)


@matrices_numpy
def _triangular_numpy(a: Any, b: Any, *, upper: bool, left: bool, unit: bool) -> Any:
    return _triangular(a, b, upper, left, unit)


def _triangle(x: Any, upper: bool, unit: bool) -> Any:
    """The part of a cotangent that belongs to the elements a triangular solve reads."""
    return triu(x, k=int(unit)) if upper else tril(x, k=-int(unit))


def _triangular_pull(needs: Any, g: Any, out: Any, a: Any, _b: Any, *, upper: bool, left: bool, unit: bool) -> Any:
    gb = solve_triangular(adjoint(a), g, upper=not upper, left=left, unit=unit)
    if not needs[0]:
        return None, gb
    ga = -(matmul(gb, adjoint(out)) if left else matmul(adjoint(out), gb))
    return _triangle(ga, upper, unit), gb if needs[1] else None


def _triangular_push(tangents: Any, out: Any, a: Any, b: Any, *, upper: bool, left: bool, unit: bool) -> Any:
    da, db = tangents
    if da is not None:
        da = _triangle(da, upper, unit)
        db = sum_tangents([db, -(matmul(da, out) if left else matmul(out, da))])
    return solve_triangular(a, db, upper=upper, left=left, unit=unit)


def _infer_pair(avals: Any, p: dict[str, Any]) -> Aval:
    square(avals[0])
    at_least(2, avals[1])
    meeting(avals[0], avals[1], -1, -2 if p["left"] else -1)
    return Aval((*leading((avals[0], 2), (avals[1], 2)), *avals[1].shape[-2:]), avals[0].dtype)


_solve_triangular = primitive(
    "solve_triangular", kernel=_triangular_kernel, numpy=_triangular_numpy, vjp=_triangular_pull,
    saves={"out": ["a"]}, jvp=_triangular_push,
    batch=batch_matrices(2, 2), infer=_infer_pair,
    samples=lambda: [
        sample(well_conditioned(3, 3), normal(3, 2), upper=True, left=True, unit=False),
        sample(well_conditioned(2, 1, 2, 2), normal(3, 1, 2), upper=False, left=False, unit=False),
        sample(complex_well_conditioned(3, 3), complex_normal(3, 2), upper=False, left=True, unit=True),
        sample(well_conditioned(2, 2), normal(2, 2), upper=True, left=False, unit=True),
    ],
)  # fmt: skip


def solve_triangular(a: Any, b: Any, *, upper: bool, left: bool = True, unit: bool = False) -> Any:
    """The x with `a @ x = b` (`x @ a = b` unless `left`) where only one triangle of `a` is read; ones on its diagonal
    if `unit`. A zero on the diagonal divides to inf."""
    return _solve_triangular(a, b, upper=upper, left=left, unit=unit)


# ------------------------------------------------------------------------------------------ traces and determinants


@widened
def _trace_kernel(xp: Any, x: Any) -> Any:
    return xp.sum(xp.linalg.diagonal(x), axis=-1, dtype=x.dtype)


def _trace_transpose(g: Any, x_: Any) -> Any:
    """The gradient on the diagonal; beside it zeros, whatever `g` is."""
    shape = shape_of(x_)
    line = broadcast_to(reshape(g, shape=(*shape[:-2], 1)), shape=(*shape[:-2], min(shape[-2:])))
    return diagonal_embed(line, shape=shape, offset=0, axis1=len(shape) - 2, axis2=len(shape) - 1)


trace = linear(
    "trace", kernel=_trace_kernel, transpose=_trace_transpose, batch=batch_matrices(2),
    infer=lambda avals, p: Aval(leading((avals[0], 2)), avals[0].dtype),
    samples=lambda: [sample(normal(3, 3)), sample(normal(2, 2, 3)), sample(complex_normal(3, 2))],
)  # fmt: skip



def _products_without(s: np.ndarray, pairs: bool) -> np.ndarray:
    """The products of all elements but the i-th (but the i-th and j-th, as a matrix with zeros on its diagonal)."""
    n = s.shape[-1]
    if pairs:
        kept = 1 - (np.eye(n)[:, None, :] + np.eye(n)[None, :, :]).clip(0, 1)
        return np.where(kept.astype(bool), s[..., None, None, :], 1).prod(-1) * (1 - np.eye(n, dtype=s.dtype))
    return np.where(np.eye(n, dtype=bool), 1, s[..., None, :]).prod(-1)


def _adjoint_array(x: np.ndarray) -> np.ndarray:
    return np.conj(x.swapaxes(-1, -2))


@matrices_numpy
def _adjugate_numpy(x: Any) -> Any:
    """By the inverse where that is accurate, else by singular values, which serve singular matrices too."""
    try:
        inverse = np.linalg.inv(x)
        size = np.abs(x).sum(-1).max(-1, initial=0) * np.abs(inverse).sum(-1).max(-1, initial=0)
        if (size < 1e-2 / np.finfo(x.dtype).eps).all():
            return np.linalg.det(x)[..., None, None] * inverse
    except np.linalg.LinAlgError:
        pass
    u, s, vh = np.linalg.svd(x)
    phase = np.linalg.det(u) * np.linalg.det(vh)
    inner = _adjoint_array(vh) * _products_without(s, False)[..., None, :]
    return (phase[..., None, None] * (inner @ _adjoint_array(u))).astype(x.dtype)


@matrices_numpy
def _adjugate_push_numpy(x: Any, t: Any) -> Any:
    u, s, vh = np.linalg.svd(x)
    phase = np.linalg.det(u) * np.linalg.det(vh)
    inner = _adjoint_array(u) @ t @ _adjoint_array(vh)
    without = _products_without(s, True)
    out = -without * inner
    diagonal = np.arange(x.shape[-1])
    out[..., diagonal, diagonal] = (without @ inner[..., diagonal, diagonal, None])[..., 0]
    return (phase[..., None, None] * (_adjoint_array(vh) @ out @ _adjoint_array(u))).astype(x.dtype)


def _adjugate_second(g: Any, x: Any, t: Any) -> Any:
    """The cotangent of the matrix in the derivative of the adjugate, for invertible matrices.

    With y the inverse, d the determinant and <a> the trace, that derivative along t is d (<y t> y - y t y); each y
    changes by -y dx y, and d by d <y dx>. h is the adjoint of the cotangent, and the adjoint is taken at the end.
    """
    y, h = inv(x, check=False), adjoint(g)
    yt, yh = matmul(y, t), matmul(y, h)
    hy, ty = scalars(trace(yh)), scalars(trace(yt))
    both = matmul(yt, yh)
    inner = both + matmul(yh, yt) - ty * yh - hy * yt
    return adjoint(scalars(det(x)) * ((ty * hy - scalars(trace(both))) * y + matmul(inner, y)))


def _last_two(x: Any) -> tuple[int, int]:
    n = ndim_of(x)
    return n - 2, n - 1


# Linear in t, and its own transpose: <g, D adj(x)[t]> is symmetric between conj-transposed g and t.
_adjugate_push = primitive(
    "adjugate_derivative", kernel=widened(standard.adjugate_derivative), numpy=_adjugate_push_numpy,
    vjps=[lambda g, _out, x, t: _adjugate_second(g, x, t),
          lambda g, _out, x, _t: adjoint(_adjugate_push(x, adjoint(g)))],
    jvp=from_vjp, batch=batch_matrices(2, 2), infer=infer_square,
    samples=lambda: [sample(well_conditioned(3, 3), normal(3, 3, seed=1)),
                     sample(complex_well_conditioned(2, 2), complex_normal(2, 2, seed=1))],
)  # fmt: skip

adjugate = primitive(
    "adjugate", kernel=widened(standard.adjugate), numpy=_adjugate_numpy,
    vjps=[lambda g, _out, x: adjoint(_adjugate_push(x, adjoint(g)))],
    jvp=lambda tangents, out, x: _adjugate_push(x, tangents[0]), batch=batch_matrices(2), infer=infer_square,
    samples=lambda: [sample(well_conditioned(3, 3)), sample(complex_well_conditioned(2, 2)), sample(normal(2, 1, 1))],
)  # fmt: skip


def _infer_numbers(avals: Any, p: dict[str, Any]) -> Aval:
    square(avals[0])
    return Aval(avals[0].shape[:-2], avals[0].dtype)


def _trace_of_product(a: Any, b: Any) -> Any:
    return reduce_sum(matrix_transpose(a) * b, axis=_last_two(b), keepdims=False)


det = primitive(
    "det", kernel=widened(lambda xp, x: xp.linalg.det(x)),
    vjps=[lambda g, _out, x: scalars(g) * adjoint(adjugate(x))],
    jvp=lambda tangents, out, x: _trace_of_product(adjugate(x), tangents[0]),
    batch=batch_matrices(2), infer=_infer_numbers,
    samples=lambda: [sample(well_conditioned(3, 3)), sample(well_conditioned(2, 2, 2)),
                     sample(np.diag([2.0, 1.0, 0.0])), sample(complex_well_conditioned(2, 2)), sample(normal(0, 0))],
)  # fmt: skip


def _slogdet_pull(needs: Any, g: Any, _out: Any, x: Any) -> Any:
    gsign, glog = g
    if dtype_of(x).kind == "c" and gsign is not None:  # what is rare computes the sign again: the results may be written
        turned = -1j * imag(conj(gsign) * slogdet(x)[0])
        glog = turned if glog is None else glog + turned
    if glog is None:
        return (None,)
    n = shape_of(x)[-1]
    return (solve(adjoint(x), scalars(glog) * identity_like(x, n), check=False),)


def _slogdet_push(tangents: Any, out: Any, x: Any) -> Any:
    change = _trace_of_product(solve(x, identity_like(x, shape_of(x)[-1]), check=False), tangents[0])
    if dtype_of(x).kind == "c":
        return 1j * imag(change) * out[0], real(change)
    return out[0] * 0, change


_slogdet = primitive(
    "slogdet", kernel=widened(lambda xp, x: tuple(xp.linalg.slogdet(x))), vjp=_slogdet_pull, jvp=_slogdet_push, multi=True,
    batch=batch_matrices(2),
    infer=lambda avals, p: (_infer_numbers(avals, p), Aval(avals[0].shape[:-2], real_of(avals[0].dtype))),
    samples=lambda: [sample(well_conditioned(3, 3)), sample(-well_conditioned(2, 3, 3)),
                     sample(complex_well_conditioned(2, 2))],
)  # fmt: skip


def _slogdet_kept_kernel(xp: Any, x: Any) -> Any:
    return *xp.linalg.slogdet(x), *_kept_kernel(xp, x)


@matrices_numpy
def _slogdet_kept_numpy(x: Any) -> Any:
    factors, rows, exchanges = _factored(x)
    pivots = _pivots(factors)
    sign = 1.0 - 2.0 * ((np.count_nonzero(pivots < 0, axis=-1) + exchanges) & 1)
    if no_zeros(pivots):
        size = np.log(np.abs(pivots)).sum(-1)
    else:
        with np.errstate(divide="ignore"):
            size = np.log(np.abs(pivots)).sum(-1)
        sign = np.where(pivots.all(-1), sign, 0.0)
    return np.asarray(np.where(np.isnan(size), size, sign), x.dtype), np.asarray(size, x.dtype), factors, rows


def _slogdet_kept_pull(needs: Any, g: Any, out: Any, x: Any) -> Any:
    factors, rows = out[2:]
    glog = g[1]
    if type(glog) is not np.ndarray or type(factors) is not np.ndarray or not _pivots(factors).all():
        return _slogdet_pull(needs, g[:2], None, x)
    return (_inverse(factors, rows, glog[..., None], True).astype(x.dtype, copy=False),)


# `slogdet` of real matrices, for where it is recorded, with what its derivative solves with.
_slogdet_kept = primitive(
    "slogdet_kept", kernel=_slogdet_kept_kernel, numpy=_slogdet_kept_numpy, vjp=_slogdet_kept_pull, multi=True,
    diff_outs=(True, True, False, False), used_outs=(False, False, True, True),
    jvp=lambda tangents, out, x: (*_slogdet_push(tangents, out, x), None, None), batch=batch_matrices(2),
    infer=lambda avals, p: (_infer_numbers(avals, p), Aval(avals[0].shape[:-2], avals[0].dtype), *_infer_kept(avals[0])),
    samples=lambda: [sample(well_conditioned(3, 3)), sample(-well_conditioned(2, 3, 3)), sample(normal(4, 4))],
)  # fmt: skip


def slogdet(x: Any) -> tuple[Any, Any]:
    """The signs (of complex matrices the phases) of determinants and the logarithms of their absolute values."""
    sign, size = _slogdet_kept(x)[:2] if shape_of(x)[-1] >= _LEAST and _keeps_factors(x) else _slogdet(x)
    return sign, size


# ------------------------------------------------------------------------------------------ the exponential


@matrices_numpy
def _expm_numpy(x: Any) -> Any:
    from scipy.linalg import expm

    if not x.size:
        return x.copy()
    if not np.isfinite(x).all():
        finite = np.isfinite(x).all((-1, -2), keepdims=True)
        return np.where(finite, _expm_numpy(np.where(finite, x, 0)), np.nan).astype(x.dtype)
    return expm(x).astype(x.dtype, copy=False)


def _expm_derivative(x: Any, t: Any) -> Any:
    """The derivative of exp at `x` along `t`: the corner of the exponential of [[x, t], [0, x]] (Mathias 1996)."""
    n, axis = shape_of(x)[-1], ndim_of(x) - 1
    top = concatenate(x, t, axis=axis)
    bottom = concatenate(x * 0, x, axis=axis)
    whole = matrix_exp(concatenate(top, bottom, axis=axis - 1))
    return getitem(whole, index=(Ellipsis, slice(None, n), slice(n, None)))


matrix_exp = primitive(
    "matrix_exp", kernel=widened(standard.expm), numpy=_expm_numpy,
    vjps=[lambda g, _out, x: _expm_derivative(adjoint(x), g)],
    jvp=lambda tangents, out, x: _expm_derivative(x, tangents[0]), batch=batch_matrices(2), infer=infer_square,
    samples=lambda: [sample(normal(3, 3)), sample(normal(2, 2, 2)), sample(complex_normal(2, 2)), sample(normal(1, 1))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ least squares


@widened
def _pinv_kernel(xp: Any, x: Any, atol: Any, rtol: Any, *, hermitian: bool) -> Any:
    return standard.pinv(xp, x, atol, rtol, hermitian)


@matrices_numpy
def _pinv_numpy(x: Any, atol: Any, rtol: Any, *, hermitian: bool) -> Any:
    if not x.size:
        return np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        w, v = np.linalg.eigh(x)
        s, left, right = np.abs(w), v, _adjoint_array(v)
        values = w
    else:
        left, s, right = np.linalg.svd(x, full_matrices=False)
        values = s
    cut = np.maximum(atol[..., None], rtol[..., None] * s.max(-1, keepdims=True))
    kept = s > cut
    inverse = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(real_of(x.dtype), copy=False)
    return _adjoint_array(right) @ (inverse[..., :, None] * _adjoint_array(left))


def _pinv_pull(g: Any, p: Any, x: Any) -> Any:
    """The pullback of the pseudo-inverse `p` of `x` where the rank is locally constant (Golub and Pereyra 1973)."""
    ph, gh = adjoint(p), adjoint(g)
    m, n = shape_of(x)[-2:]
    first = -matmul(matmul(ph, g), ph)
    if m <= n:
        k = matmul(gh, p)
        kp = matmul(k, ph)
        return first + kp - matmul(matmul(x, p), kp) + matmul(matmul(ph, p), gh - matmul(k, x))
    k = matmul(p, gh)
    pk = matmul(ph, k)
    return first + matmul(matmul(gh - matmul(x, k), p), ph) + pk - matmul(matmul(pk, p), x)


def _pinv_push(tangents: Any, out: Any, x: Any, atol: Any, rtol: Any, *, hermitian: bool) -> Any:
    t, p = tangents[0], out
    th, ph = adjoint(t), adjoint(out)
    left = matmul(p, matmul(ph, th))
    right = matmul(matmul(th, ph), p)
    return (left - matmul(matmul(left, x), p)) + (right - matmul(p, matmul(x, right))) - matmul(matmul(p, t), p)


# The cut-offs (arrays that broadcast with the batch) have no derivative.
_pinv = primitive(
    "pinv", kernel=_pinv_kernel, numpy=_pinv_numpy,
    vjps=[lambda g, out, x, _atol, _rtol, *, hermitian: _pinv_pull(g, out, x), None, None],
    jvp=_pinv_push, batch=batch_matrices(2, 0, 0),
    infer=lambda avals, p: Aval((*leading((avals[0], 2), (avals[1], 0), (avals[2], 0)),
                                 avals[0].shape[-1], avals[0].shape[-2]), avals[0].dtype),
    samples=lambda: [sample(well_conditioned(*shape), 0.0, 1e-12, hermitian=False)
                     for shape in ((3, 2), (2, 3), (2, 2, 2))]
    + [sample(complex_well_conditioned(3, 2), 0.0, 1e-12, hermitian=False)],
)  # fmt: skip


def _epsilon(dtype: np.dtype) -> float:
    """The distance from 1 to the next number."""
    import ml_dtypes  # which knows bfloat16

    return float(ml_dtypes.finfo(dtype).eps)


def pinv(x: Any, *, atol: Any = 0.0, rtol: Any = None, hermitian: bool = False) -> Any:
    """The Moore-Penrose pseudo-inverse; singular values up to max(atol, rtol * the largest) count as zero.

    rtol is the larger size times the dtype's epsilon unless given; atol and rtol may be arrays, one per matrix.
    """
    dtype = real_of(dtype_of(x))
    if rtol is None:
        rtol = max(shape_of(x)[-2:]) * _epsilon(dtype)
    atol, rtol = (full((), t, dtype, x) if isinstance(t, (int, float, np.generic)) else t for t in (atol, rtol))
    return _pinv(x, atol, rtol, hermitian=hermitian)


def _lstsq_one(a: np.ndarray, b: np.ndarray, rcond: float, driver: str) -> tuple[Any, ...]:
    m, n = a.shape
    if driver == "gels":
        rows = max(m, n)
        padded = np.zeros((rows, b.shape[1]), b.dtype)
        padded[:m] = b
        _, x, info = lapack("gels", a, b)(a, padded)
        if info > 0:
            raise np.linalg.LinAlgError(f"least squares: the matrix has no full rank (diagonal element {info} is zero)")
        return x[:n], np.sum(np.abs(x[n:m]) ** 2, axis=0), min(m, n), np.zeros(min(m, n))
    from scipy.linalg import lstsq as scipy_lstsq

    x, _, rank, s = scipy_lstsq(a, b, cond=rcond, lapack_driver=driver, check_finite=False)
    residual = np.sum(np.abs(b - a @ x) ** 2, axis=0)
    return x, residual, rank, np.zeros(min(m, n)) if s is None else s


@widened
def _lstsq_kernel(xp: Any, a: Any, b: Any, *, rcond: float, driver: str) -> Any:
    return standard.lstsq(xp, a, b, rcond, driver)


@matrices_numpy
def _lstsq_numpy(a: Any, b: Any, *, rcond: float, driver: str) -> Any:
    (m, n), k = a.shape[-2:], b.shape[-1]
    real = real_of(a.dtype)
    outs = [((n, k), a.dtype), ((k,), real), ((), np.int64), ((min(m, n),), real)]

    def one(a: np.ndarray, b: np.ndarray) -> tuple[Any, ...]:
        if not a.size or not b.size:
            return np.zeros((n, k)), np.sum(np.abs(b) ** 2, axis=0), 0, np.zeros(min(m, n))
        return _lstsq_one(a, b, rcond, driver)

    return over_batch(one, [(a, 2), (b, 2)], outs)


def _lstsq_pull(needs: Any, g: Any, out: Any, a: Any, b: Any, *, rcond: float, driver: str) -> Any:
    gx, gr = g[0], g[1]
    x = out[0]
    ga = gb = None
    if gx is not None:
        p = pinv(a)
        ga = _pinv_pull(matmul(gx, adjoint(b)), p, a) if needs[0] else None
        gb = matmul(adjoint(p), gx)
    if gr is not None:
        # The solution minimises the residual, so that its own change adds nothing.
        miss = (matmul(a, x) - b) * (2 * row(gr))
        ga = sum_tangents([ga, matmul(miss, adjoint(x))]) if needs[0] else None
        gb = sum_tangents([gb, -miss])
    return ga, gb if needs[1] else None


def _infer_lstsq(avals: Any, p: dict[str, Any]) -> Any:
    (a, dtype), (b, _) = avals
    at_least(2, *avals)
    meeting(avals[0], avals[1], -2, -2)
    lead, (m, n), k = leading((avals[0], 2), (avals[1], 2)), a[-2:], b[-1]
    real = real_of(dtype)
    return (Aval((*lead, n, k), dtype), Aval((*lead, k), real), Aval(lead, np.dtype(np.int64)),
            Aval((*lead, min(m, n)), real))  # fmt: skip


lstsq = primitive(
    "lstsq", kernel=_lstsq_kernel, numpy=_lstsq_numpy, vjp=_lstsq_pull, jvp=from_vjp, multi=True,
    diff_outs=(True, True, False, False), used_outs=(True, False, False, False),
    batch=batch_matrices(2, 2), infer=_infer_lstsq,
    samples=lambda: [sample(well_conditioned(3, 2), normal(3, 2), rcond=1e-12, driver="gelsd"),
                     sample(well_conditioned(2, 3, 3), normal(2, 3, 1), rcond=1e-12, driver="gelsy"),
                     sample(complex_well_conditioned(4, 2), complex_normal(4, 1), rcond=1e-12, driver="gels"),
                     sample(well_conditioned(2, 3), normal(2, 2), rcond=1e-12, driver="gelss")],
)  # fmt: skip
