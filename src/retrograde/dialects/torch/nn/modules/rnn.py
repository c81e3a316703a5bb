"""Recurrent layers and cells: RNN, LSTM, GRU."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import numpy as np

from .....learn.layers import recurrent as rec
from .....ops import structural as st
from ...._shared.checks import check
from ...._shared.layers import shown
from ...._shared.registry import defined
from ... import _autocast
from ..._api import api
from ..._creation import empty, zeros
from ..._graph_nodes import NAMES, show_as
from ..._joining import cat
from ..._joining import stack as stacked
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

NAMES.update(
    lstm_pointwise=("MulBackward0", "AddBackward0"), gru_pointwise="AddBackward0", lstm_layer="StackBackward0",
    gru_layer="StackBackward0", rnn_layer="StackBackward0",
)  # fmt: skip

_MODES = {"RNN_TANH": rec.TANH, "RNN_RELU": rec.RELU, "LSTM": rec.LSTM, "GRU": rec.GRU}


class RNNBase(Module):
    """What RNN, LSTM and GRU share: weights by layer and direction, and the walk over time."""

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name = type(self).__name__
        if isinstance(dropout, bool) or not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout must be a number between 0 and 1, got {dropout!r}")
        if dropout > 0 and num_layers == 1:
            warnings.warn(f"{name}: dropout acts between layers, and there is only one", stacklevel=3)
        for key, value in (("input_size", input_size), ("hidden_size", hidden_size)):
            if not isinstance(value, int):
                raise TypeError(f"{name}: {key} must be an int, got {type(value).__name__}")
        check(name, "hidden_size > 0; num_layers > 0; proj_size >= 0", locals())
        if proj_size >= hidden_size:
            raise ValueError(f"{name}: proj_size must be smaller than hidden_size, got {proj_size} and {hidden_size}")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        directions = 2 if bidirectional else 1
        out_size = proj_size or hidden_size
        if not isinstance(mode, str) or mode not in _MODES:
            raise ValueError(f"RNNBase: mode must be one of {', '.join(_MODES)}, got {mode!r}")
        gates = rec.GATES[_MODES[mode]] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for direction in range(directions):
                in_size = input_size if layer == 0 else out_size * directions
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                shapes = {"weight_ih": (gates, in_size), "weight_hh": (gates, out_size)}
                if bias:
                    shapes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = []
                for key, shape in shapes.items():
                    setattr(self, key + suffix, Parameter(empty(*shape, device=device, dtype=dtype)))
                    names.append(key + suffix)
                self._all_weights.append(names)
        self.reset_parameters()

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [self._weight(name) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights: Any) -> None:
        """Compute with these from now on, where they are not the parameters themselves: until one is set by its name."""
        given = list(weights)
        if len(given) != len(self._flat_weights_names):
            raise ValueError(f"{type(self).__name__}: {len(given)} weights, wanted {len(self._flat_weights_names)}")
        self.__dict__["_instead"] = {
            name: w for name, w in zip(self._flat_weights_names, given) if w is not getattr(self, name)
        }

    def _weight(self, name: str) -> Any:
        instead = self.__dict__.get("_instead")
        return instead[name] if instead and name in instead else getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_instead" in self.__dict__:
            self.__dict__["_instead"].pop(name, None)
        super().__setattr__(name, value)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters by layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing: the weights need no particular layout here."""

    def reset_parameters(self) -> None:
        """Draw all weights anew from U(-1/sqrt(hidden_size), 1/sqrt(hidden_size))."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check_hidden(self, given: Tensor, shape: tuple[int, ...]) -> None:
        if tuple(given.shape) != shape:
            raise RuntimeError(f"{type(self).__name__}: the state must have shape {shape}, got {tuple(given.shape)}")

    def forward(self, input: Any, hx: Any = None) -> Any:
        """(time, batch, input_size), or batch first, or unbatched, or packed, and the state, to output and last state.

        Raises RuntimeError for sizes that do not match, ValueError for another number of axes.
        """
        packed = isinstance(input, PackedSequence)
        batched = True
        if packed:
            data, sizes = input.data, [int(n) for n in input.batch_sizes.tolist()]
            batch = sizes[0]
        else:
            if input.ndim not in (2, 3):
                raise ValueError(f"{type(self).__name__}: wanted an input with 2 or 3 axes, got {input.ndim}")
            batched = input.ndim == 3
            if not batched:
                input = input.unsqueeze(1)
            elif self.batch_first:
                input = input.transpose(0, 1)
            data, sizes, batch = input, None, input.shape[1]
        if data.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{type(self).__name__}: the input's last axis must be the layer's input_size={self.input_size}, got "
                f"{data.shape[-1]}; make the layer with input_size={data.shape[-1]}, or move the features to the last axis"
            )
        hidden = self._initial(hx, batch, batched, data, input.sorted_indices if packed else None)
        output, last = self._layers(data, sizes, hidden)
        if packed:
            unsorted = input.unsorted_indices
            show_as(output, "CatBackward0")
            state = tuple(x if unsorted is None else x.index_select(1, unsorted) for x in last)
            result: Any = PackedSequence(output, input.batch_sizes, input.sorted_indices, unsorted)
        else:
            state = tuple(x if batched else x.squeeze(1) for x in last)
            if self.mode != "LSTM" and not self.bidirectional and output._node is not None:
                # PyTorch stacks the steps' states, and so the result may be written: it is not what was saved.
                output = show_as(st.copy(output), "StackBackward0")
            result = output.squeeze(1) if not batched else output.transpose(0, 1) if self.batch_first else output
            if batched and self.batch_first and self.mode != "LSTM":
                show_as(result, "TransposeBackward1")
        return result, state if self.mode == "LSTM" else state[0]

    def _initial(self, hx: Any, batch: int, batched: bool, data: Tensor, order: Any) -> tuple[Tensor, ...]:
        rows = self.num_layers * (2 if self.bidirectional else 1)
        widths = [self.proj_size or self.hidden_size] + ([self.hidden_size] if self.mode == "LSTM" else [])
        if hx is None:
            return tuple(zeros(rows, batch, width, dtype=data.dtype, device=data.device) for width in widths)
        given = tuple(hx) if self.mode == "LSTM" else (hx,)
        if len(given) != len(widths):
            kind = IndexError if len(given) < len(widths) else RuntimeError
            raise kind(f"{type(self).__name__}: wanted a state of {len(widths)} tensors, got {len(given)}")
        result = []
        for x, width in zip(given, widths):
            if not batched:
                if x.ndim != 2:
                    raise RuntimeError(
                        f"{type(self).__name__}: an unbatched input goes with a state of 2 axes, got {x.ndim}"
                    )
                x = x.unsqueeze(1)
            elif x.ndim != 3:
                raise RuntimeError(f"{type(self).__name__}: a batched input goes with a state of 3 axes, got {x.ndim}")
            self._check_hidden(x, (rows, batch, width))
            result.append(x if order is None else x.index_select(1, order))
        return tuple(result)

    def _layers(
        self, data: Tensor, sizes: list[int] | None, hidden: tuple[Tensor, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        directions = 2 if self.bidirectional else 1
        weights = []
        for names in self._all_weights:
            own = {name.rpartition("_l")[0]: self._weight(name) for name in names}
            weights.append(rec.Weights(*map(own.get, ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"))))
        if _autocast.state.enabled:
            if self.mode == "GRU" or sizes is not None:
                return self._layers_in_region(data, sizes, hidden, weights)
            data, hidden = _autocast.lower((data, hidden))
            weights = [rec.Weights(*_autocast.lower(tuple(row))) for row in weights]
        for x in (*hidden, *(w for row in weights for w in row if w is not None)):
            if x.dtype is not data.dtype:
                raise RuntimeError(
                    f"{type(self).__name__}: input, state and weights must have one dtype, got {data.dtype} and {x.dtype}"
                )

        def between(x: Tensor) -> Tensor:
            return F.dropout(x, self.dropout, self.training)

        mode, options = _MODES[self.mode], {"directions": directions, "between": between if self.dropout else None}
        if sizes is not None:
            return rec.stacked_packed(mode, data, np.asarray(sizes), hidden, weights, **options)
        output, last = rec.stacked(mode, data, hidden, weights, **options)
        if self.mode == "LSTM" and directions == 1 and not self.proj_size and output.itemsize == 4:
            show_as(output, "MkldnnRnnLayerBackward0")
        return output, last

    def _layers_in_region(
        self, data: Tensor, sizes: list[int] | None, hidden: tuple[Tensor, ...], weights: list[rec.Weights]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The layers step by step in an autocast region: the gates in its dtype, the states in their own."""
        directions = 2 if self.bidirectional else 1
        last: list[tuple[Tensor, ...]] = []
        for k in range(self.num_layers):
            outputs = []
            for row in range(k * directions, (k + 1) * directions):
                w = weights[row]
                gates = F.linear(data, w.input, w.input_bias)
                steps = list(gates) if sizes is None else list(gates.split(sizes))
                taken, state = _walk(self.mode, steps, tuple(h[row] for h in hidden), w, bool(row % directions))
                last.append(state)
                outputs.append(stacked(taken) if sizes is None else cat(taken))
            data = outputs[0] if directions == 1 else cat(outputs, -1)
            if self.dropout and k < self.num_layers - 1:
                data = F.dropout(data, self.dropout, self.training)
        return data, tuple(stacked(rows) for rows in zip(*last))

    extra_repr = shown(
        "=input_size, =hidden_size, proj_size?0, num_layers?1, bias?True, batch_first?, dropout?0, bidirectional?"
    )


