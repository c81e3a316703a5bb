"""`torch._tensor_str`: the numbers of a printed tensor, and the options of printing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ._api import missing
from ._repr import get_printoptions
from ._tensor import Tensor

PRINT_OPTS: Any


def _tensor_str(self: Tensor, indent: int) -> str:
    """The numbers of a tensor as its repr has them, lines after the first indented."""
    inside = repr(self.detach()).removeprefix("tensor(")
    numbers = inside[: inside.rindex("]") + 1] if self.ndim else inside.partition(",")[0].rstrip(")")
    return numbers.replace("\n" + " " * len("tensor("), "\n" + " " * indent)


def __getattr__(name: str) -> Any:
    if name == "PRINT_OPTS":
        return SimpleNamespace(**get_printoptions())
    raise missing("torch._tensor_str", name, globals())
