"""Eigenvalues and singular values. Their derivatives are those of gauge-invariant functions of the vectors.

Vectors are unique up to a phase (and within the space of equal values): a function that depends on more than that has
no derivative. Equal values divide by zero, as in PyTorch, unless only the values' own cotangent is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import UnsupportedError
from ..backend.dtypes import complex_of, real_of
from ..core.aval import Aval
from ..core.bind import recorded
from ..core.primitive import primitive
from ..core.value import Value, dtype_of, shape_of
from . import decompositions
from . import linalg_standard as standard
from .contraction import matmul
from .kernels import matrices_numpy, widened
from .linalg import (
    adjoint,
    batch_matrices,
    column,
    hermitian_part,
    identity_like,
    positive_definite,
    row,
    solve,
)
from .reduction import sum as reduce_sum
from .rules import conj, from_vjp, infer_bool, nondifferentiable, sum_tangents
from .samples import complex_normal, normal, sample
from .shapes import at_least, leading, square
from .structural import cast, getitem, imag, real

# ------------------------------------------------------------------------------------------ shared by the rules


def _phase_kernel(xp: Any, x: Any, size: Any, *, op: str) -> Any:
    turned = xp.abs(x) > 1e-2 + 1e-2 * xp.abs(size)
    if bool(xp.any(turned)):
        raise RuntimeError(
            f"{op}: the vectors of a complex matrix are unique up to a phase only, and the function that is being "
            "differentiated depends on it; make it independent of the phases (absolute values, products v v^H)"
        )
    return turned


# Raises RuntimeError where the part of a cotangent that turns the phases of vectors is not zero; the result is unused.
_phase_check = nondifferentiable(
    "phase_check", kernel=_phase_kernel, infer=infer_bool,
    samples=lambda: [sample(np.zeros(3), np.ones(3), op="sample")],
)  # fmt: skip


def _column_products(x: Any, y: Any) -> Any:
    """The inner products of corresponding columns, conjugating the first."""
    return reduce_sum(conj(x) * y, axis=(len(shape_of(y)) - 2,), keepdims=False)


def _check_phases(op: str, *pairs: tuple[Any, Any]) -> None:
    """Check that the imaginary parts of the diagonals of v^H gv add up to nothing."""
    total = sum_tangents([_column_products(v, g) for v, g in pairs])
    _phase_check(imag(total), real(total), op=op)


def _differences(values: Any) -> Any:
    """value_j - value_i at [i, j]; ones on the diagonal."""
    n = shape_of(values)[-1]
    return row(values) - column(values) + identity_like(values, n, dtype=real_of(dtype_of(values)))


def _without_diagonal(x: Any) -> Any:
    return x - x * identity_like(x, shape_of(x)[-1], dtype=real_of(dtype_of(x)))


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _with_vectors(x: Any) -> bool:
    """Whether an operation that gives values only computes the vectors with them, which its derivative needs: on the everyday
    tape. Values alone take half of the time, and then both again in the backward pass (100x100: a third of it all)."""
    return isinstance(x, Value) and x._level == 0 and recorded(x)


def _infer_values(avals: Any, dtype: Any) -> Aval:
    square(avals[0])
    return Aval(avals[0].shape[:-1], dtype(avals[0].dtype))


# ------------------------------------------------------------------------------------------ Hermitian matrices


@widened
def _eigh_kernel(xp: Any, x: Any, *, upper: bool) -> Any:
    return tuple(xp.linalg.eigh(_from_triangle(xp, x, upper)))


def _from_triangle(xp: Any, x: Any, upper: bool) -> Any:
    """The Hermitian matrices of which one triangle is read."""
    strict = xp.triu(x, k=1) if upper else xp.tril(x, k=-1)
    diagonal = standard.real_part(xp, xp.linalg.diagonal(x))[..., None] * standard.identity(xp, x, x.shape[-1])
    return strict + standard.adjoint(xp, strict) + diagonal


@matrices_numpy
def _eigh_numpy(x: Any, *, upper: bool) -> Any:
    found = decompositions.eigh(x, upper=upper)
    if found is None:
        w, v = np.linalg.eigh(x, UPLO="U" if upper else "L")
        return w, v
    return found


def _eigh_pull(needs: Any, g: Any, out: Any, _x: Any, *, upper: bool) -> Any:
    gw, gv = g
    w, v = out
    if gv is None:
        return (None if gw is None else matmul(v * row(gw), adjoint(v)),)
    inner = matmul(adjoint(v), gv)
    if dtype_of(v).kind == "c":
        _check_phases("eigh", (v, gv))
    inner = _skew(inner) / (2 * _differences(w))
    if gw is not None:
        inner = inner + row(gw) * identity_like(w, shape_of(w)[-1])
    return (matmul(matmul(v, inner), adjoint(v)),)


eigh_both = primitive(
    "eigh", kernel=_eigh_kernel, numpy=_eigh_numpy, vjp=_eigh_pull, jvp=from_vjp, multi=True, batch=batch_matrices(2),
    infer=lambda avals, p: (_infer_values(avals, real_of), avals[0]),
    tolerances={"gauge": True},
    samples=lambda: [sample(positive_definite(3, 3), upper=False), sample(positive_definite(2, 2, 2), upper=True)],
)  # fmt: skip


def eigh(x: Any, *, upper: bool = False) -> tuple[Any, Any]:
    """Ascending eigenvalues and orthonormal eigenvectors (columns) of Hermitian matrices; one triangle is read."""
    return eigh_both(x, upper=upper)


def _eigvalsh_pull(g: Any, x: Any, upper: bool) -> Any:
    _, v = eigh(x, upper=upper)
    return matmul(v * row(g), adjoint(v))


def _eigvalsh_push(tangents: Any, out: Any, x: Any, *, upper: bool) -> Any:
    _, v = eigh(x, upper=upper)
    return real(_column_products(v, matmul(tangents[0], v)))


_eigvalsh = primitive(
    "eigvalsh", kernel=widened(lambda xp, x, *, upper: xp.linalg.eigvalsh(_from_triangle(xp, x, upper))),
    numpy=matrices_numpy(lambda x, *, upper: np.linalg.eigvalsh(x, UPLO="U" if upper else "L")),
    vjps=[lambda g, _out, x, *, upper: _eigvalsh_pull(g, x, upper)], jvp=_eigvalsh_push, batch=batch_matrices(2),
    infer=lambda avals, p: _infer_values(avals, real_of),
    tolerances={"direction": lambda d, j: hermitian_part(d)},
    samples=lambda: [sample(positive_definite(3, 3), upper=False), sample(positive_definite(2, 2, 2), upper=True),
                     sample(positive_definite(3, 3, complex_too=True), upper=False)],
)  # fmt: skip


def eigvalsh(x: Any, *, upper: bool = False) -> Any:
    """The eigenvalues of Hermitian matrices in ascending order."""
    if _with_vectors(x):
        return eigh(x, upper=upper)[0]
    return _eigvalsh(x, upper=upper)


# ------------------------------------------------------------------------------------------ general matrices


@widened
def _eig_kernel(xp: Any, x: Any) -> Any:
    w, v = _general(xp, "eig")(x)
    return w, v


def _general(xp: Any, name: str) -> Any:
    """A function of the standard of 2025; raises UnsupportedError for a library that follows an older one."""
    found = getattr(xp.linalg, name, None)
    if found is None:
        raise UnsupportedError(f"{name}: {xp.__name__} has no eigenvalues of general matrices; convert to NumPy with numpy()")
    return found


@matrices_numpy
def _eig_numpy(x: Any) -> Any:
    w, v = np.linalg.eig(x)
    wanted = complex_of(x.dtype)
    return w.astype(wanted, copy=False), v.astype(wanted, copy=False)


def _eig_pull(needs: Any, g: Any, out: Any, _x: Any) -> Any:
    gw, gv = g
    w, v = out
    n = shape_of(w)[-1]
    if gv is None:
        if gw is None:
            return (None,)
        return (solve(adjoint(v), column(gw) * adjoint(v)),)
    # Boeddeker et al. 2017, with the vectors' norms held at one.
    _check_phases("eig", (v, gv))
    inner = matmul(adjoint(v), gv) - matmul(adjoint(v), v * row(real(_column_products(v, gv))))
    inner = _without_diagonal(inner) / conj(_differences(w))
    if gw is not None:
        inner = inner + row(gw) * identity_like(w, n, dtype=real_of(dtype_of(w)))
    return (solve(adjoint(v), matmul(inner, adjoint(v))),)


eig = primitive(
    "eig", kernel=_eig_kernel, numpy=_eig_numpy, vjp=_eig_pull, jvp=from_vjp, multi=True, batch=batch_matrices(2),
    infer=lambda avals, p: (_infer_values(avals, complex_of),
                            Aval(avals[0].shape, complex_of(avals[0].dtype))),
    tolerances={"gauge": True},
    samples=lambda: [sample(normal(3, 3)), sample(complex_normal(2, 2, 2))],
)  # fmt: skip


def _eigvals_pull(g: Any, x: Any) -> Any:
    _, v = eig(x)
    return solve(adjoint(v), column(g) * adjoint(v))


def _eigvals_push(tangents: Any, out: Any, x: Any) -> Any:
    _, v = eig(x)
    t = cast(tangents[0], dtype=complex_of(dtype_of(x)))
    left = adjoint(solve(v, identity_like(v, shape_of(x)[-1])))
    return _column_products(left, matmul(t, v))


eigvals = primitive(
    "eigvals", kernel=widened(lambda xp, x: _general(xp, "eigvals")(x)),
    numpy=matrices_numpy(lambda x: np.linalg.eigvals(x).astype(complex_of(x.dtype), copy=False)),
    vjps=[lambda g, _out, x: _eigvals_pull(g, x)], jvp=_eigvals_push, batch=batch_matrices(2),
    infer=lambda avals, p: _infer_values(avals, complex_of),
    samples=lambda: [sample(np.diag([1.0, 2.0, 4.0]) + normal(3, 3) / 4), sample(complex_normal(2, 2, 2)),
                     sample(normal(2, 2, seed=3))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ singular values


@widened
def _svd_kernel(xp: Any, x: Any, *, full: bool) -> Any:
    return tuple(xp.linalg.svd(x, full_matrices=full))


@matrices_numpy
def _svd_numpy(x: Any, *, full: bool) -> Any:
    found = decompositions.svd(x, full=full)
    if found is None:
        u, s, vh = np.linalg.svd(x, full_matrices=full)
        return u, s, vh
    return found


def _svd_pull(needs: Any, g: Any, out: Any, _x: Any, *, full: bool) -> Any:
    gu, gs, gvh = g
    u, s, vh = out
    if gu is None and gs is None and gvh is None:
        return (None,)
    m, n, k = shape_of(u)[-2], shape_of(vh)[-1], shape_of(s)[-1]
    if full:  # the vectors beyond the singular values are any basis of the rest: nothing can depend on them
        columns, rows = (Ellipsis, slice(None, k)), (Ellipsis, slice(None, k), slice(None))
        u, vh = getitem(u, index=columns), getitem(vh, index=rows)
        gu = None if gu is None else getitem(gu, index=columns)
        gvh = None if gvh is None else getitem(gvh, index=rows)
    if gu is None and gvh is None:
        return (matmul(u * row(gs), vh) if m >= n else matmul(u, column(gs) * vh),)
    is_complex = dtype_of(u).kind == "c"
    eye = identity_like(u, k, dtype=real_of(dtype_of(u)))
    if is_complex:
        pairs = [] if gu is None else [(u, gu)]
        pairs += [] if gvh is None else [(adjoint(vh), adjoint(gvh))]
        _check_phases("svd", *pairs)
    gaps = (row(s) - column(s)) * (row(s) + column(s)) + eye  # s_j^2 - s_i^2
    skew_u = None if gu is None else _skew(matmul(adjoint(u), gu))
    skew_v = None if gvh is None else _skew(matmul(vh, adjoint(gvh)))
    inner = sum_tangents([
        None if skew_u is None else skew_u * row(s),
        None if skew_v is None else column(s) * skew_v,
    ]) / gaps  # fmt: skip
    inner = _without_diagonal(inner) if is_complex else inner
    if gs is not None:
        inner = inner + row(gs) * eye
    if is_complex and gu is not None and gvh is not None:
        inner = inner + row(1j * imag(_column_products(u, gu)) / s) * eye
    if m > k and gu is not None:
        scaled = gu / row(s)
        left = matmul(u, inner) + scaled - matmul(u, matmul(adjoint(u), scaled))
        return (matmul(left, vh),)
    if n > k and gvh is not None:
        scaled = gvh / column(s)
        right = matmul(inner, vh) + scaled - matmul(matmul(scaled, adjoint(vh)), vh)
        return (matmul(u, right),)
    return (matmul(matmul(u, inner), vh) if m >= n else matmul(u, matmul(inner, vh)),)


def _infer_svd(avals: Any, p: dict[str, Any]) -> Any:
    at_least(2, avals[0])
    (m, n), lead, dtype = avals[0].shape[-2:], avals[0].shape[:-2], avals[0].dtype
    k = min(m, n)
    return (Aval((*lead, m, m if p["full"] else k), dtype), Aval((*lead, k), real_of(dtype)),
            Aval((*lead, n if p["full"] else k, n), dtype))  # fmt: skip


_svd = primitive(
    "svd", kernel=_svd_kernel, numpy=_svd_numpy, vjp=_svd_pull, jvp=from_vjp, multi=True, batch=batch_matrices(2),
    infer=_infer_svd,
    tolerances={"gauge": True},
    samples=lambda: [sample(normal(3, 2), full=True), sample(complex_normal(2, 2, 3), full=False)],
)  # fmt: skip


def svd(x: Any, *, full: bool = True) -> tuple[Any, Any, Any]:
    """U, the singular values in descending order, and the adjoint of V, with `u @ diag(s) @ vh = x`; U and V are square
    if `full`, else they have as many vectors as there are singular values."""
    return _svd(x, full=full)


def _svdvals_pull(g: Any, x: Any) -> Any:
    u, _, vh = svd(x, full=False)
    return matmul(u, column(g) * vh)


def _svdvals_push(tangents: Any, out: Any, x: Any) -> Any:
    u, _, vh = svd(x, full=False)
    return real(_column_products(u, matmul(tangents[0], adjoint(vh))))


_svdvals = primitive(
    "svdvals", kernel=widened(lambda xp, x: xp.linalg.svdvals(x)),
    numpy=matrices_numpy(lambda x: np.linalg.svd(x, compute_uv=False)),
    vjps=[lambda g, _out, x: _svdvals_pull(g, x)], jvp=_svdvals_push, batch=batch_matrices(2),
    infer=lambda avals, p: Aval((*leading((avals[0], 2)), min(avals[0].shape[-2:])), real_of(avals[0].dtype)),
    samples=lambda: [sample(normal(3, 3)), sample(normal(2, 2, 3)), sample(complex_normal(3, 2))],
)  # fmt: skip


def svdvals(x: Any) -> Any:
    """The singular values in descending order."""
    return svd(x, full=False)[1] if _with_vectors(x) else _svdvals(x)
