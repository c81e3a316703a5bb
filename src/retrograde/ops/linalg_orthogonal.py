"""QR and the Householder vectors that it is made of. What linear algebra shares is in linalg.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend.dtypes import device_in
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import ndim_of, shape_of
from . import linalg_standard as standard
from .contraction import matmul
from .elementwise import subtract
from .kernels import matrices_numpy, widened
from .linalg import (
    adjoint,
    batch_matrices,
    half_diagonal,
    identity_like,
    lapack,
    over_batch,
    refuse,
    scalars,
    solve_triangular,
)
from .rules import conj, from_vjp, sum_tangents
from .samples import complex_normal, normal, sample, uniform
from .shapes import at_least, demand, leading, meeting
from .structural import concatenate, embed, getitem, stack
from .triangular import tril, triu

Getter = Callable[..., Any]

# ------------------------------------------------------------------------------------------ QR


@widened
def _qr_kernel(xp: Any, x: Any, *, mode: str) -> Any:
    q, r = xp.linalg.qr(x, mode="reduced" if mode == "r" else mode)
    return (xp.zeros((0,), dtype=x.dtype, device=device_in(x)) if mode == "r" else q), r


@matrices_numpy
def _qr_numpy(x: Any, *, mode: str) -> Any:
    if mode == "r":
        return np.zeros((0,), x.dtype), np.linalg.qr(x, mode="r")
    q, r = np.linalg.qr(x, mode=mode)
    return q, r


def _qr_pull(needs: Any, g: Any, out: Any, x_: Any, *, mode: str) -> Any:
    m, n = shape_of(x_)[-2:]
    if mode == "r":
        raise RuntimeError("qr: mode='r' does not compute Q, which the derivative needs; use mode='reduced'")
    if mode == "complete" and m > n:
        raise RuntimeError(
            f"qr: mode='complete' is not differentiable for {m} rows and {n} columns, since the last columns of Q are "
            "any basis of what is left; use mode='reduced'"
        )
    gq, gr = g
    if gq is None and gr is None:
        return (None,)
    q, r = out
    if m >= n:
        return (_qr_tall(gq, gr, q, r),)
    square, rest = (Ellipsis, slice(None, m)), (Ellipsis, slice(m, None))
    r1, r2 = getitem(r, index=square), getitem(r, index=rest)
    if gr is None:
        first = _qr_tall(gq, None, q, r1)
        return (concatenate(first, matmul(q, r2) * 0, axis=ndim_of(first) - 1),)
    gr1, gr2 = getitem(gr, index=square), getitem(gr, index=rest)
    gq = sum_tangents([gq, matmul(matmul(q, r2), adjoint(gr2))])
    first = _qr_tall(gq, gr1, q, r1)
    return (concatenate(first, matmul(q, gr2), axis=ndim_of(first) - 1),)


def _qr_tall(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    """Roberts and Roberts 2020, and Walter, Lehmann and Lamour 2012 for the complex case (R has a real diagonal)."""
    inner = sum_tangents([
        None if gr is None else matmul(gr, adjoint(r)),
        None if gq is None else -matmul(adjoint(q), gq),
    ])  # fmt: skip
    inner = triu(inner, k=0)
    total = sum_tangents([gq, matmul(q, (inner + adjoint(inner)) * half_diagonal(r))])
    return solve_triangular(adjoint(r), total, upper=False, left=False)


def _infer_qr(avals: Any, p: dict[str, Any]) -> Any:
    at_least(2, avals[0])
    (m, n), lead, dtype = avals[0].shape[-2:], avals[0].shape[:-2], avals[0].dtype
    k = m if p["mode"] == "complete" else min(m, n)
    return Aval((0,) if p["mode"] == "r" else (*lead, m, k), dtype), Aval((*lead, k, n), dtype)


def _batch_qr(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    out, where = batch_matrices(2)(op, arrays, dims, params)
    return out, (None, 0) if params["mode"] == "r" else where


_qr = primitive(
    "qr", kernel=_qr_kernel, numpy=_qr_numpy, vjp=_qr_pull, jvp=from_vjp, multi=True, batch=_batch_qr, infer=_infer_qr,
    samples=lambda: [sample(normal(3, 2), mode="reduced"), sample(normal(2, 2, 3), mode="reduced"),
                     sample(normal(2, 3), mode="complete"), sample(complex_normal(3, 2), mode="reduced"),
                     sample(complex_normal(2, 3), mode="reduced")],
)  # fmt: skip


def qr(x: Any, *, mode: str = "reduced") -> tuple[Any, Any]:
    """Unitary Q and upper triangular R with `q @ r = x`; Q is square if mode is 'complete', empty if it is 'r'."""
    return _qr(x, mode=mode)


# ------------------------------------------------------------------------------------------ Householder vectors


@matrices_numpy
def _geqrf_numpy(x: Any) -> Any:
    def one(a: np.ndarray) -> Any:
        return lapack("geqrf", a)(a)[:2] if a.size else (a, np.zeros(min(a.shape)))

    return over_batch(one, [(x, 2)], [(x.shape[-2:], x.dtype), ((min(x.shape[-2:]),), x.dtype)])


_GEQRF = ("geqrf", "use qr(), which has one")

# R above the diagonal, the Householder vectors (without their leading ones) below it; and their factors.
geqrf = primitive(
    "geqrf", kernel=widened(standard.geqrf), numpy=_geqrf_numpy, vjp=lambda needs, _g, _out, _x: refuse(*_GEQRF),
    jvp=lambda tangents, out, x: refuse(*_GEQRF), multi=True, batch=batch_matrices(2), tolerances={"gauge": True},
    infer=lambda avals, p: (avals[0], Aval((*leading((avals[0], 2)), min(avals[0].shape[-2:])), avals[0].dtype)),
    samples=lambda: [sample(normal(3, 2)), sample(complex_normal(2, 2, 3))],
)  # fmt: skip


def _reflect_array(v: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    return x - t[..., None, None] * (v @ (np.conj(v.swapaxes(-1, -2)) @ x))


def _reflections(a: Any, tau: Any, take: Getter, adjoint: bool) -> list[tuple[Any, Any, int]]:
    """Vector, factor and number of each reflection in the order in which a matrix meets them."""
    m, k = shape_of(a)[-2], shape_of(tau)[-1]
    vectors = tril(take(a, index=(Ellipsis, slice(None, k))), k=-1) + identity_like(a, m, k)
    order = range(k) if adjoint else range(k - 1, -1, -1)
    factors = conj(tau) if adjoint else tau
    return [(take(vectors, index=(Ellipsis, slice(i, i + 1))), take(factors, index=(Ellipsis, i)), i) for i in order]


def _reflect(v: Any, t: Any, x: Any) -> Any:
    return subtract(x, scalars(t) * matmul(v, matmul(adjoint(v), x)))


@widened
def _reflected_kernel(xp: Any, a: Any, tau: Any, c: Any, *, left: bool, adjoint: bool) -> Any:
    return standard.reflected(xp, a, tau, c, left, adjoint)


@matrices_numpy
def _reflected_numpy(a: Any, tau: Any, c: Any, *, left: bool, adjoint: bool) -> Any:
    if not left:
        c, adjoint = np.conj(c.swapaxes(-1, -2)), not adjoint
    if not tau.shape[-1]:  # the identity, for each of the matrices that the operands together make
        c = np.array(np.broadcast_to(c, (*np.broadcast_shapes(a.shape[:-2], tau.shape[:-1], c.shape[:-2]), *c.shape[-2:])))
    for v, t, _ in _reflections(a, tau, lambda x, *, index: x[index], adjoint):
        c = _reflect_array(v, t, c)
    return c if left else np.conj(c.swapaxes(-1, -2))


def _reflected_pull(needs: Any, g: Any, a: Any, tau: Any, c: Any, left: bool, adjoint_first: bool) -> Any:
    """The cotangents of vectors, factors and matrix: each reflection `x - t v v' x` in turn, last one first."""
    through = needs[0] or needs[1]  # what the matrix is on its way: without that, c is not there
    if not left:
        g, c, adjoint_first = adjoint(g), adjoint(c) if through else c, not adjoint_first
    steps = _reflections(a, tau, getitem, adjoint_first)
    seen = []
    for v, t, _ in steps:
        seen.append(c)
        c = _reflect(v, t, c) if through else c
    gv: list[Any] = [None] * len(steps)
    gt: list[Any] = [None] * len(steps)
    for (v, t, i), x in zip(reversed(steps), reversed(seen)):
        if through:
            xv, gxv = matmul(adjoint(x), v), matmul(adjoint(g), v)
        if needs[0]:
            gv[i] = -(scalars(conj(t)) * matmul(g, xv) + scalars(t) * matmul(x, gxv))
        if needs[1]:
            change = getitem(matmul(adjoint(gxv), xv), index=(Ellipsis, 0, 0))
            gt[i] = -(conj(change) if adjoint_first else change)
        g = _reflect(v, conj(t), g)
    ga = gtau = None
    if needs[0] and steps:
        lower = tril(concatenate(*gv, axis=ndim_of(a) - 1), k=-1)
        shape = (*shape_of(lower)[:-2], *shape_of(a)[-2:])
        ga = embed(lower, shape=shape, index=(Ellipsis, slice(None, len(steps))))
    if needs[1] and steps:
        gtau = stack(*gt, axis=ndim_of(gt[0]))
    return ga, gtau, (g if left else adjoint(g)) if needs[2] else None


@widened
def _householder_kernel(xp: Any, a: Any, tau: Any) -> Any:
    return standard.reflected(xp, a, tau, standard.identity(xp, a, *a.shape[-2:]), True, False)


@matrices_numpy
def _householder_numpy(a: Any, tau: Any) -> Any:
    return _reflected_numpy(a, tau, np.eye(*a.shape[-2:], dtype=a.dtype), left=True, adjoint=False)


def _householder_pull(needs: Any, g: Any, _out: Any, a: Any, tau: Any) -> Any:
    start = identity_like(a, shape_of(a)[-2], shape_of(a)[-1])
    return _reflected_pull((*needs, False), g, a, tau, start, True, False)[:2]


def _reflector_samples() -> Any:
    yield normal(3, 2), uniform(0.5, 1.5, 2)
    yield normal(2, 3, 3), uniform(0.5, 1.5, 2, 2)
    yield complex_normal(3, 2), uniform(0.5, 1.5, 2) + 0.3j
    yield normal(3, 2), uniform(0.5, 1.5, 2)[:0]


def _check_vectors(a: Aval, tau: Aval) -> None:
    demand(tau.shape[-1] <= a.shape[-1], f"{tau.shape[-1]} factors for the {a.shape[-1]} columns of {tuple(a.shape)}")


def _infer_product(avals: Any, p: dict[str, Any]) -> Aval:
    a, tau = avals
    lead = leading((a, 2), (tau, 1))
    _check_vectors(a, tau)
    return Aval((*lead, *a.shape[-2:]), a.dtype)


# The first columns of the product of the reflections `1 - tau v v'`, vectors below the diagonal of `a`.
householder_product = primitive(
    "householder_product", kernel=_householder_kernel, numpy=_householder_numpy, vjp=_householder_pull, jvp=from_vjp,
    batch=batch_matrices(2, 1), infer=_infer_product,
    samples=lambda: [sample(a, tau) for a, tau in _reflector_samples()],
)  # fmt: skip


def _infer_reflected(avals: Any, p: dict[str, Any]) -> Aval:
    a, tau, c = avals
    lead = leading((a, 2), (tau, 1), (c, 2))
    _check_vectors(a, tau)
    meeting(a, c, -2, -2 if p["left"] else -1)
    return Aval((*lead, *c.shape[-2:]), c.dtype)


def _multiply_samples() -> Any:
    for i, (a, tau) in enumerate(_reflector_samples()):
        c = (complex_normal if a.dtype.kind == "c" else normal)(*a.shape[:-2], 3, 2, seed=4)
        yield sample(a, tau, c, left=True, adjoint=i == 2)
        yield sample(a, tau, c.swapaxes(-1, -2), left=False, adjoint=i == 0)


_householder_multiply = primitive(
    "householder_multiply", kernel=_reflected_kernel, numpy=_reflected_numpy, saves={"c": ["a", "tau"]},
    vjp=lambda needs, g, _out, a, tau, c, *, left, adjoint: _reflected_pull(needs, g, a, tau, c, left, adjoint),
    jvp=from_vjp, batch=batch_matrices(2, 1, 2), infer=_infer_reflected, samples=_multiply_samples,
)  # fmt: skip


def householder_multiply(a: Any, tau: Any, c: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """`q @ c` (`c @ q` unless `left`) for the whole unitary matrix q (or its adjoint) that the reflections make."""
    return _householder_multiply(a, tau, c, left=left, adjoint=adjoint)


