"""`rg.linalg`: products, decompositions, solvers and norms of matrices in the last two axes; batches in the others."""

from __future__ import annotations

import math
import operator
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import ShapeError
from ..backend.dtypes import real_of
from ..core.value import Value, dtype_of, shape_of
from ..ops import contraction as con
from ..ops import linalg as la
from ..ops import linalg_factor as factor
from ..ops import linalg_orthogonal as orth
from ..ops import linalg_spectral as spectral
from ..ops import norms, triangular
from ..ops import reduction as red
from ..ops import structural as st
from ..tape import inplace
from . import reductions
from ._values import axes_of, axis_of, matrices, rank
from .contraction import common_axis, in_common, matmul, matrix_transpose, outer, tensordot, vecdot
from .conversion import value
from .operators import described
from .promotion import double

if TYPE_CHECKING:
    from .core import Tensor

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv",
    "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

_EXAMPLES = {
    "svdvals": "rg.asarray([[0.0, 2.0], [1.0, 0.0]]) -> Tensor([2., 1.])",
    "eigvalsh": "rg.asarray([[2.0, 1.0], [1.0, 2.0]]) -> Tensor([1., 3.])",
    "eigvals": "rg.asarray([[0.0, 1.0], [-1.0, 0.0]]) -> Tensor([0.+1.j, 0.-1.j])",
    "inv": "rg.asarray([[2.0, 0.0], [0.0, 4.0]]) -> Tensor([[0.5 , 0.  ],\n        [0.  , 0.25]])",
    "det": "rg.asarray([[2.0, 1.0], [1.0, 2.0]]) -> Tensor(3.)",
}  # fmt: skip
"""What functions that are made below do to a few numbers, for their documentation."""

# What the functions of these names return.
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")
LstsqResult = namedtuple("LstsqResult", "x residuals rank singular_values")


def _matrices(name: str, x: Any, *, square: bool = False, whole: bool = False) -> Any:
    """An operand as a value with at least two axes; of whole numbers in floating point, unless `whole`."""
    x = value(x) if whole else double(value(x))
    matrices(f"linalg.{name}", x, ShapeError)
    if square and shape_of(x)[-1] != shape_of(x)[-2]:
        raise ShapeError(f"linalg.{name}: wanted square matrices, got shape {tuple(shape_of(x))}")
    return x


def _of_matrices(name: str, op: Any, doc: str, *, square: bool = True) -> Callable[..., Tensor]:
    """A function of matrices alone that gives one array."""
    more = "Raises ShapeError for " + ("matrices that are not square." if square else "fewer than two axes.")
    return described(lambda x, /: op(_matrices(name, x, square=square)), name, doc, more)


# ------------------------------------------------------------------------------------------ decompositions


def cholesky(x: Any, /, *, upper: bool = False) -> Tensor:
    """The lower (or upper) triangular factor of Hermitian positive definite matrices: x = L L^H.

    Raises numpy.linalg.LinAlgError for a matrix that is not positive definite.

    `x` and the result have the shape (..., n, n). Raises ShapeError for matrices that are not square.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.cholesky(rg.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Tensor([[2., 0.],
            [1., 2.]])
    """
    # Both triangles are the same matrix; the factor of the upper one is the adjoint of that of the lower.
    return factor.cholesky(_matrices("cholesky", x, square=True), upper=upper)


def qr(x: Any, /, *, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and upper triangular R, x = Q R; `mode` "complete" makes Q square, "r" gives R alone.

    `x` has the shape (..., m, n); Q has (..., m, k) and R (..., k, n) with k = min(m, n), or m where `mode` is
    "complete". Raises ValueError for another mode.

    Examples
    --------
    >>> import retrograde as rg
    >>> [part.shape for part in rg.linalg.qr(rg.ones((3, 2)))]
    [(3, 2), (2, 2)]
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"linalg.qr: mode is 'reduced', 'complete' or 'r', not {mode!r}")
    found = QRResult(*orth.qr(_matrices("qr", x), mode=mode))
    return found.R if mode == "r" else found


