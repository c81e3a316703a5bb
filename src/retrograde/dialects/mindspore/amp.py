"""`mindspore.amp`: loss scalers, the check for overflow, and networks in half precision."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from ._api import attributes
from ._dtype import Number, bfloat16, float16, float32, int32
from ._parameter import Parameter
from ._tensor import Tensor, from_array
from .nn.cell import Cell
from .nn.layer.basic import Dense
from .nn.layer.conv import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose, Conv3d, Conv3dTranspose
from .nn.layer.normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm
from .nn.layer.rnns import GRUCell, LSTMCell, RNNCell
from .nn.optim.optimizer import Optimizer
from .nn.wrap import TrainOneStepCell, TrainOneStepWithLossScaleCell, WithLossCell
from .train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager

_HALF: tuple[type[Cell], ...] = (
    Conv1d, Conv2d, Conv3d, Conv1dTranspose, Conv2dTranspose, Conv3dTranspose, Dense, LSTMCell, RNNCell, GRUCell,
)  # fmt: skip
_FULL: tuple[type[Cell], ...] = (BatchNorm1d, BatchNorm2d, BatchNorm3d, LayerNorm)


def _each(inputs: Any, f: Any) -> Any:
    """`f` of every tensor in nested tuples and lists."""
    if isinstance(inputs, (tuple, list)):
        return type(inputs)(_each(x, f) for x in inputs)
    if isinstance(inputs, Tensor):
        return f(inputs)
    raise TypeError(f"wanted a Tensor, or a tuple or list of them, got {type(inputs).__name__}")


def all_finite(inputs: Any) -> Tensor:
    """Whether all elements of the tensors in a tuple or list are finite: a 0-d bool tensor.

    Raises TypeError for anything else.
    """
    if not isinstance(inputs, (tuple, list)):
        raise TypeError(f"all_finite: wanted a tuple or list of tensors, got {type(inputs).__name__}")
    finite = True
    for x in inputs:
        finite = finite and bool(np.isfinite(np.asarray(x.asnumpy(), np.float64 if x.itemsize == 8 else np.float32)).all())
    return from_array(np.array(finite))


class LossScaler(abc.ABC):
    """Base of loss scalers: `scale` a loss, `unscale` gradients, `adjust` the scale."""

    @abc.abstractmethod
    def scale(self, inputs: Any) -> Any:
        """The tensors times the scale."""
        raise NotImplementedError

    @abc.abstractmethod
    def unscale(self, inputs: Any) -> Any:
        """The tensors divided by the scale."""
        raise NotImplementedError

    @abc.abstractmethod
    def adjust(self, grads_finite: Any) -> Any:
        """Move the scale as a step went."""
        raise NotImplementedError


class StaticLossScaler(LossScaler):
    """A loss scale that stays."""

    def __init__(self, scale_value: float) -> None:
        scale_value = float(scale_value)
        if scale_value < 1:
            raise ValueError(f"{type(self).__name__}: scale_value must be 1 or more, got {scale_value}")
        self.scale_value = Parameter(from_array(np.array(scale_value, np.float32)), name="scale_value")

    def scale(self, inputs: Any) -> Any:
        return _each(inputs, lambda x: x * self.scale_value.data.astype(x.dtype))

    def unscale(self, inputs: Any) -> Any:
        return _each(inputs, lambda x: x * (1.0 / float(self.scale_value)))

    def adjust(self, grads_finite: Any) -> Any:
        return False


class DynamicLossScaler(StaticLossScaler):
    """A loss scale divided by `scale_factor` on overflow, and times it after `scale_window` good steps in a row."""

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__(scale_value)
        for name, value in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                raise ValueError(f"DynamicLossScaler: {name} must be an int above 0, got {value!r}")
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.counter = Parameter(from_array(np.zeros((), np.int32)), name="counter")

    def adjust(self, grads_finite: Any) -> Any:
        scale, count = float(self.scale_value), int(self.counter)
        if not bool(grads_finite):
            self.scale_value.set_data(Tensor(max(scale / self.scale_factor, 1.0), float32))
            count = 0
        elif count == self.scale_window - 1:
            self.scale_value.set_data(Tensor(scale * self.scale_factor, float32))
            count = 0
        else:
            count += 1
        self.counter.set_data(Tensor(count, int32))
        return True


class _OutputTo32(Cell):
    """A network whose results are given in float32."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs: Any) -> Any:
        out = self._backbone(*inputs)
        return _each(out, lambda x: x.astype(float32) if x.dtype in (float16, bfloat16) else x)