def _walk(
    mode: str, gates: list[Tensor], first: tuple[Tensor, ...], w: rec.Weights, backwards: bool
) -> tuple[list[Tensor], tuple[Tensor, ...]]:
    """The states after each step and the last of every sequence; the steps may have ever fewer rows."""
    taken: list[Tensor] = []
    ended: list[tuple[Tensor, ...]] = []
    state = tuple(x[: len(gates[-1])] for x in first) if backwards else first
    for g in reversed(gates) if backwards else gates:
        rows, n = len(state[0]), len(g)
        if n < rows:
            ended.append(tuple(x[n:] for x in state))
            state = tuple(x[:n] for x in state)
        elif n > rows:
            state = tuple(cat([x, x0[rows:n]]) for x, x0 in zip(state, first))
        if mode == "LSTM":
            state = _lstm_step(g, state[0], state[1], w)
        elif mode == "GRU":
            state = (_gru_step(g, state[0], w),)
        else:
            new = g + F.linear(state[0], w.hidden, w.hidden_bias)
            state = (new.relu() if mode == "RNN_RELU" else new.tanh(),)
        taken.append(state[0])
    return taken[::-1] if backwards else taken, tuple(cat(parts) for parts in zip(state, *ended[::-1]))


def _gru_step(gates: Tensor, h: Tensor, w: rec.Weights) -> Tensor:
    """A step of a GRU whose gates and state may have two dtypes."""
    r, z, n = gates.chunk(3, -1)
    hr, hz, hn = F.linear(h, w.hidden, w.hidden_bias).chunk(3, -1)
    new, update = (n + (r + hr).sigmoid() * hn).tanh(), (z + hz).sigmoid()
    return (h - new) * update + new


