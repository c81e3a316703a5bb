"""`torch.fx.passes.infra.pass_base`: a pass as an object."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module that a pass gives, and whether it changed anything."""

    graph_module: Any
    modified: bool


class PassBase(abc.ABC):
    """A pass: `call` does it, `requires` and `ensures` look at the module before and after it."""

    def __call__(self, graph_module: Any) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: Any) -> PassResult | None:
        """Do it."""

    def requires(self, graph_module: Any) -> None:  # noqa: B027 - may be left as it is
        """Look at what comes; raises where the pass cannot be done."""

    def ensures(self, graph_module: Any) -> None:  # noqa: B027 - may be left as it is
        """Look at what was made; raises where it is not right."""
