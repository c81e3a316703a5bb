"""The builders of the dialect's elementwise functions, with its promotion rules and parameter names.

`unary(name, op, rule)` and `binary(name, op, rule)` take the rules of _promote.py; `register` offers a function under
several names, as a function, a method and an in-place form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._shared.elementwise import Builders
from ._api import api, take_dtype
from ._promote import ANY, FLOATED, STRICT, pair, single

__all__ = ["ANY", "FLOATED", "STRICT", "binary", "register", "unary"]

_BUILDERS = Builders(single=single, pair=pair, check_cast=take_dtype, parameters=("x", "y"), rest=", name=None")
unary, binary = _BUILDERS.unary, _BUILDERS.binary


def register(
    names: str, f: Callable[..., Any], *, in_place: bool = True, function: bool = True, method: bool = True,
    out: bool = True,
) -> Callable[..., Any]:  # fmt: skip
    """Offer `f` under each of the names (one string, with spaces) as a function, a method and an in-place form."""
    return api(*names.split(), function=function, method=method, in_place=in_place, out=out)(f)