class _Keeps32(Cell):
    """A layer that stays in float32 within a network in half precision."""

    def __init__(self, layer: Cell, dtype: Number) -> None:
        super().__init__(auto_prefix=False)
        self._layer, self._dtype = layer, dtype

    def construct(self, *inputs: Any) -> Any:
        out = self._layer(*(x.astype(float32) if isinstance(x, Tensor) and x.dtype.category == 2 else x for x in inputs))
        return _each(out, lambda x: x.astype(self._dtype))


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: Number = float16) -> Cell:
    """A network whose layers compute in half precision; the result comes in float32.

    "O0": as it is. "O1": dense, convolution and recurrent layers. "O2": all but normalisation. "O3": all.
    Raises ValueError for another level, TypeError for what is no Cell.
    """
    if not isinstance(network, Cell):
        raise TypeError(f"auto_mixed_precision: wanted a Cell, got {type(network).__name__}")
    if amp_level not in ("O0", "O1", "O2", "O3"):
        raise ValueError(f"auto_mixed_precision: amp_level must be 'O0', 'O1', 'O2' or 'O3', got {amp_level!r}")
    if dtype not in (float16, bfloat16):
        raise ValueError(f"auto_mixed_precision: dtype must be float16 or bfloat16, got {dtype}")
    if amp_level == "O0":
        return network
    if amp_level == "O1":
        return custom_mixed_precision(network, white_list=get_white_list(), dtype=dtype)
    if amp_level == "O3":
        network.to_float(dtype)
        return _OutputTo32(network)
    return custom_mixed_precision(network, black_list=get_black_list(), dtype=dtype)


def custom_mixed_precision(
    network: Cell, *, white_list: list[Any] | None = None, black_list: list[Any] | None = None, dtype: Number = float16
) -> Cell:
    """A network in half precision: the cells of the classes in `white_list`, or all but those in `black_list`."""
    if (white_list is None) == (black_list is None):
        raise ValueError("custom_mixed_precision: give either white_list or black_list")
    if white_list is not None:
        if _wrapped(network, tuple(white_list), lambda layer: _Half(layer, dtype)):
            return _OutputTo32(network)
        return network
    network.to_float(dtype)
    _wrapped(network, tuple(black_list or ()), lambda layer: _Keeps32(_plain(layer), dtype))
    return _OutputTo32(network)


class _Half(_Keeps32):
    """A layer that computes in half precision within a network in float32."""

    def construct(self, *inputs: Any) -> Any:
        self._layer.to_float(self._dtype)
        return _each(self._layer(*inputs), lambda x: x.astype(float32))


def _plain(layer: Cell) -> Cell:
    layer.to_float(float32)
    return layer


def _wrapped(network: Cell, kinds: tuple[type, ...], wrap: Any) -> bool:
    """Put a wrapper around every cell of the kinds below; whether there was one."""
    found = False
    for name, cell in list(network.name_cells().items()):
        if isinstance(cell, kinds):
            network._cells[name] = wrap(cell)
            found = True
        else:
            found = _wrapped(cell, kinds, wrap) or found
    return found


def build_train_network(
    network: Cell, optimizer: Any, loss_fn: Any = None, level: str = "O0", boost_level: str = "O0", **kwargs: Any
) -> Cell:
    """The cell that makes a training step of a network in mixed precision, with the loss scale of a manager."""
    manager = kwargs.pop("loss_scale_manager", None)
    kwargs.pop("keep_batchnorm_fp32", None)
    kwargs.pop("cast_model_type", None)
    if kwargs:
        raise ValueError(f"build_train_network: unknown options {', '.join(kwargs)}")
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"build_train_network: optimizer must be an Optimizer, got {type(optimizer).__name__}")
    if manager is not None and not isinstance(manager, LossScaleManager):
        raise TypeError(f"build_train_network: loss_scale_manager must be a LossScaleManager, got {type(manager).__name__}")
    network = auto_mixed_precision(network, "O2" if level == "auto" else level)
    if loss_fn is not None:
        network = WithLossCell(network, loss_fn)
    if manager is None:
        return TrainOneStepCell(network, optimizer).set_train()
    update = manager.get_update_cell()
    if update is None:
        return TrainOneStepCell(network, optimizer, manager.get_loss_scale()).set_train()
    return TrainOneStepWithLossScaleCell(network, optimizer, update).set_train()


def get_white_list() -> list[Any]:
    """The classes that compute in half precision at level O1."""
    return list(_HALF)


def get_black_list() -> list[Any]:
    """The classes that stay in float32 at level O2."""
    return list(_FULL)


__all__ = [
    "DynamicLossScaleManager", "DynamicLossScaler", "FixedLossScaleManager", "LossScaleManager", "LossScaler",
    "StaticLossScaler", "all_finite", "auto_mixed_precision", "build_train_network", "custom_mixed_precision",
    "get_black_list", "get_white_list",
]  # fmt: skip

__getattr__ = attributes(globals())