def _lstm_step(gates: Tensor, h: Tensor, c: Tensor, w: rec.Weights) -> tuple[Tensor, Tensor]:
    """A step of an LSTM whose gates and state may have two dtypes."""
    i, f, g, o = (gates + F.linear(h, w.hidden, w.hidden_bias)).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return h if w.projection is None else F.linear(h, w.projection), c


class RNN(RNNBase):
    """Layers of h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu instead."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        check("RNN", "nonlinearity in {tanh, relu}", locals())
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Layers of long short-term memory cells, with a projection of the output if `proj_size` is given."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         proj_size, device, dtype)  # fmt: skip


class GRU(RNNBase):
    """Layers of gated recurrent units."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
                         device, dtype)  # fmt: skip


class RNNCellBase(Module):
    """What the cells share: weights and checks."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew from U(-1/sqrt(hidden_size), 1/sqrt(hidden_size))."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _prepare(
        self, input: Tensor, states: tuple[Any, ...] | None, count: int
    ) -> tuple[Tensor, tuple[Any, ...], bool]:
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: wanted an input with 1 or 2 axes, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{name}: the input's last axis must be the layer's input_size={self.input_size}, got {input.shape[-1]}"
            )
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
        if states is None:
            states = tuple(zeros(input.shape[0], self.hidden_size, dtype=input.dtype, device=input.device) for _ in range(count))
        else:
            for x in states:
                if x.ndim not in (1, 2):
                    raise ValueError(f"{name}: wanted a state with 1 or 2 axes, got {x.ndim}")
            states = tuple(x if batched else x.unsqueeze(0) for x in states)
            for x in states:
                if x.shape[0] != input.shape[0] or x.shape[1] != self.hidden_size:
                    raise RuntimeError(
                        f"{name}: the state must have shape ({input.shape[0]}, {self.hidden_size}), got "
                        f"{tuple(x.shape)}"
                    )
        return input, states, batched

    def _advance(self, mode: str, input: Tensor, states: tuple[Any, ...]) -> tuple[Tensor, ...]:
        weights = rec.Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if _autocast.state.enabled:
            if mode in ("GRU", "LSTM"):
                gates = F.linear(input, self.weight_ih, self.bias_ih)
                return _lstm_step(gates, states[0], states[1], weights) if mode == "LSTM" else (
                    _gru_step(gates, states[0], weights),
                )
            input, states, weights = _autocast.lower((input, states, tuple(weights)))
            weights = rec.Weights(*weights)
        for x in (*states, weights.input):
            if x.dtype is not input.dtype:
                raise RuntimeError(
                    f"{type(self).__name__}: input, state and weights must have one dtype, got {input.dtype} and {x.dtype}"
                )
        return rec.cell(_MODES[mode], input, states, weights)

    extra_repr = shown("=input_size, =hidden_size, bias?True, nonlinearity?'tanh'")


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu instead."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Any = None) -> Tensor:
        """(batch, input_size) or (input_size,), and the state, to the new state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"RNNCell: nonlinearity must be 'tanh' or 'relu', got {self.nonlinearity!r}")
        input, states, batched = self._prepare(input, None if hx is None else (hx,), 1)
        (h,) = self._advance("RNN_" + self.nonlinearity.upper(), input, states)
        return h if batched else h.squeeze(0)


