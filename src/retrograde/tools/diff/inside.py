"""What operations that do several things at once compute on the way: the values that a program which spells them out has.

A layer norm, a cell of an LSTM or a cross entropy is one operation here and ten lines in many programs. Where only one of
two programs spells it out, its lines are held against these values, so that the line with the mistake is named and not
the first one of ten. Only computed once two programs have been found to differ. Called by forward.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .values import as_wide

Arrays = Iterator[np.ndarray]

LONGEST = 200
"""How many steps of a recurrent layer are looked at."""


def values_inside(name: str, params: Mapping[str, Any], operands: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    """The values that an operation computes on its way to its results, in double precision; none for one that is not known here.

    operands: its operands, None for one that is not there.
    """
    steps = _STEPS.get(name)
    if steps is None:
        return []
    wide = [None if x is None else x if x.dtype.kind in "iub" else as_wide(x) for x in operands]
    try:
        with np.errstate(all="ignore"):
            return list(steps(*wide, **params))
    except (ValueError, TypeError, IndexError):  # parameters that are not known, an exotic operand
        return []


def is_known(name: str) -> bool:
    """Whether an operation is one that does several things at once."""
    return name in _STEPS


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _parts(x: np.ndarray, n: int) -> list[np.ndarray]:
    return [x[..., i : i + n] for i in range(0, x.shape[-1], n)]


# ------------------------------------------------------------------------------------------ recurrent


def _lstm_cell(gates: np.ndarray, c: np.ndarray, **_: Any) -> Arrays:
    i, f, g, o = _parts(gates, c.shape[-1])
    i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
    new = f * c + i * g
    yield from (i, f, g, o, f * c, i * g, new, np.tanh(new), o * np.tanh(new))


def _gru_cell(x: np.ndarray, hidden: np.ndarray, h: np.ndarray, **_: Any) -> Arrays:
    (xr, xz, xn), (hr, hz, hn) = (_parts(part, h.shape[-1]) for part in (x, hidden))
    r, z = _sigmoid(xr + hr), _sigmoid(xz + hz)
    new = np.tanh(xn + r * hn)
    yield from (xr + hr, xz + hz, r, z, r * hn, xn + r * hn, new, 1 - z, z * h, (1 - z) * new, h - new, (h - new) * z)
    yield (h - new) * z + new


def _layer(
    gates: np.ndarray, states: Sequence[np.ndarray], w: np.ndarray, b: np.ndarray | None, backwards: bool,
    cell: Callable[..., tuple[list[np.ndarray], Sequence[np.ndarray]]],
) -> Arrays:  # fmt: skip
    """A walk over time; cell(x, hidden, *states) gives what it computes, and the next states."""
    for t in (range(len(gates))[::-1] if backwards else range(len(gates)))[:LONGEST]:
        product = states[0] @ w.T
        hidden = product if b is None else product + b
        yield from (gates[t], product, hidden, gates[t] + product, gates[t] + hidden)
        inner, states = cell(gates[t], hidden, *states)
        yield from inner


def _lstm(gates: Any, h: Any, c: Any, w: Any, b: Any, *, backwards: bool) -> Arrays:
    def cell(x: Any, hidden: Any, h: Any, c: Any) -> Any:
        inner = list(_lstm_cell(x + hidden, c))
        return [np.concatenate(inner[:4], -1), *inner], (inner[-1], inner[-3])

    return _layer(gates, (h, c), w, b, backwards, cell)


def _gru(gates: Any, h: Any, w: Any, b: Any, *, backwards: bool) -> Arrays:
    def cell(x: Any, hidden: Any, h: Any) -> Any:
        inner = list(_gru_cell(x, hidden, h))
        kept = (inner[2], inner[3], inner[6], _parts(hidden, h.shape[-1])[2])  # the activations, and what is reset
        return [np.concatenate(kept, -1), *inner], inner[-1:]

    return _layer(gates, (h,), w, b, backwards, cell)


def _lstm_states(x: Any, h: Any, c: Any, w_in: Any, w: Any, b: Any, *, backwards: bool, every: bool) -> Arrays:
    yield x @ w_in.T
    yield from _lstm(x @ w_in.T, h, c, w, b, backwards=backwards)


def _gru_states(x: Any, h: Any, w_in: Any, w: Any, b_in: Any, b: Any, *, backwards: bool) -> Arrays:
    gates = x @ w_in.T
    yield gates
    yield from _gru(gates if b_in is None else gates + b_in, h, w, b, backwards=backwards)


def _rnn(gates: Any, h: Any, w: Any, b: Any, *, backwards: bool, rectified: bool) -> Arrays:
    def cell(x: Any, hidden: Any, h: Any) -> Any:
        new = np.maximum(x + hidden, 0) if rectified else np.tanh(x + hidden)
        return [new], [new]

    return _layer(gates, (h,), w, b, backwards, cell)


# ------------------------------------------------------------------------------------------ linear


def _steps_of(x: np.ndarray) -> Arrays:
    """A sequence, and what it is at each step, whichever of its first two axes is time."""
    yield x
    if x.ndim == 3:
        for axis in (0, 1):
            yield from (np.take(x, t, axis) for t in range(min(x.shape[axis], LONGEST)))


def _project(x: Any, w: Any) -> Arrays:
    return _steps_of(x @ w.T)


def _affine(x: Any, w: Any, b: Any) -> Arrays:
    yield from _project(x, w)
    yield from _steps_of(x @ w.T + b)


def _add_matmul(c: Any, x: Any, y: Any, *, beta: Any, alpha: Any) -> Arrays:
    yield from _steps_of(x @ y)
    yield from _steps_of(beta * c + alpha * (x @ y))


# ------------------------------------------------------------------------------------------ statistics, norms


def _spread(x: np.ndarray, axis: Any, correction: float = 0) -> Arrays:
    n = np.prod([x.shape[a] for a in axis]) if axis is not None else x.size
    mean = x.mean(axis, keepdims=True)
    squares = np.abs(x - mean) ** 2
    var = squares.sum(axis, keepdims=True) / max(n - correction, 1)
    yield from (x.sum(axis, keepdims=True), mean, x - mean, squares, squares.sum(axis, keepdims=True), var, x**2)
    yield from ((x**2).mean(axis, keepdims=True), mean**2)


def _deviation(x: Any, *, axis: Any, correction: float, keepdims: bool) -> Arrays:
    *_, var, _, _, _ = inner = list(_spread(x, axis, correction))
    yield from inner
    yield np.sqrt(var)


def _weighted(unit: np.ndarray, w: Any, b: Any, affine: Any) -> Arrays:
    yield unit
    if w is not None:
        unit = unit * w.reshape(affine)
        yield unit
    if b is not None:
        yield unit + b.reshape(affine)


def _normalized(x: Any, w: Any, b: Any, *, shape: Any, axis: Any, affine: Any, eps: float) -> Arrays:
    inner = list(_spread(x.reshape(shape), axis))
    mean, var = inner[1], inner[5]
    for value in inner:
        yield value.reshape(x.shape) if value.size == x.size else value
    yield from (var + eps, np.sqrt(var + eps), 1 / np.sqrt(var + eps))
    unit = ((x.reshape(shape) - mean) / np.sqrt(var + eps)).reshape(x.shape)
    yield from _weighted(unit, w, b, affine)


def _normalized_by(x: Any, mean: Any, var: Any, w: Any, b: Any, *, affine: Any, eps: float) -> Arrays:
    mean, var = mean.reshape(affine), var.reshape(affine)
    root = np.sqrt(var + eps)
    yield from (var + eps, root, 1 / root, x - mean)
    yield from _weighted((x - mean) / root, w, b, affine)


def _norm(x: Any, *, ord: float, axis: Any, keepdims: bool) -> Arrays:
    powers = np.abs(x) ** ord
    yield from (np.abs(x), powers, powers.sum(axis, keepdims=keepdims))


# ------------------------------------------------------------------------------------------ softmax and losses


def _softmax(x: Any, *, axis: Any) -> Arrays:
    top = x.max(axis, keepdims=True)
    for shift in (np.zeros_like(top), top):
        powers = np.exp(x - shift)
        total = powers.sum(axis, keepdims=True)
        yield from (x - shift, powers, total, np.log(total), np.log(total) + shift, powers / total)
    yield top


def _attention(q: Any, k: Any, v: Any, mask: Any, *, scale: float, causal: bool) -> Arrays:
    products = q @ k.swapaxes(-1, -2)
    yield from (k.swapaxes(-1, -2), q * scale, products, products * scale)
    scores = products * scale
    if causal:
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype.kind == "b" else scores + mask
        yield scores
    yield from _softmax(scores, axis=-1)


def _logsumexp(x: Any, *, axis: Any, keepdims: bool) -> Arrays:
    return _softmax(x, axis=axis)


def _nll(x: Any, target: Any, weight: Any, **_: Any) -> Arrays:
    labels = np.expand_dims(np.clip(target, 0, x.shape[1] - 1), 1) if x.ndim > 1 else target.reshape(1)
    chosen = np.take_along_axis(x, labels, 1 if x.ndim > 1 else 0)
    classes = np.arange(x.shape[1]).reshape(-1, *[1] * (x.ndim - 2)) if x.ndim > 1 else np.arange(len(x))
    hot = (classes == labels).astype(np.float64)
    yield from (chosen, -chosen, np.exp(chosen), hot * x, hot * np.exp(x), -hot * x)
    if weight is not None:
        yield from (weight[target], -weight[target] * chosen.reshape(target.shape))


def _reduced(losses: np.ndarray) -> Arrays:
    yield losses
    yield losses.sum().reshape(())
    if losses.ndim:
        yield losses.sum(-1)
        yield losses.mean(-1)


def _mse(x: Any, y: Any, **_: Any) -> Arrays:
    yield x - y
    yield from _reduced((x - y) ** 2)


def _huber(x: Any, y: Any, **_: Any) -> Arrays:
    yield from (x - y, np.abs(x - y), (x - y) ** 2, 0.5 * (x - y) ** 2)


def _bce(x: Any, y: Any, weight: Any, **_: Any) -> Arrays:
    kept, missed = y * np.log(x), (1 - y) * np.log(1 - x)
    yield from (np.log(x), np.log(1 - x), 1 - x, 1 - y, kept, missed, kept + missed)
    yield from _reduced(-(kept + missed))


def _bce_logits(x: Any, y: Any, weight: Any, pos_weight: Any, **_: Any) -> Arrays:
    rest = np.log1p(np.exp(-np.abs(x)))
    yield from (_sigmoid(x), np.maximum(x, 0), x * y, np.maximum(x, 0) - x * y, np.abs(x), np.exp(-np.abs(x)), rest)
    yield from _bce(_sigmoid(x), y, weight)


# ------------------------------------------------------------------------------------------ activations


def _gelu_tanh(x: Any) -> Arrays:
    inner = x + 0.044715 * x**3
    bent = np.tanh(np.sqrt(2 / np.pi) * inner)
    yield from (x**3, 0.044715 * x**3, inner, np.sqrt(2 / np.pi) * inner, bent, 1 + bent, 0.5 * x, x * (1 + bent))


def _gelu(x: Any) -> Arrays:
    from scipy.special import erf

    bent = erf(x / np.sqrt(2))
    yield from (x / np.sqrt(2), bent, 1 + bent, 0.5 * (1 + bent), 0.5 * x, x * (1 + bent))


def _silu(x: Any) -> Arrays:
    yield from (-x, np.exp(-x), 1 + np.exp(-x), _sigmoid(x))


_STEPS: dict[str, Callable[..., Arrays]] = {
    "lstm_pointwise": _lstm_cell, "gru_pointwise": _gru_cell, "lstm_layer": _lstm, "gru_layer": _gru, "rnn_layer": _rnn,
    "lstm_states": _lstm_states, "gru_states": _gru_states,
    "project": _project, "affine": _affine, "add_matmul": _add_matmul, "var": _deviation, "std": _deviation,
    "normalize": _normalized,
    "normalize_stats": _normalized, "normalize_by": _normalized_by, "vector_norm": _norm, "softmax": _softmax,
    "attention": _attention, "log_softmax": _softmax, "safe_softmax": _softmax, "logsumexp": _logsumexp,
    "nll_loss": _nll, "mse_loss": _mse, "huber_loss": _huber, "smooth_l1_loss": _huber, "binary_cross_entropy": _bce,
    "binary_cross_entropy_with_logits": _bce_logits, "gelu": _gelu, "gelu_tanh": _gelu_tanh, "silu": _silu,
}  # fmt: skip
