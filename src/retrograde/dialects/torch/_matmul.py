"""Products of matrices and vectors: matmul and its kin, the fused addmm family, einsum, tensordot, cross."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import aval_of
from ...core.notation import product_text
from ...core.value import Value, dtype_of, shape_of
from ...ops import contraction as ct
from ...ops import structural as st
from ...ops.einsum import label_sizes, parse
from . import _shape
from ._api import METHODS, api
from ._arithmetic import factor
from ._axes import axes_of, axis_of, numpy_names
from ._dtype import FROM_NUMPY, promote_types
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, show_as
from ._promote import number_array, python_number, to_dtype
from ._tensor import Tensor

_ndarray = np.ndarray
_matmul = ct.matmul.prim.bind

# ------------------------------------------------------------------------------------------ names of nodes


def _matmul_name(node: Any) -> str:
    rank = len(node.shape)
    ranks = [0 if edge is None else len(edge.shape) for edge in node.edges]
    if ranks == [2, 3]:
        return "CloneBackward0"
    if rank > 2 or max(ranks) > 2:
        return "UnsafeViewBackward0"
    if rank == 1:
        return "SqueezeBackward4" if ranks[0] == 1 else "MvBackward0"
    return "MmBackward0" if rank else "DotBackward0"


def _einsum_name(node: Any) -> str:
    inputs, output = node.params["inputs"], node.params["output"]
    if len(inputs) == 1:
        (labels,) = inputs
        return "PermuteBackward0" if set(labels) == set(output) else "SumBackward1"
    summed = [k for labels in inputs for k in set(labels) if k not in output]
    return "ViewBackward0" if len(set(summed)) < len(summed) else "MulBackward0"


NAMES.update(
    matmul=_matmul_name, einsum=_einsum_name, cross="LinalgCrossBackward0", add_matmul="AddmmBackward0",
    affine=lambda node: "AddmmBackward0" if len(node.shape) == 2 else "ViewBackward0",
    transposed_matmul="MmBackward0",
    project=lambda node: {1: "SqueezeBackward4", 2: "MmBackward0"}.get(len(node.shape), "UnsafeViewBackward0"),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ arguments


def _tensors(op: str, *operands: Any, ranks: tuple[int, ...] | None = None) -> None:
    """Raise TypeError for what is no tensor, RuntimeError for different dtypes or wrong numbers of dimensions."""
    _all_tensors(op, operands)
    first = dtype_of(operands[0])
    for x in operands[1:]:
        _same_dtype(op, first, dtype_of(x))
    for x, rank in zip(operands, ranks or ()):
        if len(shape_of(x)) != rank:
            raise RuntimeError(
                f"{op}: wanted {' and '.join(f'{r}-d' for r in ranks or ())} tensors, got shapes "
                f"{', '.join(str(list(shape_of(y))) for y in operands)}"
            )


def _all_tensors(op: str, operands: Sequence[Any]) -> None:
    """Raise TypeError for what is no tensor."""
    for x in operands:
        if not isinstance(x, Value):
            raise TypeError(f"{op}: wanted tensors, got {type(x).__name__}")


def _same_dtype(op: str, first: Any, second: Any) -> None:
    """Raise RuntimeError for two dtypes that differ."""
    if first != second:
        raise RuntimeError(
            f"{op}: the tensors must have one dtype, got {FROM_NUMPY[first]} and {FROM_NUMPY[second]}; convert one of them "
            "with to()"
        )


def _plain(x: Any, y: Any, m: int, n: int) -> bool:
    """Whether two operands are arrays of one dtype, of these ranks, that can be multiplied."""
    if not (isinstance(x, Value) and isinstance(y, Value)):
        return False
    a, b = x._a, y._a
    return (
        type(a) is _ndarray and type(b) is _ndarray and a.dtype is b.dtype and a.ndim == m and b.ndim == n
        and a.shape[-1] == b.shape[-2 if n > 1 else 0] and a.dtype.kind != "b"
    )  # fmt: skip


def _inner(op: str, x: Any, y: Any) -> None:
    """Raise RuntimeError where the inner sizes of a product differ."""
    a, b = shape_of(x), shape_of(y)
    if a[-1] != (b[0] if len(b) == 1 else b[-2]):
        raise RuntimeError(f"{op}: {product_text(a, b)}")


# ------------------------------------------------------------------------------------------ matrix products


@api(out=True)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product over the last two dimensions, those before broadcast; vectors count as rows or columns."""
    if isinstance(input, Value) and isinstance(other, Value):
        x, y = input._a, other._a
        if type(x) is _ndarray and type(y) is _ndarray and x.dtype is y.dtype and x.ndim and y.ndim:
            if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
                _inner("matmul", input, other)
            if x.dtype.kind != "b":
                return _matmul(input, other)
    _tensors("matmul", input, other)
    if dtype_of(input).kind == "b":
        raise NotImplementedError("matmul: boolean tensors cannot be multiplied as matrices; convert them first")
    if not shape_of(input) or not shape_of(other):
        raise RuntimeError("matmul: a 0-d tensor cannot be multiplied as a matrix; use mul()")
    _inner("matmul", input, other)
    return _matmul(input, other)


