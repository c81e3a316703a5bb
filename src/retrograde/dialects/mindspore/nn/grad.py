"""`nn.Jvp`, `nn.Vjp` and `custom_vjp`: cells around a function, for its derivative or with another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._api import api
from .._paths import offer_paths
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
        if isinstance(v, tuple):
            if len(v) < len(inputs):
                raise IndexError(f"Jvp: there are {len(inputs)} inputs, but v has {len(v)} tangents")
            v = v[: len(inputs)]  # what comes behind is left alone, as there
        elif len(inputs) > 1:
            raise TypeError(f"Jvp: v must be a tuple of {len(inputs)} tangents, got {type(v).__name__}")
        return jvp(self.fn, inputs, v)


class Vjp(_Product):
    """`Vjp(fn)(*inputs, v)`: what `fn` returns, and the gradients of the inputs for the cotangent `v`."""

    def construct(self, *args: Any) -> Any:
        """The value and the gradients, bare for a single input."""
        inputs, v = self._split(args)
        out, pullback = vjp(self.fn, *inputs)
        if isinstance(v, tuple) != isinstance(out, tuple):
            raise TypeError(f"Vjp: v must be as the result, a {type(out).__name__}, got {type(v).__name__}")
        gradients = pullback(v)
        return out, gradients[0] if len(gradients) == 1 else gradients


class _WithDerivative(Cell):
    """A function whose derivative is what `defbwd` was given: `bwd(*inputs, out, dout)`."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__(flags={"custom_vjp": True})
        self.fwd, self.bwd = fn, None

    def construct(self, *args: Any) -> Any:
        """What the function returns."""
        return self.fwd(*args)

    def defbwd(self, bwd: Callable[..., Any]) -> None:
        """Say what the derivative is."""
        self.bwd = bwd

    def bprop(self, *args: Any) -> Any:
        """The gradients of the inputs."""
        if self.bwd is None:
            raise RuntimeError("custom_vjp: the function has no derivative yet; give it one with defbwd()")
        return self.bwd(*args)


@api(method=False)
def custom_vjp(fn: Callable[..., Any] | None = None) -> Any:
    """Decorator: a function that is given a derivative of its own by `defbwd`.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, grad, ops
        >>> @ops.custom_vjp
        ... def double(x):
        ...     return x + x
        >>> double.defbwd(lambda x, out, dout: (dout * 10,))
        >>> print(grad(double)(Tensor([1.0])))
        [10.]
    """
    return _WithDerivative if fn is None else _WithDerivative(fn)


offer_paths(__name__)
