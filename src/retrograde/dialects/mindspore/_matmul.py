"""Products of matrices and vectors: matmul's kin, the fused addmm family, einsum, tensordot, cross."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.notation import product_text
from ...core.value import dtype_of
from ...ops import structural as st
from ...tensor import contraction as native
from ...tensor import linalg as native_linalg
from .._shared.axes import axis_of, integers
from ._api import api, row, value_errors
from ._arguments import function, ranked
from ._arithmetic import matmul, mul
from ._promote import pair, result_dtype, same_dtype, tensor_argument, to_dtype
from ._reductions import sum


def transposed(x: Any) -> Any:
    """The last two axes exchanged."""
    n = x.ndim
    return st.transpose(x, axes=(*range(n - 2), n - 1, n - 2))


def _product(op: str, x: Any, y: Any) -> Any:
    if x.shape[-1] != y.shape[-2] or x.shape[:-2] != y.shape[:-2]:
        raise ValueError(f"{op}: {product_text(x.shape, y.shape)}")
    return matmul(x, y)

mm = row("mm", lambda input, mat2: _product("mm", ranked("mm", input, 2), ranked("mm", mat2, 2, "mat2")),
    "The product of two matrices.")  # fmt: skip


@api()
def bmm(input_x: Any, mat2: Any) -> Any:
    """The products of two batches of matrices."""
    x, y = tensor_argument("bmm", input_x, "input_x"), tensor_argument("bmm", mat2, "mat2")
    if x.ndim < 2 or x.ndim != y.ndim:
        raise ValueError(f"bmm: wanted two batches of matrices, got shapes {x.shape} and {y.shape}")
    return _product("bmm", x, y)

mv = row("mv", lambda mat, vec: matmul(ranked("mv", mat, 2, "mat"), ranked("mv", vec, 1, "vec")),
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


inner = function("inner", "input: Tensor, other: Same", native.inner, "The sum of products over the last axes.",
    decorate=value_errors)  # fmt: skip

ger = row("ger", lambda input, vec2: outer(ranked("ger", input, 1), ranked("ger", vec2, 1, "vec2")),
    "All products of the elements of one vector with those of another.")  # fmt: skip


@api("outer")
def outer(input: Any, vec2: Any) -> Any:
    """All products of the elements of a tensor with those of a vector (or number without axes)."""
    x, y = tensor_argument("outer", input), tensor_argument("outer", vec2, "vec2")
    if y.ndim > 1:
        raise ValueError(f"outer: vec2 must have at most one axis, got shape {y.shape}")
    return mul(st.reshape(x, shape=(x.size, 1)), st.reshape(y, shape=(y.size,)))


kron = function("kron", "input: Tensor, other: Tensor", lambda x, y: native.kron(*pair("kron", x, y)), "The Kronecker product.",
    decorate=value_errors, method=False)  # fmt: skip
vecdot = function("vecdot", "x: Tensor, y: Tensor, *, axis: Int = -1",
    lambda x, y, axis: sum(mul(st.conj(x) if dtype_of(x).kind == "c" else x, y), axis), "The sum of products along an axis.",
    method=False)  # fmt: skip


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


addmm = row("addmm", lambda input, mat1, mat2, *, beta=1, alpha=1:
    _with_product("addmm", input, mm(mat1, mat2), beta, alpha), "beta input + alpha mat1 @ mat2.",
    in_place=True)  # fmt: skip
addmv = row("addmv", lambda input, mat, vec, *, beta=1, alpha=1:
    _with_product("addmv", input, mv(mat, vec), beta, alpha), "beta input + alpha mat @ vec.")  # fmt: skip


@api("addr")
def addr(x: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta x + alpha times the outer product of two vectors."""
    return _with_product("addr", x, outer(ranked("addr", vec1, 1, "vec1"), ranked("addr", vec2, 1, "vec2")), beta, alpha)


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
