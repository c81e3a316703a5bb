"""What layers and losses are that are one operation, in the terms of what they are spelled out as."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .meaning import Meaning, Tensor, softmax
from .pieces import chosen, compared
from .terms import plus

# ------------------------------------------------------------------------------------------ elementwise


def _one(m: Meaning) -> int:
    return m.algebra.number(1.0)


def _unary(f: Callable[..., int]) -> Callable[..., Tensor]:
    return lambda m, x, **params: Tensor(x.shape, f(m, x.term, **params))


def _larger(m: Meaning, p: int, q: int) -> int:
    return m.algebra.add(q, m.relu(m.algebra.subtract(p, q)))


def _smaller(m: Meaning, p: int, q: int) -> int:
    return m.algebra.subtract(p, m.relu(m.algebra.subtract(p, q)))


def _extreme(name: str, f: Callable[[Meaning, int, int], int]) -> Callable[..., Tensor]:
    def define(m: Meaning, p: int, q: int) -> int:
        if any(map(m.algebra.infinite, (p, q))):
            return m.algebra.function(name, p, q)
        return f(m, p, q)

    return lambda m, x, y, **_: m.elementwise(lambda p, q: define(m, p, q), x, y)


def _clip(m: Meaning, p: int, *, low: float | None, high: float | None) -> int:
    for bound, f in ((low, _larger), (high, _smaller)):
        if bound is not None and math.isfinite(bound):
            p = f(m, p, m.algebra.number(float(bound)))
    return p


def _clip_by(m: Meaning, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    if low is not None:
        x = m.elementwise(lambda p, q: _larger(m, p, q), x, low)
    return x if high is None else m.elementwise(lambda p, q: _smaller(m, p, q), x, high)


def _elu(m: Meaning, p: int, *, alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> int:
    below = m.scaled(m.algebra.subtract(m.algebra.exp(m.scaled(p, input_scale)), _one(m)), scale * alpha)
    return m.algebra.add(below, m.algebra.gate(p, m.algebra.subtract(m.scaled(p, scale), below)))


def _celu(m: Meaning, p: int, *, alpha: float) -> int:
    return _elu(m, p, alpha=alpha, input_scale=1.0 / alpha)


def _glu(m: Meaning, x: Tensor, *, axis: int) -> Tensor:
    axis %= len(x.shape)
    half = x.shape[axis] // 2
    shape = (*x.shape[:axis], half, *x.shape[axis + 1 :])
    own = m.axes(shape)
    behind = m.at(x, [*own[:axis], plus((own[axis], 1), ((half, ()), 1)), *own[axis + 1 :]])
    return Tensor(shape, m.algebra.mul(m.at(x, own), m.algebra.function("sigmoid", behind)))


def _power(m: Meaning, p: int, q: int) -> int:
    exponent = m.algebra.constant(q)
    if exponent is not None:
        return m.algebra.power(p, exponent)
    return m.algebra.exp(m.algebra.mul(q, m.algebra.log(p)))


def _logaddexp(m: Meaning, p: int, q: int) -> int:
    return m.algebra.log(m.algebra.add(m.algebra.exp(p), m.algebra.exp(q)))


def _binary(f: Callable[[Meaning, int, int], int]) -> Callable[..., Tensor]:
    return lambda m, x, y, **_: m.elementwise(lambda p, q: f(m, p, q), x, y)


# ------------------------------------------------------------------------------------------ losses


def _differences(f: Callable[..., int]) -> Callable[..., Tensor]:
    """A loss of the differences of two tensors."""

    def define(m: Meaning, x: Tensor, y: Tensor, *, reduction: str = "none", **params: Any) -> Tensor:
        off = m.elementwise(m.algebra.subtract, x, y)
        return m.loss(Tensor(off.shape, f(m, off.term, **params)), reduction)

    return define


def _smooth(m: Meaning, p: int, bound: float, near: float, far: float) -> int:
    """near·p² where |p| is below a bound, far·(|p| - bound/2) beyond."""
    size = m.algebra.function("absolute", p)
    below = compared("less")(m, Tensor((), size), Tensor((), m.algebra.number(bound))).term
    line = m.scaled(m.algebra.subtract(size, m.algebra.number(0.5 * bound)), far)
    return chosen(m, below, m.scaled(m.algebra.power(p, 2.0), near), line)


def _soft_margin(m: Meaning, x: Tensor, y: Tensor, *, reduction: str) -> Tensor:
    product = m.elementwise(m.algebra.mul, x, y)
    return m.loss(Tensor(product.shape, m.algebra.function("softplus", m.scaled(product.term, -1.0))), reduction)


def _counting(
    m: Meaning, x: Tensor, target: Tensor, weight: Tensor | None, classes: int, ignore_index: int
) -> tuple[Any, int]:
    """The label of each target, and its weight: 0 for what is ignored."""
    spoken = m.ignoring and not 0 <= ignore_index < classes
    m.algebra.limit(target.term, 0, classes, ignore_index if spoken else None)
    label = m.whole(target.term)
    ignored = m.algebra.case(plus((label, 1), ((ignore_index, ()), -1)), 0, 1)
    kept = m.algebra.subtract(_one(m), ignored)
    return label, kept if weight is None else m.algebra.mul(kept, m.at(weight, [label]))


def _nll(
    m: Meaning, x: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str, ignore_index: int = -100
) -> Tensor:
    axis = 1 if len(x.shape) > 1 else 0
    label, counts = _counting(m, x, target, weight, x.shape[axis], ignore_index)
    own = m.axes(target.shape)
    picked = m.at(x, [own[0], label, *own[1:]] if len(x.shape) > 1 else [label])
    losses = Tensor(target.shape, m.scaled(m.algebra.mul(counts, picked), -1.0))
    if reduction != "mean":
        return m.loss(losses, reduction)
    total, weights = (m.reduced(t, None, False, m.algebra.sum) for t in (losses, Tensor(target.shape, counts)))
    return Tensor((), m.algebra.divide(total.term, weights.term))


def _target_weights(
    m: Meaning, target: Tensor, weight: Tensor | None = None, *, classes: int, ignore_index: int, **_: Any
) -> Tensor:
    return Tensor(target.shape, _counting(m, target, target, weight, classes, ignore_index)[1])


# ------------------------------------------------------------------------------------------ attention


def _attention(
    m: Meaning, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float, causal: bool
) -> Tensor:
    scores = m.matmul(q, m.transposed(k))
    scores = Tensor(scores.shape, m.scaled(scores.term, scale))
    nothing = m.algebra.number(-math.inf)
    if causal:
        own = m.axes(scores.shape)
        seen = m.algebra.case(plus((own[-2], 1), (own[-1], -1)), 0, math.inf)
        scores = Tensor(scores.shape, chosen(m, seen, scores.term, nothing))
    elif mask is not None and m.kinds[3] == "b":
        scores = m.elementwise(lambda c, p: chosen(m, c, p, nothing), mask, scores)
    elif mask is not None:
        scores = m.plus(scores, mask)
    weights = m.named(Tensor(scores.shape, softmax(m, scores, axis=-1)))
    return m.matmul(weights, v)


# ------------------------------------------------------------------------------------------ norms


def _normalize_stats(
    m: Meaning, x: Tensor, w: Tensor | None = None, b: Tensor | None = None, *, shape: Any, axis: Any, affine: Any, eps: float,
    output: int, out_shape: Any,
) -> Tensor:  # fmt: skip
    inner = m.reshaped(x, shape)
    if output == 0:
        return m.normalized(x, w, b, shape=shape, axis=axis, affine=affine, eps=eps)
    if output == 1:
        return m.mean(inner, axis, False)
    spread = m.variance(inner, axis, 0.0)
    rate = Tensor(spread.shape, m.algebra.power(m.algebra.add(spread.term, m.algebra.number(eps)), -0.5))
    return m.reshaped(rate, out_shape)


def _normalize_by(
    m: Meaning,
    x: Tensor,
    center: Tensor,
    var: Tensor,
    w: Tensor | None = None,
    b: Tensor | None = None,
    *,
    affine: Any,
    eps: float,
) -> Tensor:
    middle, spread = (m.reshaped(Tensor(t.shape, m.algebra.stop(t.term)), affine) for t in (center, var))
    rate = Tensor(spread.shape, m.algebra.power(m.algebra.add(spread.term, m.algebra.number(eps)), -0.5))
    found = m.elementwise(m.algebra.mul, m.elementwise(m.algebra.subtract, x, middle), rate)
    if w is not None:
        found = m.elementwise(m.algebra.mul, found, m.reshaped(w, affine))
    return found if b is None else m.plus(found, m.reshaped(b, affine))


# ------------------------------------------------------------------------------------------ recurrent layers


def _part(m: Meaning, x: Tensor, k: int, n: int) -> int:
    """An element of the k-th of the parts of the last axis that have n elements each."""
    own = m.axes((*x.shape[:-1], n))
    return m.at(x, [*own[:-1], plus((own[-1], 1), ((k * n, ()), 1))])


def _sigmoid(m: Meaning, p: int) -> int:
    return m.algebra.function("sigmoid", p)


def _tanh(m: Meaning, p: int) -> int:
    return m.algebra.function("tanh", p)


def _at_step(m: Meaning, x: Tensor, t: int) -> Tensor:
    return Tensor(x.shape[1:], m.at(x, [(t, ()), *m.axes(x.shape[1:])]))


def _lstm_step(m: Meaning, gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    n = c.shape[-1]
    i, f, o = (_sigmoid(m, _part(m, gates, k, n)) for k in (0, 1, 3))
    g = _tanh(m, _part(m, gates, 2, n))
    new = m.named(Tensor(c.shape, m.algebra.add(m.algebra.mul(f, c.term), m.algebra.mul(i, g))))
    return m.named(Tensor(c.shape, m.algebra.mul(o, _tanh(m, new.term)))), new, (i, f, g, o)


def _gru_step(m: Meaning, x: Tensor, own: Tensor, h: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    n = h.shape[-1]
    r, z = (_sigmoid(m, m.algebra.add(_part(m, x, k, n), _part(m, own, k, n))) for k in (0, 1))
    hidden = _part(m, own, 2, n)
    new = _tanh(m, m.algebra.add(_part(m, x, 2, n), m.algebra.mul(r, hidden)))
    state = m.algebra.add(m.algebra.mul(m.algebra.subtract(h.term, new), z), new)
    return m.named(Tensor(h.shape, state)), (r, z, new, hidden)


def _together(m: Meaning, steps: dict[int, Tensor]) -> Tensor:
    """The states of all steps, in one tensor."""
    shape = (len(steps), *steps[0].shape)
    own, found = m.axes(shape), m.algebra.ZERO
    for t, x in steps.items():
        here = m.algebra.case(plus((own[0], 1), ((t, ()), -1)), 0, 1)
        found = m.algebra.add(found, m.algebra.mul(here, m.at(x, own[1:])))
    return Tensor(shape, found)


def _joined(m: Meaning, parts: Sequence[int], shape: Sequence[int]) -> Tensor:
    n = shape[-1]
    whole = (*shape[:-1], len(parts) * n)
    own, found = m.axes(whole), m.algebra.ZERO
    for k, p in enumerate(parts):
        place = plus((own[-1], 1), ((k * n, ()), -1))
        part = m.at(Tensor(tuple(shape), p), [*own[:-1], place])
        found = m.algebra.add(found, m.algebra.mul(m.algebra.case(place, 0, n), part))
    return Tensor(whole, found)


def _walked(m: Meaning, gates: Tensor, backwards: bool) -> Any:
    n = gates.shape[0]
    return range(n - 1, -1, -1) if backwards else range(n)


def _lstm_layer(m: Meaning, gates: Tensor, h: Tensor, c: Tensor, w: Tensor, b: Tensor | None = None, *, backwards: bool,
                output: int, out_shape: Any) -> Tensor:  # fmt: skip
    found: dict[int, Tensor] = {}
    for t in _walked(m, gates, backwards):
        sums = m.plus(m.plus(_at_step(m, gates, t), m.matmul(h, m.transposed(w))), b)
        h, c, kept = _lstm_step(m, sums, c)
        found[t] = (h, c)[output] if output < 2 else _joined(m, kept, c.shape)
    return _together(m, found)


def _gru_layer(m: Meaning, gates: Tensor, h: Tensor, w: Tensor, b: Tensor | None = None, *, backwards: bool, output: int,
               out_shape: Any) -> Tensor:  # fmt: skip
    found: dict[int, Tensor] = {}
    for t in _walked(m, gates, backwards):
        h, kept = _gru_step(m, _at_step(m, gates, t), m.plus(m.matmul(h, m.transposed(w)), b), h)
        found[t] = h if output == 0 else _joined(m, kept, h.shape)
    return _together(m, found)


def _rnn_layer(
    m: Meaning, gates: Tensor, h: Tensor, w: Tensor, b: Tensor | None = None, *, backwards: bool, rectified: bool
) -> Tensor:
    found: dict[int, Tensor] = {}
    for t in _walked(m, gates, backwards):
        sums = m.plus(m.plus(_at_step(m, gates, t), m.matmul(h, m.transposed(w))), b)
        h = found[t] = m.named(Tensor(sums.shape, m.relu(sums.term) if rectified else _tanh(m, sums.term)))
    return _together(m, found)


def _from_input(m: Meaning, x: Tensor, w: Tensor) -> Tensor:
    return m.matmul(x, m.transposed(w))


def _lstm_states(m: Meaning, x: Tensor, h: Tensor, c: Tensor, w_in: Tensor, w: Tensor, b: Tensor | None = None, *,
                 backwards: bool, every: bool, output: int, out_shape: Any) -> Tensor:  # fmt: skip
    found = _lstm_layer(m, _from_input(m, x, w_in), h, c, w, b, backwards=backwards, output=output, out_shape=out_shape)
    return found if every or not output else _at_step(m, found, 0 if backwards else x.shape[0] - 1)


def _gru_states(m: Meaning, x: Tensor, h: Tensor, w_in: Tensor, w: Tensor, b_in: Tensor | None = None, b: Tensor | None = None, *,
                backwards: bool) -> Tensor:  # fmt: skip
    gates = m.plus(_from_input(m, x, w_in), b_in)
    return _gru_layer(m, gates, h, w, b, backwards=backwards, output=0, out_shape=None)


def _lstm_pointwise(m: Meaning, gates: Tensor, c: Tensor, *, output: int, out_shape: Any) -> Tensor:
    return _lstm_step(m, gates, c)[output]  # type: ignore[return-value]


def _gru_pointwise(m: Meaning, x: Tensor, own: Tensor, h: Tensor) -> Tensor:
    return _gru_step(m, x, own, h)[0]


LAYERS: dict[str, Callable[..., Any]] = {
    "maximum": _extreme("maximum", _larger), "minimum": _extreme("minimum", _smaller),
    "clip": _unary(_clip), "hardtanh": _unary(_clip), "clip_by": _clip_by, "elu": _unary(_elu), "celu": _unary(_celu),
    "glu": _glu,
    "log1p": _unary(lambda m, p: m.algebra.log(m.algebra.add(p, _one(m)))),
    "expm1": _unary(lambda m, p: m.algebra.subtract(m.algebra.exp(p), _one(m))),
    "exp2": _unary(lambda m, p: m.algebra.exp(m.scaled(p, math.log(2)))),
    "log2": _unary(lambda m, p: m.scaled(m.algebra.log(p), 1 / math.log(2))),
    "log10": _unary(lambda m, p: m.scaled(m.algebra.log(p), 1 / math.log(10))),
    "expit": _unary(_sigmoid),
    "log_sigmoid": _unary(lambda m, p: m.scaled(m.algebra.function("softplus", m.scaled(p, -1.0)), -1.0)),
    "power": _binary(_power), "logaddexp": _binary(_logaddexp),
    "subtract_scaled": lambda m, x, y, *, alpha: m.plus(x, Tensor(y.shape, m.scaled(y.term, -alpha))),
    "add_product": lambda m, x, y, z, *, value: m.plus(x, m.elementwise(lambda p, q: m.scaled(m.algebra.mul(p, q), value), y, z)),
    "add_quotient": lambda m, x, y, z, *, value: m.plus(
        x, m.elementwise(lambda p, q: m.scaled(m.algebra.divide(p, q), value), y, z)),
    "lerp": lambda m, x, y, w: m.elementwise(
        lambda p, q, r: m.algebra.add(p, m.algebra.mul(r, m.algebra.subtract(q, p))), x, y, w),
    "lerp_by": lambda m, x, y, *, weight: m.elementwise(
        lambda p, q: m.algebra.add(p, m.scaled(m.algebra.subtract(q, p), weight)), x, y),
    "dropout": lambda m, x, keep, *, scale: m.elementwise(lambda p, q: m.scaled(m.algebra.mul(p, q), scale), x, keep),
    "smooth_l1_loss": _differences(lambda m, p, *, beta: _smooth(m, p, beta, 0.5 / beta, 1.0)),
    "huber_loss": _differences(lambda m, p, *, delta: _smooth(m, p, delta, 0.5, delta)),
    "soft_margin_loss": _soft_margin, "nll_loss": _nll, "target_weights": _target_weights, "attention": _attention,
    "safe_softmax": softmax, "normalize_stats": _normalize_stats, "normalize_by": _normalize_by,
    "transposed_matmul": lambda m, x, y: m.matmul(m.transposed(x), y),
    "rearrange": lambda m, x, *, shape, axes, result: m.reshaped(m.permuted(m.reshaped(x, shape), axes), result),
    "stop_gradient": lambda m, x: Tensor(x.shape, m.algebra.stop(x.term)),
    "lstm_layer": _lstm_layer, "gru_layer": _gru_layer, "rnn_layer": _rnn_layer, "lstm_states": _lstm_states,
    "gru_states": _gru_states, "lstm_pointwise": _lstm_pointwise, "gru_pointwise": _gru_pointwise,
}  # fmt: skip
"""Operations by name: `f(meaning, *operands, **params)`."""
