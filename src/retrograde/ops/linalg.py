"""Linear algebra over the last two axes: solving, inverses, determinants, exponentials, least squares.

Leading axes are a batch and broadcast between operands. Factorisations stand in linalg_factor.py, eigen- and singular
value problems in linalg_spectral.py; what all of them share is here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..backend.dtypes import real_of
from ..core.arrays import bottom, from_host, full
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from . import linalg_standard as standard
from .contraction import matmul, matrix_transpose
from .kernels import matrices_numpy, widened
from .reduction import sum as reduce_sum
from .rules import batch_size, conj, from_vjp, linear, move_batch, sum_tangents
from .samples import complex_normal, normal, sample
from .shapes import at_least, leading, meeting, square
from .structural import broadcast_to, concatenate, getitem, imag, real, reshape
from .triangular import diagonal_embed, tril, triu

# ------------------------------------------------------------------------------------------ what all files share


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix."""
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


@widened
def _inv_kernel(xp: Any, x: Any, *, check: bool) -> Any:
    return xp.linalg.inv(x)  # what a singular matrix gives, or raises, is the library's


@matrices_numpy
def _inv_numpy(x: Any, *, check: bool) -> Any:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        if check:
            raise
    n = x.shape[-1]
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
    try:
        out = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        if check:
            raise
        out = over_batch(plain_solve, [(a, 2), (b, 2)], [(b.shape[-2:], a.dtype)])[0]
    out = out[..., 0] if vector else out
    return out if left else out.swapaxes(-1, -2)


def _solve_pull(needs: Any, g: Any, out: Any, a: Any, _b: Any, *, left: bool, vector: bool, check: bool) -> Any:
    gb = solve(adjoint(a), g, left=left, vector=vector, check=check)
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


def solve(a: Any, b: Any, *, left: bool = True, vector: bool = False, check: bool = True) -> Any:
    """The x with `a @ x = b` (`x @ a = b` unless `left`); `b` is a batch of vectors instead of matrices if `vector`."""
    return _solve(a, b, left=left, vector=vector, check=check)


# ------------------------------------------------------------------------------------------ triangular matrices


def _triangular(a: np.ndarray, b: np.ndarray, upper: bool, left: bool, unit: bool) -> np.ndarray:
    if not b.size:
        return b
    solver = _trsm(a.dtype, b.dtype)
    if a.flags.c_contiguous:  # whose transpose BLAS takes as it is
        return solver(1.0, a.T, b, side=0 if left else 1, lower=upper, trans_a=1, diag=unit)
    return solver(1.0, a, b, side=0 if left else 1, lower=not upper, diag=unit)


@widened
def _triangular_kernel(xp: Any, a: Any, b: Any, *, upper: bool, left: bool, unit: bool) -> Any:
    return standard.solve_triangular(xp, a, b, upper, left, unit)


@matrices_numpy
def _triangular_numpy(a: Any, b: Any, *, upper: bool, left: bool, unit: bool) -> Any:
    if a.ndim == 2 and b.ndim == 2:
        return np.ascontiguousarray(_triangular(a, b, upper, left, unit))

    def one(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _triangular(a, b, upper, left, unit)

    return over_batch(one, [(a, 2), (b, 2)], [(b.shape[-2:], a.dtype)])[0]


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


slogdet = primitive(
    "slogdet", kernel=widened(lambda xp, x: tuple(xp.linalg.slogdet(x))), vjp=_slogdet_pull, jvp=_slogdet_push, multi=True,
    batch=batch_matrices(2),
    infer=lambda avals, p: (_infer_numbers(avals, p), Aval(avals[0].shape[:-2], real_of(avals[0].dtype))),
    samples=lambda: [sample(well_conditioned(3, 3)), sample(-well_conditioned(2, 3, 3)),
                     sample(complex_well_conditioned(2, 2))],
)  # fmt: skip

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
