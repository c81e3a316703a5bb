"""Products of matrices and vectors: dot, inner, outer, kron, cross, matrix products with sums, tensordot, einsum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import contraction as con
from ...ops import elementwise as ew
from ...ops import reduction as red
from ...ops import structural as st
from ...tensor import contraction
from .._shared.axes import axis_of, integers
from ._api import api, row
from ._arithmetic import matmul
from ._binary import same_dtype
from ._promote import STRICT, pair, result_dtype, single, to_dtype


def alike(op: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors of one dtype, as products want them; beside a complex one, a real one is converted."""
    x, y = single(op, x), single(op, y)
    if dtype_of(x) != dtype_of(y):
        d = result_dtype(op, x, y, strict=True) if "c" in (dtype_of(x).kind, dtype_of(y).kind) else None
        if d is None:
            raise ValueError(f"{op}: the operands have dtypes {x.dtype} and {y.dtype}; convert one with astype()")
        x, y = to_dtype(x, d), to_dtype(y, d)
    return x, y


def _ranks(op: str, wanted: tuple[int, ...], *operands: Any) -> None:
    for x, n in zip(operands, wanted):
        if len(shape_of(single(op, x))) != n:
            raise ValueError(f"{op}: wanted a tensor with {n} axes, got shape {list(shape_of(x))}")


# ------------------------------------------------------------------------------------------ vectors


@api(out=True, seconds={"tensor": "y"})
def dot(x: Any, y: Any, name: Any = None) -> Any:
    """The product of two vectors, or of corresponding rows of two matrices."""
    x, y = alike("dot", x, y)
    if tuple(shape_of(x)) != tuple(shape_of(y)) or not 1 <= len(shape_of(x)) <= 2:
        raise RuntimeError(
            f"dot: wanted two vectors (or two matrices) of one shape, got {list(shape_of(x))} and {list(shape_of(y))}"
        )
    if len(shape_of(x)) == 1:
        return contraction.matmul(x, y)
    return red.sum(ew.multiply(x, y), axis=(1,), keepdims=False)


@api()
def inner(x: Any, y: Any, name: Any = None) -> Any:
    """The sums of products over the last axes of two tensors; of a number, its product with the other."""
    x, y = alike("inner", x, y)
    if not shape_of(x) or not shape_of(y):
        return ew.multiply(x, y)
    if shape_of(x)[-1] != shape_of(y)[-1]:
        raise ValueError(f"inner: the last axes differ, in {list(shape_of(x))} and {list(shape_of(y))}")
    return contraction.inner(x, y)


@api("outer", "ger", out=True, seconds={"vec2": "y"})
def outer(x: Any, y: Any, name: Any = None) -> Any:
    """All products of an element of x with one of y, as a matrix."""
    x, y = pair("outer", single("outer", x), single("outer", y), STRICT)
    left = st.reshape(x, shape=(math.prod(shape_of(x)), 1))
    return ew.multiply(left, st.reshape(y, shape=(1, math.prod(shape_of(y)))))


kron = row("kron", lambda x, y, name=None: con.kron(*alike("kron", x, y)),
    "The Kronecker product: every element of x times all of y, in blocks.")  # fmt: skip


@api()
def cross(x: Any, y: Any, axis: int = 9, name: Any = None) -> Any:
    """The cross products of vectors of three along an axis, the first of that length if none is given."""
    x, y = pair("cross", single("cross", x), single("cross", y), STRICT)
    if tuple(shape_of(x)) != tuple(shape_of(y)):
        raise ValueError(f"cross: the shapes {list(shape_of(x))} and {list(shape_of(y))} differ")
    if axis == 9:
        if 3 not in shape_of(x):
            raise ValueError(f"cross: no axis of shape {list(shape_of(x))} has 3 elements")
        i = list(shape_of(x)).index(3)
    else:
        i = axis_of("cross", axis, len(shape_of(x)))
        if not shape_of(x) or shape_of(x)[i] != 3:
            raise ValueError(f"cross: axis {axis} of shape {list(shape_of(x))} must have 3 elements")
    return con.cross(x, y, axis=i)


@api()
def vecdot(x: Any, y: Any, axis: Any = -1, name: Any = None) -> Any:
    """The sums over an axis of products, of which the first is conjugated."""
    x, y = alike("vecdot", x, y)
    try:
        return contraction.vecdot(x, y, axis=axis)
    except np.exceptions.AxisError as error:
        raise ValueError(str(error)) from None


