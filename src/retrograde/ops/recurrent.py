"""The elementwise part of recurrent cells as one operation each: what lies between two matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import recurrent
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import ndim_of, shape_of
from .activation import sigmoid
from .elementwise import tanh
from .kernels import sigmoid_array, sigmoid_numpy, widened, widened_numpy
from .rules import batch_leading, from_vjp
from .samples import normal, sample
from .shapes import at_least, matching
from .structural import concatenate, getitem


def _part(x: Any, k: int, size: int) -> Any:
    """The k-th of the equal parts of the last axis."""
    return getitem(x, index=(Ellipsis, slice(k * size, (k + 1) * size)))


@widened
def _lstm_kernel(xp: Any, gates: Any, c: Any) -> Any:
    return _lstm_step(xp, lambda x: sigmoid_array(xp, x), gates, c)


@widened_numpy
def _lstm_numpy(gates: Any, c: Any) -> Any:
    found = recurrent.lstm_step(gates, c)
    return _lstm_step(np, sigmoid_numpy, gates, c) if found is None else found


def _lstm_step(xp: Any, sigmoid: Any, gates: Any, c: Any) -> Any:
    n = c.shape[-1]
    i, f, o = (sigmoid(gates[..., k * n : (k + 1) * n]) for k in (0, 1, 3))
    g = xp.tanh(gates[..., 2 * n : 3 * n])
    new = f * c + i * g
    return o * xp.tanh(new), new


def _lstm_vjp(needs: Any, g: Any, out: Any, gates: Any, c: Any) -> Any:
    n = shape_of(c)[-1]
    gh, gc = g
    i, f, o = (sigmoid(_part(gates, k, n)) for k in (0, 1, 3))
    cell = tanh(_part(gates, 2, n))
    new = tanh(out[1])
    if gh is not None:
        through = gh * o * (1 - new * new)
        gc = through if gc is None else gc + through
    d_gates = None
    if needs[0]:
        d_o = gc * 0 if gh is None else gh * new * o * (1 - o)
        d_gates = concatenate(
            gc * cell * i * (1 - i), gc * c * f * (1 - f), gc * i * (1 - cell * cell), d_o, axis=ndim_of(gates) - 1
        )
    return d_gates, gc * f if needs[1] else None


def _infer_state(avals: Any, gates: int) -> Aval:
    """The new state, from the gates' sums and the old one."""
    *sums, state = avals
    at_least(1, state)
    for a in sums:
        matching("the gates", a.shape, (*state.shape[:-1], gates * state.shape[-1]))
    return state


# (h, c') of an LSTM from the summed gates (..., 4n) in the order input, forget, cell, output, and c (..., n).
lstm_pointwise = primitive(
    "lstm_pointwise", kernel=_lstm_kernel, numpy=_lstm_numpy, vjp=_lstm_vjp, jvp=from_vjp, batch=batch_leading, multi=True,
    used_outs=(False, True),
    infer=lambda avals, p: (_infer_state(avals, 4),) * 2,
    samples=lambda: [sample(normal(2, 8), normal(2, 2)), sample(normal(4), normal(1))],
)  # fmt: skip


@widened
def _gru_kernel(xp: Any, gx: Any, gh: Any, h: Any) -> Any:
    return _gru_step(xp, lambda x: sigmoid_array(xp, x), gx, gh, h)


@widened_numpy
def _gru_numpy(gx: Any, gh: Any, h: Any) -> Any:
    found = recurrent.gru_step(gx, gh, h)
    return _gru_step(np, sigmoid_numpy, gx, gh, h) if found is None else found


def _gru_step(xp: Any, sigmoid: Any, gx: Any, gh: Any, h: Any) -> Any:
    n = h.shape[-1]
    r = sigmoid(gx[..., :n] + gh[..., :n])
    z = sigmoid(gx[..., n : 2 * n] + gh[..., n : 2 * n])
    new = xp.tanh(gx[..., 2 * n :] + r * gh[..., 2 * n :])
    return (h - new) * z + new


def _gru_vjp(needs: Any, g: Any, _out: Any, gx: Any, gh: Any, h: Any) -> Any:
    n = shape_of(h)[-1]
    r = sigmoid(_part(gx, 0, n) + _part(gh, 0, n))
    z = sigmoid(_part(gx, 1, n) + _part(gh, 1, n))
    hidden = _part(gh, 2, n)
    new = tanh(_part(gx, 2, n) + r * hidden)
    d_new = g * (1 - z) * (1 - new * new)
    d_z = g * (h - new) * z * (1 - z)
    d_r = d_new * hidden * r * (1 - r)
    axis = ndim_of(gx) - 1
    return (
        concatenate(d_r, d_z, d_new, axis=axis) if needs[0] else None,
        concatenate(d_r, d_z, d_new * r, axis=axis) if needs[1] else None,
        g * z if needs[2] else None,
    )


# h' of a GRU from the input's and the hidden state's gates (..., 3n) in the order reset, update, new, and h (..., n).
gru_pointwise = primitive(
    "gru_pointwise", kernel=_gru_kernel, numpy=_gru_numpy, vjp=_gru_vjp, jvp=from_vjp, batch=batch_leading,
    infer=lambda avals, p: _infer_state(avals, 3),
    samples=lambda: [sample(normal(2, 6), normal(2, 6, seed=3), normal(2, 2))],
)  # fmt: skip