def _operator(self: Any, other: Any) -> Any:
    return matmul(self, other) if isinstance(other, Value) else NotImplemented


def _reflected(self: Any, other: Any) -> Any:
    return matmul(other, self) if isinstance(other, Value) else NotImplemented


METHODS.update(__matmul__=_operator, __rmatmul__=_reflected)


@api(out=True)
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    if _plain(input, mat2, 2, 2):
        return _matmul(input, mat2)
    _tensors("mm", input, mat2, ranks=(2, 2))
    _inner("mm", input, mat2)
    return _matmul(input, mat2)


@api(method=False)
def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`mm` under the name that older programs call with a sparse first operand."""
    return mm(input, mat2)


@api(out=True)
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of corresponding matrices of two batches."""
    if _plain(input, mat2, 3, 3) and input._a.shape[0] == mat2._a.shape[0]:
        return show_as(_matmul(input, mat2), "BmmBackward0")
    _tensors("bmm", input, mat2, ranks=(3, 3))
    if shape_of(input)[0] != shape_of(mat2)[0]:
        raise RuntimeError(f"bmm: the batches have {shape_of(input)[0]} and {shape_of(mat2)[0]} matrices")
    _inner("bmm", input, mat2)
    return show_as(_matmul(input, mat2), "BmmBackward0")


@api(out=True)
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector."""
    if _plain(input, vec, 2, 1):
        return _matmul(input, vec)
    _tensors("mv", input, vec, ranks=(2, 1))
    _inner("mv", input, vec)
    return _matmul(input, vec)


@api(out=True)
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of the elements of two vectors, neither conjugated."""
    if _plain(input, tensor, 1, 1):
        return _matmul(input, tensor)
    _tensors("dot", input, tensor, ranks=(1, 1))
    _inner("dot", input, tensor)
    if dtype_of(input).kind == "b":
        raise NotImplementedError("dot: booleans have no products here; convert them to numbers first")
    return _matmul(input, tensor)


@api(out=True)
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The inner product of two vectors, the first conjugated."""
    _tensors("vdot", input, other, ranks=(1, 1))
    _inner("vdot", input, other)
    return show_as(_matmul(st.conj(input) if dtype_of(input).kind == "c" else input, other), "VdotBackward0")


@api(out=True)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products over the last dimensions of two tensors; a product where one is 0-d."""
    _tensors("inner", input, other)
    a, b = shape_of(input), shape_of(other)
    if not a or not b:
        return input * other  # type: ignore[operator]
    if a[-1] != b[-1]:
        raise RuntimeError(f"inner: the last dimensions must agree, got shapes {list(a)} and {list(b)}")
    return show_as(ct.tensordot(input, other, axes=((len(a) - 1,), (len(b) - 1,))), "ViewBackward0")


