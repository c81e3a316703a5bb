"""Low-rank approximations of matrices by random projections (Halko, Martinsson and Tropp, 2009)."""

from __future__ import annotations

from typing import Any

from ...core.value import dtype_of, shape_of
from ...ops import linalg_orthogonal as orth
from ...ops import linalg_spectral as spectral
from ._api import api
from ._arithmetic import matmul
from ._promote import single
from ._tensor import from_array
from .random import normal_array


@api(function=False)
def svd_lowrank(x: Any, q: int | None = None, niter: int = 2, M: Any = None, name: Any = None) -> Any:
    """U, S and V of an approximation of rank q (6 at most, if not given) to x, or to x - M."""
    x = single("svd_lowrank", x)
    m, n = shape_of(x)[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"svd_lowrank: q must lie between 0 and {min(m, n)}, got {q}")
    if M is not None:
        x = x - M
    wide = m < n
    a = x.mT if wide else x
    omega = from_array(normal_array((shape_of(a)[-1], q), dtype_of(x)))
    basis, _ = orth.qr(matmul(a, omega), mode="reduced")
    for _ in range(niter):
        basis, _ = orth.qr(matmul(a.mT, basis), mode="reduced")
        basis, _ = orth.qr(matmul(a, basis), mode="reduced")
    u, s, vh = spectral.svd(matmul(basis.mT, a), full=False)
    u, v = matmul(basis, u), vh.mT
    return (v, s, u) if wide else (u, s, v)


@api(function=False)
def pca_lowrank(x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: Any = None) -> Any:
    """The principal components of rows of observations: U, S and V of `svd_lowrank` of the centred data."""
    x = single("pca_lowrank", x)
    q = min(6, *shape_of(x)[-2:]) if q is None else q
    return svd_lowrank(x - x.mean(-2, True) if center else x, q, niter)
