"""What operations are, element by element, in the terms of algebra.py: the definitions that a proof unfolds.

A tensor is its shape and a term over the indices of its axes. An operation that has no definition here is looked at from outside:
its result is the same where it is the same operation on the same operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .algebra import Algebra
from .terms import Index, index, plus, variable


class Tensor(NamedTuple):
    """Elements as a term over the indices of the axes."""

    shape: tuple[int, ...]
    term: int


class Unknown(Exception):
    """There is no definition for an operation with these parameters."""


class Meaning:
    """The definitions, with an algebra to state them in."""

    def __init__(self, algebra: Algebra, named: Callable[[Tensor], Tensor] = lambda x: x) -> None:
        self.algebra = algebra
        self.named = named
        """Makes of what an operation computes on the way a tensor that is not looked into, wherever it is computed."""
        self.ignoring = True
        """Whether labels that a loss ignores are spoken of; else labels are numbers of classes."""
        self.kinds: list[str] = []
        """The kinds of dtypes of the operands of the operation that is being defined."""

    # ------------------------------------------------------------------------------------------ layouts

    def axes(self, shape: Sequence[int]) -> list[Index]:
        """The indices of the axes of a shape."""
        return [index(variable(k, n)) for k, n in enumerate(shape)]

    def at(self, x: Tensor, places: Sequence[Index]) -> int:
        """The element of a tensor at some indices."""
        return self.algebra.index(x.term, {variable(k, n): i for k, (n, i) in enumerate(zip(x.shape, places))})

    def broadcast(self, x: Tensor, shape: Sequence[int]) -> int:
        """The term of a tensor over the indices of a shape that it is broadcast to."""
        places = self.axes(shape)[len(shape) - len(x.shape) :]
        return self.at(x, [(0, ()) if n == 1 else i for n, i in zip(x.shape, places)])

    def elementwise(self, f: Callable[..., int], *operands: Tensor) -> Tensor:
        """f of corresponding elements."""
        shape = broadcast_shape([x.shape for x in operands])
        return Tensor(shape, f(*(self.broadcast(x, shape) for x in operands)))

    def reshaped(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """The same elements in a row, in another shape."""
        flat = plus(*((i, math.prod(shape[k + 1 :])) for k, i in enumerate(self.axes(shape))), ((0, ()), 1))
        places: list[Index] = []
        for n in reversed(x.shape):
            flat, rest = self.algebra.divided(flat, n)
            places.insert(0, rest)
        return Tensor(tuple(shape), self.at(x, places))

    def permuted(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """The axes in another order."""
        shape = tuple(x.shape[a] for a in order)
        own = self.axes(shape)
        return Tensor(shape, self.at(x, [own[list(order).index(k)] for k in range(len(x.shape))]))

    def reduced(self, x: Tensor, axis: Any, keepdims: bool, reduce: Callable[[int, Any], int]) -> Tensor:
        """A reduction over axes."""
        axes = (
            range(len(x.shape))
            if axis is None
            else [a % len(x.shape) for a in ((axis,) if isinstance(axis, int) else axis)]
        )
        term = x.term
        for a in axes:
            if x.shape[a] != 1:
                term = reduce(term, variable(a, x.shape[a]))
        if keepdims:
            return Tensor(tuple(1 if k in axes else n for k, n in enumerate(x.shape)), term)
        kept = [k for k in range(len(x.shape)) if k not in axes]
        shape = tuple(x.shape[k] for k in kept)
        places = {variable(k, x.shape[k]): index(variable(i, x.shape[k])) for i, k in enumerate(kept)}
        return Tensor(shape, self.algebra.index(term, places))

    def count(self, x: Tensor, axis: Any) -> int:
        """How many elements a reduction takes together."""
        axes = range(len(x.shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
        return math.prod(x.shape[a] for a in axes)

    def mean(self, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
        """The mean over axes."""
        total = self.reduced(x, axis, keepdims, self.algebra.sum)
        return Tensor(total.shape, self.scaled(total.term, 1.0 / self.count(x, axis)))

    def scaled(self, p: int, factor: float) -> int:
        """A multiple."""
        return self.algebra.mul(self.algebra.number(factor), p)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """The matrix product."""
        if len(x.shape) == 1:
            both = self.matmul(Tensor((1, *x.shape), self.at(x, self.axes((1, *x.shape))[1:])), y)
            at = len(both.shape) - (2 if len(y.shape) > 1 else 1)
            return self.reshaped(both, both.shape[:at] + both.shape[at + 1 :])
        if len(y.shape) == 1:
            both = self.matmul(x, Tensor((*y.shape, 1), y.term))
            return self.reshaped(both, both.shape[:-1])
        lead = broadcast_shape([x.shape[:-2], y.shape[:-2]])
        n = x.shape[-1]
        shape = (*lead, x.shape[-2], y.shape[-1])
        own = self.axes(shape)
        k = ("v", "k", n)

        def placed(z: Tensor, row: Index, column: Index) -> int:
            before = own[len(lead) - len(z.shape) + 2 : len(lead)]
            return self.at(z, [*((0, ()) if m == 1 else i for m, i in zip(z.shape, before)), row, column])

        product = self.algebra.mul(placed(x, own[-2], index(k)), placed(y, index(k), own[-1]))
        return Tensor(shape, self.algebra.sum(product, k) if n != 1 else product)

    def transposed(self, x: Tensor) -> Tensor:
        """The last two axes the other way round."""
        n = len(x.shape)
        return self.permuted(x, (*range(n - 2), n - 1, n - 2))

    def plus(self, x: Tensor, y: Tensor | None) -> Tensor:
        """x + y, or x where there is no y"""
        return x if y is None else self.elementwise(self.algebra.add, x, y)

    # ------------------------------------------------------------------------------------------ functions

    def softmax_parts(self, x: Tensor, axis: int) -> tuple[int, int]:
        """The exponentials, and their sum over an axis."""
        powers = self.algebra.exp(x.term)
        a = axis % len(x.shape)
        return powers, self.algebra.sum(powers, variable(a, x.shape[a]))

    def variance(self, x: Tensor, axis: Any, correction: float) -> Tensor:
        """The variance, with keepdims."""
        middle = self.mean(x, axis, True)
        off = self.elementwise(self.algebra.subtract, x, middle)
        total = self.reduced(Tensor(x.shape, self.algebra.power(off.term, 2.0)), axis, True, self.algebra.sum)
        return Tensor(total.shape, self.scaled(total.term, 1.0 / (self.count(x, axis) - correction)))

    def normalized(self, x: Tensor, w: Any, b: Any, *, shape: Any, axis: Any, affine: Any, eps: float) -> Tensor:
        """A normalisation by the elements' own mean and variance."""
        inner = self.reshaped(x, shape)
        off = self.elementwise(self.algebra.subtract, inner, self.mean(inner, axis, True))
        spread = self.variance(inner, axis, 0.0)
        rate = Tensor(spread.shape, self.algebra.power(self.algebra.add(spread.term, self.algebra.number(eps)), -0.5))
        found = self.reshaped(self.elementwise(self.algebra.mul, off, rate), x.shape)
        if w is not None:
            found = self.elementwise(self.algebra.mul, found, self.reshaped(w, affine))
        return found if b is None else self.plus(found, self.reshaped(b, affine))

    def whole(self, p: int) -> Index:
        """A term as an index: of what counts along an axis, the index itself."""
        terms = self.algebra.terms[p]
        if len(terms) == 1:
            ((m, c),) = terms.items()
            if c == 1.0 and len(m) == 1 and m[0][1] == 1.0 and self.algebra.factors[m[0][0]][:2] == ("at", "count"):
                found: Index = self.algebra.factors[m[0][0]][2][0]
                return found
        return index(("value", p))

    def loss(self, x: Tensor, reduction: str) -> Tensor:
        """Losses put together."""
        if reduction == "none":
            return x
        return self.mean(x, None, False) if reduction == "mean" else self.reduced(x, None, False, self.algebra.sum)

    def relu(self, p: int) -> int:
        """max(p, 0)"""
        return self.algebra.function("relu", p)


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    n = max(map(len, shapes), default=0)
    padded = [(*[1] * (n - len(s)), *s) for s in shapes]
    return tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip(*padded))


