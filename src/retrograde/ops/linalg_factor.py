"""Factorisations by elimination: Cholesky, LU, LDL. QR stands in linalg_orthogonal.py, what all share in linalg.py."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .._errors import UnsupportedError
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from . import decompositions
from . import linalg_standard as standard
from .contraction import matmul, matrix_transpose
from .kernels import matrices_numpy, widened
from .linalg import (
    adjoint,
    batch_matrices,
    complex_well_conditioned,
    half_diagonal,
    hermitian_part,
    identity_like,
    infer_square,
    lapack,
    over_batch,
    positive_definite,
    refuse,
    solve_triangular,
    well_conditioned,
)
from .rules import from_vjp, nondifferentiable, sum_tangents
from .samples import complex_normal, normal, sample
from .shapes import at_least, leading, matching, meeting, square
from .structural import concatenate, embed, getitem
from .triangular import tril, triu

# ------------------------------------------------------------------------------------------ Cholesky


def _potrf(a: np.ndarray, upper: bool) -> tuple[np.ndarray, int]:
    """LAPACK's factor (as far as it came) and the order of the first minor that is not positive, 0 if all are."""
    if not a.size:
        return a, 0
    factor, info = lapack("potrf", a)(a, lower=not upper, clean=1)
    bad = np.isnan(np.diagonal(factor))
    return factor, int(np.argmax(bad)) + 1 if info == 0 and bad.any() else info


@widened
def _cholesky_kernel(xp: Any, x: Any, *, upper: bool, check: bool) -> Any:
    return xp.linalg.cholesky(x, upper=upper) if check else standard.cholesky(xp, x, upper)[0]


@matrices_numpy
def _cholesky_numpy(x: Any, *, upper: bool, check: bool) -> Any:
    found = decompositions.cholesky(x, upper=upper)
    if found is not None:
        return found
    try:
        out = np.linalg.cholesky(x, upper=upper)
        if check and out.size and np.isnan(out[..., -1, -1]).any():  # where all that is nan ends up
            raise np.linalg.LinAlgError
        return out
    except np.linalg.LinAlgError as error:
        if not check:
            return over_batch(lambda a: _potrf(a, upper)[0], [(x, 2)], [(x.shape[-2:], x.dtype)])[0]
        raise np.linalg.LinAlgError(
            f"a matrix is not positive definite (the leading minor of order {_first_bad(x, upper)} is not); "
            "check that it is Hermitian with positive eigenvalues, or add a small multiple of the identity"
        ) from error


def _first_bad(x: np.ndarray, upper: bool) -> int:
    info = over_batch(lambda a: _potrf(a, upper)[1], [(x, 2)], [((), np.int32)])[0]
    return int(info[info > 0].flat[0])


def _cholesky_pull(g: Any, out: Any, upper: bool) -> Any:
    """Murray 2016, symmetrised: the matrix is taken to be Hermitian although one triangle is read."""
    if upper:
        g, out = adjoint(g), adjoint(out)
    above = adjoint(out)
    inner = tril(matmul(above, g), k=0)
    middle = (inner + adjoint(tril(inner, k=-1))) * 0.5
    half = solve_triangular(above, middle, upper=True)
    return adjoint(solve_triangular(above, adjoint(half), upper=True))  # a system from the right takes more copies


def _cholesky_push(t: Any, out: Any, upper: bool) -> Any:
    lower = adjoint(out) if upper else out
    inner = solve_triangular(adjoint(lower), solve_triangular(lower, t, upper=False), upper=True, left=False)
    change = matmul(lower, tril(inner, k=0) * half_diagonal(out))
    return adjoint(change) if upper else change


_cholesky = primitive(
    "cholesky", kernel=_cholesky_kernel, numpy=_cholesky_numpy,
    vjps=[lambda g, out, _x, *, upper, check: _cholesky_pull(g, out, upper)],
    jvp=lambda tangents, out, x, *, upper, check: _cholesky_push(tangents[0], out, upper),
    batch=batch_matrices(2), infer=infer_square, tolerances={"direction": lambda d, j: hermitian_part(d)},
    samples=lambda: [sample(positive_definite(3, 3), upper=False, check=True),
                     sample(positive_definite(2, 2, 2), upper=True, check=True),
                     sample(positive_definite(2, 2, complex_too=True), upper=False, check=False),
                     sample(positive_definite(2, 2, complex_too=True), upper=True, check=True)],
)  # fmt: skip


