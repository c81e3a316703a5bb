"""NumPy's linear algebra, statistics of several variables, convolutions and Fourier transforms on Tensors."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from ..core.value import dtype_of, shape_of
from ..ops import linalg_spectral as spectral
from ..ops import manipulation as mani
from ..ops import norms
from ..ops import structural as st
from . import contraction, fft, linalg, manipulation, reductions
from ._values import axis_of, rank
from .conversion import value
from .covariances import correlations, covariance
from .numpy_protocol import implements, same
from .numpy_shapes import atleast_1d, diagonal
from .promotion import double

same(contraction, "dot einsum inner kron tensordot")
same(linalg, "cholesky cond cross det diagonal eig eigvals inv matmul matrix_norm matrix_power multi_dot norm outer", "linalg.")
same(linalg, "qr slogdet solve svd svdvals tensordot trace vecdot vector_norm", "linalg.")
same(fft, "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn irfftn fftshift ifftshift", "fft.")

# ------------------------------------------------------------------------------------------ products

implements("outer")(lambda a, b: contraction.outer(manipulation.flatten(a), manipulation.flatten(b)))
implements("vdot")(lambda a, b: contraction.vecdot(manipulation.flatten(a), manipulation.flatten(b)))


@implements("cross")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = value(a), value(b)
    x = manipulation.moveaxis(x, axis_of("cross", axisa, rank(x)), -1)
    y = manipulation.moveaxis(y, axis_of("cross", axisb, rank(y)), -1)
    return manipulation.moveaxis(linalg.cross(x, y), -1, axisc)


@implements("trace")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    return reductions.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


# ------------------------------------------------------------------------------------------ decompositions


def _upper(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO is 'L' or 'U', not {UPLO!r}")
    return UPLO.upper() == "U"


implements("linalg.eigh")(lambda a, UPLO="L": linalg.EighResult(*spectral.eigh(double(value(a)), upper=_upper(UPLO))))

implements("linalg.eigvalsh")(lambda a, UPLO="L": spectral.eigvalsh(double(value(a)), upper=_upper(UPLO)))

implements("linalg.pinv", rcond="rtol")(lambda a, rtol=1e-15: linalg.pinv(a, rtol=rtol))


@implements("linalg.matrix_rank")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, rtol: Any = None) -> Any:
    x = double(value(A))
    if rank(x) < 2:
        return int(reductions.any(x))
    if tol is None:
        return linalg.matrix_rank(x, rtol=rtol)
    real = np.zeros((), dtype_of(x)).real.dtype
    return norms.matrix_rank(x, atol=np.asarray(tol, real), rtol=np.zeros((), real), hermitian=hermitian)


_LstsqResult = namedtuple("_LstsqResult", "x residuals rank s")


@implements("linalg.lstsq")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, residuals, found, s = linalg.lstsq(a, b, rtol=rcond)
    count = int(found.item())
    m, n = shape_of(a)
    if count < n or m <= n:
        residuals = st.getitem(residuals, index=(slice(0, 0),))
    return _LstsqResult(x, residuals, count, s)


# ------------------------------------------------------------------------------------------ statistics, convolution


@implements("cov")
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    parts = [double(value(x)) for x in (m, y) if x is not None]
    rows = manipulation.concat([
        manipulation.reshape(x, (1, -1)) if rank(x) != 2 else x if rowvar else manipulation.matrix_transpose(x) for x in parts
    ])  # fmt: skip
    products, freedom = covariance(rows, correction=ddof if ddof is not None else 1 - bias)
    return manipulation.squeeze(products / freedom)


@implements("corrcoef")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    return correlations(cov(x, y, rowvar))


implements("convolve")(lambda a, v, mode="full": _sliding(a, v, mode, flip=True))
implements("correlate")(lambda a, v, mode="valid": _sliding(a, st.conj(value(v)), mode, flip=False))


def _sliding(a: Any, v: Any, mode: str, *, flip: bool) -> Any:
    """The products of a vector with another that slides over it."""
    a, v = contraction.in_common(*atleast_1d(a, v))
    m, n = shape_of(a)[0], shape_of(v)[0]
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode is 'full', 'same' or 'valid', not {mode!r}")
    swapped = n > m
    if swapped:
        a, v, m, n = v, a, n, m
    edge = n - 1 if mode != "valid" else 0
    padded = mani.pad_constant(a, widths=((edge, edge),), value=0)
    windows = mani.sliding_windows(padded, axis=0, size=n, step=1, dilation=1)
    found = contraction.matmul(windows, mani.flip(v, axes=(0,)) if flip else v)
    if swapped and not flip:
        found = mani.flip(found, axes=(0,))
    if mode == "same":
        start = (n - 1) // 2 if flip or not swapped else n // 2
        found = st.getitem(found, index=(slice(start, start + m),))
    return found


@implements("polyval")
def polyval(p: Any, x: Any) -> Any:
    x = value(x)
    y: Any = 0.0 * x
    for c in manipulation.unstack(p):
        y = y * x + c
    return y


# ------------------------------------------------------------------------------------------ Fourier transforms in two axes


def _of_planes(transform: Any) -> Any:
    return lambda a, s=None, axes=(-2, -1), norm="backward": transform(a, s=s, axes=axes, norm=norm)


for _name in ("fft", "ifft", "rfft", "irfft"):
    implements(f"fft.{_name}2")(_of_planes(getattr(fft, f"{_name}n")))
