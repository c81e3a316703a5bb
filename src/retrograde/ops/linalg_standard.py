"""Linear algebra in the array-API standard: the kernels of linalg*.py that are more than a function of its extension.

Eliminations are loops over columns with the whole batch in each step. Elements are put in place by masks, since arrays of
some libraries cannot be written to.
"""

from __future__ import annotations

import math
from typing import Any

from ..backend.dtypes import astype, device_in, dtype_in, is_complex, real_of
from .kernels import elements


def conjugate(xp: Any, x: Any) -> Any:
    """The complex conjugate; a real array as it is."""
    return xp.conj(x) if is_complex(x) else x


def adjoint(xp: Any, x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    return conjugate(xp, xp.matrix_transpose(x))


def real_part(xp: Any, x: Any) -> Any:
    """The real part; a real array as it is."""
    return xp.real(x) if is_complex(x) else x


def identity(xp: Any, like: Any, rows: int, columns: int | None = None) -> Any:
    """Ones on the diagonal, in the dtype and on the device of an array."""
    return xp.eye(rows, columns, dtype=like.dtype, device=device_in(like))


def numbers(xp: Any, n: int, like: Any) -> Any:
    """0 to n - 1 as positions beside an array."""
    return xp.arange(n, dtype=xp.int64, device=device_in(like))


def broadcast_batch(xp: Any, *arrays_and_cores: tuple[Any, int]) -> list[Any]:
    """Operands with the leading axes, those before the `core` last ones, broadcast against each other."""
    lead: tuple[int, ...] = ()
    for x, core in arrays_and_cores:
        lead = _broadcast(lead, tuple(x.shape[: x.ndim - core]))
    return [xp.broadcast_to(x, (*lead, *x.shape[x.ndim - core :])) for x, core in arrays_and_cores]


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    n = max(len(a), len(b))
    pairs = zip((1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b)
    return tuple(k if m == 1 else m for m, k in pairs)


# ------------------------------------------------------------------------------------------ triangular matrices


def triangle(xp: Any, a: Any, upper: bool, unit: bool) -> Any:
    """One triangle of each square matrix, with ones on its diagonal if `unit`."""
    cut = xp.triu if upper else xp.tril
    return cut(a, k=1 if upper else -1) + identity(xp, a, a.shape[-1]) if unit else cut(a)


def solve_triangular(xp: Any, a: Any, b: Any, upper: bool, left: bool = True, unit: bool = False) -> Any:
    """The x with `a x = b` (`x a = b` unless `left`), where one triangle of `a` is read."""
    if not left:
        transposed = solve_triangular(xp, xp.matrix_transpose(a), xp.matrix_transpose(b), not upper, unit=unit)
        return xp.matrix_transpose(transposed)
    a, b = broadcast_batch(xp, (a, 2), (b, 2))
    if not b.shape[-1] or not b.shape[-2]:
        return b
    return xp.linalg.solve(triangle(xp, a, upper, unit), b)


# ------------------------------------------------------------------------------------------ Cholesky


def cholesky(xp: Any, x: Any, upper: bool) -> tuple[Any, Any]:
    """The factor, and the order of the first leading minor that is not positive (0: all are), behind which it is nan."""
    n = x.shape[-1]
    low = adjoint(xp, xp.triu(x)) if upper else xp.tril(x)
    at = numbers(xp, n, x)
    factor = xp.zeros_like(x)
    info = xp.zeros(x.shape[:-2], dtype=xp.int32, device=device_in(x))
    for k in range(n):
        done = factor[..., :, :k]
        column = low[..., :, k] - xp.sum(done * conjugate(xp, factor[..., k : k + 1, :k]), axis=-1, dtype=x.dtype)
        pivot = real_part(xp, column[..., k])
        good = pivot > 0
        info = xp.where((info == 0) & ~good, xp.asarray(k + 1, dtype=xp.int32, device=device_in(x)), info)
        root = xp.sqrt(xp.where(good, pivot, math.nan))
        column = xp.where(at > k, column / root[..., None], xp.where(at == k, astype(xp, root, x.dtype)[..., None], 0))
        factor = xp.where(at == k, column[..., :, None], factor)
    return (adjoint(xp, factor) if upper else factor), info


# ------------------------------------------------------------------------------------------ LU


def exchanged(xp: Any, rows: Any, i: int, p: Any) -> Any:
    """Numbers (..., n) with that at position i exchanged for that at the positions p (...), one for each row."""
    at, p = numbers(xp, rows.shape[-1], rows), astype(xp, p, xp.int64)[..., None]
    other = xp.take_along_axis(rows, p, axis=-1)
    return xp.where(at == i, other, xp.where(at == p, rows[..., i : i + 1], rows))


def row_order(xp: Any, pivots: Any, n: int) -> Any:
    """Which of n rows stands where after the exchanges that `pivots` (..., k) say."""
    rows = xp.broadcast_to(numbers(xp, n, pivots), (*pivots.shape[:-1], n))
    for i in range(pivots.shape[-1]):
        rows = exchanged(xp, rows, i, pivots[..., i])
    return rows


def permutation(xp: Any, pivots: Any, n: int, dtype: Any) -> Any:
    """The matrix p with `a = p l u`, from the exchanges of rows."""
    at = numbers(xp, n, pivots)[:, None]
    return astype(xp, at == row_order(xp, pivots, n)[..., None, :], dtype)


def take_rows(xp: Any, x: Any, rows: Any) -> Any:
    """The rows of each matrix in an order (..., n)."""
    x, rows = broadcast_batch(xp, (x, 2), (rows, 1))
    return xp.take_along_axis(x, xp.broadcast_to(rows[..., None], x.shape), axis=-2)


def lu_factor(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    """Packed factors by elimination with the largest pivot (by |re| + |im|, as LAPACK's), the row that each row was
    exchanged with, and 1 + the first zero pivot (0: none)."""
    m, n = x.shape[-2:]
    down, across = numbers(xp, m, x), numbers(xp, n, x)
    pivots = []
    info = xp.zeros(x.shape[:-2], dtype=xp.int32, device=device_in(x))
    for k in range(min(m, n)):
        column = x[..., :, k]
        size = xp.abs(xp.real(column)) + xp.abs(xp.imag(column)) if is_complex(x) else xp.abs(column)
        p = xp.argmax(xp.where(down < k, -1.0, size), axis=-1)
        pivots.append(astype(xp, p, xp.int32))
        rows = exchanged(xp, xp.broadcast_to(down, (*x.shape[:-2], m)), k, p)
        x = take_rows(xp, x, rows)
        pivot = x[..., k : k + 1, k : k + 1]
        zero = pivot == 0
        info = xp.where((info == 0) & zero[..., 0, 0], xp.asarray(k + 1, dtype=xp.int32, device=device_in(x)), info)
        below = (down > k)[:, None]
        factor = xp.where(below, x[..., :, k : k + 1] / xp.where(zero, 1, pivot), 0)
        x = xp.where(below & (across == k), factor, x)
        x = xp.where(across > k, x - factor * x[..., k : k + 1, :], x)
    shape = (*x.shape[:-2], 0)
    empty = xp.zeros(shape, dtype=xp.int32, device=device_in(x))
    return x, xp.stack(pivots, axis=-1) if pivots else empty, info


def lu_unpack(xp: Any, factors: Any, pivots: Any) -> tuple[Any, Any, Any]:
    """The permutation and the two triangular factors that are packed."""
    factors, pivots = broadcast_batch(xp, (factors, 2), (pivots, 1))
    m, n = factors.shape[-2:]
    k = min(m, n)
    lower = xp.tril(factors[..., :, :k], k=-1) + identity(xp, factors, m, k)
    return permutation(xp, pivots, m, factors.dtype), lower, xp.triu(factors[..., :k, :])


def lu_solve(xp: Any, factors: Any, pivots: Any, b: Any, left: bool, conjugated: bool) -> Any:
    """The x with `a x = b` (`x a = b` unless `left`) for the matrix `a`, or its adjoint, that the factors make."""
    if not left:  # x a = b is a' x' = b'
        return adjoint(xp, lu_solve(xp, factors, pivots, adjoint(xp, b), True, not conjugated))
    n = factors.shape[-1]
    rows = row_order(xp, pivots, n)
    if not conjugated:
        y = solve_triangular(xp, factors, take_rows(xp, b, rows), upper=False, unit=True)
        return solve_triangular(xp, factors, y, upper=True)
    turned = adjoint(xp, factors)
    y = solve_triangular(xp, turned, b, upper=False)
    y = solve_triangular(xp, turned, y, upper=True, unit=True)
    return take_rows(xp, y, xp.argsort(rows, axis=-1))


# ------------------------------------------------------------------------------------------ Householder vectors


def geqrf(xp: Any, x: Any) -> tuple[Any, Any]:
    """R and below its diagonal the Householder vectors without their leading ones; their factors (LAPACK's geqr2)."""
    m, n = x.shape[-2:]
    down = numbers(xp, m, x)
    factors = []
    for k in range(min(m, n)):
        column = x[..., :, k]
        head = column[..., k]
        rest = xp.where(down > k, column, 0)
        size = xp.sqrt(xp.sum(real_part(xp, rest * conjugate(xp, rest)), axis=-1))
        start = real_part(xp, head)
        nothing = (size == 0) & (xp.imag(head) == 0 if is_complex(x) else True)
        whole = xp.hypot(xp.abs(head), size)
        beta = xp.where(start < 0, whole, -whole)
        safe = xp.where(nothing, 1, beta)
        tau = astype(xp, (safe - start) / safe, x.dtype)
        if is_complex(x):
            tau = tau - xp.imag(head) / safe * 1j
        tau = xp.where(nothing, 0, tau)
        scale = xp.where(nothing, 1, head - astype(xp, beta, x.dtype))
        v = xp.where(down == k, 1, rest / scale[..., None])
        inner = xp.sum(conjugate(xp, v)[..., :, None] * x, axis=-2, keepdims=True)
        moved = x - conjugate(xp, tau)[..., None, None] * v[..., :, None] * inner
        across = numbers(xp, n, x)
        packed = xp.where(down > k, v, astype(xp, xp.where(nothing, start, beta), x.dtype)[..., None])[..., :, None]
        x = xp.where((across == k) & (down >= k)[:, None], packed, xp.where(across > k, moved, x))
        factors.append(tau)
    empty = xp.zeros((*x.shape[:-2], 0), dtype=x.dtype, device=device_in(x))
    return x, xp.stack(factors, axis=-1) if factors else empty


def reflected(xp: Any, a: Any, tau: Any, c: Any, left: bool, conjugated: bool) -> Any:
    """`q c` (`c q` unless `left`) for the unitary matrix (its adjoint) that the reflections make."""
    if not left:
        return adjoint(xp, reflected(xp, a, tau, adjoint(xp, c), True, not conjugated))
    k = tau.shape[-1]
    _, _, c = broadcast_batch(xp, (a, 2), (tau, 1), (c, 2))
    vectors = xp.tril(a[..., :, :k], k=-1) + identity(xp, a, a.shape[-2], k)
    factors = conjugate(xp, tau) if conjugated else tau
    for i in range(k) if conjugated else range(k - 1, -1, -1):
        v = vectors[..., :, i : i + 1]
        c = c - factors[..., i : i + 1, None] * xp.matmul(v, xp.matmul(adjoint(xp, v), c))
    return c


# ------------------------------------------------------------------------------------------ singular values


def products_without(xp: Any, s: Any, pairs: bool) -> Any:
    """The products of all elements but the i-th (but the i-th and j-th, as a matrix with zeros on its diagonal)."""
    eye = xp.eye(s.shape[-1], dtype=xp.bool, device=device_in(s))
    if not pairs:
        return xp.prod(xp.where(eye, 1, s[..., None, :]), axis=-1, dtype=s.dtype)
    left_out = eye[:, None, :] | eye[None, :, :]
    return xp.where(eye, 0, xp.prod(xp.where(left_out, 1, s[..., None, None, :]), axis=-1, dtype=s.dtype))


def adjugate(xp: Any, x: Any) -> Any:
    """By singular values, which serve singular matrices, too."""
    u, s, vh = xp.linalg.svd(x)
    phase = xp.linalg.det(u) * xp.linalg.det(vh)
    inner = adjoint(xp, vh) * products_without(xp, s, False)[..., None, :]
    return phase[..., None, None] * xp.matmul(inner, adjoint(xp, u))


def adjugate_derivative(xp: Any, x: Any, t: Any) -> Any:
    """The derivative of the adjugate of x along t."""
    u, s, vh = xp.linalg.svd(x)
    phase = xp.linalg.det(u) * xp.linalg.det(vh)
    inner = xp.matmul(xp.matmul(adjoint(xp, u), t), adjoint(xp, vh))
    without = astype(xp, products_without(xp, s, True), x.dtype)
    own = xp.matmul(without, xp.linalg.diagonal(inner)[..., None])
    eye = xp.eye(x.shape[-1], dtype=xp.bool, device=device_in(x))
    middle = xp.where(eye, own, -without * inner)
    return phase[..., None, None] * xp.matmul(xp.matmul(adjoint(xp, vh), middle), adjoint(xp, u))


def pinv(xp: Any, x: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """The pseudo-inverse; singular values up to max(atol, rtol * the largest) count as zero."""
    if not elements(x):
        return xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype=x.dtype, device=device_in(x))
    if hermitian:
        values, left = xp.linalg.eigh(x)
        s, right = xp.abs(values), left
    else:
        left, s, vh = xp.linalg.svd(x, full_matrices=False)
        values, right = s, adjoint(xp, vh)
    cut = xp.maximum(atol[..., None], rtol[..., None] * xp.max(s, axis=-1, keepdims=True))
    kept = s > cut
    inverse = xp.where(kept, 1 / xp.where(kept, values, 1), 0)
    return xp.matmul(right * astype(xp, inverse, x.dtype)[..., None, :], adjoint(xp, left))


def lstsq(xp: Any, a: Any, b: Any, rcond: float, driver: str) -> tuple[Any, Any, Any, Any]:
    """Solution, residuals, rank and singular values, all by the latter; "gels" and "gelsy" do not give them, "gels" takes
    the rank to be full."""
    a, b = broadcast_batch(xp, (a, 2), (b, 2))
    (m, n), k = a.shape[-2:], b.shape[-1]
    real, lead = dtype_in(xp, real_of(a.dtype)), a.shape[:-2]
    nothing = xp.zeros((*lead, min(m, n)), dtype=real, device=device_in(a))
    if not elements(a) or not elements(b):
        x = xp.zeros((*lead, n, k), dtype=a.dtype, device=device_in(a))
        rank = xp.zeros(lead, dtype=xp.int64, device=device_in(a))
        return x, xp.sum(real_part(xp, b * conjugate(xp, b)), axis=-2, dtype=real), rank, nothing
    u, s, vh = xp.linalg.svd(a, full_matrices=False)
    kept = s > (0.0 if driver == "gels" else rcond) * xp.max(s, axis=-1, keepdims=True)
    inverse = astype(xp, xp.where(kept, 1 / xp.where(kept, s, 1), 0), a.dtype)
    x = xp.matmul(adjoint(xp, vh), inverse[..., None] * xp.matmul(adjoint(xp, u), b))
    miss = b - xp.matmul(a, x)
    residual = xp.sum(real_part(xp, miss * conjugate(xp, miss)), axis=-2, dtype=real)
    rank = xp.sum(astype(xp, kept, xp.int64), axis=-1)
    return x, residual, rank, s if driver in ("gelsd", "gelss") else nothing


# ------------------------------------------------------------------------------------------ the exponential

# The numerator of the diagonal Padé approximant of order 13, lowest power first, and the norm below which it has double
# precision (Higham, 2005).
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_NEAR = 5.371920351148152


def expm(xp: Any, x: Any) -> Any:
    """By a rational approximation near zero, squared as often as the largest matrix of the batch needs."""
    if not elements(x):
        return xp.asarray(x, copy=True)
    finite = xp.all(xp.isfinite(x), axis=(-2, -1), keepdims=True)
    given = xp.where(finite, x, 0)
    size = float(xp.max(xp.sum(xp.abs(given), axis=-2)))
    squarings = max(0, math.ceil(math.log2(size / _NEAR))) if size > _NEAR else 0
    a = given * 0.5**squarings
    eye = identity(xp, x, x.shape[-1])
    a2 = xp.matmul(a, a)
    powers = [eye, a2]
    for _ in range(5):
        powers.append(xp.matmul(powers[-1], a2))
    odd, even = powers[0] * _PADE[1], powers[0] * _PADE[0]
    for i in range(1, 7):
        odd, even = odd + powers[i] * _PADE[2 * i + 1], even + powers[i] * _PADE[2 * i]
    odd = xp.matmul(a, odd)
    out = xp.linalg.solve(even - odd, even + odd)
    for _ in range(squarings):
        out = xp.matmul(out, out)
    return xp.where(finite, out, math.nan)