@api("outer", "ger", out=True)
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Every element of one vector times every element of another."""
    for x in (input, vec2):
        if not isinstance(x, Value):
            raise TypeError(f"outer: wanted tensors, got {type(x).__name__}")
        if len(shape_of(x)) != 1:
            raise RuntimeError(f"outer: wanted vectors, got shapes {list(shape_of(input))} and {list(shape_of(vec2))}")
    return _shape.reshape(input, -1, 1) * vec2  # type: ignore[operator]


@api(out=True)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of `input` times all of `other`, in blocks."""
    tensor_argument("kron", input), tensor_argument("kron", other, "other")
    n = max(len(shape_of(input)), len(shape_of(other)))
    a = (1,) * (n - len(shape_of(input))) + tuple(shape_of(input))
    b = (1,) * (n - len(shape_of(other))) + tuple(shape_of(other))
    x = st.reshape(input, shape=tuple(k for size in a for k in (size, 1)))
    y = st.reshape(other, shape=tuple(k for size in b for k in (1, size)))
    return show_as(st.reshape(x * y, shape=tuple(i * j for i, j in zip(a, b))), "UnsafeViewBackward0")


@api(out=True)
@numpy_names
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector product along a dimension of size 3: the first such one, unless `dim` says."""
    _tensors("cross", input, other)
    a, b = tuple(shape_of(input)), tuple(shape_of(other))
    if len(a) != len(b):
        raise RuntimeError(f"cross: both tensors must have as many dimensions, got shapes {list(a)} and {list(b)}")
    if dim is None:
        warnings.warn("cross: pass dim, or use linalg.cross, whose default is -1", UserWarning, stacklevel=2)
        common = np.broadcast_shapes(a, b)
        axis = next((i for i, n in enumerate(common) if n == 3), -1)
        if axis < 0:
            raise RuntimeError(f"cross: no dimension of shape {list(common)} has size 3")
    else:
        axis = axis_of("cross", dim, len(a))
    if a[axis] != 3 or b[axis] != 3:
        raise RuntimeError(f"cross: dimension {axis} must have size 3, got shapes {list(a)} and {list(b)}")
    return ct.cross(input, other, axis=axis)


# ------------------------------------------------------------------------------------------ with something added


def _factors(op: str, d: np.dtype, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """The two factors as Python numbers, cut to whole ones for whole numbers; raises RuntimeError for what the dtype
    does not take."""
    if d.kind == "b":
        raise NotImplementedError(f"{op}: boolean tensors cannot be multiplied as matrices; convert them first")
    out = []
    for name, number in (("beta", beta), ("alpha", alpha)):
        number = python_number(op, name, number)
        if d.kind in "iu":
            number = number_array(f"{op}: {name}", number, d).item()
        elif d.kind != "c" and isinstance(number, complex):
            raise RuntimeError(f"{op}: {name} must be real for real tensors, got {number!r}")
        out.append(number)
    return out[0], out[1]


def _added(op: str, name: str, c: Any, x: Any, y: Any, beta: Any, alpha: Any, ranks: tuple[int, int]) -> Any:
    _tensors(op, c, x, y)
    _tensors(op, x, y, ranks=ranks)
    _inner(op, x, y)
    shape = ct.infer_matmul([aval_of(x), aval_of(y)], {}).shape
    have = tuple(shape_of(c))
    extra = len(shape) - len(have)
    if extra < 0 or any(n not in (1, m) for n, m in zip(have, shape[extra:])):
        raise RuntimeError(f"{op}: a tensor of shape {list(have)} does not broadcast to the product's {list(shape)}")
    beta, alpha = _factors(op, dtype_of(c), beta, alpha)
    return show_as(ct.add_matmul(c, x, y, beta=beta, alpha=alpha), name)


@api(in_place=True, out=True)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * mat1 @ mat2`."""
    return _added("addmm", "AddmmBackward0", input, mat1, mat2, beta, alpha, (2, 2))


