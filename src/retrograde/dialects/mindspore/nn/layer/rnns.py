"""Recurrent layers: stacks (`RNN`, `LSTM`, `GRU`) and single steps (`RNNCell`, `LSTMCell`, `GRUCell`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....learn.layers import recurrent as rec
from .....ops.structural import transpose
from ..._dtype import float32
from ..._parameter import Parameter, ParameterTuple
from ..._tensor import Tensor, from_array
from ...common.initializer import Uniform, initializer
from .._checks import a_bool, positive_int
from ..cell import Cell
from .basic import Dropout


def _weight(name: str, shape: tuple[int, ...], bound: float, dtype: Any) -> Parameter:
    return Parameter(initializer(Uniform(bound), shape, dtype), name=name)


class _Run(Cell):
    """What runs a stack of layers: the child called `rnn` of the stacks."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode

    def construct(
        self, x: Any, state: Any, weights: Any, directions: int, lengths: Any, between: Any
    ) -> tuple[Any, Any]:  # fmt: skip
        return rec.stacked(self.mode, x, state, weights, directions=directions, lengths=lengths, between=between)

    def __repr__(self) -> str:
        return _SHOWN[self.mode]


# How MindSpore shows the child.
_SHOWN = {
    rec.TANH: "_DynamicRNNTanh()", rec.RELU: "_DynamicRNNRelu()", rec.LSTM: "_DynamicLSTMCPUGPU()",
    rec.GRU: "_DynamicGRUCPUGPU()",
}  # fmt: skip


class _Stack(Cell):
    """Base of the stacks: weights `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`... with `_reverse` for the way back."""

    _mode = rec.TANH

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, has_bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        name = type(self).__name__
        for label, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
            positive_int(name, label, value)
        for label, flag in (("has_bias", has_bias), ("batch_first", batch_first), ("bidirectional", bidirectional)):
            a_bool(name, label, flag)
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)):
            raise TypeError(f"{name}: dropout must be a number, got {type(dropout).__name__}")
        if not 0 <= dropout < 1:
            raise ValueError(f"{name}: dropout must lie in [0, 1), got {dropout}")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.has_bias, self.batch_first, self.dropout = has_bias, batch_first, float(dropout)
        self.bidirectional, self.directions = bidirectional, 2 if bidirectional else 1
        self.rnn, self.dropout_op = _Run(self._mode), Dropout(p=self.dropout)
        rows, bound = rec.GATES[self._mode] * hidden_size, 1 / math.sqrt(hidden_size)
        ends = [
            f"_l{layer}{'_reverse' if way else ''}" for layer in range(num_layers) for way in range(self.directions)
        ]
        widths = [
            input_size if layer == 0 else hidden_size * self.directions
            for layer in range(num_layers) for _ in range(self.directions)
        ]  # fmt: skip
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if has_bias else 2]
        drawn: dict[str, list[Parameter]] = {kind: [] for kind in kinds}
        for end, width in zip(ends, widths):
            for kind in kinds:
                shape = (rows, width if kind == "weight_ih" else hidden_size) if kind.startswith("weight") else (rows,)
                # From NumPy's global stream itself, where other layers draw a seed from it; in this order, as MindSpore.
                uniform = np.random.uniform(-bound, bound, shape).astype(np.float32)
                drawn[kind].append(Parameter(Tensor(uniform, dtype=dtype), name=kind + end))
        self.w_ih_list, self.w_hh_list = (ParameterTuple(drawn[kind]) for kind in kinds[:2])
        if has_bias:
            self.b_ih_list, self.b_hh_list = (ParameterTuple(drawn[kind]) for kind in kinds[2:])

    def _stacked_weights(self) -> list[rec.Weights]:
        biases = zip(self.b_ih_list, self.b_hh_list) if self.has_bias else ((None, None),) * len(self.w_ih_list)
        return [rec.Weights(wi, wh, bi, bh) for wi, wh, (bi, bh) in zip(self.w_ih_list, self.w_hh_list, biases)]

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> Any:
        """The outputs of the last layer and the last states; `hx` are the states to begin with (zeros if not given).

        x: (time, batch, features), or (batch, time, features) where `batch_first`. seq_length: int lengths (batch,).
        """
        name = type(self).__name__
        if x.ndim != 3 or x.shape[2] != self.input_size:
            raise ValueError(f"{name}: wanted an input of 3 axes, the last of size {self.input_size}, got shape {x.shape}")
        if x.dtype.category != 2:
            raise TypeError(f"{name}: wanted an input of a floating dtype, got {x.dtype}")
        if self.batch_first:
            x = transpose(x, axes=(1, 0, 2))
        state = self._start(x, hx)
        lengths = None if seq_length is None else _lengths(name, seq_length, x.shape[:2])
        output, last = self.rnn(
            x, state, self._stacked_weights(), self.directions, lengths, self.dropout_op if self.dropout else None
        )
        if self.batch_first:
            output = transpose(output, axes=(1, 0, 2))
        return output, last if self._mode == rec.LSTM else last[0]

    def _start(self, x: Any, hx: Any) -> tuple[Any, ...]:
        name, count = type(self).__name__, 2 if self._mode == rec.LSTM else 1
        shape = (self.num_layers * self.directions, x.shape[1], self.hidden_size)
        if hx is None:
            return tuple(from_array(np.zeros(shape, x.dtype.np)) for _ in range(count))
        given = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        if len(given) != count or not all(isinstance(h, Tensor) for h in given):
            raise TypeError(f"{name}: hx must be {'a tuple of two tensors' if count == 2 else 'a tensor'}")
        for h in given:
            if h.shape != shape:
                raise ValueError(f"{name}: hx must have shape {shape}, got {h.shape}")
        return given


