"""Elementwise arithmetic: the operations that everything else is made of."""

from __future__ import annotations

from typing import Any

from ..core.aval import Aval
from ..core.primitive import Ufunc
from ..core.value import dtype_of
from .rules import conj, elementwise, infer_same, sum_tangents
from .samples import binary, unary

add = elementwise(
    "add", kernel=Ufunc("add"), samples=binary(-3, 3, complex_too=True),
    vjps=[lambda g, _out, _x, _y: g, lambda g, _out, _x, _y: g],
    jvp=lambda tangents, out, x, y: _spread(sum_tangents(tangents), out),
)  # fmt: skip

subtract = elementwise(
    "subtract", kernel=Ufunc("subtract"), samples=binary(-3, 3, complex_too=True),
    vjps=[lambda g, _out, _x, _y: g, lambda g, _out, _x, _y: -g],
    jvp=lambda tangents, out, x, y: _spread(
        sum_tangents([tangents[0], None if tangents[1] is None else -tangents[1]]), out),
)  # fmt: skip

multiply = elementwise(
    "multiply", kernel=Ufunc("multiply"), samples=binary(-3, 3, complex_too=True),
    vjps=[lambda g, _out, _x, y: g * (conj(y) if g.dtype.kind == "c" else y),
          lambda g, _out, x, _y: g * (conj(x) if g.dtype.kind == "c" else x)],
    jvp=lambda tangents, out, x, y: sum_tangents([
        None if tangents[0] is None else tangents[0] * y, None if tangents[1] is None else x * tangents[1]]),
)  # fmt: skip

divide = elementwise(
    "divide", kernel=Ufunc("divide"), samples=binary(-3, 3, 1, 3, complex_too=True),
    partials=[lambda _x, y, _out: 1 / y, lambda _x, y, out: -out / y],
    vjps=[lambda g, _out, _x, y: g / conj(y), lambda g, out, _x, y: -g * conj(out / y)],
)  # fmt: skip

negative = elementwise(
    "negative", kernel=Ufunc("negative"), samples=unary(-3, 3, complex_too=True),
    vjps=[lambda g, _out, _x: -g], jvp=lambda tangents, out, x: -tangents[0],
)  # fmt: skip


def _spread(t: Any, out: Any) -> Any:
    """A tangent in the shape of the output (a broadcast operand's tangent is smaller)."""
    from .structural import broadcast_like

    return broadcast_like(t, out)


def _cast_infer(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(avals[0].shape, params["dtype"])


exp = elementwise(
    "exp", kernel=Ufunc("exp"), samples=unary(-2, 2, complex_too=True), partials=[lambda _x, out: out],
)  # fmt: skip

log = elementwise(
    "log", kernel=Ufunc("log"), samples=unary(0.3, 3, complex_too=True), partials=[lambda x, _out: 1 / x],
    vjps=[lambda g, _out, x: g / conj(x)],
)  # fmt: skip

sin = elementwise(
    "sin", kernel=Ufunc("sin"), samples=unary(-3, 3, complex_too=True), partials=[lambda x, _out: cos(x)],
)  # fmt: skip

cos = elementwise(
    "cos", kernel=Ufunc("cos"), samples=unary(-3, 3, complex_too=True), partials=[lambda x, _out: -sin(x)],
)  # fmt: skip

tanh = elementwise(
    "tanh", kernel=Ufunc("tanh"), samples=unary(-2, 2, complex_too=True), partials=[lambda _x, out: 1 - out * out],
)  # fmt: skip
