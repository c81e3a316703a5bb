"""`mindspore.nn.wrap.grad_reducer`: the gradients of several processes, combined."""

from __future__ import annotations

from typing import Any

from ..._context import get_auto_parallel_context
from ...communication._groups import WORLD, members
from ...ops import _between
from ..cell import Cell


class DistributedGradReducer(Cell):
    """The sum of the gradients of all processes, or their mean.

    mean: whether they are divided by `degree`, the number of processes; None: as `gradients_mean` of the parallel settings says.
    """

    def __init__(
        self, parameters: Any, mean: bool | None = None, degree: int | None = None, fusion_type: int = 1, group: str = WORLD
    ) -> None:
        super().__init__(auto_prefix=False)
        self.size = members("DistributedGradReducer", group).size
        if degree is not None and (not isinstance(degree, int) or degree < 1):
            raise ValueError(f"DistributedGradReducer: degree must be a whole number above 0, got {degree!r}")
        if degree not in (None, self.size):
            raise RuntimeError(f"DistributedGradReducer: degree is {degree}, and there are {self.size} processes in the group")
        self.mean = get_auto_parallel_context("gradients_mean") if mean is None else mean
        self.degree, self.group = self.size, group

    def construct(self, grads: Any) -> Any:
        """The gradients, a tuple of them as it came."""
        if self.size == 1:
            return grads
        if isinstance(grads, (tuple, list)):
            return type(grads)(self.construct(g) for g in grads)
        found = _between.reduced(grads, op="sum", group=self.group)
        return found / self.degree if self.mean else found
