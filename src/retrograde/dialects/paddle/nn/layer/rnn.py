"""Recurrent layers: cells, RNN and BiRNN over any cell, and the stacks SimpleRNN, LSTM and GRU."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ....._tree import map_structure
from .....core.unwrap import concrete
from .....core.value import Value, dtype_of, shape_of
from .....learn.layers import recurrent as rec
from .....ops import structural as st
from .....ops.selection import where
from ...._shared.checks import check
from ...._shared.layers import shown
from ...._shared.rows import constructor
from ..._dtype import as_dtype
from ..._tensor import from_array
from .. import functional as F
from ..functional._arguments import move_axis, tensor_argument
from ..initializer import Uniform
from .container import LayerList
from .layers import Layer


class RNNCellBase(Layer):
    """Base of cells: `forward(inputs, states)` gives the output and the next states."""

    @property
    def state_shape(self) -> Any:
        """The shape of the states of one element, nested as they are."""
        raise NotImplementedError(f"{type(self).__name__} defines no state_shape")

    def get_initial_states(
        self, batch_ref: Any, shape: Any = None, dtype: Any = None, init_value: float = 0.0, batch_dim_idx: int = 0
    ) -> Any:
        """States of one value for the batch that a tensor has."""
        while isinstance(batch_ref, (list, tuple)):
            batch_ref = batch_ref[0]
        n = shape_of(batch_ref)[batch_dim_idx]

        def made(sizes: Any) -> Any:
            if sizes and isinstance(sizes[0], (list, tuple)):
                return tuple(made(s) for s in sizes)
            return from_array(np.full((n, *(s for s in sizes if s != -1)), init_value, d))

        d = dtype_of(batch_ref) if dtype is None else as_dtype("get_initial_states", dtype).np
        return made(self.state_shape if shape is None else shape)


_ATTRS = "weight_ih_attr: Any = None, weight_hh_attr: Any = None, bias_ih_attr: Any = None, bias_hh_attr: Any = None"
_NAME = "name: str | None = None"
_STACKED = (
    "input_size: int, hidden_size: int, num_layers: int = 1, direction: str = 'forward', time_major: bool = False, "
    "dropout: float = 0.0"
)


def _activated(layer: Any, activation: str) -> None:
    """Let the nonlinearity be an activation; raises ValueError for others than tanh and relu."""
    check(type(layer).__name__, "activation in {tanh, relu}", locals())
    object.__setattr__(layer, "_mode", rec.TANH if activation == "tanh" else rec.RELU)


class _Cell(RNNCellBase):
    """What the three cells share: weights, drawn from U(-1/sqrt(hidden), 1/sqrt(hidden))."""

    _mode: str

    def _set_up(self, input_size: int, hidden_size: int, width: int, attrs: tuple[Any, ...]) -> None:
        super().__init__()
        check(type(self).__name__, "hidden_size > 0", locals())
        self.input_size, self.hidden_size = input_size, hidden_size
        rows, bound = rec.GATES[self._mode] * hidden_size, 1.0 / math.sqrt(hidden_size)
        self._bound = Uniform(-bound, bound)
        made = []
        for shape, attr, is_bias in zip(([rows, input_size], [rows, width], [rows], [rows]), attrs, (0, 0, 1, 1)):
            p = self.create_parameter(shape, None if attr is False else attr, is_bias=bool(is_bias),
                                      default_initializer=self._bound)  # fmt: skip
            if attr is False:  # there, but fixed: ones for weights, zeros for biases
                p.set_value(np.full(shape, 0.0 if is_bias else 1.0, dtype_of(p)))
                p.stop_gradient = True
            made.append(p)
        self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh = made

    def weights(self) -> rec.Weights:
        """The weights as the recurrence takes them."""
        return rec.Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, self._projection())

    def _projection(self) -> Any:
        return None

    def _stepped(self, inputs: Any, states: Any) -> tuple[Any, ...]:
        tensor_argument(type(self).__name__, inputs, "inputs")
        given = self.get_initial_states(inputs) if states is None else states
        state = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        return rec.cell(self._mode, inputs, state, self.weights())

    extra_repr = shown("=input_size, =hidden_size")


class _OneState(_Cell):
    """A cell whose output is its state."""

    @property
    def state_shape(self) -> Any:
        """(hidden_size,)."""
        return (self.hidden_size,)

    def forward(self, inputs: Any, states: Any = None) -> Any:
        """The next h, as output and as state."""
        (h,) = self._stepped(inputs, states)
        return h, h


class SimpleRNNCell(_OneState):
    """h' = tanh(W x + b + U h + c), or with relu."""

    def _made(self, input_size: int, hidden_size: int, activation: str, *attrs: Any) -> None:
        _activated(self, activation)
        self._set_up(input_size, hidden_size, hidden_size, attrs[:4])
        self.activation = activation

    __init__ = constructor(
        "SimpleRNNCell", f"input_size: int, hidden_size: int, activation: str = 'tanh', {_ATTRS}, {_NAME}", _made
    )
    extra_repr = shown("=input_size, =hidden_size, activation?'tanh'")


