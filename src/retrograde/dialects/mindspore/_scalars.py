"""`ops.scalar_add` and the like: arithmetic and comparisons of Python's numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from .._shared.registry import defined
from ._api import api


def _divided(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def by(x: Any, y: Any) -> Any:
        try:
            return f(x, y)
        except ZeroDivisionError:
            raise ValueError("a number cannot be divided by 0") from None

    return by


def _offer(name: str, f: Callable[..., Any], text: str, count: int = 2) -> None:
    def of_two(x: Any, y: Any) -> Any:
        return f(x, y)

    def of_one(x: Any) -> Any:
        return f(x)

    function = of_two if count == 2 else of_one
    api(method=False)(defined(name, function, text))


for _name, _f, _sign in (
    ("add", operator.add, "+"), ("sub", operator.sub, "-"), ("mul", operator.mul, "*"), ("pow", operator.pow, "**"),
    ("div", _divided(operator.truediv), "/"), ("floordiv", _divided(operator.floordiv), "//"),
    ("mod", _divided(operator.mod), "%"), ("eq", operator.eq, "=="), ("lt", operator.lt, "<"), ("gt", operator.gt, ">"),
    ("le", operator.le, "<="), ("ge", operator.ge, ">="),
):  # fmt: skip
    _offer(f"scalar_{_name}", _f, f"`x {_sign} y` of two numbers.")
_offer("scalar_max", max, "The greater of two numbers.")
_offer("scalar_min", min, "The lesser of two numbers.")
_offer("scalar_uadd", operator.pos, "The number itself.", 1)
_offer("scalar_usub", operator.neg, "The number with the other sign.", 1)
_offer("scalar_log", math.log, "The natural logarithm of a number.", 1)
