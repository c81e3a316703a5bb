"""Sums of products: matmul, the layers built on it, einsum, cross products.

Products go to the BLAS in the layout they come in: a transposed operand is passed as a transposed view, never copied.
float16 and bfloat16 are multiplied in float32. Operands have one dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.jit import pairs
from ..backend.jit.halves import converted, single
from ..backend.jit.products import batched, product
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import ndim_of, shape_of
from .einsum import NUMPY, Labels, Standard, contract, label_sizes, parse
from .elementwise import multiply
from .kernels import scalar, widened
from .reduction import sum as reduce_sum
from .rules import bilinear, conj, move_batch, sum_tangents
from .samples import complex_normal, normal, sample
from .shapes import at_least, demand, meeting
from .structural import broadcast_to, reshape, transpose
from .triangular import diagonal_embed


def _half(dtype: np.dtype) -> bool:
    """is_half for NumPy's dtypes, without its calls: this is asked before every product."""
    return dtype.itemsize <= 2 and dtype.kind not in "iub"


def _flat(x: Any) -> Any:
    """All axes but the last as one."""
    shape = tuple(shape_of(x))
    return x if len(shape) == 2 else reshape(x, shape=(_count(shape[:-1]), shape[-1]))


def _count(shape: tuple[int, ...]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def matrix_transpose(x: Any) -> Any:
    """The last two axes exchanged."""
    n = ndim_of(x)
    return transpose(x, axes=(1, 0) if n == 2 else (*range(n - 2), n - 1, n - 2))


def _adjoint(x: Any) -> Any:
    return conj(matrix_transpose(x))


def _unsqueeze(x: Any, axis: int) -> Any:
    shape = tuple(shape_of(x))
    return reshape(x, shape=(*shape[:axis], 1, *shape[axis:]))


# ------------------------------------------------------------------------------------------ matmul


def _matmul_numpy(x: Any, y: Any) -> Any:
    if _half(x.dtype):
        found = pairs.product(x, y)
        return converted(_matmul_numpy(single(x), single(y)), x.dtype) if found is None else found
    m, n = x.ndim, y.ndim
    if m <= 2 and n <= 2:
        if not (m and n):
            raise ValueError("an operand without axes; a product with a number is multiply()")
        return product(x, y)  # where it goes to BLAS 0.3 µs sooner than np.matmul
    if n <= 2 and n:  # one product instead of one per matrix
        return product(x.reshape(_count(x.shape[:-1]), x.shape[-1]), y).reshape(*x.shape[:-1], *y.shape[1:])
    return batched(x, y) if m > 2 and n > 2 else np.matmul(x, y)


def _matmul_x(g: Any, _out: Any, x_: Any, y: Any) -> Any:
    m, n = ndim_of(x_), ndim_of(y)
    if m == 2 and n == 2:  # the product with a transpose as one operation: nothing to record for the transpose
        return project(g, conj(y))
    if n == 1:
        return g * conj(y) if m == 1 else multiply(_unsqueeze(g, m - 1), conj(y))
    if m == 1:
        if n == 2:
            return matmul(conj(y), g)
        return reshape(matmul(conj(y), _unsqueeze(g, n - 1)), shape=tuple(shape_of(y))[:-1])
    return matmul(g, _adjoint(y))


def _matmul_y(g: Any, _out: Any, x: Any, y_: Any) -> Any:
    m, n = ndim_of(x), ndim_of(y_)
    if m == 2 and n == 2:
        return transposed_matmul(conj(x), g)
    if m == 1:
        return g * conj(x) if n == 1 else multiply(reshape(conj(x), shape=(*shape_of(x), 1)), _unsqueeze(g, n - 2))
    if n == 1:
        if m == 2:
            return matmul(_adjoint(x), g)
        return matmul(reshape(g, shape=(_count(tuple(shape_of(g))),)), conj(_flat(x)))
    if n == 2 and m > 2:
        return matmul(_adjoint(_flat(x)), _flat(g))
    return matmul(_adjoint(x), g)


def infer_matmul(avals: Any, params: dict[str, Any]) -> Aval:
    """The shape of a matrix product; raises ValueError where the operands do not fit."""
    (a, dtype), (b, _) = avals
    if not a or not b or a[-1] != b[0 if len(b) == 1 else -2]:
        raise ValueError(f"shapes {tuple(a)} and {tuple(b)} do not fit a matrix product")
    batch = np.broadcast_shapes(a[:-2], b[:-2])
    return Aval((*batch, *(a[-2:-1] if len(a) > 1 else ()), *(b[-1:] if len(b) > 1 else ())), dtype)


def _as_matrices(x: Any, dim: int | None, rank: int, *, row: bool) -> Any:
    """A batched operand with its batch in front and `rank` axes behind it, the last two those of a matrix."""
    x = move_batch(x, dim)
    shape = tuple(shape_of(x))
    lead, own = (shape[:1], shape[1:]) if dim is not None else ((), shape)
    if len(own) == 1:
        own = (1, *own) if row else (*own, 1)
    if lead:
        own = (1,) * (rank - len(own)) + own
    return reshape(x, shape=(*lead, *own))


def _batch_matmul(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    (x, y), (dx, dy) = arrays, dims
    m, n = ndim_of(x) - (dx is not None), ndim_of(y) - (dy is not None)
    if dy is None and n <= 2:
        return op(move_batch(x, dx), y), 0
    if dx is None and n >= 2 and m <= 2:
        return op(x, move_batch(y, dy)), 0
    rank = max(m, n, 2)
    out = op(_as_matrices(x, dx, rank, row=True), _as_matrices(y, dy, rank, row=False))
    shape = tuple(shape_of(out))
    if n == 1:
        shape = shape[:-1]
    if m == 1:
        shape = shape[:-1] if n == 1 else (*shape[:-2], shape[-1])
    return (out if shape == tuple(shape_of(out)) else reshape(out, shape=shape)), 0


def _matmul_samples() -> Any:
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 2)), ((2, 2, 3), (3,)),
              ((2, 2, 3), (2, 3, 1)), ((3,), (2, 3, 2)), ((2, 3), (2, 3, 2)), ((2, 1, 2, 3), (3, 3, 2))]  # fmt: skip
    for a, b in shapes:
        yield sample(normal(*a), normal(*b, seed=3))
    yield sample(complex_normal(2, 3), complex_normal(3, 2, seed=3))
    yield sample(complex_normal(3), complex_normal(3, seed=3))