def _unary(f: Callable[[Meaning, int], int]) -> Callable[..., Tensor]:
    return lambda m, x, **_: Tensor(x.shape, f(m, x.term))


def _named(name: str) -> Callable[..., Tensor]:
    return _unary(lambda m, p: m.algebra.function(name, p))


def _powered(e: float) -> Callable[..., Tensor]:
    return _unary(lambda m, p: m.algebra.power(p, e))


def _binary(name: str) -> Callable[..., Tensor]:
    return lambda m, x, y, **_: m.elementwise(getattr(m.algebra, name), x, y)


def _getitem(m: Meaning, x: Tensor, *, index: Any, out_shape: Any, output: int) -> Tensor:
    basic = (int, slice, type(None), type(...))
    if not isinstance(index, tuple) or any(not isinstance(i, basic) or isinstance(i, bool) for i in index):
        raise Unknown
    own = iter(m.axes(out_shape))
    places: list[Index] = []
    missing = len(x.shape) - sum(i is not None and i is not Ellipsis for i in index)
    entries: list[Any] = []
    for i in index:
        entries += [slice(None)] * missing if i is Ellipsis else [i]
    if Ellipsis not in index:
        entries += [slice(None)] * missing
    axis = 0
    for i in entries:
        if i is None:
            next(own)
            continue
        n = x.shape[axis]
        if isinstance(i, int):
            places.append((i % n, ()))
        else:
            start, _, step = i.indices(n)
            places.append(plus((next(own), step), ((start, ()), 1)))
        axis += 1
    return Tensor(tuple(out_shape), m.at(x, places))


