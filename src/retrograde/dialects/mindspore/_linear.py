"""Products of matrices and vectors, linear algebra and Fourier transforms: names over the native namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.notation import product_text
from ...core.value import dtype_of
from ...ops import contraction as ct
from ...ops import fft, triangular
from ...ops import manipulation as mp
from ...ops import structural as st
from ...tensor import contraction as native
from ...tensor import fft as native_fft
from ...tensor import linalg as native_linalg
from ...tensor import numpy_shapes as nps
from .._shared.axes import axis_of, count, integer, integers
from ._api import FUNCTIONS, api, row, value_errors
from ._arithmetic import matmul, mul
from ._norms import matrix_norm
from ._promote import FLOAT, FLOATING, pair, result_dtype, same_dtype, single, tensor_argument, to_dtype
from ._reductions import sum
from ._tensor import from_array

Function = Callable[..., Any]


def _ranked(op: str, x: Any, ndim: int, name: str = "input") -> Any:
    x = tensor_argument(op, x, name)
    if x.ndim != ndim:
        raise ValueError(f"{op}: {name} must have {ndim} axes, got shape {x.shape}")
    return x


def transposed(x: Any) -> Any:
    """The last two axes exchanged."""
    n = x.ndim
    return st.transpose(x, axes=(*range(n - 2), n - 1, n - 2))


# ------------------------------------------------------------------------------------------ products


def _product(op: str, x: Any, y: Any) -> Any:
    if x.shape[-1] != y.shape[-2] or x.shape[:-2] != y.shape[:-2]:
        raise ValueError(f"{op}: {product_text(x.shape, y.shape)}")
    return matmul(x, y)


mm = row("mm", lambda input, mat2: _product("mm", _ranked("mm", input, 2), _ranked("mm", mat2, 2, "mat2")),
    "The product of two matrices.")  # fmt: skip


@api()
def bmm(input_x: Any, mat2: Any) -> Any:
    """The products of two batches of matrices."""
    x, y = tensor_argument("bmm", input_x, "input_x"), tensor_argument("bmm", mat2, "mat2")
    if x.ndim < 2 or x.ndim != y.ndim:
        raise ValueError(f"bmm: wanted two batches of matrices, got shapes {x.shape} and {y.shape}")
    return _product("bmm", x, y)


mv = row("mv", lambda mat, vec: matmul(_ranked("mv", mat, 2, "mat"), _ranked("mv", vec, 1, "vec")),
    "The product of a matrix and a vector.", method=False)  # fmt: skip


@api()
@value_errors
def dot(input: Any, other: Any) -> Any:
    """The product over the last axis of one tensor and the last but one of another, both with two axes at least."""
    x, y = tensor_argument("dot", input), tensor_argument("dot", other, "other")
    same_dtype("dot", x, y)
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(f"dot: wanted at least two axes, got shapes {x.shape} and {y.shape}; use inner() or tensor_dot()")
    return native.dot(x, y)


@api()
@value_errors
def inner(input: Any, other: Any) -> Any:
    """The sum of products over the last axes."""
    x, y = tensor_argument("inner", input), tensor_argument("inner", other, "other")
    same_dtype("inner", x, y)
    return native.inner(x, y)


ger = row("ger", lambda input, vec2: outer(_ranked("ger", input, 1), _ranked("ger", vec2, 1, "vec2")),
    "All products of the elements of one vector with those of another.")  # fmt: skip


@api("outer")
def outer(input: Any, vec2: Any) -> Any:
    """All products of the elements of a tensor with those of a vector (or number without axes)."""
    x, y = tensor_argument("outer", input), tensor_argument("outer", vec2, "vec2")
    if y.ndim > 1:
        raise ValueError(f"outer: vec2 must have at most one axis, got shape {y.shape}")
    return mul(st.reshape(x, shape=(x.size, 1)), st.reshape(y, shape=(y.size,)))


@api(method=False)
@value_errors
def kron(input: Any, other: Any) -> Any:
    """The Kronecker product."""
    return native.kron(*pair("kron", tensor_argument("kron", input), tensor_argument("kron", other, "other")))


@api(method=False)
def vecdot(x: Any, y: Any, *, axis: int = -1) -> Any:
    """The sum of products along an axis."""
    x, y = tensor_argument("vecdot", x, "x"), tensor_argument("vecdot", y, "y")
    axis = integer("vecdot", "axis", axis)
    return sum(mul(st.conj(x) if dtype_of(x).kind == "c" else x, y), axis)


@api(method=False)
@value_errors
def tensor_dot(x1: Any, x2: Any, axes: Any) -> Any:
    """The sum of products over axes of both: a number of them, or those that are named."""
    x, y = tensor_argument("tensor_dot", x1, "x1"), tensor_argument("tensor_dot", x2, "x2")
    same_dtype("tensor_dot", x, y)
    if isinstance(axes, (tuple, list)):
        axes = tuple(integers("tensor_dot", "axes", a) for a in axes)
        if len(axes) != 2:
            raise ValueError(f"tensor_dot: axes must be a number or those of each tensor, got {len(axes)} parts")
        axes = tuple(tuple(axis_of("tensor_dot", a, z.ndim) for a in part) for part, z in zip(axes, (x, y)))
        if len(axes[0]) != len(axes[1]) or any(x.shape[a] != y.shape[b] for a, b in zip(*axes)):
            raise ValueError(f"tensor_dot: axes {axes} of shapes {x.shape} and {y.shape} do not fit")
    return native.tensordot(x, y, axes=axes)


@api(method=False)
def batch_dot(x1: Any, x2: Any, axes: Any = None) -> Any:
    """For each entry of a batch the sum of products over one axis of each tensor."""
    x, y = tensor_argument("batch_dot", x1, "x1"), tensor_argument("batch_dot", x2, "x2")
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(f"batch_dot: wanted at least two axes, got shapes {x.shape} and {y.shape}")
    if axes is None:
        axes = (x.ndim - 1, y.ndim - 1 if y.ndim == 2 else y.ndim - 2)
    a, b = (axes, axes) if isinstance(axes, int) else axes
    a, b = axis_of("batch_dot", a, x.ndim, "axes"), axis_of("batch_dot", b, y.ndim, "axes")
    if not a or not b or x.shape[a] != y.shape[b] or x.shape[0] != y.shape[0]:
        raise ValueError(f"batch_dot: axes {axes} of shapes {x.shape} and {y.shape} do not fit")
    left = st.transpose(x, axes=(*(i for i in range(x.ndim) if i != a), a))
    right = st.transpose(y, axes=(0, b, *(i for i in range(1, y.ndim) if i != b)))
    n, k = x.shape[0], x.shape[a]
    out = st.reshape(left, shape=(n, -1, k)) @ st.reshape(right, shape=(n, k, -1))
    shape = (*(m for i, m in enumerate(x.shape) if i != a), *(m for i, m in enumerate(y.shape) if i not in (0, b)))
    return st.reshape(out, shape=shape if len(shape) > 1 else (n, 1))


def _with_product(op: str, input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta input + alpha product."""
    x = tensor_argument(op, input)
    product = product if type(alpha) in (int, float) and alpha == 1 else mul(product, alpha)
    return (x if type(beta) in (int, float) and beta == 1 else mul(x, beta)) + product