class LSTMCell(_Cell):
    """The long short-term memory, its output projected to `proj_size` numbers if that is not 0."""

    _mode = rec.LSTM

    def __init__(
        self, input_size: int, hidden_size: int, weight_ih_attr: Any = None, weight_hh_attr: Any = None,
        bias_ih_attr: Any = None, bias_hh_attr: Any = None, proj_size: int = 0, name: str | None = None,
    ) -> None:  # fmt: skip
        if proj_size < 0 or (proj_size and proj_size >= hidden_size):
            raise ValueError(f"LSTMCell: proj_size must be less than hidden_size, got {proj_size}")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._set_up(input_size, hidden_size, proj_size or hidden_size, attrs)
        self.proj_size = proj_size
        if proj_size:
            self.weight_ho = self.create_parameter([hidden_size, proj_size], default_initializer=self._bound)

    def _projection(self) -> Any:
        return st.transpose(self.weight_ho, axes=(1, 0)) if self.proj_size else None

    @property
    def state_shape(self) -> Any:
        """The shapes of h and c."""
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def forward(self, inputs: Any, states: Any = None) -> Any:
        """The next h, and (h, c)."""
        h, c = self._stepped(inputs, states)
        return h, (h, c)


class GRUCell(_OneState):
    """The gated recurrent unit."""

    _mode = rec.GRU

    __init__ = constructor(
        "GRUCell", f"input_size: int, hidden_size: int, {_ATTRS}, {_NAME}",
        lambda self, width, hidden, *attrs: self._set_up(width, hidden, hidden, attrs[:4]),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ over any cell


def _lengths(x: Any) -> np.ndarray | None:
    return (
        None if x is None else concrete("rnn", tensor_argument("rnn", x, "sequence_length")).astype(np.int64)
    )


def _kept(there: np.ndarray, new: Any, old: Any) -> Any:
    """The new state where a sequence has not ended."""
    mask = there.reshape(-1, *(1,) * (len(shape_of(new)) - 1))
    return where(mask, new, old)


class RNN(Layer):
    """A cell along a sequence (batch, time, ...), or (time, batch, ...) where `time_major`."""

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:  # fmt: skip
        """The outputs of all steps and the last states; states stay as they are behind the end of a sequence."""
        axis = 0 if self.time_major else 1
        states = initial_states
        if states is None:
            states = self.cell.get_initial_states(inputs, batch_dim_idx=1 - axis)
        lengths = _lengths(sequence_length)
        steps = range(shape_of(inputs)[axis])
        outputs: list[Any] = []
        for t in reversed(steps) if self.is_reverse else steps:
            out, following = self.cell(st.select(inputs, axis=axis, index=t), states, **kwargs)
            if lengths is not None:
                following = map_structure(functools.partial(_kept, t < lengths), following, states)
            outputs.append(out)
            states = following
        if self.is_reverse:
            outputs.reverse()
        return st.stack(*outputs, axis=axis), states


class BiRNN(Layer):
    """Two cells along a sequence, one from each end; their outputs side by side."""

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        if cell_fw.input_size != cell_bw.input_size:
            raise ValueError(f"BiRNN: the cells take {cell_fw.input_size} and {cell_bw.input_size} features")
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:  # fmt: skip
        """The outputs of both cells, and the pair of their last states."""
        first, second = (None, None) if initial_states is None else initial_states
        forward, backward = RNN(self.cell_fw, False, self.time_major), RNN(self.cell_bw, True, self.time_major)
        a, states = forward(inputs, first, sequence_length, **kwargs)
        b, back = backward(inputs, second, sequence_length, **kwargs)
        return st.concatenate(a, b, axis=len(shape_of(a)) - 1), (states, back)


# ------------------------------------------------------------------------------------------ stacks


class RNNBase(LayerList):
    """What the three stacks share: layers on top of each other, each in one or two directions."""

    _mode: str

    def _set_up(
        self, cell: Any, input_size: int, hidden_size: int, num_layers: int, direction: str, time_major: bool,
        dropout: float, **options: Any,
    ) -> None:  # fmt: skip
        if "activation" in options:
            _activated(self, options["activation"])
        width = options.get("proj_size") or hidden_size
        super().__init__()
        check(type(self).__name__, "direction in {forward, bidirect, bidirectional}", locals())
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major, self.dropout, self._width = time_major, dropout, width
        self.state_components = 2 if self._mode == rec.LSTM else 1
        for k in range(num_layers):
            size = input_size if k == 0 else width * self.num_directions
            cells = [cell(size, hidden_size, **options) for _ in range(self.num_directions)]
            self.append(RNN(cells[0], False, time_major) if len(cells) == 1 else BiRNN(cells[0], cells[1], time_major))
            for suffix, own in zip(("", "_reverse"), cells):
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    self.__dict__["_parameters"][f"{name}_l{k}{suffix}"] = getattr(own, name)

    def _cells(self) -> list[Any]:
        layers = list(self._listed.values())
        return [c for x in layers for c in ((x.cell,) if isinstance(x, RNN) else (x.cell_fw, x.cell_bw))]

    def _initial(self, batch: int, like: Any, given: Any) -> tuple[Any, ...]:
        rows = self.num_layers * self.num_directions
        widths = (self._width, self.hidden_size)[: self.state_components]
        if given is None:
            return tuple(from_array(np.zeros((rows, batch, w), dtype_of(like))) for w in widths)
        states = (given,) if isinstance(given, Value) else tuple(given)
        if len(states) != len(widths) or any(
            tuple(shape_of(s)) != (rows, batch, w) for s, w in zip(states, widths)
        ):  # fmt: skip
            wanted = " and ".join(str([rows, batch, w]) for w in widths)
            raise ValueError(
                f"{type(self).__name__}: initial_states must have shape {wanted}, got "
                f"{' and '.join(str(list(shape_of(s))) for s in states)}"
            )
        return states

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None) -> Any:
        """The outputs of the last layer, and the last states of all (layers and directions in front)."""
        own = type(self).__name__
        tensor_argument(own, inputs, "inputs")
        if len(shape_of(inputs)) != 3:
            raise ValueError(f"{own}: inputs must have 3 dimensions, got shape {list(shape_of(inputs))}")
        x = inputs if self.time_major else move_axis(inputs, 0, 1)
        if shape_of(x)[2] != self.input_size:
            raise ValueError(
                f"{own}: inputs have {shape_of(x)[2]} features, wanted {self.input_size}; make the layer with "
                f"input_size={shape_of(x)[2]}, or move the features to the last axis"
            )
        state = self._initial(shape_of(x)[1], x, initial_states)
        between = (lambda y: F.dropout(y, self.dropout, training=self.training)) if self.dropout else None
        out, last = rec.stacked(
            self._mode, x, state, [c.weights() for c in self._cells()], directions=self.num_directions,
            lengths=_lengths(sequence_length), between=between,
        )  # fmt: skip
        return (out if self.time_major else move_axis(out, 0, 1)), (last if len(last) > 1 else last[0])

    extra_repr = shown("=input_size, =hidden_size, num_layers?1, time_major?, dropout?0")


def _stacked(name: str, cell: Any, doc: str, mode: str = "", before: str = "", behind: str = "") -> Any:
    """The stack of a cell, whose options beside the attributes stand before or behind these."""
    options = ", ".join(filter(None, (before, _ATTRS, behind)))
    names = [option.partition(":")[0] for option in options.split(", ")]

    def made(self: Any, *given: Any) -> None:
        self._set_up(cell, *given[:6], **dict(zip(names, given[6:])))

    members = {"_mode": mode, "__doc__": doc, "__module__": __name__}
    return type(name, (RNNBase,), {**members, "__init__": constructor(name, f"{_STACKED}, {options}, {_NAME}", made)})


SimpleRNN = _stacked("SimpleRNN", SimpleRNNCell, "Stacked SimpleRNNCells.", before="activation: str = 'tanh'")
LSTM = _stacked("LSTM", LSTMCell, "Stacked LSTMCells.", rec.LSTM, behind="proj_size: int = 0")
GRU = _stacked("GRU", GRUCell, "Stacked GRUCells.", rec.GRU)
