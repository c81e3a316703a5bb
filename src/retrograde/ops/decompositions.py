"""LAPACK's decompositions of NumPy's arrays, called as `np.linalg` calls them but for what it asks first.

That takes 2.4 to 3.3 µs, for a matrix of two rows longer than LAPACK. None is returned for what is left to `np.linalg`: other
dtypes, and what fails, so that its error comes. LAPACK computes in double precision, of single ones too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.numpy import Silent

gufuncs: Any = getattr(np.linalg, "_umath_linalg", None)
"""What `np.linalg` calls, if it is where NumPy 2 has it."""
_WIDE = {"f": ("d", np.dtype("f")), "d": ("d", np.dtype("d")), "F": ("D", np.dtype("f")), "D": ("D", np.dtype("d"))}
"""In what a dtype is computed, and the dtype of its real numbers."""
if gufuncs is None:
    _WIDE.clear()


def cholesky(x: np.ndarray, *, upper: bool) -> np.ndarray | None:
    """The triangular factors of positive definite matrices."""
    wide, _ = _WIDE.get(x.dtype.char, _OTHER)
    if wide is None or not x.size:
        return None
    with Silent():
        out = (gufuncs.cholesky_up if upper else gufuncs.cholesky_lo)(x, signature=f"{wide}->{wide}")
    return out.astype(x.dtype, copy=False) if _sound(out[..., -1, -1]) else None


def eigh(x: np.ndarray, *, upper: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Eigenvalues and vectors of Hermitian matrices."""
    wide, real = _WIDE.get(x.dtype.char, _OTHER)
    if wide is None or not x.size:
        return None
    with Silent():
        w, v = (gufuncs.eigh_up if upper else gufuncs.eigh_lo)(x, signature=f"{wide}->d{wide}")
    return (w.astype(real, copy=False), v.astype(x.dtype, copy=False)) if _sound(w[..., -1]) else None


def svd(x: np.ndarray, *, full: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The left vectors, the singular values and the adjoint of the right vectors."""
    wide, real = _WIDE.get(x.dtype.char, _OTHER)
    if wide is None or not x.size:
        return None
    with Silent():
        u, s, vh = (gufuncs.svd_f if full else gufuncs.svd_s)(x, signature=f"{wide}->{wide}d{wide}")
    if not _sound(s[..., -1]):
        return None
    return u.astype(x.dtype, copy=False), s.astype(real, copy=False), vh.astype(x.dtype, copy=False)


_OTHER: Any = None, None


def _sound(last: Any) -> bool:
    """Whether none of the last elements of results is nan, as all elements of what failed are."""
    return bool((last == last) if last.ndim == 0 else (last == last).all())