def _split(m: Meaning, x: Tensor, *, axis: int, sizes: Any, out_shape: Any, output: int) -> Tensor:
    own = m.axes(out_shape)
    own[axis] = plus((own[axis], 1), ((sum(sizes[:output]), ()), 1))
    return Tensor(tuple(out_shape), m.at(x, own))


def _add_matmul(m: Meaning, c: Tensor, x: Tensor, y: Tensor, *, beta: float, alpha: float) -> Tensor:
    found = m.matmul(x, y)
    return m.plus(Tensor(found.shape, m.scaled(found.term, alpha)), Tensor(c.shape, m.scaled(c.term, beta)))


def _affine(m: Meaning, x: Tensor, w: Tensor, b: Tensor | None = None, **_: Any) -> Tensor:
    return m.plus(m.matmul(x, m.transposed(w)), b)


def softmax(m: Meaning, x: Tensor, *, axis: Any) -> int:
    powers, total = m.softmax_parts(x, axis)
    return m.algebra.divide(powers, total)


def _log_softmax(m: Meaning, x: Tensor, *, axis: Any) -> int:
    return m.algebra.subtract(x.term, m.algebra.log(m.softmax_parts(x, axis)[1]))


def _logsumexp(m: Meaning, x: Tensor, *, axis: Any, keepdims: bool) -> Tensor:
    total = m.reduced(Tensor(x.shape, m.algebra.exp(x.term)), axis, keepdims, m.algebra.sum)
    return Tensor(total.shape, m.algebra.log(total.term))


def _mse(m: Meaning, x: Tensor, y: Tensor, *, reduction: str = "none", **_: Any) -> Tensor:
    off = m.elementwise(m.algebra.subtract, x, y)
    return m.loss(Tensor(off.shape, m.algebra.power(off.term, 2.0)), reduction)


def _bce(m: Meaning, x: Tensor, y: Tensor, weight: Any = None, *, reduction: str, **_: Any) -> Tensor:
    if weight is not None:
        raise Unknown
    one = m.algebra.number(1.0)
    kept = m.algebra.mul(y.term, m.algebra.log(x.term))
    missed = m.algebra.mul(m.algebra.subtract(one, y.term), m.algebra.log(m.algebra.subtract(one, x.term)))
    return m.loss(Tensor(x.shape, m.scaled(m.algebra.add(kept, missed), -1.0)), reduction)