@api()
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta input + alpha mat1 @ mat2."""
    return _with_product("addmm", input, mm(mat1, mat2), beta, alpha)


@api()
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta input + alpha mat @ vec."""
    return _with_product("addmv", input, mv(mat, vec), beta, alpha)


@api("addr")
def addr(x: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta x + alpha times the outer product of two vectors."""
    return _with_product("addr", x, outer(_ranked("addr", vec1, 1, "vec1"), _ranked("addr", vec2, 1, "vec2")), beta, alpha)


@api()
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta input + alpha times the sum of the products of two batches of matrices."""
    return _with_product("addbmm", input, sum(bmm(batch1, batch2), 0), beta, alpha)


@api()
def baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta input + alpha times the products of two batches of matrices."""
    return _with_product("baddbmm", input, bmm(batch1, batch2), beta, alpha)


@api(method=False)
@value_errors
def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products as an equation of axis names says, such as 'ij,jk->ik'."""
    if not isinstance(equation, str):
        raise TypeError(f"einsum: equation must be a string, got {type(equation).__name__}")
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    parts = [tensor_argument("einsum", x, "operand") for x in given]
    d = result_dtype("einsum", *parts)
    return native.einsum(equation, *(to_dtype(x, d) for x in parts))


@api()
def cross(input: Any, other: Any, dim: Any = None) -> Any:
    """The vector product along an axis of length 3: the first such, if none is given."""
    x, y = pair("cross", tensor_argument("cross", input), tensor_argument("cross", other, "other"))
    shape = np.broadcast_shapes(x.shape, y.shape)
    if dim is None or dim == -65530:
        dim = next((i for i, n in enumerate(shape) if n == 3), None)
        if dim is None:
            raise ValueError(f"cross: no axis of {shape} has length 3")
    i = axis_of("cross", dim, len(shape), "dim")
    if shape[i] != 3:
        raise ValueError(f"cross: axis {i} of {shape} must have length 3")
    x, y = (z if z.shape == shape else st.broadcast_to(z, shape=shape) for z in (x, y))
    return native_linalg.cross(x, y, axis=i)


@api(method=False)
def dense(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias."""
    x, w = tensor_argument("dense", input), tensor_argument("dense", weight, "weight")
    same_dtype("dense", x, w)
    if not x.ndim or w.ndim not in (1, 2) or x.shape[-1] != w.shape[-1]:
        raise ValueError(f"dense: the last axis of {x.shape} must be that of the weight, {w.shape}")
    if w.ndim == 1:
        out = matmul(x, w)
    elif bias is not None and dtype_of(w) == dtype_of(bias) and x.ndim > 1:
        return ct.affine(x, w, bias)
    else:
        out = ct.project(x, w) if x.ndim > 1 else matmul(x, transposed(w))
    return out if bias is None else out + tensor_argument("dense", bias, "bias")


@api(method=False)
def bias_add(input_x: Any, bias: Any) -> Any:
    """A vector added along the second axis."""
    x, b = tensor_argument("bias_add", input_x, "input_x"), _ranked("bias_add", bias, 1, "bias")
    same_dtype("bias_add", x, b)
    if x.ndim < 2 or x.shape[1] != b.shape[0]:
        raise ValueError(f"bias_add: a bias of length {b.shape[0]} does not fit the second axis of {x.shape}")
    return x + st.reshape(b, shape=(b.shape[0], *(1,) * (x.ndim - 2)))


# ------------------------------------------------------------------------------------------ matrices


def _square(op: str, x: Any, name: str = "input", kinds: str = "xx..") -> Any:
    x = single(op, x, kinds)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{op}: {name} must be square matrices, got shape {x.shape}")
    return x


inverse = row("inverse", lambda input: native_linalg.inv(_square("inverse", input)),
    "The inverse of matrices; raises RuntimeError for a singular one.")  # fmt: skip

api("inv", function=False)(inverse)

det = row("det matrix_determinant", lambda input: native_linalg.det(_square("det", input)),
    "The determinant of matrices.")  # fmt: skip
slogdet = row("slogdet log_matrix_determinant", lambda input: tuple(native_linalg.slogdet(_square("slogdet", input))),
    "The sign of the determinant and the logarithm of its size.")  # fmt: skip


@api()
def logdet(input: Any) -> Any:
    """The logarithm of the determinant."""
    from ...ops.elementwise import log

    return log(native_linalg.det(_square("logdet", input)))


@api()
def matrix_power(input: Any, n: int) -> Any:
    """A power of matrices; a negative one of their inverse."""
    return native_linalg.matrix_power(_square("matrix_power", input), integer("matrix_power", "n", n))


@api(method=False)
def matrix_exp(input: Any) -> Any:
    """The exponential of matrices."""
    from ...ops.linalg import matrix_exp as primitive

    return primitive(_square("matrix_exp", input))


@api("cholesky")
def cholesky(input_x: Any, upper: bool = False) -> Any:
    """The Cholesky factor of positive definite matrices."""
    return native_linalg.cholesky(_square("cholesky", input_x, "input_x"), upper=bool(upper))


@api("cholesky_inverse")
def cholesky_inverse(input_x: Any, upper: bool = False) -> Any:
    """The inverse of the matrices of which these are the Cholesky factors."""
    from ...ops.linalg_factor import cholesky_inverse as primitive

    return primitive(_square("cholesky_inverse", input_x, "input_x"), upper=bool(upper))


@api("cholesky_solve")
def cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Any:
    """The solution of A X = input, from the Cholesky factor of A."""
    from ...ops.linalg_factor import cholesky_solve as primitive

    return primitive(single("cholesky_solve", input, FLOATING), _square("cholesky_solve", input2), upper=bool(upper))


@api(method=False)
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """The solution of matrix @ X = rhs."""
    a = _square("matrix_solve", matrix, "matrix")
    if adjoint:
        a = transposed(st.conj(a) if dtype_of(a).kind == "c" else a)
    b = tensor_argument("matrix_solve", rhs, "rhs")
    if b.ndim != a.ndim or b.shape[-2] != a.shape[-1]:
        raise ValueError(f"matrix_solve: rhs {b.shape} does not fit the matrix {a.shape}")
    return native_linalg.solve(a, b)


@api("triangular_solve", function=False)
def triangular_solve(self: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """The solution of A X = self for triangular A, and A."""
    a = _square("triangular_solve", A, "A")
    return solve_triangular(transposed(a) if transpose else a, self, upper != transpose, unitriangular), a


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The solution of a X = b, of which only a triangle is used."""
    from ...ops.linalg import solve_triangular as primitive

    return primitive(a, b, upper=bool(upper), left=True, unit=bool(unit))


@api("svd")
def svd(input: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """The singular values, and (compute_uv) the left and right singular vectors: s, u, v."""
    x = single("svd", input, "xx..")
    if x.ndim < 2:
        raise ValueError(f"svd: wanted at least two axes, got shape {x.shape}")
    if not compute_uv:
        return native_linalg.svdvals(x)
    u, s, vh = native_linalg.svd(x, full_matrices=bool(full_matrices))
    return s, u, transposed(st.conj(vh) if dtype_of(vh).kind == "c" else vh)


eig = row("eig", lambda A: tuple(native_linalg.eig(_square("eig", A, "A"))),
    "The eigenvalues and eigenvectors of matrices.", method=False)  # fmt: skip
eigvals = row("eigvals", lambda A: native_linalg.eigvals(_square("eigvals", A, "A")), "The eigenvalues of matrices.")


@api("qr", method=False)
def qr(input: Any, mode: str = "reduced") -> tuple[Any, Any]:
    """An orthogonal and an upper triangular matrix whose product is the input."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode must be 'reduced' or 'complete', got {mode!r}")
    return tuple(native_linalg.qr(single("qr", input, "xx.."), mode=mode))  # type: ignore[return-value]


qr_method = row("qr", lambda self, some=True: qr(self, "reduced" if some else "complete"),
    "An orthogonal and an upper triangular matrix whose product is the tensor.", function=False)  # fmt: skip


@api(method=False)
def pinv(x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The pseudo-inverse; singular values up to max(atol, rtol s_max) count as 0."""
    x = single("pinv", x, "xx..")
    if atol is None and not hermitian:
        return native_linalg.pinv(x, rtol=rtol)
    from ...ops.norms import pinv as primitive

    n = max(x.shape[-2:])
    low = np.asarray(0.0 if atol is None else atol, x.dtype.np)
    relative = (0.0 if atol else n * np.finfo(x.dtype.np).eps) if rtol is None else rtol
    return primitive(x, low, np.asarray(relative, x.dtype.np), hermitian=bool(hermitian))


@api(method=False)
def lstsq(input: Any, A: Any) -> Any:
    """The least-squares solution of input @ X = A."""
    a, b = single("lstsq", input, FLOATING), single("lstsq", A, FLOATING)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(f"lstsq: shapes {a.shape} and {b.shape} do not fit")
    b = b if b.ndim == 2 else st.reshape(b, shape=(b.shape[0], 1))
    return native_linalg.pinv(a) @ b


api("lstsq", function=False)(lambda self, A: lstsq(self, A))


@api()
def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """The solution of A X = b, from the LU factors of A."""
    from ...ops.linalg_factor import lu_solve as primitive

    pivots = np.asarray(tensor_argument("lu_solve", LU_pivots, "LU_pivots")._concrete("lu_solve")) - 1  # as LAPACK counts
    return primitive(_square("lu_solve", LU_data, "LU_data"), from_array(pivots), single("lu_solve", b, FLOATING),
                     left=True, adjoint=False)  # fmt: skip


@api(method=False)
def cond(A: Any, p: Any = None) -> Any:
    """The condition number of matrices in a norm."""
    x = single("cond", A, FLOAT)
    if p is None or p in (2, -2):
        s = native_linalg.svdvals(x)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    return matrix_norm(x, p) * matrix_norm(inverse(x), p)


@api("geqrf")
def geqrf(input: Any) -> tuple[Any, Any]:
    """The QR factors as LAPACK stores them: Householder vectors and their scales."""
    from ...ops.linalg_orthogonal import geqrf as primitive

    return primitive(single("geqrf", input, FLOATING))  # type: ignore[no-any-return]


@api("orgqr")
def orgqr(input: Any, input2: Any) -> Any:
    """The orthogonal matrix of Householder vectors and their scales."""
    from ...ops.linalg_orthogonal import householder_product

    return householder_product(single("orgqr", input, FLOATING), single("orgqr", input2, FLOATING))


@api("ormqr")
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """A matrix multiplied by the orthogonal one of Householder vectors and their scales."""
    from ...ops.linalg_orthogonal import householder_multiply

    operands = (single("ormqr", x, FLOATING) for x in (input, tau, other))
    return householder_multiply(*operands, left=bool(left), adjoint=bool(transpose))


@api(method=False)
def vander(x: Any, N: Any = None) -> Any:
    """The powers of a vector, falling, as columns."""
    return nps.vander(_ranked("vander", x, 1, "x"), None if N is None else count("vander", "N", N))


def lu_factors(op: str, a: Any) -> tuple[Any, Any]:
    """The LU factors of square matrices as LAPACK stores them, and the pivots."""
    from ...ops.linalg_factor import lu_factor

    return lu_factor(_square(op, a, "a"), check=False)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------ Fourier transforms


def _transform(name: str, one: Function) -> None:
    """The transform along one axis, along two and along several."""

    def along(input: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        x = _spectral(name, input)
        return one(x, n=n, axis=axis_of(name, dim, x.ndim, "dim"), norm=norm or "backward")

    along.__doc__ = f"The `{name}` along an axis, cut or padded to n."
    api(name, method=False)(along)


def _spectral(op: str, x: Any) -> Any:
    x = tensor_argument(op, x)
    if dtype_of(x).kind in "iub":
        x = st.cast(x, dtype=np.dtype(np.float32))
    return x


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _transform(_name, getattr(native_fft, _name))


def _several(name: str, many: Function) -> None:
    def over(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
        return _over(name, many, input, s, dim, norm)

    def over_two(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
        return _over(f"{name}2", many, input, s, dim, norm)

    over.__doc__ = f"The `{name}n` over axes (all, if none are given), cut or padded to s."
    over_two.__doc__ = f"The `{name}2` over two axes, cut or padded to s."
    api(f"{name}n", method=False)(over)
    api(f"{name}2", method=False)(over_two)


def _over(op: str, many: Function, input: Any, s: Any, dim: Any, norm: Any) -> Any:
    x = _spectral(op, input)
    axes = None if dim is None else tuple(axis_of(op, a, x.ndim, "dim") for a in integers(op, "dim", dim))
    return many(x, s=None if s is None else integers(op, "s", s), axes=axes, norm=norm or "backward")


_SWAPPED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _hfftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The transform of a Hermitian signal is real: the inverse real transform of its conjugate."""
    return native_fft.irfftn(st.conj(x), s=s, axes=axes, norm=_SWAPPED[norm])


def _ihfftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    return st.conj(native_fft.rfftn(x, s=s, axes=axes, norm=_SWAPPED[norm]))


for _name, _many in (
    ("fft", native_fft.fftn), ("ifft", native_fft.ifftn), ("rfft", native_fft.rfftn), ("irfft", native_fft.irfftn),
    ("hfft", _hfftn), ("ihfft", _ihfftn),
):  # fmt: skip
    _several(_name, _many)


def _shift(name: str, move: Function) -> None:
    def f(input: Any, dim: Any = None) -> Any:
        x = tensor_argument(name, input)
        axes = None if dim is None else tuple(axis_of(name, a, x.ndim, "dim") for a in integers(name, "dim", dim))
        return move(x, axes=axes)

    f.__doc__ = "The zero frequency moved " + ("to the middle." if name == "fftshift" else "back to the start.")
    api(name, method=False)(f)


_shift("fftshift", native_fft.fftshift)
_shift("ifftshift", native_fft.ifftshift)


def _frequencies(name: str, make: Callable[..., np.ndarray]) -> None:
    def f(n: int, d: float = 1.0, dtype: Any = None) -> Any:
        from ._dtype import as_dtype, float32

        d_type = float32 if dtype is None else as_dtype(dtype, name)
        return from_array(make(integer(name, "n", n), d).astype(d_type.np))

    f.__doc__ = f"The frequencies of the results of `{name.removesuffix('freq')}`."
    api(name, method=False)(f)


_frequencies("fftfreq", np.fft.fftfreq)
_frequencies("rfftfreq", np.fft.rfftfreq)


@api(method=False)
def stft(
    x: Any, n_fft: int, hop_length: Any = None, win_length: Any = None, window: Any = None, center: bool = True,
    pad_mode: str = "REFLECT", normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None,
) -> Any:  # fmt: skip
    """The transforms of windowed frames of a signal: (..., frequencies, frames), and the parts of the complex numbers in an
    axis of their own unless `return_complex` (or the signal or the window is complex)."""
    x = tensor_argument("stft", x, "x")
    if x.ndim not in (1, 2):
        raise ValueError(f"stft: x must have one or two axes, got shape {x.shape}")
    length = n_fft if win_length is None else win_length
    if window is not None and window.shape != (length,):
        raise ValueError(f"stft: window must have shape ({length},), got {window.shape}")
    if not 0 < length <= n_fft:
        raise ValueError(f"stft: win_length must lie in 1 to n_fft, {n_fft}, got {length}")
    weights = from_array(np.ones(length, np.float32)) if window is None else window
    if length < n_fft:
        left = (n_fft - length) // 2
        weights = mp.pad_constant(weights, widths=((left, n_fft - length - left),), value=0)
    is_complex = "c" in (dtype_of(x).kind, dtype_of(weights).kind)
    onesided = not is_complex if onesided is None else onesided
    modes = {"CONSTANT": "constant", "REFLECT": mp.REFLECT, "EDGE": mp.REPLICATE, "CIRCULAR": mp.CIRCULAR}
    if not isinstance(pad_mode, str) or pad_mode.upper() not in modes:
        raise ValueError(f"stft: pad_mode must be one of {tuple(modes)}, got {pad_mode!r}")
    out = fft.stft(x, weights, n=n_fft, hop=n_fft // 4 if hop_length is None else hop_length, center=center,
                   pad_mode=modes[pad_mode.upper()], norm="ortho" if normalized else "backward", onesided=onesided)  # fmt: skip
    return out if is_complex or return_complex else FUNCTIONS["view_as_real"](out)


@api(method=False)
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The permutation and the two triangular matrices that LU factors and pivots stand for."""
    from ...ops.linalg_factor import permutation_matrix

    lu = single("lu_unpack", LU_data, FLOATING)
    n, m = lu.shape[-2:]
    pivots = np.asarray(tensor_argument("lu_unpack", LU_pivots, "LU_pivots")._concrete("lu_unpack")) - 1  # as LAPACK counts
    p = permutation_matrix(from_array(pivots), n=n, dtype=dtype_of(lu)) if unpack_pivots else None
    if not unpack_data:
        return p, None, None
    small = min(n, m)
    lower = triangular.tril(lu[..., :, :small], k=-1) + from_array(np.eye(n, small, dtype=dtype_of(lu)))
    return p, lower, triangular.triu(lu[..., :small, :], k=0)
