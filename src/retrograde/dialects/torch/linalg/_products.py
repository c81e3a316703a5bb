"""Products of matrices and of vectors, powers, diagonals, Vandermonde matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import dtype_of, ndim_of, shape_of
from ....ops import contraction, triangular
from ....ops.elementwise import multiply
from ....ops.linalg import inv
from ....ops.reduction import sum as reduce_sum
from ....ops.scan import cumprod
from ....ops.selection import where
from ....ops.structural import broadcast_to, cast, concatenate, conj, copy, reshape
from ....tape import inplace
from .._axes import axes_of, axis_of
from .._dtype import FROM_NUMPY
from .._graph_nodes import NAMES, show_as
from .._promote import pair
from .._tensor import Tensor, beside
from ._checks import floating, matrices, same_dtype, shape_argument, takes_out

NAMES["cross"] = "LinalgCrossBackward0"


@takes_out
def matmul(input: Any, other: Any) -> Tensor:
    """The matrix product, as `torch.matmul`."""
    op = "linalg.matmul"
    x, y = shape_argument(op, input, "input"), shape_argument(op, other, "other")
    same_dtype(op, input, other, ("input", "other"))
    if not x or not y:
        raise RuntimeError(f"{op}: both tensors need at least 1 dimension, got {len(x)} and {len(y)}")
    return contraction.matmul(input, other)


@takes_out
def matrix_power(input: Any, n: int) -> Tensor:
    """The n-th power of each square matrix, of its inverse for negative n."""
    op = "linalg.matrix_power"
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"{op}: n must be an int, got {type(n).__name__}")
    shape = shape_argument(op, input, "input")
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise RuntimeError(f"{op}: the input must be a batch of square matrices, got the shape {list(shape)}")
    if n < 0:
        matrices("linalg.inv", input, square=True, half=RuntimeError)
        input, n = inv(input), -n
    if n == 0:
        # Nothing of the input is kept, but the result belongs to its graph and has the gradient 0.
        return show_as(where(False, input, np.eye(shape[-1], dtype=dtype_of(input))), "CopyBackwards")
    if n == 1:
        return copy(input)
    if n == 3:
        return contraction.matmul(contraction.matmul(input, input), input)
    square: Any = input
    out: Any = None
    while True:
        n, odd = divmod(n, 2)
        if odd:
            out = square if out is None else contraction.matmul(out, square)
        if n == 0:
            return out
        square = contraction.matmul(square, square)


def _cheapest(sizes: list[int]) -> Any:
    """For each chain of matrices, of sizes[i] by sizes[i + 1], where to split it for the fewest multiplications."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split


@takes_out
def multi_dot(tensors: Any) -> Tensor:
    """The product of two or more matrices in the cheapest order; the first and the last may be vectors."""
    op = "linalg.multi_dot"
    chain = list(tensors)
    if len(chain) < 2:
        raise RuntimeError(f"{op}: wanted at least 2 tensors, got {len(chain)}")
    shapes = [shape_argument(op, x, f"tensor {i}") for i, x in enumerate(chain)]
    last = len(chain) - 1
    for i, (x, shape) in enumerate(zip(chain, shapes)):
        if len(shape) != 2 and (len(shape) != 1 or i not in (0, last)):
            wanted = "1 or 2" if i in (0, last) else "2"
            raise RuntimeError(f"{op}: tensor {i} must have {wanted} dimensions, got {len(shape)}")
        if dtype_of(x) != dtype_of(chain[0]):
            dtypes = [FROM_NUMPY[dtype_of(y)] for y in (chain[0], x)]
            raise RuntimeError(f"{op}: tensors must have one dtype, got {dtypes[0]!r} and (tensor {i}) {dtypes[1]!r}")
    result = (*(shapes[0][:1] if len(shapes[0]) == 2 else ()), *(shapes[last][1:] if len(shapes[last]) == 2 else ()))
    if len(shapes[0]) == 1:
        chain[0] = reshape(chain[0], shape=(1, *shapes[0]))
    if len(shapes[last]) == 1:
        chain[last] = reshape(chain[last], shape=(*shapes[last], 1))
    sizes = [shape_of(chain[0])[0]]
    for i, x in enumerate(chain):
        if shape_of(x)[0] != sizes[-1] and i:
            raise RuntimeError(f"{op}: tensors {i - 1} and {i} of shapes {list(shapes[i - 1])} and {list(shapes[i])} "
                               "cannot be multiplied")  # fmt: skip
        sizes.append(shape_of(x)[1])
    split = _cheapest(sizes)

    def product(i: int, j: int) -> Any:
        if i == j:
            return chain[i]
        k = split[i][j]
        return contraction.matmul(product(i, k), product(k + 1, j))

    return reshape(product(0, last), shape=result)


@takes_out
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Tensor:
    """The inner products of vectors along a dimension, conjugating the first."""
    op = "linalg.vecdot"
    shape_argument(op, x, "x"), shape_argument(op, y, "y")
    for v, name in ((x, "x"), (y, "y")):
        if dtype_of(v).kind in "iub":
            floating(op, v, name)
    x, y = pair(op, x, y)
    product = multiply(conj(x) if dtype_of(x).kind == "c" else x, y)
    return reduce_sum(product, axis=(axis_of(op, dim, ndim_of(product)),), keepdims=False)


@takes_out
def cross(input: Any, other: Any, *, dim: int = -1) -> Tensor:
    """The vector product along a dimension of size 3; the other dimensions broadcast."""
    op = "linalg.cross"
    x, y = shape_argument(op, input, "input"), shape_argument(op, other, "other")
    if len(x) != len(y):
        raise RuntimeError(f"{op}: input and other must have as many dimensions, got {len(x)} and {len(y)}")
    along = axis_of(op, dim, len(x))
    if x[along] != 3 or y[along] != 3:
        raise RuntimeError(f"{op}: dimension {dim} must have size 3 in both tensors, got {x[along]} and {y[along]}")
    same_dtype(op, input, other, ("input", "other"))
    return contraction.cross(input, other, axis=along)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of two dimensions, as the last dimension."""
    first, second = axes_of("linalg.diagonal", (dim1, dim2), len(shape_argument("linalg.diagonal", A)))
    return inplace.view(triangular.diagonal, A, offset=offset, axis1=first, axis2=second)  # type: ignore[return-value]


def powers(x: Any, n: int) -> Any:
    """The powers 0 to n - 1 of each element, along a new last dimension."""
    if dtype_of(x).kind in "iub":
        x = cast(x, dtype=np.dtype(np.int64))
    shape = tuple(shape_of(x))
    ones = beside(np.ones((*shape, 1), dtype_of(x)), x)
    if n == 1:
        return ones
    repeated = broadcast_to(reshape(x, shape=(*shape, 1)), shape=(*shape, n - 1))
    return concatenate(ones, cumprod(repeated, axis=len(shape), reverse=False), axis=len(shape))


def vander(x: Any, N: int | None = None) -> Tensor:
    """The Vandermonde matrices of the vectors along the last dimension: the powers 0 to N - 1 of each element."""
    shape = shape_argument("linalg.vander", x, "x")
    if not shape:
        x, shape = reshape(x, shape=(1,)), (1,)
    if dtype_of(x).itemsize == 2 and dtype_of(x).kind not in "iu":
        floating("linalg.vander", x, "x", half=RuntimeError)
    if N is None:
        N = shape[-1]
    if N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}")
    return powers(x, N)