class LSTMCell(RNNCellBase):
    """A long short-term memory cell."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        """(batch, input_size) or (input_size,), and the state (h, c), to the new state (h, c)."""
        input, states, batched = self._prepare(input, None if hx is None else tuple(hx), 2)
        h, c = self._advance("LSTM", input, states)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """A gated recurrent unit."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> Tensor:
        """(batch, input_size) or (input_size,), and the state, to the new state."""
        input, states, batched = self._prepare(input, None if hx is None else (hx,), 1)
        (h,) = self._advance("GRU", input, states)
        return h if batched else h.squeeze(0)


def _cell(mode: str, input: Tensor, states: tuple[Any, ...], weights: tuple[Any, ...]) -> tuple[Tensor, ...]:
    name = f"{mode.lower()}_cell"
    for x in (input, *states, *(w for w in weights if w is not None)):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}: wanted tensors, got {type(x).__name__}")
        if x.dtype is not input.dtype:
            raise RuntimeError(f"{name}: input, state and weights must have one dtype, got {input.dtype} and {x.dtype}")
    if input.shape[-1] != weights[0].shape[-1] or any(h.shape[-1] != weights[1].shape[-1] for h in states):
        raise RuntimeError(
            f"{name}: weights of {tuple(weights[0].shape)} and {tuple(weights[1].shape)} do not go with an input of "
            f"{tuple(input.shape)} and a state of {tuple(states[0].shape)}"
        )
    return rec.cell(_MODES[mode], input, states, rec.Weights(*weights))


def _step(name: str, mode: str, doc: str) -> Any:
    def f(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
        return _cell(mode, input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]

    return api(method=False)(defined(name, f, doc))


rnn_tanh_cell = _step("rnn_tanh_cell", "RNN_TANH", "tanh(w_ih x + b_ih + w_hh h + b_hh).")
rnn_relu_cell = _step("rnn_relu_cell", "RNN_RELU", "relu(w_ih x + b_ih + w_hh h + b_hh).")
gru_cell = _step("gru_cell", "GRU", "The new state of a gated recurrent unit.")


@api(method=False)
def lstm_cell(
    input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """The new state (h, c) of a long short-term memory cell in the state `hx`."""
    h, c = _cell("LSTM", input, tuple(hx), (w_ih, w_hh, b_ih, b_hh))
    return h, c
