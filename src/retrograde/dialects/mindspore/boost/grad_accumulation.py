"""`mindspore.boost.grad_accumulation`: gradients of several batches, and the step that takes their mean."""

from __future__ import annotations

from typing import Any

from .. import ops
from .._control import HyperMap, MultitypeFuncGraph
from .._parameter import Parameter
from .._tensor import Tensor
from ..common import dtype
from ..nn.cell import Cell

__all__ = ["GradientAccumulation", "gradient_accumulation_op", "gradient_clear_op"]

gradient_accumulation_op = MultitypeFuncGraph("gradient_accumulation_op")
gradient_clear_op = MultitypeFuncGraph("gradient_clear_op")


@gradient_accumulation_op.register("Int64", "Tensor", "Tensor")
def _add(steps: int, held: Parameter, grad: Tensor) -> Parameter:
    """Add a gradient's share of the mean over `steps` batches to what is held."""
    ops.assign_add(held, grad / steps)
    return held


@gradient_clear_op.register("Tensor")
def _clear(held: Parameter) -> Any:
    """Set what is held to zero."""
    return ops.assign(held, ops.zeros_like(held))


class GradientAccumulation(Cell):
    """`cell(loss, grads)` gives the loss; every `max_accumulation_step` calls the optimiser takes the mean of the gradients."""

    def __init__(self, max_accumulation_step: int, optimizer: Any) -> None:
        super().__init__()
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = HyperMap()
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, dtype=dtype.int32), name="accumulation_step")

    def construct(self, loss: Any, grads: Any) -> Any:
        """Add the gradients, and step where enough have come; gives the loss."""
        self.hyper_map(ops.partial(gradient_accumulation_op, self._max_accumulation_step), self._grad_accumulation, grads)
        self._accumulation_step += 1
        if self._accumulation_step >= self._max_accumulation_step:
            self.optimizer(self._grad_accumulation)
            ops.assign(self._accumulation_step, 0)
            self.hyper_map(gradient_clear_op, self._grad_accumulation)
        return loss
