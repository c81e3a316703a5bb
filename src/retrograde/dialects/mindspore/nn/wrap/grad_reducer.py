"""`mindspore.nn.wrap.grad_reducer`: gradients gathered from all processes, of which there is one here."""

from __future__ import annotations

from typing import Any

from ..cell import Cell


class DistributedGradReducer(Cell):
    """The gradients as they are: one process has nothing to gather. Raises RuntimeError for a degree above 1."""

    def __init__(self, parameters: Any, mean: bool | None = None, degree: int | None = None, **options: Any) -> None:
        super().__init__(auto_prefix=False)
        if degree not in (None, 1):
            raise RuntimeError(f"DistributedGradReducer: there is one process, but degree is {degree}")

    def construct(self, grads: Any) -> Any:
        return grads