def _lengths(name: str, seq_length: Any, shape: tuple[int, ...]) -> np.ndarray:
    if not isinstance(seq_length, Tensor) or seq_length.dtype.category != 1:
        kind = f"one of {seq_length.dtype}" if isinstance(seq_length, Tensor) else type(seq_length).__name__
        raise TypeError(f"{name}: seq_length must be an integer tensor, got {kind}")
    if seq_length.shape != (shape[1],):
        raise ValueError(f"{name}: seq_length must have one length for each of {shape[1]} sequences")
    lengths = seq_length.asnumpy().astype(np.int64)
    if (lengths < 0).any() or (lengths > shape[0]).any():
        raise ValueError(f"{name}: the lengths must lie between 0 and {shape[0]}, got {lengths.tolist()}")
    return np.asarray(lengths)


class RNN(_Stack):
    """Layers of `h = tanh(W_ih x + b_ih + W_hh h + b_hh)`, or with relu; gives (outputs, last h)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if len(args) > 3:  # nonlinearity stands after num_layers
            nonlinearity, args = args[3], (*args[:3], *args[4:])
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
        self.__dict__["_mode"] = nonlinearity
        super().__init__(*args, **kwargs)


class LSTM(_Stack):
    """Layers of long short-term memory; gives (outputs, (last h, last c)). Gates: input, forget, cell, output."""

    _mode = rec.LSTM


class GRU(_Stack):
    """Layers of gated recurrent units; gives (outputs, last h). Gates: reset, update, new."""

    _mode = rec.GRU


class _Step(Cell):
    """Base of the cells: weights `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`."""

    _mode = rec.TANH

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = float32) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = positive_int(name, "input_size", input_size)
        self.hidden_size = positive_int(name, "hidden_size", hidden_size)
        self.has_bias = a_bool(name, "has_bias", has_bias)
        rows, bound = rec.GATES[self._mode] * hidden_size, 1 / math.sqrt(hidden_size)
        # MindSpore fills the parameters with normal numbers first; NumPy's global stream is to stand where it does there.
        np.random.standard_normal(rows * (input_size + hidden_size + (2 if has_bias else 0)))
        self.weight_ih = _weight("weight_ih", (rows, input_size), bound, dtype)
        self.weight_hh = _weight("weight_hh", (rows, hidden_size), bound, dtype)
        self.bias_ih: Any = _weight("bias_ih", (rows,), bound, dtype) if has_bias else None
        self.bias_hh: Any = _weight("bias_hh", (rows,), bound, dtype) if has_bias else None

    def construct(self, x: Any, hx: Any) -> Any:
        """The next state of an input (batch, features) and a state (batch, width)."""
        name, count = type(self).__name__, 2 if self._mode == rec.LSTM else 1
        state = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        if len(state) != count or not all(isinstance(h, Tensor) for h in (x, *state)):
            raise TypeError(f"{name}: wanted an input and {'a tuple of two states' if count == 2 else 'a state'}")
        if x.ndim != 2 or x.shape[1] != self.input_size:
            raise ValueError(f"{name}: the input must have shape (batch, {self.input_size}), got {x.shape}")
        for h in state:
            if h.shape != (x.shape[0], self.hidden_size):
                raise ValueError(f"{name}: a state must have shape {(x.shape[0], self.hidden_size)}, got {h.shape}")
        weights = rec.Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        out = rec.cell(self._mode, x, state, weights)
        return out if count == 2 else out[0]


class RNNCell(_Step):
    """`tanh(W_ih x + b_ih + W_hh h + b_hh)`, or with relu."""

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, nonlinearity: str = "tanh", dtype: Any = float32
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity must be 'tanh' or 'relu', got {nonlinearity!r}")
        self.__dict__["_mode"] = self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(input_size, hidden_size, has_bias, dtype)


class LSTMCell(_Step):
    """One step of long short-term memory, for (h, c)."""

    _mode = rec.LSTM


class GRUCell(_Step):
    """One step of a gated recurrent unit."""

    _mode = rec.GRU