# ------------------------------------------------------------------------------------------ matrices


mm = row("mm", lambda input, mat2, name=None: matmul(input, mat2), "The matrix product.", out=True)


@api(out=True, seconds={"mat2": "y"})
def bmm(x: Any, y: Any, name: Any = None) -> Any:
    """The products of corresponding matrices of two batches."""
    _ranks("bmm", (3, 3), x, y)
    if shape_of(x)[0] != shape_of(y)[0]:
        raise ValueError(f"bmm: batches of {shape_of(x)[0]} and {shape_of(y)[0]} matrices")
    return matmul(x, y)


@api()
def mv(x: Any, vec: Any, name: Any = None) -> Any:
    """The product of a matrix and a vector."""
    _ranks("mv", (2, 1), x, vec)
    return matmul(x, vec)


def _with_sum(name: str, ndim: int) -> None:
    @api(name, in_place=True)
    def f(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: Any = None) -> Any:
        """`beta * input + alpha * (x @ y)`."""
        op = f.__name__
        _ranks(op, (ndim, ndim), x, y)
        same_dtype(op, input, x, y)
        product = matmul(x, y)
        if len(shape_of(input)) > ndim:
            raise ValueError(f"{op}: input of shape {list(shape_of(input))} has more axes than the product")
        return ew.add(input * beta if beta != 1 else input, product * alpha if alpha != 1 else product)

    f.__name__ = f.__qualname__ = name


_with_sum("addmm", 2)
_with_sum("baddbmm", 3)


@api()
def tensordot(x: Any, y: Any, axes: Any = 2, name: Any = None) -> Any:
    """The sums of products over axes: the last of x and the first of y, or those that lists name."""
    x, y = alike("tensordot", x, y)
    if isinstance(axes, (Value, np.ndarray)):
        axes = axes.tolist()
    if isinstance(axes, int):
        n = axes
        first, second = tuple(range(len(shape_of(x)) - n, len(shape_of(x)))), tuple(range(n))
        if n < 0 or n > min(len(shape_of(x)), len(shape_of(y))):
            raise ValueError(f"tensordot: {n} axes of tensors with {len(shape_of(x))} and {len(shape_of(y))}")
    else:
        lists = [axes, axes] if all(isinstance(a, int) for a in axes) else [*axes]
        lists = lists * 2 if len(lists) == 1 else lists
        given = [list(integers("tensordot", "axes", a)) for a in lists]
        for mine, others in ((given[0], given[1]), (given[1], given[0])):  # a shorter list goes on as the other does
            mine.extend(others[len(mine) :])
        first = tuple(axis_of("tensordot", a, len(shape_of(x))) for a in given[0])
        second = tuple(axis_of("tensordot", a, len(shape_of(y))) for a in given[1])
    for a, b in zip(first, second):
        if shape_of(x)[a] != shape_of(y)[b]:
            raise AssertionError(f"tensordot: axis {a} of {list(shape_of(x))} does not fit axis {b} of {list(shape_of(y))}")
    return contraction.tensordot(x, y, axes=(first, second))


@api(method=False)
def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products that an equation such as "ij,jk->ik" describes.

    Raises AssertionError for an equation that does not describe the operands, ValueError where sizes do not agree.
    """
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    if not isinstance(equation, str) or not all(isinstance(x, Value) for x in given):
        raise AttributeError(f"einsum: wanted an equation and Tensors, got {type(equation).__name__} and "
                             f"{[type(x).__name__ for x in given]}")  # fmt: skip
    terms = equation.partition("->")[0].replace(" ", "").split(",")
    if len(terms) != len(given) or equation.count("->") > 1:
        raise AssertionError(f"einsum: the equation {equation!r} does not describe {len(given)} operands")
    for i, (term, x) in enumerate(zip(terms, given)):
        labels, rank = term.replace("...", "", 1), len(shape_of(x))
        if (labels and not labels.isalpha()) or len(labels) > rank or (labels == term and len(labels) < rank):
            raise AssertionError(f"einsum: {term!r} in {equation!r} does not describe operand {i}, which has {rank} axes")
    same_dtype("einsum", *given)
    return contraction.einsum(equation, *given)