@api(in_place=True, out=True)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * mat @ vec`."""
    return _added("addmv", "AddmvBackward0", input, mat, vec, beta, alpha, (2, 1))


@api(in_place=True, out=True)
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * bmm(batch1, batch2)`."""
    if len(shape_of(batch1)) == len(shape_of(batch2)) == 3 and shape_of(batch1)[0] != shape_of(batch2)[0]:
        raise RuntimeError(f"baddbmm: the batches have {shape_of(batch1)[0]} and {shape_of(batch2)[0]} matrices")
    return _added("baddbmm", "BaddbmmBackward0", input, batch1, batch2, beta, alpha, (3, 3))


@api(in_place=True, out=True)
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * bmm(batch1, batch2).sum(0)`."""
    _tensors("addbmm", input, batch1, batch2)
    _tensors("addbmm", batch1, batch2, ranks=(3, 3))
    (b, n, k), (b2, k2, m) = tuple(shape_of(batch1)), tuple(shape_of(batch2))
    if (b, k) != (b2, k2):
        raise RuntimeError(f"addbmm: batches of shapes {[b, n, k]} and {[b2, k2, m]} cannot be multiplied")
    # The sum of products is one product of the matrices side by side.
    wide = st.reshape(st.transpose(batch1, axes=(1, 0, 2)), shape=(n, b * k))
    tall = st.reshape(batch2, shape=(b * k, m))
    return _added("addbmm", "AddbmmBackward0", input, wide, tall, beta, alpha, (2, 2))