def svd(x: Any, /, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """U, the singular values in descending order, and V^H: x = U diag(S) Vh; U and V square if `full_matrices`; without
    `compute_uv` the singular values alone.

    `x` has the shape (..., m, n), S (..., min(m, n)).

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.svd(rg.asarray([[0.0, 2.0], [1.0, 0.0]])).S
    Tensor([2., 1.])
    """
    return SVDResult(*spectral.svd(_matrices("svd", x), full=full_matrices)) if compute_uv else svdvals(x)


svdvals = _of_matrices(
    "svdvals", spectral.svdvals, "The singular values of (..., m, n), (..., min(m, n)) in descending order.", square=False
)  # fmt: skip
eigvalsh = _of_matrices(
    "eigvalsh", spectral.eigvalsh, "The eigenvalues (..., n) of Hermitian matrices (..., n, n) in ascending order."
)
eigvals = _of_matrices("eigvals", spectral.eigvals, "The eigenvalues (..., n) of square matrices (..., n, n), complex.")


def eigh(x: Any, /) -> EighResult:
    """Ascending eigenvalues and orthonormal eigenvectors (columns) of Hermitian matrices.

    `x` has the shape (..., n, n), and so have the vectors; the values have (..., n). Raises ShapeError for matrices
    that are not square.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.eigh(rg.asarray([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    Tensor([1., 3.])
    """
    return EighResult(*spectral.eigh(_matrices("eigh", x, square=True)))


def eig(x: Any, /) -> EigResult:
    """The eigenvalues and eigenvectors (columns of length 1) of square matrices, complex.

    `x` has the shape (..., n, n), and so have the vectors; the values have (..., n). Raises ShapeError for matrices
    that are not square.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.eig(rg.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Tensor([2.+0.j, 1.+0.j])
    """
    return EigResult(*spectral.eig(_matrices("eig", x, square=True)))


# ------------------------------------------------------------------------------------------ solvers, determinants

inv = _of_matrices(
    "inv", la.inv, "The inverse of each matrix of (..., n, n); raises numpy.linalg.LinAlgError for a singular one."
)
det = _of_matrices(
    "det", la.det, "The determinant of each matrix of (..., n, n); its derivative is right for singular ones too."
)


def pinv(x: Any, /, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse: singular values below `rtol` times the largest count as 0.

    `x` has the shape (..., m, n), the result (..., n, m).

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.pinv(rg.asarray([[2.0], [0.0]]))
    Tensor([[0.5, 0. ]])
    """
    x = _matrices("pinv", x)
    return la.pinv(x, rtol=_cut_off(x, rtol))


def _cut_off(x: Any, rtol: Any) -> Any:
    """A relative cut-off of singular values, as NumPy chooses it where none is given."""
    if rtol is None:
        d = dtype_of(x)
        return max(shape_of(x)[-2:], default=0) * float(np.finfo(d).eps)
    return rtol._a if isinstance(rtol, Value) and rtol._node is None and not rtol._level else rtol


def solve(x1: Any, x2: Any, /) -> Tensor:
    """The solution of x1 @ x = x2, where `x2` is one vector or a batch of matrices; LinAlgError if x1 is singular.

    `x1` has the shape (..., n, n), `x2` and the result (n,) or (..., n, k). Raises ShapeError for others.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.solve(rg.asarray([[2.0, 0.0], [0.0, 4.0]]), rg.asarray([2.0, 2.0]))
    Tensor([1. , 0.5])
    """
    a, b = in_common(_matrices("solve", x1, square=True), double(value(x2)))
    n = shape_of(a)[-1]
    vector = rank(b) == 1
    if not rank(b) or shape_of(b)[-1 if vector else -2] != n:
        raise ShapeError(f"linalg.solve: matrices of shape {tuple(shape_of(a))} with right sides {tuple(shape_of(b))}")
    out = la.solve(a, st.reshape(b, shape=(n, 1)) if vector else b)
    return st.reshape(out, shape=tuple(shape_of(out))[:-1]) if vector else out


def slogdet(x: Any, /) -> SlogdetResult:
    """The sign (for complex matrices, a number on the unit circle) and log |det| of each square matrix.

    `x` has the shape (..., n, n), both results (...). Raises ShapeError for matrices that are not square.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.slogdet(rg.asarray([[-2.0, 0.0], [0.0, 1.0]]))
    SlogdetResult(sign=Tensor(-1.), logabsdet=Tensor(0.69314718))
    """
    return SlogdetResult(*la.slogdet(_matrices("slogdet", x, square=True)))


def lstsq(x1: Any, x2: Any, /, *, rtol: float | None = None) -> LstsqResult:
    """The x that minimises |x1 @ x - x2|, the sums of squared residuals, the rank and the singular values of x1.

    `x1` has the shape (..., m, n), `x2` (m,) or (..., m, k); x has (n,) or (..., n, k).

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.lstsq(rg.asarray([[1.0], [1.0]]), rg.asarray([1.0, 3.0])).x
    Tensor([2.])
    """
    a, b = in_common(_matrices("lstsq", x1), double(value(x2)))
    vector = rank(b) == 1
    columns = st.reshape(b, shape=(*shape_of(b), 1)) if vector else b
    cut = _cut_off(a, rtol)
    x = con.matmul(la.pinv(a, rtol=cut), columns)
    found = matrix_rank(a, rtol=cut)
    rest = columns - con.matmul(a, x)
    squares = red.sum(st.real(rest * st.conj(rest)), axis=(rank(rest) - 2,), keepdims=False)
    if vector:
        x = st.reshape(x, shape=tuple(shape_of(x))[:-1])
    return LstsqResult(x, squares, found, svdvals(a))


def matrix_power(x: Any, n: int, /) -> Tensor:
    """The product of n copies of each square matrix; of its inverse for negative n.

    `x` and the result have the shape (..., n, n). Raises ShapeError for matrices that are not square.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.matrix_power(rg.asarray([[1.0, 1.0], [0.0, 1.0]]), 5)
    Tensor([[1., 5.],
            [0., 1.]])
    """
    n = operator.index(n)
    x = _matrices("matrix_power", x, square=True, whole=n >= 0)
    shape = tuple(shape_of(x))
    if n == 0:
        return st.copy(st.broadcast_to(value(np.eye(shape[-1], dtype=dtype_of(x))), shape=shape))
    if n < 0:
        x, n = la.inv(x), -n
    result: Any = None
    while n:
        if n & 1:
            result = x if result is None else con.matmul(result, x)
        n >>= 1
        if n:
            x = con.matmul(x, x)
    return st.copy(result) if result is x else result


def multi_dot(arrays: Any, /) -> Tensor:
    """The product of matrices (vectors at the ends), multiplied in the cheapest order.

    Raises ValueError for fewer than two operands, ShapeError for a vector that stands between others.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.multi_dot([rg.ones((2, 3)), rg.ones((3, 4)), rg.ones((4,))])
    Tensor([12., 12.])
    """
    given = in_common(*arrays)
    if len(given) < 2:
        raise ValueError(f"linalg.multi_dot: wanted at least two arrays, got {len(given)}")
    n = len(given)
    labels: list[tuple[int, ...]] = [(i, i + 1) for i in range(n)]
    labels[0] = labels[0][-rank(given[0]) :]
    labels[-1] = labels[-1][: rank(given[-1])]
    for i, (x, own) in enumerate(zip(given, labels)):
        if not rank(x) or rank(x) != len(own):
            raise ShapeError(
                f"linalg.multi_dot: operand {i} has shape {tuple(shape_of(x))}; vectors stand at the ends only"
            )
    output = tuple(i for i in (0, n) if i in (*labels[0], *labels[-1]))
    return con.einsum_labels(*given, inputs=tuple(labels), output=output)


# ------------------------------------------------------------------------------------------ norms


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """(sum of |x|^ord)^(1/ord) over `axis` (None: all elements); inf and -inf for extremes, 0 for the count.

    Its derivative at 0 is 0.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.vector_norm(rg.asarray([3.0, 4.0]))
    Tensor(5.)
    """
    x = double(value(x))
    axes = axes_of("linalg.vector_norm", axis, rank(x))
    if ord == 0 and math.prod(shape_of(x)[a] for a in axes) == 0:
        return red.sum(st.real(x), axis=axes, keepdims=keepdims)
    return norms.vector_norm(x, ord=float(ord), axis=axes, keepdims=keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """The norm of each matrix: "fro", "nuc", 2, -2, 1, -1, inf or -inf.

    `x` has the shape (..., m, n), the result (...), or (..., 1, 1) with `keepdims`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.matrix_norm(rg.asarray([[3.0, 0.0], [0.0, 4.0]]))
    Tensor(5.)
    """
    return norm(_matrices("matrix_norm", x), ord, (-2, -1), keepdims)


def norm(x: Any, /, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """NumPy's norm: of a vector or matrix by the number of axes; without an order, of all elements over `axis`.

    Raises ValueError for an order that there is not, and for an order of more than two axes.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.norm(rg.asarray([3.0, 4.0]))
    Tensor(5.)
    """
    x = double(value(x))
    if ord is None:
        return vector_norm(x, axis=axis, keepdims=keepdims)
    axes = axis if isinstance(axis, tuple) else tuple(range(rank(x))) if axis is None else (axis,)
    if len(axes) == 1:
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=ord)
    if len(axes) != 2:
        raise ValueError(f"linalg.norm: an order asks for one or two axes, got {len(axes)}")
    if ord not in ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf):
        raise ValueError(f"linalg.norm: there is no matrix norm of order {ord!r}")
    a, b = (axis_of("linalg.norm", i, rank(x)) for i in axes)
    return norms.matrix_norm(x, ord=ord, axis=(a, b), keepdims=keepdims)


def cond(x: Any, /, p: Any = None) -> Tensor:
    """The condition number of each matrix: the quotient of extreme singular values, or |x| |1/x| in the norm `p`.

    `x` has the shape (..., n, n), the result (...).

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.cond(rg.asarray([[4.0, 0.0], [0.0, 2.0]]))
    Tensor(2.)
    """
    x = _matrices("cond", x)
    if p in (None, 2, -2):
        s = svdvals(x)
        first, last = st.getitem(s, index=(Ellipsis, 0)), st.getitem(s, index=(Ellipsis, -1))
        return last / first if p == -2 else first / last
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Tensor:
    """How many singular values lie above `rtol` times the largest.

    `x` has the shape (..., m, n), the result (...), integers.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.matrix_rank(rg.asarray([[1.0, 2.0], [2.0, 4.0]]))
    Tensor(1)
    """
    x = _matrices("matrix_rank", x)
    s_dtype = real_of(dtype_of(x))
    return norms.matrix_rank(x, atol=np.zeros((), s_dtype), rtol=np.asarray(_cut_off(x, rtol), s_dtype))


# ------------------------------------------------------------------------------------------ diagonals, products


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """The `offset`-th diagonal of each matrix: a view.

    `x` has the shape (..., m, n), the result (..., length of the diagonal).

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.diagonal(rg.asarray([[1, 2], [3, 4]]))
    Tensor([1, 4])
    """
    x = _matrices("diagonal", x, whole=True)
    rows, columns = shape_of(x)[-2:]
    # No further than just outside the matrix: libraries take no larger ones than fit an int64.
    offset = max(-rows, min(columns, operator.index(offset)))
    return inplace.view(triangular.diagonal, x, offset=offset, axis1=rank(x) - 2, axis2=rank(x) - 1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sum of the `offset`-th diagonal of each matrix; narrow integers are added in 64 bits, or in `dtype`.

    `x` has the shape (..., m, n), the result (...).

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.trace(rg.asarray([[1, 2], [3, 4]]))
    Tensor(5)
    """
    return reductions.sum(diagonal(_matrices("trace", x, whole=True), offset=offset), axis=-1, dtype=dtype)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The vector product along an axis of length 3, which both have; the others broadcast.

    Raises ShapeError for an axis of another length.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.cross(rg.asarray([1.0, 0.0, 0.0]), rg.asarray([0.0, 1.0, 0.0]))
    Tensor([0., 0., 1.])
    """
    x, y = in_common(x1, x2)
    i = common_axis("linalg.cross", axis, x, y)
    for v in (x, y):
        if shape_of(v)[i] != 3:
            raise ShapeError(f"linalg.cross: the axis has length {shape_of(v)[i]} in shape {tuple(shape_of(v))}, not 3")
    n = max(rank(x), rank(y))
    x, y = (st.reshape(v, shape=(1,) * (n - rank(v)) + tuple(shape_of(v))) for v in (x, y))
    return con.cross(x, y, axis=n + i)
