"""The builders of the dialect's elementwise functions, with its promotion rules and parameter names.

`unary(name, op, rule)` and `binary(name, op, rule)` take the rules of _promote.py; `register` offers a function under
several names, as a function, a method and an in-place form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.value import Value
from .._shared.elementwise import Builders
from .._shared.registry import defined
from ._api import FUNCTIONS, METHODS, api, take_dtype
from ._promote import ANY, FLOATED, OF_TENSORS, STRICT, TENSORS, TENSORS_FLOATED, TENSORS_STRICT, pair, single

__all__ = [
    "ANY", "FLOATED", "STRICT", "TENSORS", "TENSORS_FLOATED", "TENSORS_STRICT", "binary", "register", "tensors_in_place",
    "unary",
]  # fmt: skip

_BUILDERS = Builders(single=single, pair=pair, check_cast=take_dtype, parameters=("x", "y"), rest=", name=None")
unary = _BUILDERS.unary


def binary(name: str, op: Any, rule: Any = ANY, *, fast: str = "f", **params: Any) -> Callable[..., Any]:
    """The function of two operands that a primitive computes, by one of the rules of `pair`."""
    return _BUILDERS.binary(name, op, rule, fast=fast, numbers=rule not in OF_TENSORS, **params)


def register(
    names: str, f: Callable[..., Any], *, in_place: bool = True, function: bool = True, method: bool = True,
    out: bool = True,
) -> Callable[..., Any]:  # fmt: skip
    """Offer `f` under each of the names (one string, with spaces) as a function, a method and an in-place form."""
    return api(*names.split(), function=function, method=method, in_place=in_place, out=out)(f)


def tensors_in_place(names: str) -> None:
    """Let the in-place forms of functions (one string, with spaces) raise AttributeError for a number."""
    for name in (f"{n}_" for n in names.split()):
        METHODS[name] = FUNCTIONS[name] = _of_tensors(name, METHODS[name])


def _of_tensors(name: str, form: Callable[..., Any]) -> Callable[..., Any]:
    def method(x: Any, *args: Any, **options: Any) -> Any:
        y = args[0] if args else options.get("y", options.get("other"))
        if not isinstance(y, Value):
            raise AttributeError(f"{name}: y must be a Tensor, got {type(y).__name__}; use paddle.to_tensor(...)")
        return form(x, *args, **options)

    return defined(name, method, form.__doc__)