@api(in_place=True, out=True)
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * outer(vec1, vec2)`."""
    for x in (vec1, vec2):
        if len(shape_of(x)) != 1:
            raise RuntimeError(f"addr: wanted vectors, got shapes {list(shape_of(vec1))} and {list(shape_of(vec2))}")
    d = functools.reduce(promote_types, (FROM_NUMPY[dtype_of(x)] for x in (input, vec1, vec2)))
    input, vec1, vec2 = (to_dtype(x, d) for x in (input, vec1, vec2))
    beta, alpha = factor("addr", beta, d, "beta"), factor("addr", alpha, d)
    if d.category == 0:
        beta, alpha = bool(beta), bool(alpha)
    product = outer(vec1, vec2)
    if alpha != 1:
        product = product * alpha  # type: ignore[operator]
    shape = tuple(shape_of(product))
    have = tuple(shape_of(input))
    if len(have) > 2 or any(n not in (1, m) for n, m in zip(reversed(have), reversed(shape))):
        raise RuntimeError(f"addr: a tensor of shape {list(have)} does not broadcast to {list(shape)}")
    if beta == 0:
        return show_as(st.copy(product), "AddrBackward0")
    return show_as((input * beta if beta != 1 else input) + product, "AddrBackward0")  # type: ignore[operator]


# ------------------------------------------------------------------------------------------ einsum, tensordot


def _sublists(op: str, args: tuple[Any, ...]) -> tuple[list[Any], tuple[tuple[int, ...], ...], Any]:
    """Operands, labels and output of the form einsum(x, [0, 1], y, [1, 2], [0, 2]); Ellipsis is allowed."""
    operands = list(args[: len(args) - len(args) % 2 : 2])
    lists = [list(s) for s in args[1::2]]
    output = list(args[-1]) if len(args) % 2 else None
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def text(labels: list[Any]) -> str:
        parts = []
        for e in labels:
            if e is Ellipsis:
                parts.append("...")
            elif not 0 <= int(e) < len(letters):
                raise RuntimeError(f"{op}: subscripts must lie in [0, {len(letters)}), got {e}")
            else:
                parts.append(letters[int(e)])
        return "".join(parts)

    equation = ",".join(text(labels) for labels in lists)
    if output is not None:
        equation += "->" + text(output)
    return operands, *_parsed(op, equation, operands)  # type: ignore[return-value]


def _parsed(op: str, equation: str, operands: list[Any]) -> tuple[Any, Any]:
    _all_tensors(op, operands)
    try:
        inputs, output = parse(equation, [tuple(shape_of(x)) for x in operands])
        if any(type(x._a) is not _ndarray for x in operands):
            label_sizes([tuple(shape_of(x)) for x in operands], inputs)  # inside transforms nothing else checks
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    return inputs, output


def _promoted(op: str, operands: list[Any], inputs: Any, output: Any) -> list[Any]:
    """Operands of different dtypes in one of them; raises RuntimeError where two are contracted.

    Operands are taken in from the left. A label that both sides have, in more than one element, and nothing later asks for makes
    that a product of matrices, which wants one dtype; without one it is `mul`, which promotes.
    """
    sizes = [dict(zip(labels, shape_of(x))) for labels, x in zip(inputs, operands)]
    wide, dtype = {k for k, size in sizes[0].items() if size != 1}, FROM_NUMPY[dtype_of(operands[0])]
    for i, x in enumerate(operands[1:], 1):
        its = {k for k, size in sizes[i].items() if size != 1}
        later = {*output, *(k for labels in inputs[i + 1 :] for k in labels)}
        if (wide & its) - later:
            _same_dtype(op, dtype.np, dtype_of(x))
        dtype = promote_types(dtype, FROM_NUMPY[dtype_of(x)])
        wide = (wide | its) & later
    return [to_dtype(x, dtype) for x in operands]


@api(method=False)
def einsum(*args: Any) -> Tensor:
    """The sum of products of tensors that subscripts describe: einsum("ij,jk->ik", x, y)."""
    if not args:
        raise ValueError("einsum: give an equation and tensors")
    if isinstance(args[0], Value):
        operands, inputs, output = _sublists("einsum", args)
    else:
        if not isinstance(args[0], str):
            raise TypeError(f"einsum: the equation must be a string, got {type(args[0]).__name__}")
        operands = list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
        if not operands:
            raise ValueError("einsum: give at least one tensor")
        inputs, output = _parsed("einsum", args[0], operands)
    first = dtype_of(operands[0])
    if any(dtype_of(x) != first for x in operands[1:]):
        operands = _promoted("einsum", operands, inputs, output)
    if len(operands) == 1:
        (labels,) = inputs
        if len(set(labels)) == len(labels) and set(labels) == set(output):
            return _shape.transposed(operands[0], tuple(labels.index(k) for k in output))
    return ct.einsum_labels(*operands, inputs=inputs, output=output)


@api(method=False, out=True)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """The sums of products over the last dimensions of `a` and the first of `b`, or over pairs that `dims` names."""
    _tensors("tensordot", a, b)
    m, n = len(shape_of(a)), len(shape_of(b))
    if isinstance(dims, Value):
        dims = dims.tolist() if len(shape_of(dims)) else int(dims.item())  # type: ignore[attr-defined]
    if isinstance(dims, int):
        if dims < 0 or dims > min(m, n):
            raise RuntimeError(f"tensordot: {dims} dimensions cannot be summed over for tensors of {m} and {n}")
        first, second = tuple(range(m - dims, m)), tuple(range(dims))
    else:
        left, right = dims
        first, second = axes_of("tensordot", left, m) if m else (), axes_of("tensordot", right, n) if n else ()
    if len(first) != len(second):
        raise RuntimeError(f"tensordot: {len(first)} dimensions of one tensor and {len(second)} of the other")
    for i, j in zip(first, second):
        if shape_of(a)[i] != shape_of(b)[j] and 1 not in (shape_of(a)[i], shape_of(b)[j]):
            raise RuntimeError(f"tensordot: dimension {i} of size {shape_of(a)[i]} and {j} of size {shape_of(b)[j]}")
    return show_as(ct.tensordot(a, b, axes=(first, second)), "ViewBackward0")


@api(method=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Any = None) -> Tensor:
    """`x1 A x2 + b` for every matrix A of `weight` (out, in1, in2), over the last dimensions."""
    _tensors("bilinear", input1, input2, weight)
    a, b, w = tuple(shape_of(input1)), tuple(shape_of(input2)), tuple(shape_of(weight))
    if len(w) != 3 or a[:-1] != b[:-1] or a[-1] != w[1] or b[-1] != w[2]:
        raise RuntimeError(f"bilinear: inputs of shapes {list(a)} and {list(b)} do not fit a weight of shape {list(w)}")
    lead = tuple(range(3, 3 + len(a) - 1))
    out = ct.einsum_labels(input1, weight, input2, inputs=((*lead, 1), (0, 1, 2), (*lead, 2)), output=(*lead, 0))
    show_as(out, "ViewBackward0")
    return out if bias is None else out + bias  # type: ignore[operator]