def cholesky(x: Any, *, upper: bool = False, check: bool = True) -> Any:
    """The lower (or upper) triangular factor of Hermitian positive definite matrices, of which that triangle is read.

    Raises LinAlgError for a matrix that is not positive definite; the factor as far as it comes, unless `check`.
    """
    return _cholesky(x, upper=upper, check=check)


def _infer_info(avals: Any, p: dict[str, Any]) -> Aval:
    square(avals[0])
    return Aval(avals[0].shape[:-2], np.dtype(np.int32))


# The order of the first leading minor that is not positive, 0 where the factorisation succeeds.
cholesky_info = nondifferentiable(
    "cholesky_info",
    kernel=lambda xp, x, *, upper: standard.cholesky(xp, x, upper)[1],
    numpy=lambda x, *, upper: over_batch(lambda a: _potrf(a, upper)[1], [(x, 2)], [((), np.int32)])[0], kind="general",
    batch=batch_matrices(2), infer=_infer_info,
    samples=lambda: [sample(positive_definite(2, 2), upper=False), sample(-positive_definite(2, 2, 2), upper=True)],
)  # fmt: skip


@widened
def _cholesky_solve_kernel(xp: Any, b: Any, factor: Any, *, upper: bool) -> Any:
    other = standard.adjoint(xp, factor)
    first, second = (other, factor) if upper else (factor, other)
    return standard.solve_triangular(xp, second, standard.solve_triangular(xp, first, b, upper=False), upper=True)


@matrices_numpy
def _cholesky_solve_numpy(b: Any, factor: Any, *, upper: bool) -> Any:
    def one(b: np.ndarray, c: np.ndarray) -> np.ndarray:
        if not b.size:
            return b
        if c.flags.c_contiguous and c.dtype.kind == "f":  # whose transpose LAPACK takes as it is
            return lapack("potrs", c, b)(c.T, b, lower=upper)[0]
        return lapack("potrs", c, b)(c, b, lower=not upper)[0]

    return over_batch(one, [(b, 2), (factor, 2)], [(b.shape[-2:], b.dtype)])[0]


def _factor_cotangent(ga: Any, factor: Any, upper: bool) -> Any:
    """The cotangent of a Cholesky factor from that of the matrix; not cut to the triangle, as PyTorch has it."""
    both = ga + adjoint(ga)
    return matmul(factor, both) if upper else matmul(both, factor)


def _factor_tangent(t: Any, factor: Any, upper: bool) -> Any:
    """The tangent of the matrix from that of its Cholesky factor."""
    product = matmul(adjoint(t), factor) if upper else matmul(t, adjoint(factor))
    return product + adjoint(product)


def _cholesky_solve_pull(needs: Any, g: Any, out: Any, _b: Any, factor: Any, *, upper: bool) -> Any:
    gb = cholesky_solve(g, factor, upper=upper)
    gf = _factor_cotangent(-matmul(gb, adjoint(out)), factor, upper) if needs[1] else None
    return gb if needs[0] else None, gf


def _cholesky_solve_push(tangents: Any, out: Any, b: Any, factor: Any, *, upper: bool) -> Any:
    db, df = tangents
    if df is not None:
        db = sum_tangents([db, -matmul(_factor_tangent(df, factor, upper), out)])
    return cholesky_solve(db, factor, upper=upper)


def _infer_cholesky_solve(avals: Any, p: dict[str, Any]) -> Aval:
    b, factor = avals
    lead = leading((b, 2), (factor, 2))
    square(factor)
    meeting(factor, b, -1, -2)
    return Aval((*lead, *b.shape[-2:]), b.dtype)


_cholesky_solve = primitive(
    "cholesky_solve", kernel=_cholesky_solve_kernel, numpy=_cholesky_solve_numpy, vjp=_cholesky_solve_pull,
    saves={"out": ["factor"]},
    jvp=_cholesky_solve_push,
    batch=batch_matrices(2, 2), infer=_infer_cholesky_solve,
    tolerances={"direction": lambda d, j: d if j == 0 else np.tril(d)},
    samples=lambda: [
        sample(normal(3, 2), np.tril(well_conditioned(3, 3)), upper=False),
        sample(normal(2, 1, 2, 1), np.tril(well_conditioned(3, 2, 2)), upper=False),
        sample(complex_normal(2, 2), np.tril(complex_well_conditioned(2, 2)), upper=False),
    ],
)  # fmt: skip