def _bce_logits(
    m: Meaning, x: Tensor, y: Tensor, weight: Any = None, positive: Any = None, *, reduction: str
) -> Tensor:
    if weight is not None or positive is not None:
        raise Unknown
    found = m.algebra.subtract(m.algebra.function("softplus", x.term), m.algebra.mul(x.term, y.term))
    return m.loss(Tensor(x.shape, found), reduction)


def _norm(m: Meaning, x: Tensor, *, ord: float, axis: Any, keepdims: bool) -> Tensor:
    if ord != 2.0:
        raise Unknown
    total = m.reduced(Tensor(x.shape, m.algebra.power(x.term, 2.0)), axis, keepdims, m.algebra.sum)
    return Tensor(total.shape, m.algebra.power(total.term, 0.5))


def _var(m: Meaning, x: Tensor, *, axis: Any, correction: float, keepdims: bool) -> Tensor:
    found = m.variance(x, axis, correction)
    if keepdims:
        return found
    axes = range(len(x.shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    return m.reshaped(found, [n for k, n in enumerate(x.shape) if k not in [a % len(x.shape) for a in axes]])


def _std(m: Meaning, x: Tensor, **options: Any) -> Tensor:
    found = _var(m, x, **options)
    return Tensor(found.shape, m.algebra.power(found.term, 0.5))


def _gelu(m: Meaning, p: int) -> int:
    bent = m.algebra.function("erf", m.scaled(p, math.sqrt(0.5)))
    return m.algebra.mul(m.scaled(p, 0.5), m.algebra.add(m.algebra.number(1.0), bent))


def _gelu_tanh(m: Meaning, p: int) -> int:
    inner = m.algebra.add(p, m.scaled(m.algebra.power(p, 3.0), 0.044715))
    bent = m.algebra.function("tanh", m.scaled(inner, math.sqrt(2 / math.pi)))
    return m.algebra.mul(m.scaled(p, 0.5), m.algebra.add(m.algebra.number(1.0), bent))


def step(m: Meaning, name: str, options: dict[str, Any], operands: Sequence[Tensor | None], output: int) -> Tensor:
    """What a step of an optimiser makes of a parameter (output 0) and of its state; raises Unknown where that is not known."""
    define = STEPS.get(name)
    shapes = {x.shape for x in operands if x is not None}
    numbers = all(isinstance(x, (int, float, bool, str, type(None), tuple)) for x in options.values())
    if define is None or len(shapes) != 1 or not numbers or options.get("maximize"):
        raise Unknown
    given = {key: x for key, x in options.items() if key not in ("rule", "maximize")}
    results = define(m, *(None if x is None else x.term for x in operands), **given)
    return Tensor(shapes.pop(), results[output])


def _combined(m: Meaning, *parts: tuple[float, int]) -> int:
    found = m.algebra.ZERO
    for factor, p in parts:
        found = m.algebra.add(found, m.scaled(p, factor))
    return found


def _sgd(
    m: Meaning, p: int, g: int, buffer: int | None = None, *, lr: float, momentum: float = 0.0, dampening: float = 0.0,
    weight_decay: float = 0.0, nesterov: bool = False, first: bool = False,
) -> list[int]:  # fmt: skip
    g = _combined(m, (1.0, g), (weight_decay, p))
    if buffer is None:
        return [_combined(m, (1.0, p), (-lr, g))]
    buffer = g if first else _combined(m, (momentum, buffer), (1.0 - dampening, g))
    ahead = _combined(m, (1.0, g), (momentum, buffer)) if nesterov else buffer
    return [_combined(m, (1.0, p), (-lr, ahead)), buffer]


def _adam(
    m: Meaning, p: int, g: int, mean: int, square: int, largest: int | None = None, *, lr: float, step: float | None = None,
    betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, decoupled: bool = False,
    nesterov: bool = False,
) -> list[int]:  # fmt: skip
    if largest is not None or nesterov:
        raise Unknown
    if not decoupled:
        g = _combined(m, (1.0, g), (weight_decay, p))
    mean = _combined(m, (betas[0], mean), (1 - betas[0], g))
    square = _combined(m, (betas[1], square), (1 - betas[1], m.algebra.power(g, 2.0)))
    rate, root = (lr, 1.0) if step is None else (lr / (1 - betas[0] ** step), (1 - betas[1] ** step) ** 0.5)
    below = m.algebra.add(m.scaled(m.algebra.power(square, 0.5), 1 / root), m.algebra.number(eps))
    kept = m.scaled(p, 1 - lr * weight_decay if decoupled else 1.0)
    return [_combined(m, (1.0, kept), (-rate, m.algebra.divide(mean, below))), mean, square]


STEPS: dict[str, Callable[..., list[int]]] = {"sgd": _sgd, "adam": _adam}
"""Rules of optimisers by name: `f(meaning, parameter, gradient, *state, **options)` gives the new parameter and state."""

BASIC: dict[str, Callable[..., Any]] = {
    "add": _binary("add"), "subtract": _binary("subtract"), "multiply": _binary("mul"), "divide": _binary("divide"),
    "negative": _unary(lambda m, p: m.scaled(p, -1.0)), "reciprocal": _powered(-1.0), "square": _powered(2.0),
    "sqrt": _powered(0.5), "rsqrt": _powered(-0.5), "exp": _unary(lambda m, p: m.algebra.exp(p)),
    "log": _unary(lambda m, p: m.algebra.log(p)),
    "power_by": lambda m, x, *, exponent, **_: Tensor(x.shape, m.algebra.power(x.term, float(exponent))),
    "add_scaled": lambda m, x, y, *, alpha: m.plus(x, Tensor(y.shape, m.scaled(y.term, alpha))),
    "scaled_product": lambda m, *xs, scale: m.elementwise(
        lambda *ps: m.scaled(_product(m, ps), scale), *xs),
    **{name: _named(name) for name in ("tanh", "sin", "cos", "erf", "sigmoid", "tan")},
    "absolute": _named("absolute"), "relu": _unary(lambda m, p: m.relu(p)),
    "leaky_relu": lambda m, x, *, slope, **_: Tensor(x.shape, _combined(m, (slope, x.term), (1 - slope, m.relu(x.term)))),
    "moved_towards": lambda m, x, y, *, share: m.elementwise(lambda p, q: _combined(m, (1 - share, p), (share, q)), x, y),
    "variance_of_scale": lambda m, x, *, eps, factor: Tensor(x.shape, m.scaled(
        m.algebra.subtract(m.algebra.power(x.term, -2.0), m.algebra.number(eps)), factor)),
    "relu_masked": _unary(lambda m, p: m.relu(p)),
    "silu": _unary(lambda m, p: m.algebra.mul(p, m.algebra.function("sigmoid", p))),
    "gelu": _unary(_gelu), "gelu_tanh": _unary(_gelu_tanh),
    "copy": lambda m, x, **_: x,
    "fill": lambda m, x, number, **_: Tensor(x.shape, number.term),
    "transpose": lambda m, x, *, axes: m.permuted(x, axes),
    "reshape": lambda m, x, *, shape: m.reshaped(x, shape),
    "broadcast_to": lambda m, x, *, shape: Tensor(tuple(shape), m.broadcast(x, shape)),
    "getitem": _getitem, "split": _split,
    "sum": lambda m, x, *, axis, keepdims: m.reduced(x, axis, keepdims, m.algebra.sum),
    "mean": lambda m, x, *, axis, keepdims: m.mean(x, axis, keepdims),
    "amax": lambda m, x, *, axis, keepdims, **_: m.reduced(x, axis, keepdims, m.algebra.top),
    "var": _var, "std": _std, "vector_norm": _norm, "logsumexp": _logsumexp,
    "matmul": lambda m, x, y: m.matmul(x, y), "project": _affine, "affine": _affine, "add_matmul": _add_matmul,
    "softmax": softmax, "log_softmax": _log_softmax,
    "normalize": lambda m, x, w=None, b=None, **options: m.normalized(x, w, b, **options),
    "mse_loss": _mse, "binary_cross_entropy": _bce, "binary_cross_entropy_with_logits": _bce_logits,
}  # fmt: skip
"""Operations by name: `f(meaning, *operands, **params)`."""


def _product(m: Meaning, ps: Sequence[int]) -> int:
    found = m.algebra.number(1.0)
    for p in ps:
        found = m.algebra.mul(found, p)
    return found
