"""Orthogonal polynomials of array degree, by their three-term recurrences (DLMF 18.9). No derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend.dtypes import astype, is_floating
from .kernels import elements, widened
from .rules import infer_elementwise, nondifferentiable
from .samples import sample, uniform

Step = Callable[[Any, int], tuple[Any, float]]


def _polynomial(name: str, first: Callable[[Any], Any], step: Step, shifted: bool = False) -> Any:
    """p_0 = 1, p_1 = first(x), p_(k+1) = a p_k - b p_(k-1) with (a, b) = step(x, k); 0 for a negative degree and for one
    that is no number.

    `shifted`: the polynomial of 2x - 1.
    """

    @widened
    def kernel(xp: Any, x: Any, n: Any) -> Any:
        x, degree = xp.broadcast_arrays(x, xp.trunc(xp.where(xp.isfinite(n), n, -1)) if is_floating(n) else n)
        if shifted:
            x = 2 * x - 1
        highest = int(xp.max(degree)) if elements(degree) else -1
        before, current = xp.zeros_like(x), xp.ones_like(x)
        out = xp.zeros_like(x)
        for k in range(highest + 1):
            out = xp.where(degree == k, current, out)
            if k == 0:
                before, current = current, first(x)
            else:
                a, b = step(x, k)
                before, current = current, a * current - b * before
        return astype(xp, out, x.dtype)

    return nondifferentiable(
        name, kernel=kernel, infer=infer_elementwise,
        samples=lambda: [sample(uniform(-0.9, 0.9, 3), np.array([0.0, 1.0, 5.0])),
                         sample(uniform(0.1, 0.9), np.array(3.0))],
    )  # fmt: skip


def _chebyshev(x: Any, k: int) -> tuple[Any, float]:
    return 2 * x, 1


chebyshev_t = _polynomial("chebyshev_t", lambda x: x, _chebyshev)
chebyshev_u = _polynomial("chebyshev_u", lambda x: 2 * x, _chebyshev)
chebyshev_v = _polynomial("chebyshev_v", lambda x: 2 * x - 1, _chebyshev)
chebyshev_w = _polynomial("chebyshev_w", lambda x: 2 * x + 1, _chebyshev)
shifted_chebyshev_t = _polynomial("shifted_chebyshev_t", lambda x: x, _chebyshev, shifted=True)
shifted_chebyshev_u = _polynomial("shifted_chebyshev_u", lambda x: 2 * x, _chebyshev, shifted=True)
shifted_chebyshev_v = _polynomial("shifted_chebyshev_v", lambda x: 2 * x - 1, _chebyshev, shifted=True)
shifted_chebyshev_w = _polynomial("shifted_chebyshev_w", lambda x: 2 * x + 1, _chebyshev, shifted=True)
hermite_h = _polynomial("hermite_h", lambda x: 2 * x, lambda x, k: (2 * x, 2 * k))
hermite_he = _polynomial("hermite_he", lambda x: x, lambda x, k: (x, k))
laguerre_l = _polynomial("laguerre_l", lambda x: 1 - x, lambda x, k: ((2 * k + 1 - x) / (k + 1), k / (k + 1)))
legendre_p = _polynomial("legendre_p", lambda x: x, lambda x, k: ((2 * k + 1) / (k + 1) * x, k / (k + 1)))
