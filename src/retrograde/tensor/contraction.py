"""Products of arrays: matmul, tensordot, vecdot, outer, einsum."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .._errors import ShapeError
from ..core.notation import product_text
from ..core.value import Value, dtype_of, shape_of
from ..ops import contraction as con
from ..ops import reduction as red
from ..ops import structural as st
from ._values import axis_of, rank
from .manipulation import in_common, matrix_transpose
from .promotion import to_dtype

if TYPE_CHECKING:
    from .core import Tensor

__all__ = ["dot", "einsum", "inner", "kron", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]

_matmul = con.matmul.prim.bind


def common_axis(name: str, axis: int, x: Any, y: Any) -> int:
    """An axis that two operands have, counted from the end; raises ShapeError where `axis` names one of each."""
    if axis >= 0 and rank(x) != rank(y):
        raise ShapeError(f"{name}: with a non-negative axis both operands must have as many axes; count from the end")
    least = min(rank(x), rank(y))
    return axis_of(name, axis, least) - least


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """The matrix product of the last two axes; a one-dimensional operand is a row on the left, a column on the right.

    Raises ValueError for 0-d operands and shapes that do not fit.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.matmul(rg.asarray([[1.0, 2.0]]), rg.asarray([3.0, 4.0]))
    Tensor([11.])
    """
    if isinstance(x1, Value) and isinstance(x2, Value) and dtype_of(x1) is dtype_of(x2):
        x, y = x1, x2
    else:
        x, y = in_common(x1, x2)
    a, b = shape_of(x), shape_of(y)
    if not a or not b:
        raise ShapeError(f"matmul: 0-d operands have no rows and columns ({tuple(a)} and {tuple(b)}); use multiply()")
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise ShapeError(f"matmul: {product_text(a, b)}")
    return _matmul(x, y)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """The sum of products over pairs of axes: the last and first `axes`, or those that a pair of sequences names.

    The result has the other axes of `x1`, then those of `x2`. Raises ShapeError for axes that do not fit.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.tensordot(rg.ones((2, 3)), rg.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    x, y = in_common(x1, x2)
    m, n = rank(x), rank(y)
    if isinstance(axes, (tuple, list)):
        first, second = ([a] if hasattr(a, "__index__") else list(a) for a in axes)
    else:
        k = operator.index(axes)
        if not 0 <= k <= min(m, n):
            raise ShapeError(f"tensordot: {k} axes of shapes {tuple(shape_of(x))} and {tuple(shape_of(y))}")
        first, second = list(range(m - k, m)), list(range(k))
    pairs = [axis_of("tensordot", a, m) for a in first], [axis_of("tensordot", b, n) for b in second]
    if len(pairs[0]) != len(pairs[1]) or [shape_of(x)[a] for a in pairs[0]] != [shape_of(y)[b] for b in pairs[1]]:
        raise ShapeError(
            f"tensordot: the axes {first} and {second} of shapes {tuple(shape_of(x))} and {tuple(shape_of(y))} do "
            "not fit"
        )
    return con.tensordot(x, y, axes=(tuple(pairs[0]), tuple(pairs[1])))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The sum of conj(x1) x2 along an axis of one length, counted from the end; the others broadcast.

    The result has the shape to which the two broadcast without that axis. Raises ShapeError where its lengths
    differ.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.vecdot(rg.asarray([1.0, 2.0]), rg.asarray([3.0, 4.0]))
    Tensor(11.)
    """
    x, y = in_common(x1, x2)
    back = common_axis("vecdot", axis, x, y)
    if shape_of(x)[back] != shape_of(y)[back]:
        raise ShapeError(
            f"vecdot: axis {axis} of shapes {tuple(shape_of(x))} and {tuple(shape_of(y))} differs in length"
        )
    products = st.conj(x) * y
    out = red.sum(products, axis=(rank(products) + back,), keepdims=False)
    return out if dtype_of(out) == dtype_of(x) else to_dtype(out, dtype_of(x))


def outer(x1: Any, x2: Any, /) -> Tensor:
    """Every element of a vector times every element of another.

    The vectors have the shapes (m,) and (n,), the result (m, n). Raises ShapeError for operands that are no vectors.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.linalg.outer(rg.asarray([1.0, 2.0]), rg.asarray([3.0, 4.0]))
    Tensor([[3., 4.],
            [6., 8.]])
    """
    x, y = in_common(x1, x2)
    for v in (x, y):
        if rank(v) != 1:
            raise ShapeError(f"outer: wanted vectors, got shape {tuple(shape_of(v))}")
    return con.outer(x, y)


def inner(x1: Any, x2: Any, /) -> Tensor:
    """The sum of products over the last axes, as NumPy has it (nothing is conjugated)."""
    x, y = in_common(x1, x2)
    if not rank(x) or not rank(y):
        return x * y
    return tensordot(x, y, axes=(-1, -1))


def dot(x1: Any, x2: Any, /) -> Tensor:
    """NumPy's dot: the product of numbers, vectors or matrices; the last axis with the last but one of higher ranks."""
    x, y = in_common(x1, x2)
    if not rank(x) or not rank(y):
        return x * y
    if rank(x) <= 2 and rank(y) <= 2:
        return matmul(x, y)
    return tensordot(x, y, axes=(-1, -2 if rank(y) > 1 else 0))


def kron(x1: Any, x2: Any, /) -> Tensor:
    """The Kronecker product: every element of x1 times all of x2, in blocks."""
    return con.kron(*in_common(x1, x2))


def einsum(subscripts: str, /, *operands: Any) -> Tensor:
    """The sum of products that `subscripts` describe.

    `subscripts` are such as "ij,jk->ik": a letter for each axis of each operand, and for those of the result.
    Raises TypeError for labels that are no string, ValueError for ones that do not fit the operands.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.einsum("ij,ij->i", rg.ones((2, 3)), rg.ones((2, 3)))
    Tensor([3., 3.])
    """
    if not isinstance(subscripts, str):
        raise TypeError("einsum: subscripts are a string such as 'ij,jk->ik'; labels in its place are not supported")
    if not operands:
        raise ValueError("einsum: wanted at least one operand")
    return con.einsum(subscripts, *in_common(*operands))
