"""Recurrent layers: cells, one layer in one direction, and stacks of layers in one or both directions.

Sequences are (time, batch, features), states (rows, batch, width) with a row per layer and direction. The gates stand
in the weights in the order input, forget, cell, output (LSTM) or reset, update, new (GRU); a dialect with another order
permutes rows before. Called by the dialects' layers, which check shapes and dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.bind import recorded
from ...core.value import ndim_of, shape_of
from ...ops.activation import relu
from ...ops.contraction import affine, project
from ...ops.elementwise import add, tanh
from ...ops.indexing import take
from ...ops.recurrent import gru_pointwise, lstm_pointwise
from ...ops.recurrent_layers import gru_layer, gru_states, lstm_layer, lstm_states, rnn_layer
from ...ops.selection import keep
from ...ops.structural import concatenate, reshape, select, stack

LSTM, GRU, TANH, RELU = "lstm", "gru", "tanh", "relu"

GATES = {LSTM: 4, GRU: 3, TANH: 1, RELU: 1}
"""How many times the width of the state the weights have rows."""

State = tuple[Any, ...]
"""(h,), or (h, c) for an LSTM."""


class Weights(NamedTuple):
    """The weights of one layer and direction."""

    input: Any
    """(gates * width, features)."""
    hidden: Any
    """(gates * width, width of h)."""
    input_bias: Any = None
    hidden_bias: Any = None
    projection: Any = None
    """(width of h, width): of an LSTM whose h is narrower than its c."""


def linear(x: Any, w: Any, b: Any) -> Any:
    """`x wᵀ + b`."""
    return project(x, w) if b is None else affine(x, w, b)


def step(mode: str, gates: Any, state: State, w: Weights) -> State:
    """One step from what the input contributes to the gates, (batch, gates), and a state (batch, width)."""
    recurrent = linear(state[0], w.hidden, w.hidden_bias)
    if mode == LSTM:
        h, c = lstm_pointwise(add(gates, recurrent), state[1])
        return (h if w.projection is None else project(h, w.projection), c)
    if mode == GRU:
        return (gru_pointwise(gates, recurrent, state[0]),)
    total = add(gates, recurrent)
    return (tanh(total) if mode == TANH else relu(total),)


def cell(mode: str, x: Any, state: State, w: Weights) -> State:
    """One step of a cell for an input (batch, features)."""
    return step(mode, linear(x, w.input, w.input_bias), state, w)


def layer(mode: str, x: Any, state: State, w: Weights, backwards: bool = False) -> tuple[Any, tuple[Any, ...]]:
    """One layer in one direction: its output (time, batch, width) and the last state."""
    output, states = _states(mode, x, state, w, backwards, every=False)
    last = 0 if backwards else shape_of(x)[0] - 1
    return output, tuple(select(s, axis=0, index=last) if ndim_of(s) == 3 else s for s in states)


def _states(mode: str, x: Any, state: State, w: Weights, backwards: bool, every: bool) -> tuple[Any, tuple[Any, ...]]:
    """The output and the states after every step, which begin with it; not `every`: of the others the last one will do."""
    taped = recorded(x, *state, *w)
    if mode == LSTM and w.projection is None:  # one sum of both biases goes in with the steps, instead of a pass over all gates
        given = [b for b in (w.input_bias, w.hidden_bias) if b is not None]
        inputs = (project(x, w.input), *state) if taped else (x, *state, w.input)
        operands = *inputs, w.hidden, add(*given) if len(given) == 2 else given[0] if given else None
        states = lstm_layer(*operands, backwards=backwards)[:2] if taped else (
            lstm_states(*operands, backwards=backwards, every=every)
        )
        return states[0], states
    if mode == GRU and not taped:
        out = gru_states(x, *state, w.input, w.hidden, w.input_bias, w.hidden_bias, backwards=backwards)
        return out, (out,)
    gates = linear(x, w.input, w.input_bias)
    if w.projection is not None:
        order = range(shape_of(x)[0])
        taken = []
        for t in reversed(order) if backwards else order:
            state = step(mode, select(gates, axis=0, index=t), state, w)
            taken.append(state)
        columns = zip(*(reversed(taken) if backwards else taken))
        states = tuple(stack(*column, axis=0) for column in columns)
    elif mode == GRU:
        states = gru_layer(gates, *state, w.hidden, w.hidden_bias, backwards=backwards)[:1]
    else:
        out = rnn_layer(gates, *state, w.hidden, w.hidden_bias, backwards=backwards, rectified=mode == RELU)
        states = (out,)
    return states[0], states


# ------------------------------------------------------------------------------------------ sequences of several lengths


def ragged_layer(
    mode: str, x: Any, state: State, w: Weights, lengths: np.ndarray, backwards: bool = False
) -> tuple[Any, tuple[Any, ...]]:
    """`layer` for sequences of the given lengths (batch,): zeros beyond the end, and the state at the end.

    Backwards each sequence is read from its own end.
    """
    steps, batch = shape_of(x)[:2]
    order = _reversal(steps, lengths) if backwards else None
    if order is not None:
        x = _rows(x, order)
    output, states = _states(mode, x, state, w, False, every=True)
    ends = np.maximum(lengths - 1, 0) * batch + np.arange(batch)
    last = tuple(_rows(s, ends) for s in states)
    if (lengths == 0).any():
        none = (lengths == 0)[:, None]
        last = tuple(add(keep(new, ~none), keep(old, none)) for new, old in zip(last, state))
    if order is not None:
        output = _rows(output, order)
    return keep(output, (np.arange(steps)[:, None] < lengths)[..., None]), last


def _reversal(steps: int, lengths: np.ndarray) -> np.ndarray:
    """Where each (time, batch) comes from when every sequence is turned around within its length."""
    time = np.arange(steps)[:, None]
    turned = np.where(time < lengths, lengths - 1 - time, time)
    return turned * len(lengths) + np.arange(len(lengths))


def _rows(x: Any, places: np.ndarray) -> Any:
    """The rows of (time, batch, n) at places in time and batch flattened."""
    t, b, n = shape_of(x)
    return take(reshape(x, shape=(t * b, n)), places, axis=0)


# ------------------------------------------------------------------------------------------ stacks


def stacked(
    mode: str, x: Any, state: State, weights: Sequence[Weights], *, directions: int = 1, lengths: np.ndarray | None =
    None, between: Callable[[Any], Any] | None = None,
) -> tuple[Any, State]:  # fmt: skip
    """Layers on top of each other, each in one or two `directions`: the output of the last and all last states.

    state: (rows, batch, width) each, `weights` one per row; rows are ordered by layer, then direction. lengths: those
    of the sequences, if they differ. between: applied to what a layer gives to the next one (dropout).
    """
    finals = []
    for row, w in enumerate(weights):
        direction = row % directions
        own = tuple(select(s, axis=0, index=row) for s in state)
        if lengths is None:
            output, last = layer(mode, x, own, w, bool(direction))
        else:
            output, last = ragged_layer(mode, x, own, w, lengths, bool(direction))
        finals.append(last)
        if direction == 0:
            outputs = [output]
        else:
            outputs.append(output)
        if direction == directions - 1:
            x = outputs[0] if directions == 1 else concatenate(*outputs, axis=2)
            if between is not None and row < len(weights) - 1:
                x = between(x)
    return x, tuple(stack(*column, axis=0) for column in zip(*finals))


# ------------------------------------------------------------------------------------------ packed sequences


def padded_places(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How packed rows become padded ones: for `sizes`, the number of sequences that reach each step (not increasing).

    Returns where each (time, batch) is read from (0 where there is nothing), where each packed row stands in time and
    batch flattened, and the lengths.
    """
    batch = int(sizes[0])
    there = np.arange(batch) < sizes[:, None]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    source = np.where(there, starts[:, None] + np.arange(batch), 0)
    return source, np.flatnonzero(there), there.sum(0)


def stacked_packed(
    mode: str, data: Any, sizes: np.ndarray, state: State, weights: Sequence[Weights], *, directions: int = 1,
    between: Callable[[Any], Any] | None = None,
) -> tuple[Any, State]:  # fmt: skip
    """`stacked` for packed rows (total, features), sorted by length; `between` sees packed rows too."""
    source, back, lengths = padded_places(sizes)
    batch = len(lengths)

    def packed(x: Any) -> Any:
        return take(reshape(x, shape=(len(sizes) * batch, shape_of(x)[-1])), back, axis=0)

    def padded(x: Any) -> Any:
        return keep(take(x, source, axis=0), (np.arange(len(sizes))[:, None] < lengths)[..., None])

    output, last = stacked(
        mode, padded(data), state, weights, directions=directions, lengths=lengths,
        between=None if between is None else lambda x: padded(between(packed(x))),
    )  # fmt: skip
    return packed(output), last
