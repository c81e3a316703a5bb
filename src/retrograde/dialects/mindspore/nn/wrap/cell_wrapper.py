"""Cells around networks for training: a network with its loss, one training step, loss scaling."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....backend import launch
from ... import _gradients
from ..._assign import write
from ..._context import ParallelMode, get_auto_parallel_context
from ..._dtype import float32, int32
from ..._parameter import Parameter, ParameterTuple
from ..._tensor import Tensor, from_array
from ...communication._groups import members
from .._checks import a_bool
from ..cell import Cell
from ..layer.basic import Identity
from .grad_reducer import DistributedGradReducer


class WithLossCell(Cell):
    """`loss_fn(backbone(data), label)`."""

    def __init__(self, backbone: Cell, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        if isinstance(loss_fn, Cell) or callable(loss_fn):
            self._backbone, self._loss_fn = backbone, loss_fn
        else:
            raise TypeError(f"WithLossCell: loss_fn must be a cell or a function, got {type(loss_fn).__name__}")

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network without its loss."""
        return self._backbone


class WithEvalCell(Cell):
    """The loss, the network's output and the label, for metrics; output and label in float32 where `add_cast_fp32`."""

    def __init__(self, network: Cell, loss_fn: Any, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network, self._loss_fn = network, loss_fn
        self.add_cast_fp32 = a_bool("WithEvalCell", "add_cast_fp32", add_cast_fp32)

    def construct(self, data: Any, label: Any) -> Any:
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs = outputs.astype(float32)
            label = label.astype(float32) if label.dtype.category == 2 else label
        return self._loss_fn(outputs, label), outputs, label


class WithGradCell(Cell):
    """The gradients of a network's loss in its trainable parameters."""

    def __init__(self, network: Cell, loss_fn: Any = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.loss_fn, self.sens = network, loss_fn, sens
        self.weights = ParameterTuple(network.trainable_params())
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        network.set_train()

    def construct(self, *inputs: Any) -> Any:
        grads = _gradients.grad(self.network_with_loss, None, self.weights)(*inputs)
        return grads if self.sens is None else tuple(g * self.sens for g in grads)


class ForwardValueAndGrad(Cell):
    """The value of a network and its gradients: in the first input, in all (`get_all`), in `weights` (`get_by_list`).

    sens_param: the last argument is what the gradient of the output begins with.
    """

    def __init__(
        self, network: Any, weights: Any = None, get_all: bool = False, get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(f"ForwardValueAndGrad: network must be a cell or a function, got {type(network).__name__}")
        for name, flag in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            a_bool("ForwardValueAndGrad", name, flag)
        if get_by_list and not isinstance(weights, (ParameterTuple, tuple, list)):
            raise TypeError(f"ForwardValueAndGrad: get_by_list needs weights, got {type(weights).__name__}")
        self.network, self.get_all, self.get_by_list, self.sens_param = network, get_all, get_by_list, sens_param
        self.weights = ParameterTuple(weights) if get_by_list else weights

    def construct(self, *inputs: Any) -> Any:
        sens = None
        if self.sens_param:
            *given, sens = inputs
            inputs = tuple(given)
        positions = tuple(range(len(inputs))) if self.get_all else None if self.get_by_list else 0
        weights = self.weights if self.get_by_list else None
        value: list[Any] = []

        def scaled(*args: Any) -> Any:
            out = self.network(*args)
            value.append(out)
            return out if sens is None else (out * sens).sum()

        _, grads = _gradients.value_and_grad(scaled, positions, weights)(*inputs)
        out = value[0]
        return (out.value() if isinstance(out, Parameter) else detached(out)), grads


def detached(out: Any) -> Any:
    """A result without history."""
    if isinstance(out, (tuple, list)):
        return type(out)(detached(x) for x in out)
    return from_array(out._a) if isinstance(out, Tensor) and isinstance(out._a, np.ndarray) else out


def _reducer(weights: Any) -> tuple[bool, Cell]:
    """Whether gradients are combined with those of other processes, and by what; parameters become process 0's where the settings
    want it."""
    mode = get_auto_parallel_context("parallel_mode")
    if mode not in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL) or launch.started()[1] == 1:
        return False, Identity()
    if get_auto_parallel_context("parameter_broadcast"):
        among = members("TrainOneStepCell", None)
        for p in weights:
            write("TrainOneStepCell", p, from_array(among.broadcast(p._concrete("TrainOneStepCell"), 0).wait()))
    return True, DistributedGradReducer(weights)


class TrainOneStepCell(Cell):
    """One step of training: the loss of a network, its gradients times `sens`, the optimizer's step; gives the loss.

    return_grad: the gradients by the parameters' names, too. Classes derived from it build their own step from
    `network`, `weights`, `optimizer`, `sens` and `grad`, the GradOperation for `grad(network, weights)(*inputs, sens)`.
    """

    def __init__(self, network: Cell, optimizer: Any, sens: Any = None, return_grad: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        if not hasattr(optimizer, "parameters"):
            raise AttributeError(
                f"{type(self).__name__}: wanted an optimizer, such as nn.SGD(net.trainable_params(), 0.1), got "
                f"{type(optimizer).__name__}"
            )
        self.weights = optimizer.parameters
        self.grad = _gradients.GradOperation(get_by_list=True, sens_param=True)
        self.reducer_flag, self.grad_reducer = _reducer(self.weights)
        self.sens = 1.0 if sens is None else sens
        self.return_grad = a_bool("TrainOneStepCell", "return_grad", return_grad)

    def construct(self, *inputs: Any) -> Any:
        loss, grads = self._loss_and_grads(inputs, self.sens)
        if self.reducer_flag:
            grads = self.grad_reducer(grads)
        self.optimizer(grads)
        if self.return_grad:
            return loss, {p.name: g for p, g in zip(self.weights, grads)}
        return loss

    def _loss_and_grads(self, inputs: tuple[Any, ...], sens: Any) -> tuple[Any, tuple[Any, ...]]:
        out, grads = _gradients.value_and_grad(self.network, None, self.weights)(*inputs)
        if isinstance(sens, (int, float)) and sens == 1:
            return out, grads
        return out, tuple(g * sens for g in grads)


class DynamicLossScaleUpdateCell(Cell):
    """The rule of a dynamic loss scale: divided by `scale_factor` on overflow, times it after `scale_window` good steps."""

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__()
        self.scale_window, self.scale_factor, self.loss_scale_value = scale_window, scale_factor, loss_scale_value
        self.cur_iter = Parameter(from_array(np.array(1, np.int32)), name="current_iterator_step")
        self.last_overflow_iter = Parameter(from_array(np.array(0, np.int32)), name="last_overflow_iterator_step")

    def get_loss_scale(self) -> float:
        """The loss scale to begin with."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Any) -> Any:
        """Move the loss scale (a Parameter) as the step went; returns `overflow`."""
        step, last = int(self.cur_iter), int(self.last_overflow_iter)
        if bool(overflow):
            loss_scale.set_data(Tensor(max(float(loss_scale) / self.scale_factor, 1.0), loss_scale.dtype))
            self.last_overflow_iter.set_data(Tensor(step, int32))
        elif step - last >= self.scale_window:
            loss_scale.set_data(Tensor(float(loss_scale) * self.scale_factor, loss_scale.dtype))
            self.last_overflow_iter.set_data(Tensor(step, int32))
        self.cur_iter.set_data(Tensor(step + 1, int32))
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """The rule of a loss scale that stays."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self) -> float:
        """The loss scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Any) -> Any:
        return overflow


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """One step of training with a loss scale, left out when a gradient is not finite; gives loss, overflow and scale.

    scale_sense: the scale as a Tensor, or an update cell that moves it.
    """

    def __init__(self, network: Cell, optimizer: Any, scale_sense: Any) -> None:
        super().__init__(network, optimizer)
        self.loss_scaling_manager: Any = None
        if isinstance(scale_sense, Cell):
            self.loss_scaling_manager = scale_sense
            start = Tensor(float(scale_sense.get_loss_scale()), float32)
        elif isinstance(scale_sense, Tensor):
            if scale_sense.size != 1:
                raise ValueError(f"{type(self).__name__}: scale_sense must have one element, got shape {scale_sense.shape}")
            start = scale_sense.reshape(()).astype(float32)
        else:
            raise TypeError(
                f"{type(self).__name__}: scale_sense must be a Tensor or an update cell, got {type(scale_sense).__name__}"
            )
        self.scale_sense = Parameter(start, name="scale_sense")

    def construct(self, *inputs: Any) -> Any:
        scale = Tensor(float(self.scale_sense), float32)
        value: list[Any] = []

        def scaled(*args: Any) -> Any:
            loss = self.network(*args)
            value.append(loss)
            return loss * scale

        _, grads = _gradients.value_and_grad(scaled, None, self.weights)(*inputs)
        grads = tuple(g / scale for g in grads)
        overflow = from_array(np.array(not all(np.isfinite(g.asnumpy()).all() for g in grads)))
        if self.loss_scaling_manager is not None:
            self.loss_scaling_manager(self.scale_sense, overflow)
        if not bool(overflow):
            self.optimizer(grads)
        return detached(value[0]), overflow, scale

    def set_sense_scale(self, sens: Any) -> None:
        """Set the scale, a tensor."""
        if not isinstance(sens, Tensor):
            raise TypeError(f"{type(self).__name__}.set_sense_scale: wanted a Tensor, got {type(sens).__name__}")
        self.scale_sense.set_data(sens)


class ParameterUpdate(Cell):
    """Gives a parameter the value that the cell is called with."""

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise TypeError(f"ParameterUpdate: wanted a Parameter, got {type(param).__name__}")
        self._param = param

    def construct(self, x: Any) -> Any:
        self._param.set_data(x)
        return x
