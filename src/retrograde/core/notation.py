"""What a program calls an operation, for messages: `x ** 2`, `linear`, not the name of a record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .._traceback import called_function, operator_expression

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
    "lstm_layer": "lstm", "gru_layer": "gru", "rnn_layer": "rnn",
    "normalize_by": "batch_norm", "normalize_stats": "normalisation",
    "pad_constant": "pad", "safe_softmax": "softmax", "log_sigmoid": "logsigmoid", "gelu_tanh": "gelu",
    "replace": "an assignment", "unstack": "unbind",
}  # fmt: skip
"""Records that are called otherwise in programs."""


def name_of(name: str) -> str:
    """The name by which programs call the operation of a record."""
    return _CALLED.get(name, name)


def written(prim: Any, params: dict[str, Any]) -> str:
    """An operation as a program writes it: with its sign, or its name."""
    if prim.name == "power_by":
        return f"`x ** {params['exponent']}`"
    found = _WRITTEN.get(prim.name)
    return name_of(prim.name) if found is None else f"`{found}`"


def called(name: str) -> str:
    """What the program calls the operation that it is in: the expression, where that is an operator; else `name`, as given."""
    found = operator_expression()
    return f"`{found}`" if found else name


def operation_text(prim: Any, described: str, params: dict[str, Any]) -> str:
    """The operation that the program is in, with its operands: as it is written, or by the name of the function."""
    found = operator_expression()
    if found:
        return f"`{found}`, of {described}"
    shown = "".join(f", {k}={v!r}" for k, v in params.items() if k not in _OURS and len(repr(v)) < 60)
    return f"{called_function() or name_of(prim.name)}({described}{shown})"


_OURS = frozenset(["sizes", "check", "lowest", "of", "vector", "left"])
"""Parameters of records that are no arguments of anything."""


def product_text(a: Sequence[int], b: Sequence[int]) -> str:
    """Why operands of two shapes have no matrix product, and how they would have one."""
    rows = b[0] if len(b) == 1 else b[-2]
    text = f"shapes {list(a)} and {list(b)} cannot be multiplied: "
    if a[-1] == rows:
        return f"{text}their leading axes differ"
    which = "only" if len(b) == 1 else "last but one"
    text += f"the last size of the first, {a[-1]}, must be the {which} size of the second, {rows}"
    if len(b) == 2 and b[-1] == a[-1]:
        return text + "; the second transposed would fit"
    if len(a) == 2 and a[0] == rows:
        return text + "; the first transposed would fit"
    return text


def in_own_words(text: str, shapes: Sequence[tuple[int, ...]] = (), params: Mapping[str, Any] = MappingProxyType({})) -> str:
    """What NumPy says of operands of these shapes, in words that say what helps; any other text as it is."""
    if "inhomogeneous shape" in text:
        return "its rows have different lengths; pad them to one, or keep a list of tensors"
    if "could not be broadcast together" in text:
        return f"the shapes do not broadcast; counted from the last axis, sizes must be equal or one of them 1{_fitting(shapes)}"
    if "not aligned: " in text and len(shapes) == 2:
        return product_text(*shapes)
    if "except for the concatenation axis must match" in text and "axis" in params:
        return joined_text(shapes, params["axis"])
    if text == "Singular matrix":
        return (
            "the matrix is singular: it has no inverse; check that no row is a combination of others, add a small multiple "
            "of the identity, or use pinv() or lstsq()"
        )
    sized = re.search(r"index -?\d+ is out of bounds for axis \d+ with size (\d+)$", text)
    if sized:
        return text + (f"; indices go from {-int(sized[1])} to {int(sized[1]) - 1}" if int(sized[1]) else ", which is empty")
    return text


def joined_text(shapes: Sequence[tuple[int, ...]], axis: int) -> str:
    """Why tensors of these shapes cannot be joined along an axis, and along which they could."""
    first = shapes[0]
    for i, shape in enumerate(shapes):
        if len(shape) != len(first):
            return (
                f"all must have as many axes, got shapes {list(first)} and, at position {i}, {list(shape)}; give one of them "
                "more or fewer with a reshape"
            )
        differ = [k for k, (m, n) in enumerate(zip(first, shape)) if m != n]
        if set(differ) - {axis}:
            other = [k for k in range(len(first)) if all(x[:k] + x[k + 1 :] == first[:k] + first[k + 1 :] for x in shapes)]
            return (
                f"shapes may differ along axis {axis} only, got {list(first)} and, at position {i}, {list(shape)}"
                + (f"; they could be joined along axis {other[0]}" if other else "")
            )
    return f"shapes {', '.join(str(list(shape)) for shape in shapes)} cannot be joined along axis {axis}"


def _fitting(shapes: Sequence[tuple[int, ...]]) -> str:
    """How one of two shapes that do not broadcast would, where that is easily said."""
    if len(shapes) != 2:
        return ""
    (position, less), (_, more) = sorted(enumerate(shapes), key=lambda x: len(x[1]))
    k = len(more) - len(less)
    if k and all(n in (m, 1) or m == 1 for n, m in zip(less, more)):
        axes = "an axis" if k == 1 else f"{k} axes"
        return f"; the {('first', 'second')[position]} would fit with {axes} added at its end, as {list(less + (1,) * k)}"
    if len(less) == len(more) == 2 and all(n in (m, 1) or m == 1 for n, m in zip(less, reversed(more))):
        return "; one of them transposed would fit"
    return ""
