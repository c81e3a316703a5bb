"""What a program calls an operation, for messages: `x ** 2`, `linear`, not the name of a record."""

from __future__ import annotations

from typing import Any

from .._traceback import operator_expression

_WRITTEN = {
    "add": "x + y", "subtract": "x - y", "multiply": "x * y", "divide": "x / y", "floor_divide": "x // y", "modulo": "x % y",
    "power": "x ** y", "matmul": "x @ y", "project": "x @ w.T", "transposed_matmul": "x.T @ y", "negative": "-x",
    "equal": "x == y", "not_equal": "x != y", "less": "x < y", "less_equal": "x <= y", "greater": "x > y",
    "greater_equal": "x >= y", "getitem": "x[...]", "advanced_index": "x[...]", "view_scatter": "x[...] = y",
    "add_scaled": "x + alpha * y", "subtract_scaled": "x - alpha * y", "add_product": "addcmul", "add_quotient": "addcdiv",
}  # fmt: skip
_CALLED = {
    "affine": "linear", "add_matmul": "addmm", "concatenate": "concat", "rearrange": "reshape", "cast": "a change of dtype",
    "convolve": "convolution", "convolve_transpose": "transposed convolution", "power_by": "pow", "clip_by": "clip",
    "pick": "gather", "take_along_axis": "gather", "repeat_elements": "repeat_interleave", "lerp_by": "lerp",
    "lstm_layer": "lstm", "gru_layer": "gru", "rnn_layer": "rnn", "normalize_by": "batch_norm", "normalize_stats": "normalisation",
    "pad_constant": "pad", "safe_softmax": "softmax", "log_sigmoid": "logsigmoid", "gelu_tanh": "gelu",
    "replace": "an assignment", "unstack": "unbind",
}  # fmt: skip
"""Records that are called otherwise in programs."""


def name_of(prim: Any) -> str:
    """The name by which programs call an operation."""
    return _CALLED.get(prim.name, prim.name)


def written(prim: Any, params: dict[str, Any]) -> str:
    """An operation as a program writes it: with its sign, or its name."""
    if prim.name == "power_by":
        return f"`x ** {params['exponent']}`"
    found = _WRITTEN.get(prim.name)
    return name_of(prim) if found is None else f"`{found}`"


def called(name: str) -> str:
    """What the program calls the operation that it is in: the expression, where that is an operator; else `name`, as given."""
    found = operator_expression()
    return f"`{found}`" if found else name