def cholesky_solve(b: Any, factor: Any, *, upper: bool = False) -> Any:
    """The x with `a @ x = b` for the matrices `a` of which `factor` is the Cholesky factor."""
    return _cholesky_solve(b, factor, upper=upper)


def _cholesky_inverse_kernel(xp: Any, factor: Any, *, upper: bool) -> Any:
    n = factor.shape[-1]
    return _cholesky_solve_kernel(xp, standard.identity(xp, factor, n), factor, upper=upper)


def _cholesky_inverse_numpy(factor: Any, *, upper: bool) -> Any:
    return _cholesky_solve_numpy(np.eye(factor.shape[-1], dtype=factor.dtype), factor, upper=upper)


def _cholesky_inverse_push(tangents: Any, out: Any, factor: Any, *, upper: bool) -> Any:
    return -matmul(matmul(out, _factor_tangent(tangents[0], factor, upper)), out)


_cholesky_inverse = primitive(
    "cholesky_inverse", kernel=_cholesky_inverse_kernel, numpy=_cholesky_inverse_numpy,
    vjps=[lambda g, out, factor, *, upper: _factor_cotangent(-matmul(matmul(out, g), out), factor, upper)],
    jvp=_cholesky_inverse_push, batch=batch_matrices(2), infer=infer_square,
    tolerances={"direction": lambda d, j: np.tril(d)},
    samples=lambda: [sample(np.tril(well_conditioned(3, 3)), upper=False),
                     sample(np.tril(well_conditioned(2, 2, 2)), upper=False),
                     sample(np.tril(complex_well_conditioned(2, 2)), upper=False)],
)  # fmt: skip


def cholesky_inverse(factor: Any, *, upper: bool = False) -> Any:
    """The inverse of the matrices of which `factor` is the Cholesky factor."""
    return _cholesky_inverse(factor, upper=upper)


# ------------------------------------------------------------------------------------------ LU


