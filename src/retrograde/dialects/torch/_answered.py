"""Operators of tensors that are no arrays of their own (masked, nested ones): each asks a function by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__rsub__": "rsub", "__mul__": "mul", "__rmul__": "mul",
    "__truediv__": "div", "__pow__": "pow", "__neg__": "neg", "__abs__": "abs", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt",
    "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
    "__invert__": "bitwise_not", "__matmul__": "matmul", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_",
    "__itruediv__": "div_",
}  # fmt: skip


def offer_operators(cls: type, answer: Callable[[str, Any, dict[str, Any]], Any], operators: dict[str, str]) -> None:
    """Give a class its operators, which `answer(function, operands, {})` computes."""

    def asking(function: str) -> Callable[..., Any]:
        return lambda *args: answer(function, args, {})

    for name, function in operators.items():
        setattr(cls, name, asking(function))
