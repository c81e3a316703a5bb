"""Whole recurrent layers as one operation each: the walk over time happens inside.

A layer gets what the input contributes to its gates for all steps at once, (time, batch, gates), and gives its states; where
nothing is recorded it gets the input itself, so that those gates need not be there at once. The derivative walks back the same
way. It is written once, over a handful of functions that exist for plain arrays (NumPy, fast) and as sibling operations
(differentiable again). 10 steps of an LSTM of size 8 on a batch of 4, forward and backward: 0.3 ms, and 1.0 as one operation per
step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import recurrent
from ..backend.jit.products import product
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import ndim_of, shape_of
from .activation import sigmoid
from .contraction import matmul, matrix_transpose
from .elementwise import tanh
from .kernels import scalar, sigmoid_array, sigmoid_numpy, widened, widened_numpy
from .reduction import sum as reduce_sum
from .rules import batch_loop, from_vjp, move_batch
from .samples import normal, sample
from .selection import heaviside
from .shapes import demand, matching
from .structural import concatenate, embed, getitem, reshape, stack


class _Plain:
    """What the derivatives use, for NumPy arrays."""

    sigmoid = staticmethod(widened_numpy(sigmoid_numpy))
    tanh = staticmethod(np.tanh)
    step = staticmethod(lambda x: (x > 0).astype(x.dtype))

    @staticmethod
    def at(x: Any, t: int) -> Any:
        return x[t]

    @staticmethod
    def steps(x: Any, first: int, last: int) -> Any:
        return x[first:last]

    @staticmethod
    def part(x: Any, k: int, n: int) -> Any:
        return x[..., k * n : (k + 1) * n]

    @staticmethod
    def join(parts: Any, axis: int) -> Any:
        return np.concatenate(parts, axis)

    @staticmethod
    def spread(d: Any, factors: Any) -> Any:
        """The product of (batch, n) with each of the parts of (batch, k n)."""
        parts = factors.reshape(len(d), factors.shape[-1] // d.shape[-1], d.shape[-1])
        return (parts * d[:, None]).reshape(factors.shape)

    @staticmethod
    def stacked(parts: Any) -> Any:
        return np.stack(parts)

    @staticmethod
    def times(x: Any, w: Any) -> Any:
        """x w on the last axis."""
        return product(x.reshape(-1, x.shape[-1]), w).reshape(*x.shape[:-1], w.shape[1])

    turned = staticmethod(np.transpose)
    matmul = staticmethod(product)

    @staticmethod
    def outer(d: Any, h: Any) -> Any:
        """The sum over time and batch of the products of both."""
        return product(d.reshape(-1, d.shape[-1]).T, h.reshape(-1, h.shape[-1]))

    @staticmethod
    def total(d: Any) -> Any:
        """The sum over time and batch."""
        return np.add.reduce(d.reshape(-1, d.shape[-1]), 0)


class _Recorded:
    """The same as sibling operations."""

    sigmoid, tanh = staticmethod(sigmoid), staticmethod(tanh)
    step = staticmethod(lambda x: heaviside(x, x * 0))

    @staticmethod
    def at(x: Any, t: int) -> Any:
        return getitem(x, index=(t,))

    @staticmethod
    def steps(x: Any, first: int, last: int) -> Any:
        return getitem(x, index=(slice(first, last),))

    @staticmethod
    def part(x: Any, k: int, n: int) -> Any:
        return getitem(x, index=(Ellipsis, slice(k * n, (k + 1) * n)))

    @staticmethod
    def join(parts: Any, axis: int) -> Any:
        return concatenate(*parts, axis=axis % ndim_of(parts[0]))

    @classmethod
    def spread(cls, d: Any, factors: Any) -> Any:
        return cls.join((d,) * (shape_of(factors)[-1] // shape_of(d)[-1]), -1) * factors

    @staticmethod
    def stacked(parts: Any) -> Any:
        return stack(*parts, axis=0)

    matmul = times = staticmethod(matmul)
    turned = staticmethod(matrix_transpose)

    @staticmethod
    def _rows(x: Any) -> Any:
        return reshape(x, shape=(shape_of(x)[0] * shape_of(x)[1], shape_of(x)[2]))

    @classmethod
    def outer(cls, d: Any, h: Any) -> Any:
        return matmul(matrix_transpose(cls._rows(d)), cls._rows(h))

    @staticmethod
    def total(d: Any) -> Any:
        return reduce_sum(d, axis=(0, 1), keepdims=False)


def _functions(*operands: Any) -> Any:
    plain = all(x is None or type(x) is np.ndarray for x in operands)
    return _Plain if plain else _Recorded


def _before(X: Any, out: Any, first: Any, backwards: bool) -> Any:
    """For each step the state that it started from."""
    first = first[None] if X is _Plain else reshape(first, shape=(1, *shape_of(first)))
    n = shape_of(out)[0]
    if n == 1:
        return first
    return X.join((X.steps(out, 1, n), first) if backwards else (first, X.steps(out, 0, n - 1)), 0)


def _order(n: int, backwards: bool) -> Any:
    return range(n - 1, -1, -1) if backwards else range(n)


def _plus(x: Any, y: Any) -> Any:
    return y if x is None else x if y is None else x + y


def _columns(w: Any, steps: int) -> Any:
    """wᵀ, laid out row by row where it is needed often: a product with it then takes half the time (16x128x512: 26 µs)."""
    return np.ascontiguousarray(w.T) if steps > 2 else w.T


def _batch_layer(states: int) -> Any:
    """With shared weights the batch of vmap joins the layer's own; else one call per entry."""

    def rule(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
        if any(d is not None for d in dims[1 + states :]) or any(d is None for d in dims[: 1 + states]):
            return batch_loop(op, arrays, dims, params)
        gates = move_batch(arrays[0], dims[0], 1)
        t, b, n, g = shape_of(gates)
        first = [reshape(move_batch(x, d), shape=(b * n, shape_of(x)[-1 if d != ndim_of(x) - 1 else -2]))
                 for x, d in zip(arrays[1 : 1 + states], dims[1 : 1 + states])]  # fmt: skip
        out = op(reshape(gates, shape=(t, b * n, g)), *first, *arrays[1 + states :], **params)
        outs = out if isinstance(out, tuple) else (out,)
        lead = [(t,) if ndim_of(x) == 3 else () for x in outs]  # not of the last step alone
        outs = tuple(reshape(x, shape=(*first, b, n, shape_of(x)[-1])) for x, first in zip(outs, lead))
        return (outs, tuple(map(len, lead))) if isinstance(out, tuple) else (outs[0], 1)

    return rule


def _infer_states(avals: Any, gates: int) -> Aval:
    x, *states, w, b = avals
    demand(len(x.shape) == 3, f"(time, batch, gates) is wanted, got the shape {tuple(x.shape)}")
    n = w.shape[-1] if w.shape else 0
    matching("the recurrent weight", w.shape, (gates * n, n))
    matching("the gates of the input", x.shape[2:], (gates * n,))
    for state in states:
        matching("the first state", state.shape, (x.shape[1], n))
    if b is not None:
        matching("the recurrent bias", b.shape, (gates * n,))
    return Aval((*x.shape[:2], n), x.dtype)


def _infer_kept(avals: Any, gates: int, states: int) -> tuple[Aval, ...]:
    """Of the states, and of four numbers for each."""
    state = _infer_states(avals, gates)
    return (*(state,) * states, Aval((*state.shape[:2], 4 * state.shape[2]), state.dtype))


def _infer_from_input(avals: Any, gates: int, states: int, biases: int) -> Aval:
    x, *rest = avals
    first, w_in, given = rest[:states], rest[states], rest[states + 1 :]
    demand(len(x.shape) == 3, f"(time, batch, features) is wanted, got the shape {tuple(x.shape)}")
    matching("the input's weight", w_in.shape[1:], x.shape[2:])
    for b in given[1:biases]:
        if b is not None:
            matching("the input's bias", b.shape, w_in.shape[:1])
    return _infer_states([Aval((*x.shape[:2], *w_in.shape[:1]), x.dtype), *first, given[0], given[-1]], gates)


def _samples(gates: int, states: int, biases: int = 0, **params: Any) -> Any:
    """biases: how many there are, where the input is given in the place of its gates."""

    def make() -> Any:
        for steps, backwards, biased in ((3, False, True), (2, True, False), (1, False, True)):
            first = [normal(2, 2, seed=5 + i) for i in range(states)]
            weights = [normal(2 * gates, k, seed=1 + k) for k in (3, 2)] if biases else [normal(2 * gates, 2, seed=1)]
            given = [normal(2 * gates, seed=3 + k) if biased else None for k in range(biases or 1)]
            x = normal(steps, 2, 3 if biases else 2 * gates)
            yield sample(x, *first, *weights, *given, backwards=backwards, **params)

    return make


# ------------------------------------------------------------------------------------------ LSTM


@widened
def _lstm_kernel(xp: Any, gates: Any, h: Any, c: Any, w: Any, b: Any, *, backwards: bool) -> Any:
    gates = gates if b is None else gates + b
    n, wt = h.shape[-1], xp.matrix_transpose(w)
    states, cells, kept = [], [], []
    for t in _order(gates.shape[0], backwards):
        z = gates[t, ...] + xp.matmul(h, wt)
        i, f, o = (sigmoid_array(xp, z[..., k * n : (k + 1) * n]) for k in (0, 1, 3))
        g = xp.tanh(z[..., 2 * n : 3 * n])
        c = f * c + i * g
        h = o * xp.tanh(c)
        states.append(h)
        cells.append(c)
        kept.append(xp.concat((i, f, g, o), axis=-1))
    return tuple(_in_order(xp, steps, backwards) for steps in (states, cells, kept))


def _in_order(xp: Any, steps: Any, backwards: bool) -> Any:
    return xp.stack(steps[::-1] if backwards else steps, axis=0)


@widened_numpy
def _lstm_numpy(gates: Any, h: Any, c: Any, w: Any, b: Any, *, backwards: bool) -> Any:
    if _generated("lstm", gates, h, w, b, c=c):
        return recurrent.lstm(gates, h, c, w, b, backwards)
    return _lstm_steps(gates, h, c, w, b, backwards)


def _generated(kind: str, x: Any, h: Any, w: Any, b: Any, *, c: Any = None, w_in: Any = None, b_in: Any = None) -> bool:
    """Whether generated code walks from h on over x, the input with its weight, or its gates: large enough, and all fits."""
    (steps, batch, width), n = x.shape, h.shape[-1]
    rows = n * (4 if kind == "lstm" else 3)
    return (
        w.shape == (rows, n) and (rows,) == (x.shape[2:] if w_in is None else w_in.shape[:1])
        and (w_in is None or w_in.shape[1:] == (width,)) and all(y is None or y.shape == (batch, n) for y in (h, c))
        and all(y is None or y.shape == (rows,) for y in (b, b_in)) and _long(steps, batch)
        and recurrent.suited(steps * batch * n, x, h, w, b, c, w_in, b_in, kind=kind, biased=b is not None)
    )  # fmt: skip


def _lstm_steps(gates: Any, h: Any, c: Any, w: Any, b: Any, backwards: bool) -> Any:
    """The states, the cells and the activations."""
    steps, batch, n = gates.shape[0], gates.shape[1], h.shape[-1]
    gates = gates + b if b is not None else gates
    out, cells = np.empty((steps, batch, n), gates.dtype), np.empty((steps, batch, n), gates.dtype)
    kept = np.empty(gates.shape, gates.dtype)
    wt = _columns(w, steps)
    for t in _order(steps, backwards):
        z = np.add(h @ wt, gates[t], out=kept[t])
        z[:, : 2 * n] = sigmoid_numpy(z[:, : 2 * n])
        np.tanh(z[:, 2 * n : 3 * n], z[:, 2 * n : 3 * n])
        z[:, 3 * n :] = sigmoid_numpy(z[:, 3 * n :])
        c = np.multiply(z[:, n : 2 * n], c, out=cells[t])
        c += z[:, :n] * z[:, 2 * n : 3 * n]
        h = np.multiply(z[:, 3 * n :], np.tanh(c), out=out[t])
    return out, cells, kept


def _long(steps: int, batch: int) -> bool:
    """Whether generated code is worth the layout of the weight that it needs."""
    return steps * batch >= recurrent.SHORT


def _lstm_pull(
    needs: Any, g: Any, outs: Any, gates_: Any, h0: Any, c0: Any, w: Any, b_: Any, *, backwards: bool
) -> Any:
    (g_out, g_cells, g_kept), (out, cells, kept) = g, outs
    X = _functions(g_out, g_cells, g_kept, out, h0, w)
    (steps, batch, n), before = shape_of(out), _before(X, out, h0, backwards)
    if (
        X is _Plain and g_kept is None and _long(steps, batch)
        and recurrent.suited(steps * batch * n, kept, h0, c0, w, g_out, g_cells, biased=b_ is not None)
    ):  # fmt: skip
        first, *rest = recurrent.lstm_pull(kept, cells, c0, w, g_out, g_cells, backwards)
        return first, *rest, X.outer(first, before) if needs[3] else None, X.total(first) if needs[4] else None
    i, f, cell, o = (X.part(kept, k, n) for k in range(4))
    squashed, cells_before = X.tanh(cells), _before(X, cells, c0, backwards)
    bent = [y * (1 - y) for y in (i, f, o)]
    flat = 1 - cell * cell
    # What a change of each gate's sum does to the cell, and the output gate's and the cell's to the state.
    by_cell = X.join((cell * bent[0], cells_before * bent[1], i * flat), -1)
    by_output, through = squashed * bent[2], o * (1 - squashed * squashed)
    by_kept = None if g_kept is None else g_kept * X.join((bent[0], bent[1], flat, bent[2]), -1)
    d_gates: list[Any] = [None] * steps
    dh = dc = None
    for t in _order(steps, not backwards):
        dh = _plus(dh, None if g_out is None else X.at(g_out, t))
        dc = _plus(dc, None if g_cells is None else X.at(g_cells, t))
        if dh is not None:
            dc = _plus(dc, dh * X.at(through, t))
        dc = X.at(cells, t) * 0 if dc is None else dc
        d_o = X.at(by_output, t) * (dc * 0 if dh is None else dh)
        d_gates[t] = _plus(X.join((X.spread(dc, X.at(by_cell, t)), d_o), -1), None if by_kept is None else X.at(by_kept, t))
        dc, dh = dc * X.at(f, t), X.matmul(d_gates[t], w)
    d = X.stacked(d_gates)
    return d, dh, dc, X.outer(d, before) if needs[3] else None, X.total(d) if needs[4] else None


# The states and the cells (time, batch, n) of an LSTM from its input's gates (time, batch, 4n) in the order input,
# forget, cell, output, the first state and cell, and the recurrent weight and bias; and the gates' activations, which
# the derivative is made of.
lstm_layer = primitive(
    "lstm_layer", kernel=_lstm_kernel, numpy=_lstm_numpy,
    vjp=_lstm_pull, jvp=from_vjp, multi=True, batch=_batch_layer(2),
    infer=lambda avals, p: _infer_kept(avals, 4, 2), samples=_samples(4, 2),
)  # fmt: skip


def _lstm_states_kernel(xp: Any, x: Any, h: Any, c: Any, w_in: Any, w: Any, b: Any, *, backwards: bool, every: bool) -> Any:
    out, cells, _ = _lstm_kernel(xp, xp.matmul(x, xp.matrix_transpose(w_in)), h, c, w, b, backwards=backwards)
    return out, cells if every else cells[_last(x, backwards), ...]


def _last(x: Any, backwards: bool) -> int:
    """The step that is done last."""
    return 0 if backwards else shape_of(x)[0] - 1


@widened_numpy
def _lstm_states_numpy(x: Any, h: Any, c: Any, w_in: Any, w: Any, b: Any, *, backwards: bool, every: bool) -> Any:
    if _generated("lstm", x, h, w, b, c=c, w_in=w_in):
        return recurrent.lstm_states(x, h, c, w_in, w, b, backwards, every)
    out, cells, _ = _lstm_steps(_Plain.times(x, w_in.T), h, c, w, b, backwards)
    return out, cells if every else cells[_last(x, backwards)].copy()


def _lstm_states_pull(
    needs: Any, g: Any, _outs: Any, x: Any, h0: Any, c0: Any, w_in: Any, w: Any, b: Any, *, backwards: bool, every: bool
) -> Any:
    (g_out, g_cells), X = g, _functions(*g, x, h0, c0, w_in, w, b)
    gates = X.times(x, X.turned(w_in))
    outs = lstm_layer(gates, h0, c0, w, b, backwards=backwards)
    if not every and g_cells is not None:
        g_cells = embed(g_cells, shape=shape_of(outs[1]), index=(_last(x, backwards),))
    inner = (True, *needs[1:3], *needs[4:])
    d, dh, dc, *rest = _lstm_pull(inner, (g_out, g_cells, None), outs, gates, h0, c0, w, b, backwards=backwards)
    return X.times(d, w_in) if needs[0] else None, dh, dc, X.outer(d, x) if needs[3] else None, *rest


def _infer_lstm_states(avals: Any, params: dict[str, Any]) -> tuple[Aval, Aval]:
    out = _infer_from_input(avals, 4, 2, 1)
    return out, out if params["every"] else Aval(out.shape[1:], out.dtype)


# The same states, and the cells after `every` step or the last one, from the input (time, batch, features) and its weight,
# for where nothing is recorded: the derivative walks forward again.
lstm_states = primitive(
    "lstm_states", kernel=_lstm_states_kernel, numpy=_lstm_states_numpy, vjp=_lstm_states_pull, jvp=from_vjp, multi=True,
    used_outs=(False, False), batch=_batch_layer(2), infer=_infer_lstm_states,
    samples=lambda: [*_samples(4, 2, 1, every=True)(), *_samples(4, 2, 1, every=False)()],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ GRU


@widened
def _gru_kernel(xp: Any, gates: Any, h: Any, w: Any, b: Any, *, backwards: bool) -> Any:
    n, wt = h.shape[-1], xp.matrix_transpose(w)
    states, kept = [], []
    for t in _order(gates.shape[0], backwards):
        x, own = gates[t, ...], xp.matmul(h, wt)
        own = own if b is None else own + b
        r, z = (sigmoid_array(xp, x[..., k * n : (k + 1) * n] + own[..., k * n : (k + 1) * n]) for k in (0, 1))
        new = xp.tanh(x[..., 2 * n :] + r * own[..., 2 * n :])
        h = (h - new) * z + new
        states.append(h)
        kept.append(xp.concat((r, z, new, own[..., 2 * n :]), axis=-1))
    return _in_order(xp, states, backwards), _in_order(xp, kept, backwards)


@widened_numpy
def _gru_numpy(gates: Any, h: Any, w: Any, b: Any, *, backwards: bool) -> Any:
    if _generated("gru", gates, h, w, b):
        return recurrent.gru(gates, h, w, b, backwards)
    return _gru_steps(gates, h, w, b, backwards)


def _gru_steps(gates: Any, h: Any, w: Any, b: Any, backwards: bool) -> Any:
    """The states, and what the derivative is made of."""
    steps, batch, n = gates.shape[0], gates.shape[1], h.shape[-1]
    out, kept = np.empty((steps, batch, n), gates.dtype), np.empty((steps, batch, 4 * n), gates.dtype)
    wt = _columns(w, steps)
    for t in _order(steps, backwards):
        own = h @ wt
        if b is not None:
            own += b
        x, rz, new = gates[t], kept[t, :, : 2 * n], kept[t, :, 2 * n : 3 * n]
        rz[...] = sigmoid_numpy(own[:, : 2 * n] + x[:, : 2 * n])
        kept[t, :, 3 * n :] = own[:, 2 * n :]
        np.multiply(own[:, 2 * n :], rz[:, :n], out=new)
        new += x[:, 2 * n :]
        np.tanh(new, new)
        state = np.subtract(h, new, out=out[t])
        state *= rz[:, n:]
        state += new
        h = state
    return out, kept


def _gru_pull(needs: Any, g: Any, outs: Any, gates_: Any, h0: Any, w: Any, b_: Any, *, backwards: bool) -> Any:
    (g_out, g_kept), (out, kept) = g, outs
    X = _functions(g_out, g_kept, out, h0, w)
    (steps, batch, n), before = shape_of(out), _before(X, out, h0, backwards)
    if (
        X is _Plain and g_kept is None and _long(steps, batch)
        and recurrent.suited(steps * batch * n, kept, h0, w, g_out, kind="gru", biased=b_ is not None)
    ):  # fmt: skip
        first, *rest = recurrent.gru_pull(kept, out, h0, w, g_out, backwards)
        return *rest, X.outer(first, before) if needs[2] else None, X.total(first) if needs[3] else None
    r, z, new, hidden = (X.part(kept, k, n) for k in range(4))
    # What a change of the state does to each gate's sum.
    flat = 1 - new * new
    by_new = (1 - z) * flat
    through = by_new * r
    bent = r * (1 - r), z * (1 - z)
    factors = X.join((by_new * hidden * bent[0], (before - new) * bent[1], through), -1)
    extra: Any = None
    extra_new: Any = None
    if g_kept is not None:  # on the sums by way of the activations
        g_r, g_z, g_new, g_hidden = (X.part(g_kept, k, n) for k in range(4))
        extra_new = g_new * flat
        extra = X.join((g_r * bent[0] + extra_new * hidden * bent[0], g_z * bent[1], extra_new * r + g_hidden), -1)
    states: list[Any] = [None] * steps
    d_steps: list[Any] = [None] * steps
    dh = None
    for t in _order(steps, not backwards):
        states[t] = _plus(dh, X.at(out, t) * 0 if g_out is None else X.at(g_out, t))
        d_steps[t] = _plus(X.spread(states[t], X.at(factors, t)), None if extra is None else X.at(extra, t))
        dh = states[t] * X.at(z, t) + X.matmul(d_steps[t], w)
    d_recurrent = X.stacked(d_steps)
    d_new = _plus(X.stacked(states) * by_new, extra_new)
    d_gates = X.join((X.part(d_recurrent, 0, 2 * n), d_new), -1) if needs[0] else None
    d_w = X.outer(d_recurrent, before) if needs[2] else None
    return d_gates, dh, d_w, X.total(d_recurrent) if needs[3] else None


# The states (time, batch, n) of a GRU from its input's gates (time, batch, 3n) in the order reset, update, new, the
# first state, and the recurrent weight and bias; and what the derivative is made of: the gates' activations, and what the
# state contributes to the new one.
gru_layer = primitive(
    "gru_layer", kernel=_gru_kernel, numpy=_gru_numpy, vjp=_gru_pull, jvp=from_vjp, multi=True, batch=_batch_layer(1),
    infer=lambda avals, p: _infer_kept(avals, 3, 1), samples=_samples(3, 1),
)  # fmt: skip


def _gru_states_kernel(xp: Any, x: Any, h: Any, w_in: Any, w: Any, b_in: Any, b: Any, *, backwards: bool) -> Any:
    gates = xp.matmul(x, xp.matrix_transpose(w_in))
    return _gru_kernel(xp, gates if b_in is None else gates + b_in, h, w, b, backwards=backwards)[0]


@widened_numpy
def _gru_states_numpy(x: Any, h: Any, w_in: Any, w: Any, b_in: Any, b: Any, *, backwards: bool) -> Any:
    if _generated("gru", x, h, w, b, w_in=w_in, b_in=b_in):
        return recurrent.gru_states(x, h, w_in, w, b_in, b, backwards)
    gates = _Plain.times(x, w_in.T)
    return _gru_steps(gates if b_in is None else gates + b_in, h, w, b, backwards)[0]


def _gru_states_pull(
    needs: Any, g: Any, _out: Any, x: Any, h0: Any, w_in: Any, w: Any, b_in: Any, b: Any, *, backwards: bool
) -> Any:
    X = _functions(g, x, h0, w_in, w, b_in, b)
    gates = X.times(x, X.turned(w_in))
    gates = gates if b_in is None else gates + b_in
    outs = gru_layer(gates, h0, w, b, backwards=backwards)
    inner = (True, needs[1], needs[3], needs[5])
    d, dh, dw, db = _gru_pull(inner, (g, None), outs, gates, h0, w, b, backwards=backwards)
    d_w, d_b = X.outer(d, x) if needs[2] else None, X.total(d) if needs[4] else None
    return X.times(d, w_in) if needs[0] else None, dh, d_w, dw, d_b, db


# The same states alone, from the input, its weight and bias (between them and those of the state), for where nothing is
# recorded: the derivative walks forward again.
gru_states = primitive(
    "gru_states", kernel=_gru_states_kernel, numpy=_gru_states_numpy, vjp=_gru_states_pull, jvp=from_vjp,
    batch=_batch_layer(1), infer=lambda avals, p: _infer_from_input(avals, 3, 1, 2), samples=_samples(3, 1, 2),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ plain


@widened
def _rnn_kernel(xp: Any, gates: Any, h: Any, w: Any, b: Any, *, backwards: bool, rectified: bool) -> Any:
    gates = gates if b is None else gates + b
    wt = xp.matrix_transpose(w)
    states = []
    for t in _order(gates.shape[0], backwards):
        z = xp.matmul(h, wt) + gates[t, ...]
        h = xp.maximum(z, scalar(0, z)) if rectified else xp.tanh(z)
        states.append(h)
    return _in_order(xp, states, backwards)


@widened_numpy
def _rnn_numpy(gates: Any, h: Any, w: Any, b: Any, *, backwards: bool, rectified: bool) -> Any:
    gates = gates if b is None else gates + b
    steps = len(gates)
    out = np.empty((*gates.shape[:2], h.shape[-1]), gates.dtype)
    wt = _columns(w, steps)
    for t in _order(steps, backwards):
        state = np.matmul(h, wt, out=out[t])
        state += gates[t]
        h = np.maximum(state, 0, out=state) if rectified else np.tanh(state, state)
    return out


def _rnn_pull(
    needs: Any, g: Any, out: Any, gates_: Any, h0: Any, w: Any, _b: Any, *, backwards: bool, rectified: bool
) -> Any:
    X = _functions(g, out, h0, w)
    slope = X.step(out) if rectified else 1 - out * out
    steps = shape_of(gates_)[0]
    d_gates: list[Any] = [None] * steps
    dh = None
    for t in _order(steps, not backwards):
        d_gates[t] = _plus(dh, X.at(g, t)) * X.at(slope, t)
        dh = X.matmul(d_gates[t], w)
    d = X.stacked(d_gates)
    d_w = X.outer(d, _before(X, out, h0, backwards)) if needs[2] else None
    return d, dh, d_w, X.total(d) if needs[3] else None


# The states (time, batch, n) of a layer h' = tanh(gates + w h + b), or max(0, ...).
rnn_layer = primitive(
    "rnn_layer", kernel=_rnn_kernel, numpy=_rnn_numpy, vjp=_rnn_pull, jvp=from_vjp,
    batch=_batch_layer(1), infer=lambda avals, p: _infer_states(avals, 1),
    samples=lambda: [*_samples(1, 1, rectified=False)(), *_samples(1, 1, rectified=True)()],
)  # fmt: skip