matmul = bilinear(
    "matmul", kernel=lambda xp, x, y: xp.matmul(x, y), numpy=_matmul_numpy, transposes=[_matmul_x, _matmul_y],
    batch=_batch_matmul, infer=infer_matmul,
    samples=_matmul_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ layers


def _project_numpy(x: Any, w: Any) -> Any:
    return _matmul_numpy(x, w.T)


def _project_w(g: Any, _out: Any, x: Any, _w: Any) -> Any:
    if ndim_of(x) == 1:
        return _unsqueeze(g, 1) * conj(x)
    return transposed_matmul(_flat(g), conj(_flat(x)))


def _batch_project(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    (x, w), (dx, dw) = arrays, dims
    if dw is None:
        return op(move_batch(x, dx), w), 0
    return _batch_matmul(matmul, (x, matrix_transpose(move_batch(w, dw))), (dx, 0), {})


def _infer_project(avals: Any, p: dict[str, Any]) -> Aval:
    x, w, *b = avals
    at_least(1, x)
    demand(len(w.shape) == 2, f"the weights are a matrix, got the shape {tuple(w.shape)}")
    meeting(x, w, -1, 1)
    shape = (*x.shape[:-1], w.shape[0])
    if b:
        demand(np.broadcast_shapes(shape, b[0].shape) == shape, f"a bias of shape {tuple(b[0].shape)} beside {shape}")
    return Aval(shape, x.dtype)


# x wᵀ: the last axis of x against that of the matrix w.
project = bilinear(
    "project", kernel=lambda xp, x, w: xp.matmul(x, xp.matrix_transpose(w)), numpy=_project_numpy,
    transposes=[lambda g, _out, _x, w: matmul(g, conj(w)), _project_w],
    batch=_batch_project, infer=_infer_project,
    samples=lambda: [sample(normal(*s, 3), normal(2, 3, seed=1)) for s in ((), (4,), (2, 2))]
    + [sample(complex_normal(2, 3), complex_normal(2, 3, seed=1))],
)  # fmt: skip


def _affine_kernel(xp: Any, x: Any, w: Any, b: Any) -> Any:
    return xp.matmul(x, xp.matrix_transpose(w)) + b


def _affine_numpy(x: Any, w: Any, b: Any) -> Any:
    if _half(x.dtype):
        found = pairs.product(x, w.T, b)
        return converted(_affine_numpy(single(x), single(w), single(b)), x.dtype) if found is None else found
    if x.ndim == 2:
        return product(x, w.T, b)
    if x.ndim > 2 and b.ndim < 2:
        return product(x.reshape(_count(x.shape[:-1]), x.shape[-1]), w.T, b).reshape(*x.shape[:-1], len(w))
    out = _project_numpy(x, w)
    if type(out) is np.ndarray:
        out += b
        return out
    return out + b


def _batch_affine(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    (x, w, b), (dx, dw, db) = arrays, dims
    if dw is None and db is None:
        return op(move_batch(x, dx), w, b), 0
    out, dim = (project(x, w), None) if dx is None and dw is None else _batch_project(project, (x, w), (dx, dw), {})
    b = move_batch(b, db)
    shape = tuple(shape_of(b))
    if db is not None:
        missing = ndim_of(out) - (dim is not None) - 1
        b = reshape(b, shape=(shape[0], *(1,) * missing, shape[-1]))
    return out + b, 0


def _transposed_numpy(x: Any, y: Any) -> Any:
    return _matmul_numpy(x.T, y)


def _batch_transposed(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    (x, y), (dx, dy) = arrays, dims
    moved = x if dx is None else move_batch(x, dx)
    return _batch_matmul(matmul, (matrix_transpose(moved), y), (None if dx is None else 0, dy), {})


def _infer_transposed(avals: Any, p: dict[str, Any]) -> Aval:
    for a in avals:
        demand(len(a.shape) == 2, f"matrices are wanted, got the shape {tuple(a.shape)}")
    meeting(avals[0], avals[1], 0, 0)
    return Aval((avals[0].shape[1], avals[1].shape[1]), avals[0].dtype)


# xᵀ y of two matrices: with matmul and project, the three products are each other's derivatives.
transposed_matmul = bilinear(
    "transposed_matmul", kernel=lambda xp, x, y: xp.matmul(xp.matrix_transpose(x), y), numpy=_transposed_numpy,
    transposes=[lambda g, _out, _x, y: project(conj(y), g), lambda g, _out, x, _y: matmul(conj(x), g)],
    batch=_batch_transposed, infer=_infer_transposed,
    samples=lambda: [sample(normal(3, 2), normal(3, 4, seed=1)),
                     sample(complex_normal(3, 2), complex_normal(3, 1, seed=1))],
)  # fmt: skip


# The layer x wᵀ + b, one operation.
affine = primitive(
    "affine", kernel=_affine_kernel, numpy=_affine_numpy,
    vjps=[lambda g, _out, _x, w, _b: matmul(g, conj(w)),
          lambda g, _out, x, _w, _b: _project_w(g, None, x, None),
          lambda g, _out, _x, _w, _b: reduce_sum(g, axis=tuple(range(ndim_of(g) - 1)), keepdims=False)],
    jvp=lambda tangents, out, x, w, b: sum_tangents([
        None if tangents[0] is None else project(tangents[0], w),
        None if tangents[1] is None else project(x, tangents[1]),
        None if tangents[2] is None else broadcast_to(tangents[2], shape=tuple(shape_of(out)))]),
    batch=_batch_affine, infer=_infer_project,
    samples=lambda: [sample(normal(*s, 3), normal(2, 3, seed=1), normal(2)) for s in ((), (4,), (2, 2))]
    + [sample(complex_normal(2, 3), complex_normal(2, 3, seed=1), complex_normal(2))],
)  # fmt: skip


@widened
def _add_matmul_kernel(xp: Any, c: Any, x: Any, y: Any, *, beta: Any, alpha: Any) -> Any:
    out = xp.matmul(x, y)
    if alpha != 1:
        out = out * scalar(alpha, out)
    if beta == 0:  # then c is not read: its nan and inf do not count
        shape = np.broadcast_shapes(tuple(out.shape), tuple(c.shape))
        return xp.asarray(xp.broadcast_to(out, shape), copy=True) if shape != tuple(out.shape) else out
    return (c if beta == 1 else c * scalar(beta, c)) + out


def _add_matmul_numpy(c: Any, x: Any, y: Any, *, beta: Any, alpha: Any) -> Any:
    if _half(x.dtype):  # rounded once, at the end
        out = pairs.sums(x, y)
        out = _matmul_numpy(single(x), single(y)) if out is None else out
        return converted(_added(out, single(c), beta, alpha), x.dtype)
    return _added(_matmul_numpy(x, y), c, beta, alpha)


def _added(out: Any, c: Any, beta: Any, alpha: Any) -> Any:
    """beta c + alpha out, which may be written to."""
    if alpha != 1:
        out = out * np.asarray(alpha, out.dtype)
    if beta == 0:
        shape = np.broadcast_shapes(out.shape, c.shape)
        return np.asarray(np.broadcast_to(out, shape), copy=True) if shape != out.shape else out
    if beta != 1:
        c = c * np.asarray(beta, c.dtype)
    return c + out


def _scaled(g: Any, factor: Any) -> Any:
    return g if factor == 1 else g * (factor.conjugate() if isinstance(factor, complex) else factor)


def _infer_add_matmul(avals: Any, params: dict[str, Any]) -> Aval:
    product = infer_matmul(avals[1:], {})
    return Aval(np.broadcast_shapes(avals[0].shape, product.shape), product.dtype)


def _batch_add_matmul(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    (c, x, y), (dc, dx, dy) = arrays, dims
    out, dim = (matmul(x, y), None) if dx is None and dy is None else _batch_matmul(matmul, (x, y), (dx, dy), {})
    c = move_batch(c, dc)
    if dc is not None:
        missing = ndim_of(out) - (dim is not None) - (ndim_of(c) - 1)
        shape = tuple(shape_of(c))
        c = reshape(c, shape=(shape[0], *(1,) * missing, *shape[1:]))
    out = out * params["alpha"]
    if params["beta"] == 0:
        return broadcast_to(out, shape=np.broadcast_shapes(tuple(shape_of(out)), tuple(shape_of(c)))), 0
    return c * params["beta"] + out, 0


# beta c + alpha x y, one operation; c broadcasts.
add_matmul = primitive(
    "add_matmul", kernel=_add_matmul_kernel, numpy=_add_matmul_numpy,
    vjps=[lambda g, _out, _c, _x, _y, *, beta, alpha: _scaled(g, beta),
          lambda g, _out, _c, x_, y, *, beta, alpha: _scaled(_matmul_x(g, None, x_, y), alpha),
          lambda g, _out, _c, x, y_, *, beta, alpha: _scaled(_matmul_y(g, None, x, y_), alpha)],
    jvp=lambda tangents, out, c, x, y, *, beta, alpha: broadcast_to(sum_tangents([
        None if tangents[0] is None else tangents[0] * beta,
        None if tangents[1] is None else matmul(tangents[1], y) * alpha,
        None if tangents[2] is None else matmul(x, tangents[2]) * alpha]), shape=tuple(shape_of(out))),
    batch=_batch_add_matmul, infer=_infer_add_matmul,
    samples=lambda: [sample(normal(2, 4), normal(2, 3), normal(3, 4), beta=1, alpha=1),
                     sample(normal(4), normal(2, 3), normal(3, 4), beta=0.5, alpha=-2.0),
                     sample(normal(2), normal(2, 3), normal(3), beta=2, alpha=1),
                     sample(normal(2, 2, 2), normal(2, 2, 3), normal(2, 3, 2), beta=0, alpha=3),
                     sample(complex_normal(2), complex_normal(2, 3), complex_normal(3), beta=1j, alpha=2 - 1j)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ einsum

@widened
def _einsum_kernel(xp: Any, *xs: Any, inputs: tuple[Labels, ...], output: Labels) -> Any:
    out = contract(Standard(xp), list(xs), inputs, output)
    return xp.asarray(out, copy=True) if len(xs) == 1 else out


def _einsum_numpy(*xs: Any, inputs: tuple[Labels, ...], output: Labels) -> Any:
    if _half(xs[0].dtype):
        return converted(_einsum_numpy(*map(single, xs), inputs=inputs, output=output), xs[0].dtype)
    out = contract(NUMPY, list(xs), inputs, output)
    return out.copy() if len(xs) == 1 and (out is xs[0] or np.may_share_memory(out, xs[0])) else out


def _einsum_operand(i: int, g: Any, xs: Sequence[Any], inputs: tuple[Labels, ...], output: Labels) -> Any:
    """The cotangent of operand i."""
    labels = inputs[i]
    shape = dict(zip(labels, shape_of(xs[i])))
    others = [j for j in range(len(xs)) if j != i]
    available = set(output).union(*(inputs[j] for j in others))
    unique = tuple(dict.fromkeys(labels))
    kept = tuple(label for label in unique if label in available)
    r = _einsum(g, *(conj(xs[j]) for j in others), inputs=(output, *(inputs[j] for j in others)), output=kept)
    have = dict(zip(kept, shape_of(r)))
    if kept != unique:
        r = reshape(r, shape=tuple(have.get(label, 1) for label in unique))
    if any(have.get(label, 1) == 1 != shape[label] for label in unique):  # constant along what was summed over alone
        r = broadcast_to(r, shape=tuple(n if (n := have.get(label, 1)) != 1 else shape[label] for label in unique))
    if unique == labels:
        return r
    stretched = tuple(k for k, label in enumerate(unique) if shape[label] == 1 and shape_of(r)[k] != 1)
    if stretched:
        r = reduce_sum(r, axis=stretched, keepdims=True)
    return _repeat_labels(r, unique, labels)


def _repeat_labels(r: Any, unique: Labels, labels: Labels) -> Any:
    """An array with one axis per label as one with some labels repeated, zero off the diagonals."""
    have = list(unique)
    seen: set[int] = set()
    for label in labels:
        if label in seen:
            at = have.index(label)
            order = (*(k for k in range(len(have)) if k != at), at)
            r = transpose(r, axes=order)
            have = [have[k] for k in order]
            n = shape_of(r)[-1]
            shape = (*tuple(shape_of(r))[:-1], n, n)
            r = diagonal_embed(r, shape=shape, offset=0, axis1=len(have) - 1, axis2=len(have))
            have.append(label)
        seen.add(label)
    order_of: list[int] = []
    for label in labels:
        order_of.append(next(k for k, other in enumerate(have) if other == label and k not in order_of))
    return transpose(r, axes=tuple(order_of))


def _einsum_jvp(tangents: Any, out: Any, *xs: Any, inputs: tuple[Labels, ...], output: Labels) -> Any:
    terms = []
    for i, t in enumerate(tangents):
        if t is not None:
            terms.append(_einsum(*xs[:i], t, *xs[i + 1 :], inputs=inputs, output=output))
    return sum_tangents(terms)


def _batch_einsum(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    inputs, output = params["inputs"], params["output"]
    new = max((label for labels in inputs for label in labels), default=0) + 1
    given = tuple(labels if d is None else (new, *labels) for labels, d in zip(inputs, dims))
    return op(*(move_batch(x, d) for x, d in zip(arrays, dims)), inputs=given, output=(new, *output)), 0


def _infer_einsum(avals: Any, params: dict[str, Any]) -> Aval:
    for a, labels in zip(avals, params["inputs"]):
        demand(all(a.shape[labels.index(k)] == n for k, n in zip(labels, a.shape)),
               f"einsum: axes of one subscript have several sizes in an operand of shape {tuple(a.shape)}")  # fmt: skip
    sizes = label_sizes([a.shape for a in avals], params["inputs"])
    return Aval(tuple(sizes[label] for label in params["output"]), avals[0].dtype)


def _einsum_samples() -> Any:
    cases: list[Any] = [("ij,jk->ik", (2, 3), (3, 2)), ("ij->ji", (2, 3)), ("ii->", (3, 3)), ("ii->i", (3, 3)), ("ij->i", (2, 3)),
             ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), ("i,j->ij", (2,), (3,)), ("bi,bi->b", (2, 3), (2, 3)),
             ("i,ij,j->", (2,), (2, 3), (3,)), ("iij,j->ij", (2, 2, 3), (3,)), ("ij,kj->", (2, 3), (1, 3)),
             ("ij,j->i", (2, 1), (3,)), ("iii->", (2, 2, 2))]  # fmt: skip
    for subscripts, *shapes in cases:
        inputs, output = parse(subscripts, shapes)
        yield sample(*(normal(*s, seed=k) for k, s in enumerate(shapes)), inputs=inputs, output=output)
    inputs, output = parse("ij,jk->ik", [(2, 2), (2, 2)])
    yield sample(complex_normal(2, 2), complex_normal(2, 2, seed=1), inputs=inputs, output=output)


_einsum = primitive(
    "einsum", kernel=_einsum_kernel, numpy=_einsum_numpy,
    vjp=lambda needs, g, _out, *xs, inputs, output: tuple(
        _einsum_operand(i, g, xs, inputs, output) if need else None for i, need in enumerate(needs)),
    saves="others", jvp=_einsum_jvp, batch=_batch_einsum, infer=_infer_einsum, params=("inputs", "output"),
    samples=_einsum_samples,
)  # fmt: skip


def einsum(subscripts: str, *operands: Any) -> Any:
    """The sum of products that `subscripts` describe ("ij,jk->ik"; "..." stands for broadcast axes).

    Raises ValueError where the subscripts are wrong or do not fit the operands.
    """
    inputs, output = parse(subscripts, [tuple(shape_of(x)) for x in operands])
    return _einsum(*operands, inputs=inputs, output=output)


def einsum_labels(*operands: Any, inputs: tuple[Labels, ...], output: Labels) -> Any:
    """`einsum` with the axes labelled by integers."""
    return _einsum(*operands, inputs=inputs, output=output)


def tensordot(x: Any, y: Any, *, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
    """The sum over pairs of axes of `x` and `y`; the axes that are left, those of `x` first."""
    m, n = ndim_of(x), ndim_of(y)
    first = tuple(range(m))
    second = list(range(m, m + n))
    for a, b in zip(*axes):
        second[b] = a
    output = (*(k for k in first if k not in axes[0]), *(k for k in second if k >= m))
    return _einsum(x, y, inputs=(first, tuple(second)), output=output)


# ------------------------------------------------------------------------------------------ products of vectors


def outer(x: Any, y: Any) -> Any:
    """Every element of the vector `x` times every element of the vector `y`."""
    return reshape(x, shape=(*shape_of(x), 1)) * y


def kron(x: Any, y: Any) -> Any:
    """The Kronecker product: every element of `x` times all of `y`, in blocks."""
    n = max(ndim_of(x), ndim_of(y))
    a = (1,) * (n - ndim_of(x)) + tuple(shape_of(x))
    b = (1,) * (n - ndim_of(y)) + tuple(shape_of(y))
    x = reshape(x, shape=tuple(k for size in a for k in (size, 1)))
    y = reshape(y, shape=tuple(k for size in b for k in (1, size)))
    return reshape(x * y, shape=tuple(i * j for i, j in zip(a, b)))


def _cross_kernel(xp: Any, x: Any, y: Any, *, axis: int) -> Any:
    before, behind = (slice(None),) * axis, () if axis == x.ndim - 1 else (...,)
    a, b, c = (x[(*before, i, *behind)] for i in range(3))
    d, e, f = (y[(*before, i, *behind)] for i in range(3))
    return xp.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=axis)


def _batch_cross(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    rank = max(ndim_of(x) - (d is not None) for x, d in zip(arrays, dims))
    moved = []
    for x, d in zip(arrays, dims):
        x = move_batch(x, d)
        lead, own = (tuple(shape_of(x))[:1], tuple(shape_of(x))[1:]) if d is not None else ((1,), tuple(shape_of(x)))
        moved.append(reshape(x, shape=(*lead, *(1,) * (rank - len(own)), *own)))
    return op(*moved, axis=params["axis"] + 1), 0


def _infer_cross(avals: Any, p: dict[str, Any]) -> Aval:
    for a in avals:
        at_least(p["axis"] + 1, a)
        demand(a.shape[p["axis"]] == 3, f"the axis {p['axis']} has 3 elements, got the shape {tuple(a.shape)}")
    demand(len(avals[0].shape) == len(avals[1].shape), "both operands have as many axes")
    return Aval(np.broadcast_shapes(avals[0].shape, avals[1].shape), avals[0].dtype)


# The vector product along an axis of size 3, which both operands (of one rank) have; the others broadcast.
cross = bilinear(
    "cross", kernel=_cross_kernel,
    transposes=[lambda g, _out, _x, y, *, axis: cross(conj(y), g, axis=axis),
                lambda g, _out, x, _y, *, axis: cross(g, conj(x), axis=axis)],
    batch=_batch_cross,
    infer=_infer_cross,
    samples=lambda: [sample(normal(3), normal(3, seed=1), axis=0), sample(normal(2, 3), normal(1, 3, seed=1), axis=1),
                     sample(complex_normal(3, 2), complex_normal(3, 2, seed=1), axis=0)],
)  # fmt: skip
