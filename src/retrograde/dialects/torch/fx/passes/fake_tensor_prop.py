"""`torch.fx.passes.fake_tensor_prop`: an example of every value of a graph, found by running it."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ..interpreter import Interpreter
from ..node import Node

__all__ = ["FakeTensorProp"]


class FakeTensorProp(Interpreter):
    """Runs a graph and notes in each node's `meta` its value as `val`; the values are real ones here."""

    def __init__(self, module: Any, mode: Any = None) -> None:
        super().__init__(module)

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        n.meta["val"] = result
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph on arguments; returns its result."""
        with no_grad():
            return super().run(*args)
