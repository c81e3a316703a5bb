"""Builders of records for the common kinds of primitives, and the batching and shape rules they share.

A batching rule is `batch(op, arrays, dims, params) -> (out, dim)`: operands of one level down, where each carries its
batch (None: not batched), and the operation to call on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import UnsupportedError
from ..core import value as values
from ..core.arrays import bottom, full
from ..core.aval import Aval, aval_of
from ..core.batched import BatchedArray
from ..core.large import Large
from ..core.level import Level
from ..core.node import Accumulate
from ..core.primitive import NOT_DIFFERENTIABLE, PRIMITIVES, Ufunc, positional_names, primitive
from ..core.record import real_text
from ..core.value import Value, dtype_of, make, ndim_of, shape_of

Rule = Callable[..., Any]



# ------------------------------------------------------------------------------------------ batching rules


def _op(name: str) -> Any:
    return PRIMITIVES[name].op


def move_batch(x: Any, dim: int | None, to: int = 0) -> Any:
    """`x` with its batch axis at `to`; unbatched operands are returned as they are."""
    if dim is None or dim == to:
        return x
    order = [i for i in range(ndim_of(x)) if i != dim]
    order.insert(to, dim)
    return _op("transpose")(x, axes=tuple(order))


def batch_size(arrays: Sequence[Any], dims: Sequence[int | None]) -> int:
    """The number of elements in the batch."""
    return next(shape_of(x)[d] for x, d in zip(arrays, dims) if d is not None)


def materialise_batch(x: Any, dim: int | None, size: int) -> Any:
    """`x` with a batch axis in front, repeated where it had none."""
    if dim is not None:
        return move_batch(x, dim)
    return _op("broadcast_to")(x, shape=(size, *shape_of(x)))


def unbatch(x: Any, level: int, size: int, out_dim: int = 0) -> Any:
    """The content of a batched array with its batch axis at `out_dim`; anything else repeated along such an axis."""
    if type(x) is BatchedArray and x._level == level:
        return x.content if x.dim == out_dim else move_batch(x.content, x.dim, out_dim % ndim_of(x.content))
    return move_batch(materialise_batch(x, None, size), 0, out_dim % (ndim_of(x) + 1))


def batch_elementwise(op: Rule, arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
    """Batch axes to the front, ranks aligned behind them."""
    ranks = [0 if x is None else ndim_of(x) - (d is not None) for x, d in zip(arrays, dims)]
    rank, aligned = max(ranks), []
    for x, d, own in zip(arrays, dims, ranks):
        if x is not None and d is not None:
            x = move_batch(x, d)
            if own != rank:
                shape, missing = shape_of(x), rank - own
                x = _op("reshape")(x, shape=(shape[0], *(1,) * missing, *shape[1:]))
        aligned.append(x)
    return op(*aligned, **params), 0


def batch_axes(*names: str) -> Rule:
    """For one batched operand whose parameters `names` are non-negative axes (an int or a tuple): axes move up."""

    def rule(op: Rule, arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
        size = batch_size(arrays, dims)
        moved = [x if x is None else materialise_batch(x, d, size) for x, d in zip(arrays, dims)]
        shifted = dict(params)
        for name in names:
            axis = shifted[name]
            shifted[name] = (
                axis if axis is None else tuple(a + 1 for a in axis) if isinstance(axis, tuple) else axis + 1
            )
        out = op(*moved, **shifted)
        return (out, (0,) * len(out)) if isinstance(out, tuple) else (out, 0)

    return rule


def batch_leading(op: Rule, arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
    """For operations that map over leading axes themselves (linear algebra): every operand gets the batch in front."""
    size = batch_size(arrays, dims)
    out = op(*(x if x is None else materialise_batch(x, d, size) for x, d in zip(arrays, dims)), **params)
    return (out, (0,) * len(out)) if isinstance(out, tuple) else (out, 0)


def batch_empty(op: Rule, arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
    """The result for a batch without elements, by the shape rule of the primitive whose operation `op` is."""
    avals = [x if x is None else aval_of(x) for x in arrays]
    entries = [
        a if a is None or d is None else Aval((*a.shape[:d], *a.shape[d + 1 :]), a.dtype) for a, d in zip(avals, dims)
    ]
    prim = PRIMITIVES[op.__name__]
    inferred = prim.infer(entries, params)
    like = next(x for x, d in zip(arrays, dims) if d is not None)
    if prim.multi:
        return tuple(full((0, *a.shape), 0, a.dtype, like) for a in inferred), (0,) * len(inferred)
    return full((0, *inferred.shape), 0, inferred.dtype, like), 0


def batch_loop(op: Rule, arrays: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]) -> Any:
    """One call per element of the batch, stacked: for operations with no better rule."""
    size = batch_size(arrays, dims)
    if not size:
        return batch_empty(op, arrays, dims, params)
    rows = []
    for i in range(size):
        row = [x if d is None else _op("getitem")(x, index=(slice(None),) * d + (i,)) for x, d in zip(arrays, dims)]
        rows.append(op(*row, **params))
    if isinstance(rows[0], tuple):
        outs = tuple(_op("stack")(*column, axis=0) for column in zip(*rows))
        return outs, (0,) * len(outs)
    return _op("stack")(*rows, axis=0), 0


# ------------------------------------------------------------------------------------------ shape rules


def infer_elementwise(avals: Sequence[Aval], params: dict[str, Any]) -> Aval:
    """Broadcast shape, promoted dtype."""
    given = [a for a in avals if a is not None]
    first = given[0]
    if first.dtype.isnative and all(a.shape == first.shape and a.dtype is first.dtype for a in given):
        return first
    return Aval(np.broadcast_shapes(*(a.shape for a in given)), np.result_type(*(a.dtype for a in given)))


def infer_bool(avals: Sequence[Aval], params: dict[str, Any]) -> Aval:
    """Broadcast shape, bool."""
    return Aval(np.broadcast_shapes(*(a.shape for a in avals)), np.dtype(bool))


def infer_same(avals: Sequence[Aval], params: dict[str, Any]) -> Aval:
    """As the first operand."""
    return avals[0]


def checked_axes(shape: tuple[int, ...], *axes: int) -> None:
    """Raise ValueError where an axis is none of those of a shape; axes count from the front."""
    for axis in axes:
        if not 0 <= axis < len(shape):
            raise ValueError(f"axis {axis} is out of range for the shape {tuple(shape)}")


def infer_along(*names: str) -> Rule:
    """As the first operand, for an operation along axes (an int or a tuple) that parameters name."""

    def rule(avals: Sequence[Aval], params: dict[str, Any]) -> Aval:
        for name in names:
            axis = params[name]
            checked_axes(avals[0].shape, *(axis if isinstance(axis, tuple) else (axis,)))
        return avals[0]

    return rule


def infer_unknown(name: str) -> Rule:
    """For operations of the kind "data_dependent"."""

    def rule(avals: Sequence[Aval], params: dict[str, Any]) -> Any:
        raise UnsupportedError(f"{name}: the shape of the result depends on values, and only shapes and dtypes are known")

    return rule


# ------------------------------------------------------------------------------------------ derivative builders


def conj(x: Any) -> Any:
    """The complex conjugate where there is one to take; a real operand is returned as it is."""
    if type(x) is np.ndarray:
        return x.conj() if x.dtype.kind == "c" else x
    if isinstance(x, (bool, int, float)) or dtype_of(x).kind != "c":
        return x
    return _op("conj")(x)


def rule_of(text: str, operands: Sequence[str]) -> Callable[..., Any]:
    """A derivative rule from its text, in which conj() stands for complex operands alone: where the cotangent is real it is
    left out, and code written for real operands has the rest of the text in it (core/specialise.py)."""
    used = compile(text, "<rule>", "eval").co_names
    names = ", ".join(x if x in used else f"_{x}" for x in ("out", *operands))
    real = real_text(text)
    body = text if real == text else f"{real} if g.dtype.kind != 'c' else {text}"
    rule: Callable[..., Any] = eval(f"lambda g, {names}: {body}", {"conj": conj})  # noqa: S307 - our own source
    return rule


_engine: Any = None


def set_engine(engine: Any) -> None:
    """Install what `from_vjp` pulls back with: tape/engine.py, which stands above."""
    global _engine
    _engine = engine


def from_vjp(tangents: Sequence[Any], out: Any, *operands: Any, prim: Any, **params: Any) -> Any:
    """A JVP from the VJP: the pullback is linear in the cotangent, and its transpose is the pushforward.

    Used through `jvp=from_vjp` by operations whose pushforward is not worth writing out.
    """
    level = 0
    for x in (*operands, *tangents, *(out if isinstance(out, tuple) else (out,))):
        if isinstance(x, Value):
            level = max(level, x._level)
    outs = out if isinstance(out, tuple) else (out,)
    with Level("a derivative", tape=True).open() as inner:
        dummies: list[Any] = []
        for y in outs:
            if dtype_of(y).kind in "iub":
                dummies.append(None)
                continue
            u = make(values.core_class, full(tuple(shape_of(y)), 0, dtype_of(y), bottom(y)), None, inner.id)
            u._node = Accumulate(u, shape_of(y), dtype_of(y))
            dummies.append(u)
        g = tuple(dummies) if isinstance(out, tuple) else dummies[0]
        needs = tuple(t is not None for t in tangents)
        if prim.vjp is not None:
            pulled = prim.vjp(needs, g, out, *operands, **params)
        else:
            pulled = [rule(g, out, *operands, **params) if need and rule is not None else None
                      for need, rule in zip(needs, prim.vjps)]  # fmt: skip
        roots, cotangents = [], []
        for x, t in zip(pulled, tangents):
            if t is not None and isinstance(x, Value) and x._level == inner.id and x._node is not None:
                x = _engine.fit(x, aval_of(t))
                roots.append(x._node)
                cotangents.append(t)
        edges = [u._node for u in dummies if u is not None]
        got = _engine.run(roots, cotangents, cls=values.core_class, level=inner.id, inputs=edges, accumulate=False)
    pulled_back = iter(got)
    results = [None if u is None else next(pulled_back) for u in dummies]
    return tuple(results) if isinstance(out, tuple) else results[0]


def sum_tangents(terms: Sequence[Any]) -> Any:
    """The sum of the tangents that are there; None when none is."""
    total = None
    for t in terms:
        if t is not None:
            total = t if total is None else total + t
    return total


def _from_partial(partial: Rule, n: int) -> Rule:
    """A VJP rule from a partial derivative; it says that it needs what the partial needs."""
    names, _ = positional_names(partial)

    def rule(g: Any, out: Any, *operands: Any, **params: Any) -> Any:
        return g * conj(partial(*operands, out, **params))

    rule.positional = ("g", names[n], *names[:n])  # type: ignore[attr-defined]
    rule.factor, rule.conj = partial, conj  # type: ignore[attr-defined]
    return rule


def _pushforward(texts: Sequence[str], names: Sequence[str]) -> Rule:
    """The JVP of rules given as texts: of an operation on corresponding elements it is the pullback without conjugation."""
    pushes = [eval(f"lambda g, out, {', '.join(names)}: {real_text(t)}") for t in texts]  # noqa: S307 - our own source

    def jvp(tangents: Sequence[Any], out: Any, *xs: Any) -> Any:
        total = sum_tangents([None if t is None else push(t, out, *xs) for t, push in zip(tangents, pushes)])
        shape = shape_of(out)
        return total if total is None or shape_of(total) == shape else _op("broadcast_to")(total, shape=shape)

    return jvp


def elementwise(
    name: str,
    *,
    kernel: Rule,
    samples: Any,
    partials: Sequence[Rule | None] | None = None,
    vjps: Sequence[Rule | None] | Any = None,
    jvp: Rule | None = None,
    operands: Sequence[str] | None = None,
    infer: Rule = infer_elementwise,
    tolerances: dict[str, Any] | None = None,
    numpy: Rule | None = None,
    regional: Sequence[str] = (),
    generated: bool | type[Large] = True,
) -> Any:
    """An operation on corresponding elements of broadcast operands.

    vjps as texts in `g`, `out` and the operands' names, such as "g * conj(y)": the pushforward follows from them.
    partials: for each operand the partial derivative `partial(*operands, out, **params)`; the pullback multiplies the
        cotangent with its conjugate, the pushforward the tangent with itself. For operations that are not
        holomorphic, or where a product would waste work, give `vjps` and `jvp` instead.
    """
    if isinstance(kernel, Ufunc) and operands is None:
        count = kernel.numpy.nin
        operands = ("x",) if count == 1 else ("x", "y") if count == 2 else tuple(f"x{i}" for i in range(count))
    names = tuple(operands) if operands is not None else positional_names(kernel)[0][1:]
    n = len(names)
    texts: tuple[str, ...] = ()
    if isinstance(vjps, (list, tuple)) and all(isinstance(rule, str) for rule in vjps):
        texts = tuple(vjps)
        vjps, jvp = [rule_of(text, names) for text in texts], jvp or _pushforward(texts, names)
    if partials is not None:
        given = tuple(partials)
        if vjps is None:
            vjps = [None if p is None else _from_partial(p, n) for p in given]
        if jvp is None:

            def jvp(tangents: Sequence[Any], out: Any, *xs: Any, **params: Any) -> Any:
                return sum_tangents([
                    None if t is None or p is None else t * p(*xs, out, **params) for t, p in zip(tangents, given)
                ])  # fmt: skip

    return primitive(
        name, kernel=kernel, vjps=vjps, jvp=jvp, batch=batch_elementwise, infer=infer, samples=samples,
        operands=operands, tolerances=tolerances, regional=regional, texts=texts, kind="elementwise", numpy=numpy,
        generated=generated,
    )  # fmt: skip


def linear(
    name: str,
    *,
    kernel: Rule,
    transpose: Rule,
    batch: Rule,
    infer: Rule,
    samples: Any,
    others: int = 0,
    operands: Sequence[str] | None = None,
    multi: bool = False,
    tolerances: dict[str, Any] | None = None,
    kind: str | None = None,
    numpy: Rule | None = None,
    generated: bool | type[Large] = True,
) -> Any:
    """An operation linear in its first operand; `others` more operands (indices) have no derivative.

    transpose(g, x_, *others, **params) -> cotangent; `x_` only has shape and dtype.
    """
    names, _ = positional_names(transpose)

    def rule(g: Any, _out: Any, *operands: Any, **params: Any) -> Any:
        return transpose(g, *operands, **params)

    rule.positional = (names[0], "_out", *names[1:])  # type: ignore[attr-defined]
    rule.transpose = transpose  # type: ignore[attr-defined]

    def jvp(tangents: Sequence[Any], out: Any, x: Any, *rest: Any, **params: Any) -> Any:
        return None if tangents[0] is None else PRIMITIVES[name].op(tangents[0], *rest, **params)

    return primitive(
        name, kernel=kernel, vjps=[rule] + [None] * others, jvp=jvp, batch=batch, infer=infer,
        samples=samples, operands=operands, multi=multi, tolerances=tolerances, numpy=numpy, generated=generated,
        kind=kind or ("elementwise" if batch is batch_elementwise else "linear"),
    )  # fmt: skip


def bilinear(
    name: str,
    *,
    kernel: Rule,
    transposes: Sequence[Rule],
    batch: Rule,
    infer: Rule,
    samples: Any,
    operands: Sequence[str] | None = None,
    tolerances: dict[str, Any] | None = None,
    numpy: Rule | None = None,
) -> Any:
    """An operation linear in each of its two operands: `transposes[0](g, _out, x_, y)`, `transposes[1](g, _out, x,
    y_)`."""

    def jvp(tangents: Sequence[Any], out: Any, x: Any, y: Any, **params: Any) -> Any:
        op = PRIMITIVES[name].op
        dx, dy = tangents
        return sum_tangents([
            None if dx is None else op(dx, y, **params),
            None if dy is None else op(x, dy, **params),
        ])  # fmt: skip

    return primitive(
        name, kernel=kernel, vjps=list(transposes), jvp=jvp, batch=batch, infer=infer, samples=samples,
        operands=operands, tolerances=tolerances, kind="bilinear", numpy=numpy,
    )  # fmt: skip


def nondifferentiable(
    name: str,
    *,
    kernel: Rule,
    samples: Any,
    batch: Rule = batch_elementwise,
    infer: Rule = infer_bool,
    operands: Sequence[str] | None = None,
    multi: bool = False,
    kind: str | None = None,
    numpy: Rule | None = None,
) -> Any:
    """An operation without derivative (comparisons, integer results)."""
    if isinstance(kernel, Ufunc) and operands is None:
        operands = ("x",) if kernel.numpy.nin == 1 else ("x", "y")
    return primitive(
        name, kernel=kernel, vjps=NOT_DIFFERENTIABLE, batch=batch, infer=infer, samples=samples, operands=operands,
        multi=multi, kind=kind or ("elementwise" if batch is batch_elementwise else "general"), numpy=numpy,
    )  # fmt: skip


from_vjp.wants_prim = True  # type: ignore[attr-defined]  # core/dual.py hands such a rule its record
