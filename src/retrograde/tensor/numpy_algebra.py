"""NumPy's linear algebra and Fourier transforms on Tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.value import dtype_of, shape_of
from ..ops import linalg_orthogonal as orth
from ..ops import linalg_spectral as spectral
from ..ops import norms
from ..ops import structural as st
from . import contraction, fft, linalg, manipulation, reductions
from ._values import axis_of, rank
from .conversion import value
from .numpy_protocol import implements, unsupported
from .numpy_shapes import diagonal as diagonal_of
from .promotion import double

# ------------------------------------------------------------------------------------------ products

implements("kron")(contraction.kron)
for _name in ("det", "eig", "eigvals", "inv", "slogdet", "multi_dot", "svdvals", "matmul", "vecdot", "solve", "outer"):
    implements(f"linalg.{_name}")(getattr(linalg, _name))


@implements("dot")
def dot(a: Any, b: Any, out: Any = None) -> Any:
    return contraction.dot(a, b)


@implements("inner")
def inner(a: Any, b: Any) -> Any:
    return contraction.inner(a, b)


@implements("outer")
def outer(a: Any, b: Any, out: Any = None) -> Any:
    return contraction.outer(manipulation.flatten(a), manipulation.flatten(b))


@implements("vdot")
def vdot(a: Any, b: Any, /) -> Any:
    return contraction.vecdot(manipulation.flatten(a), manipulation.flatten(b))


@implements("tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return contraction.tensordot(a, b, axes=axes)


@implements("linalg.tensordot")
def linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return contraction.tensordot(x1, x2, axes=axes)


@implements("einsum")
def einsum(*operands: Any, out: Any = None, optimize: Any = False) -> Any:
    if not isinstance(operands[0], str):
        raise unsupported("np.einsum with labels in place of subscripts")
    return contraction.einsum(*operands)


@implements("cross")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = value(a), value(b)
    x = manipulation.moveaxis(x, axis_of("cross", axisa, rank(x)), -1)
    y = manipulation.moveaxis(y, axis_of("cross", axisb, rank(y)), -1)
    return manipulation.moveaxis(linalg.cross(x, y), -1, axisc)


@implements("linalg.cross")
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return linalg.cross(x1, x2, axis=axis)


@implements("trace")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return reductions.sum(diagonal_of(a, offset, axis1, axis2), axis=-1, dtype=dtype)


@implements("linalg.trace")
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return linalg.trace(x, offset=offset, dtype=dtype)


@implements("linalg.diagonal")
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return linalg.diagonal(x, offset=offset)


# ------------------------------------------------------------------------------------------ decompositions


def _upper(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO is 'L' or 'U', not {UPLO!r}")
    return UPLO.upper() == "U"


@implements("linalg.eigh")
def eigh(a: Any, UPLO: str = "L") -> Any:
    return linalg.EighResult(*spectral.eigh(double(value(a)), upper=_upper(UPLO)))


@implements("linalg.eigvalsh")
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return spectral.eigvalsh(double(value(a)), upper=_upper(UPLO))


@implements("linalg.cholesky")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return linalg.cholesky(a, upper=upper)


@implements("linalg.qr")
def qr(a: Any, mode: str = "reduced") -> Any:
    if mode == "r":
        return orth.qr(double(value(a)), mode="r")[1]
    if mode == "raw":
        raise unsupported("np.linalg.qr(mode='raw')")
    return linalg.qr(a, mode=mode)


@implements("linalg.svd")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if hermitian:
        raise unsupported("np.linalg.svd(hermitian=True)")
    return linalg.svd(a, full_matrices=full_matrices) if compute_uv else linalg.svdvals(a)


@implements("linalg.pinv")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if hermitian:
        raise unsupported("np.linalg.pinv(hermitian=True)")
    if rcond is None and rtol is None:
        rtol = 1e-15
    return linalg.pinv(a, rtol=rcond if rtol is None else rtol)


@implements("linalg.matrix_power")
def matrix_power(a: Any, n: int) -> Any:
    return linalg.matrix_power(a, n)


@implements("linalg.matrix_rank")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if tol is None:
        return linalg.matrix_rank(A, rtol=rtol)
    x = double(value(A))
    zero = np.zeros((), np.zeros((), dtype_of(x)).real.dtype)
    return norms.matrix_rank(x, atol=np.asarray(tol, zero.dtype), rtol=zero, hermitian=hermitian)


class _LstsqResult(NamedTuple):
    x: Any
    residuals: Any
    rank: Any
    s: Any


@implements("linalg.lstsq")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, residuals, found, s = linalg.lstsq(a, b, rtol=rcond)
    count = int(found.item())
    m, n = shape_of(a)
    if count < n or m <= n:
        residuals = st.getitem(residuals, index=(slice(0, 0),))
    return _LstsqResult(x, residuals, count, s)


@implements("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return linalg.norm(x, ord, axis, keepdims)


@implements("linalg.vector_norm")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


@implements("linalg.matrix_norm")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return linalg.matrix_norm(x, keepdims=keepdims, ord=ord)


@implements("linalg.cond")
def cond(x: Any, p: Any = None) -> Any:
    return linalg.cond(x, p)


# ------------------------------------------------------------------------------------------ statistics, convolution


@implements("cov")
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    m = double(value(m))
    rows = m if rank(m) == 2 else manipulation.reshape(m, (1, -1))
    if not rowvar and rank(m) == 2:
        rows = manipulation.matrix_transpose(rows)
    if y is not None:
        y = double(value(y))
        more = y if rank(y) == 2 else manipulation.reshape(y, (1, -1))
        rows = manipulation.concat([rows, manipulation.matrix_transpose(more) if not rowvar and rank(y) == 2 else more])
    n = shape_of(rows)[1]
    d = rows - reductions.mean(rows, axis=1, keepdims=True)
    found = contraction.matmul(d, st.conj(manipulation.matrix_transpose(d))) / (
        n - (ddof if ddof is not None else 1 - bias)
    )
    return manipulation.squeeze(found)


@implements("corrcoef")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    from .elementwise import sqrt

    found = cov(x, y, rowvar)
    if not rank(found):
        return found / found
    scale = sqrt(st.real(diagonal_of(found)))
    return found / manipulation.reshape(scale, (-1, 1)) / scale


@implements("convolve")
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    return _sliding(a, v, mode, flip=True)


@implements("correlate")
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    return _sliding(a, st.conj(value(v)), mode, flip=False)


def _sliding(a: Any, v: Any, mode: str, *, flip: bool) -> Any:
    """The products of a vector with another that slides over it."""
    from ..ops import manipulation as mani

    a, v = contraction.in_common(value(a), value(v))
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


# ------------------------------------------------------------------------------------------ Fourier transforms


def _along(name: str) -> Any:
    f = getattr(fft, name)

    def transform(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return f(a, n=n, axis=axis, norm=norm or "backward")

    return transform


def _over(name: str, default: Any) -> Any:
    f = getattr(fft, name)

    def transform(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        return f(a, s=s, axes=axes, norm=norm or "backward")

    return transform


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    implements(f"fft.{_name}")(_along(_name))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    implements(f"fft.{_name}")(_over(_name, None))
    implements(f"fft.{_name[:-1]}2")(_over(_name, (-2, -1)))


@implements("fft.fftshift")
def fftshift(x: Any, axes: Any = None) -> Any:
    return fft.fftshift(x, axes=axes)


@implements("fft.ifftshift")
def ifftshift(x: Any, axes: Any = None) -> Any:
    return fft.ifftshift(x, axes=axes)