def _getrf(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """LAPACK's packed factors, the row that each row was exchanged with, and 1 + the first zero pivot (0: none)."""
    if not a.size:
        return a, np.arange(min(a.shape)), 0
    return lapack("getrf", a)(a)


@widened
def _lu_factor_kernel(xp: Any, x: Any, *, check: bool) -> Any:
    lu, pivots, info = standard.lu_factor(xp, x)
    if check and bool(xp.any(info != 0)):
        _refuse_singular(int(xp.max(info)))
    return lu, pivots


def _refuse_singular(info: int) -> NoReturn:
    raise ValueError(
        f"the pivot {info} is zero, so the factors cannot be used to solve; the matrix is singular (factorise without the "
        "check to get its factors all the same)"
    )


@matrices_numpy
def _lu_factor_numpy(x: Any, *, check: bool) -> Any:
    k = min(x.shape[-2:])
    outs = [(x.shape[-2:], x.dtype), ((k,), np.int32), ((), np.int32)]
    lu, pivots, info = over_batch(_getrf, [(x, 2)], outs)
    if check and info.any():
        _refuse_singular(int(info[info > 0].flat[0]))
    return lu, pivots


def _permutation(pivots: np.ndarray, n: int) -> np.ndarray:
    rows = np.arange(n)
    for i, p in enumerate(pivots):
        rows[i], rows[p] = rows[p], rows[i]
    out = np.zeros((n, n))
    out[rows, np.arange(n)] = 1
    return out


# The matrix p with `a = p @ l @ u`, from the row exchanges.
permutation_matrix = nondifferentiable(
    "permutation_matrix",
    kernel=lambda xp, pivots, *, n, dtype: standard.permutation(xp, pivots, n, dtype),
    numpy=lambda pivots, *, n, dtype: over_batch(lambda p: _permutation(p, n), [(pivots, 1)], [((n, n), dtype)])[0],
    kind="general", batch=batch_matrices(1), infer=lambda avals, p: Aval((*avals[0].shape[:-1], p["n"], p["n"]), p["dtype"]),
    samples=lambda: [sample(np.array([1, 2, 2]), n=3, dtype=np.dtype(float)),
                     sample(np.array([[2], [0]]), n=3, dtype=np.dtype(float))],
)  # fmt: skip


def _lu_pull(gl: Any, gu: Any, p: Any, l: Any, u: Any) -> Any:
    """The cotangent of a matrix from those of its factors (None: zero); wide, tall and square ones."""
    m, n = shape_of(l)[-2], shape_of(u)[-1]
    if gl is None and gu is None:
        return None
    if m == n:
        inner = _inner_lu(gl, gu, l, u, None)
        return matmul(p, _divide_right(_divide_left(inner, l), u))
    if m < n:
        u1 = getitem(u, index=(Ellipsis, slice(None, m)))
        gu1 = gu2 = less = None
        if gu is not None:
            gu1, gu2 = getitem(gu, index=(Ellipsis, slice(None, m))), getitem(gu, index=(Ellipsis, slice(m, None)))
            u2 = getitem(u, index=(Ellipsis, slice(m, None)))
            less = tril(matmul(gu2, adjoint(u2)), k=-1)
        first = _divide_right(_inner_lu(gl, gu1, l, u1, less), u1)
        second = gu2 if gu2 is not None else getitem(u, index=(Ellipsis, slice(m, None))) * 0
        joined = concatenate(first, second, axis=ndim_of(first) - 1)
        return matmul(p, _divide_left(joined, l))
    top, rest = (Ellipsis, slice(None, n), slice(None)), (Ellipsis, slice(n, None), slice(None))
    l1, gl1, gl2, less = getitem(l, index=top), None, None, None
    if gl is not None:
        gl1, gl2 = getitem(gl, index=top), getitem(gl, index=rest)
        less = triu(matmul(adjoint(getitem(l, index=rest)), gl2), k=0)
    first = _divide_left(_inner_lu(gl1, gu, l1, u, less), l1)
    second = gl2 if gl2 is not None else getitem(l, index=rest) * 0
    return matmul(p, _divide_right(concatenate(first, second, axis=ndim_of(first) - 2), u))


def _inner_lu(gl: Any, gu: Any, l: Any, u: Any, less: Any) -> Any:
    lower = None if gl is None else tril(matmul(adjoint(l), gl), k=-1)
    upper = None if gu is None else triu(matmul(gu, adjoint(u)), k=0)
    return sum_tangents([lower, upper, None if less is None else -less])


def _divide_left(x: Any, l: Any) -> Any:
    return solve_triangular(adjoint(l), x, upper=True, unit=True)


def _divide_right(x: Any, u: Any) -> Any:
    return solve_triangular(adjoint(u), x, upper=False, left=False)


def _unpacked(lu: Any) -> tuple[Any, Any]:
    """The unit lower and the upper triangular factor in packed ones."""
    m, n = shape_of(lu)[-2:]
    k = min(m, n)
    lower = getitem(lu, index=(Ellipsis, slice(None, k)))
    upper = getitem(lu, index=(Ellipsis, slice(None, k), slice(None)))
    return tril(lower, k=-1) + identity_like(lu, m, k), triu(upper, k=0)


def _packed(gl: Any, gu: Any, lu: Any) -> Any:
    """The cotangent of packed factors from those of the two."""
    m, n = shape_of(lu)[-2:]
    shape, k = tuple(shape_of(lu)), min(m, n)
    if gl is not None:
        gl = tril(gl, k=-1)
        gl = gl if n == k else embed(gl, shape=shape, index=(Ellipsis, slice(None, k)))
    if gu is not None:
        gu = triu(gu, k=0)
        gu = gu if m == k else embed(gu, shape=shape, index=(Ellipsis, slice(None, k), slice(None)))
    return sum_tangents([gl, gu])


def _lu_factor_pull(needs: Any, g: Any, out: Any, _x: Any, *, check: bool) -> Any:
    if g[0] is None:
        return (None,)
    factors, pivots = out
    m, n = shape_of(factors)[-2:]
    k = min(m, n)
    l, u = _unpacked(factors)
    gl = tril(getitem(g[0], index=(Ellipsis, slice(None, k))), k=-1)
    gu = triu(getitem(g[0], index=(Ellipsis, slice(None, k), slice(None))), k=0)
    return (_lu_pull(gl, gu, permutation_matrix(pivots, n=m, dtype=dtype_of(factors)), l, u),)


def _infer_lu_factor(avals: Any, p: dict[str, Any]) -> Any:
    at_least(2, avals[0])
    shape = avals[0].shape
    return avals[0], Aval((*shape[:-2], min(shape[-2:])), np.dtype(np.int32))


def _infer_factors(avals: Any, p: dict[str, Any]) -> Any:
    """The permutation and the two factors of a matrix, or of packed factors and their pivots."""
    lead = leading(*zip(avals, (2, 1)))
    (m, n), dtype = avals[0].shape[-2:], avals[0].dtype
    k = min(m, n)
    if len(avals) > 1:
        matching("the pivots of each matrix", avals[1].shape[-1:], (k,))
    return tuple(Aval((*lead, *s), dtype) for s in ((m, m), (m, k), (k, n)))


def _lu_samples() -> Any:
    real = [normal(3, 3), normal(2, 2, 2, seed=3), normal(2, 3), normal(3, 2)]
    return [*real, complex_normal(2, 3), complex_normal(3, 2)]


_lu_factor = primitive(
    "lu_factor", kernel=_lu_factor_kernel, numpy=_lu_factor_numpy, vjp=_lu_factor_pull, jvp=from_vjp, multi=True,
    diff_outs=(True, False),
    batch=batch_matrices(2), infer=_infer_lu_factor,
    samples=lambda: [sample(x, check=bool(i % 2)) for i, x in enumerate(_lu_samples())],
)  # fmt: skip


def lu_factor(x: Any, *, check: bool = False) -> tuple[Any, Any]:
    """Packed LU factors with row exchanges, and for each row the one (counted from 0) it was exchanged with.

    Raises ValueError for a zero pivot if `check`.
    """
    return _lu_factor(x, check=check)


# 1 + the position of the first zero pivot, 0 where there is none.
lu_info = nondifferentiable(
    "lu_info", kernel=lambda xp, x: standard.lu_factor(xp, x)[2],
    numpy=lambda x: over_batch(lambda a: _getrf(a)[2], [(x, 2)], [((), np.int32)])[0], kind="general",
    batch=batch_matrices(2), infer=lambda avals, p: Aval(avals[0].shape[:-2], np.dtype(np.int32)),
    samples=lambda: [sample(normal(2, 2)), sample(np.zeros((2, 1, 1)))],
)  # fmt: skip


def _lu_unpack_numpy(factors: Any, pivots: Any) -> Any:
    m, n = factors.shape[-2:]
    k = min(m, n)
    batch = np.broadcast_shapes(factors.shape[:-2], pivots.shape[:-1])
    factors, pivots = np.broadcast_to(factors, (*batch, m, n)), np.broadcast_to(pivots, (*batch, k))
    p = over_batch(lambda p: _permutation(p, m), [(pivots, 1)], [((m, m), factors.dtype)])[0]
    return p, np.tril(factors[..., :k], -1) + np.eye(m, k, dtype=factors.dtype), np.triu(factors[..., :k, :])


lu_unpack = primitive(
    "lu_unpack", kernel=standard.lu_unpack, numpy=_lu_unpack_numpy, multi=True, diff_outs=(False, True, True), jvp=from_vjp,
    vjp=lambda needs, g, _out, factors_, _pivots: (_packed(g[1], g[2], factors_), None),
    batch=batch_matrices(2, 1), infer=_infer_factors,
    samples=lambda: [sample(*_lu_factor_numpy(x, check=False)) for x in _lu_samples()],
)  # fmt: skip


def _lu_kernel(xp: Any, x: Any) -> Any:
    return standard.lu_unpack(xp, *_lu_factor_kernel(xp, x, check=False))


def _lu_numpy(x: Any) -> Any:
    return _lu_unpack_numpy(*_lu_factor_numpy(x, check=False))


lu = primitive(
    "lu", kernel=_lu_kernel, numpy=_lu_numpy, vjp=lambda needs, g, out, _x: (_lu_pull(g[1], g[2], *out),),
    jvp=from_vjp, multi=True,
    diff_outs=(False, True, True), batch=batch_matrices(2),
    infer=_infer_factors,
    samples=lambda: [sample(x) for x in _lu_samples()],
)  # fmt: skip


@widened
def _lu_solve_kernel(xp: Any, factors: Any, pivots: Any, b: Any, *, left: bool, adjoint: bool) -> Any:
    return standard.lu_solve(xp, factors, pivots, b, left, adjoint)


@matrices_numpy
def _lu_solve_numpy(factors: Any, pivots: Any, b: Any, *, left: bool, adjoint: bool) -> Any:
    trans = 0 if not adjoint else 2 if b.dtype.kind == "c" else 1

    n = factors.shape[-1]
    if pivots.shape[-1:] != (n,) or (pivots.size and not 0 <= pivots.min() <= pivots.max() < n):
        # LAPACK would exchange rows outside of the matrix.
        raise ValueError(f"{n} pivots from 0 to {n - 1} are wanted for factors of the shape {factors.shape}")

    def one(lu: np.ndarray, pivots: np.ndarray, b: np.ndarray) -> np.ndarray:
        if not b.size:
            return b
        if left:
            return lapack("getrs", lu, b)(lu, pivots, b, trans=trans)[0]
        # x a = b is a' x' = b', with the other of the two (conjugates undo each other).
        opposite = 0 if adjoint else 2 if b.dtype.kind == "c" else 1
        return np.conj(lapack("getrs", lu, b)(lu, pivots, np.conj(b.T), trans=opposite)[0]).T

    return over_batch(one, [(factors, 2), (pivots, 1), (b, 2)], [(b.shape[-2:], b.dtype)])[0]


def _lu_solve_pull(
    needs: Any, g: Any, out: Any, factors: Any, pivots: Any, _b: Any, *, left: bool, adjoint: bool
) -> Any:  # fmt: skip
    gb = lu_solve(factors, pivots, g, left=left, adjoint=not adjoint)
    if not needs[0]:
        return None, None, gb
    other = _adjoint(out)
    ga = -(matmul(gb, other) if left else matmul(other, gb))
    if adjoint:
        ga = _adjoint(ga)
    l, u = _unpacked(factors)
    p = permutation_matrix(pivots, n=shape_of(l)[-1], dtype=dtype_of(factors))
    inner = matmul(matrix_transpose(p), ga)
    gf = _packed(matmul(inner, _adjoint(u)), matmul(_adjoint(l), inner), factors)
    return gf, None, gb if needs[2] else None


_adjoint = adjoint


def _infer_lu_solve(avals: Any, p: dict[str, Any]) -> Aval:
    a, pivots, b = avals
    lead = leading((a, 2), (pivots, 1), (b, 2))
    square(a)
    matching("the pivots of each matrix", pivots.shape[-1:], a.shape[-1:])
    meeting(a, b, -1, -2 if p.get("left", True) else -1)
    return Aval((*lead, *b.shape[-2:]), b.dtype)


def _lu_solve_samples() -> Any:
    for i, (a, b) in enumerate(
        [(well_conditioned(3, 3), normal(3, 2)), (normal(2, 1, 2, 2), normal(3, 2, 1)),
         (complex_well_conditioned(2, 2), complex_normal(2, 2)), (normal(2, 2, seed=5), normal(2, 2))]
    ):  # fmt: skip
        factors, pivots = _lu_factor_numpy(a, check=False)
        yield sample(factors, pivots, b, left=True, adjoint=i == 2)
        if a.ndim == 2:
            yield sample(factors, pivots, b.T, left=False, adjoint=i == 3)


_lu_solve = primitive(
    "lu_solve", kernel=_lu_solve_kernel, numpy=_lu_solve_numpy, vjp=_lu_solve_pull,
    saves={"out": ["factors"]}, jvp=from_vjp, batch=batch_matrices(2, 1, 2),
    infer=_infer_lu_solve, samples=_lu_solve_samples,
)  # fmt: skip


def lu_solve(factors: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """The x with `a @ x = b` (`x @ a = b` unless `left`), where `lu_factor` gave `a` (or its adjoint) as factors."""
    return _lu_solve(factors, pivots, b, left=left, adjoint=adjoint)


# ------------------------------------------------------------------------------------------ LDL


def _no_ldl(name: str) -> NoReturn:
    raise UnsupportedError(f"{name}: symmetric pivoting as LAPACK packs it is computed for NumPy arrays only; use solve()")


@matrices_numpy
def _ldl_numpy(x: Any, *, hermitian: bool) -> Any:
    if x.shape[-1] != x.shape[-2]:  # LAPACK would read and write outside of it
        raise np.linalg.LinAlgError(f"square matrices are wanted, got the shape {x.shape}")
    name = "hetrf" if hermitian and x.dtype.kind == "c" else "sytrf"

    def one(a: np.ndarray) -> Any:
        if not a.size:
            return a, np.zeros(len(a), np.int32), 0
        factors, pivots, info = lapack(name, a)(a, lower=1)
        return np.tril(factors), pivots, info

    n = x.shape[-1]
    return over_batch(one, [(x, 2)], [(x.shape[-2:], x.dtype), ((n,), np.int32), ((), np.int32)])


_LDL = ("ldl_factor", "use cholesky() for positive definite matrices, solve() or eigh() for others")

def _infer_ldl(avals: Any, p: dict[str, Any]) -> Any:
    square(avals[0])
    return avals[0], Aval(avals[0].shape[:-1], np.dtype(np.int32)), Aval(avals[0].shape[:-2], np.dtype(np.int32))


# LAPACK's packed factors of a symmetric (Hermitian) matrix, its pivots, and 1 + the first zero block (0: none).
ldl_factor = primitive(
    "ldl_factor", kernel=lambda xp, x, *, hermitian: _no_ldl("ldl_factor"), numpy=_ldl_numpy,
    vjp=lambda needs, _g, _out, _x, *, hermitian: refuse(*_LDL),
    jvp=lambda tangents, out, x, *, hermitian: refuse(*_LDL), multi=True, diff_outs=(True, False, False),
    batch=batch_matrices(2), tolerances={"gauge": True},
    infer=_infer_ldl,
    samples=lambda: [sample(hermitian_part(normal(3, 3)), hermitian=False)],
)  # fmt: skip


@matrices_numpy
def _ldl_solve_numpy(factors: Any, pivots: Any, b: Any, *, hermitian: bool) -> Any:
    """By the inverse permutations and the blocks of one or two pivots that LAPACK packs (sytf2's storage)."""
    conjugate = hermitian and b.dtype.kind == "c"

    def one(f: np.ndarray, pivots: np.ndarray, b: np.ndarray) -> np.ndarray:
        x, n = b.copy(), len(f)
        blocks = []
        k = 0
        while k < n:
            size = 1 if pivots[k] > 0 else 2
            blocks.append((k, size))
            last, p = k + size - 1, abs(int(pivots[k])) - 1
            x[[last, p]] = x[[p, last]]
            x[k + size :] -= f[k + size :, k : k + size] @ x[k : k + size]
            k += size
        for k, size in blocks:
            d = f[k : k + size, k : k + size].copy()
            if size == 2:
                d[0, 1] = np.conj(d[1, 0]) if conjugate else d[1, 0]
                x[k : k + 2] = np.linalg.solve(d, x[k : k + 2])
            else:
                x[k] = x[k] / (d[0, 0].real if conjugate else d[0, 0])
        for k, size in reversed(blocks):
            below = f[k + size :, k : k + size]
            x[k : k + size] -= (np.conj(below) if conjugate else below).T @ x[k + size :]
            last, p = k + size - 1, abs(int(pivots[k])) - 1
            x[[last, p]] = x[[p, last]]
        return x

    return over_batch(one, [(factors, 2), (pivots, 1), (b, 2)], [(b.shape[-2:], b.dtype)])[0]


_LDL_SOLVE = ("ldl_solve", "use solve() on the matrix itself")

ldl_solve = primitive(
    "ldl_solve", kernel=lambda xp, factors, pivots, b, *, hermitian: _no_ldl("ldl_solve"), numpy=_ldl_solve_numpy,
    vjp=lambda needs, _g, _out, _factors, _pivots, _b, *, hermitian: refuse(*_LDL_SOLVE),
    jvp=lambda tangents, out, factors, pivots, b, *, hermitian: refuse(*_LDL_SOLVE),
    batch=batch_matrices(2, 1, 2), infer=_infer_lu_solve, tolerances={"gauge": True},
    samples=lambda: [sample(*_ldl_numpy(hermitian_part(normal(3, 3)), hermitian=False)[:2], normal(3, 2),
                            hermitian=False)],
)  # fmt: skip
