"""`nn.Jvp` and `nn.Vjp`: cells that return what another one does and its product with a tangent or cotangent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._transforms import jvp, vjp
from .cell import Cell


class _Product(Cell):
    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        if not callable(fn):
            raise TypeError(f"{type(self).__name__}: fn must be a function or Cell, got {type(fn).__name__}")
        self.fn = fn

    def _split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        if len(args) < 2:
            raise TypeError(f"{type(self).__name__}: wanted the inputs of fn and then v, got {len(args)} arguments")
        return args[:-1], args[-1]


class Jvp(_Product):
    """`Jvp(fn)(*inputs, v)`: what `fn` returns, and its derivative along `v` (a tuple for several inputs)."""

    def construct(self, *args: Any) -> Any:
        """The value and the derivative."""
        inputs, v = self._split(args)
        return jvp(self.fn, inputs, v)


class Vjp(_Product):
    """`Vjp(fn)(*inputs, v)`: what `fn` returns, and the gradients of the inputs for the cotangent `v`."""

    def construct(self, *args: Any) -> Any:
        """The value and the gradients, bare for a single input."""
        inputs, v = self._split(args)
        out, pullback = vjp(self.fn, *inputs)
        gradients = pullback(v)
        return out, gradients[0] if len(gradients) == 1 else gradients
