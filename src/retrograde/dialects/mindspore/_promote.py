"""MindSpore's type promotion: between tensors by kind and width, 0-d ones included; a Python number only by kind.

`pair` and `single` are what elementwise functions call when their operands are not two tensors of one dtype already.
`kinds` says for each kind of dtype, in the order bool, integer, floating, complex, what an operation does with it:
`.` computes in it, `f` computes in float32, `i` in int64, `x` raises TypeError.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...core.value import Value, dtype_of, make, ndim_of
from ...ops.structural import carry, cast
from .._shared.arguments import tensor_check
from .._shared.elementwise import Builders, constant
from ._api import REGISTRY, check_cast
from ._dtype import FROM_NUMPY, Number, bool_, complex64, float32, int64, promote_types

_cast = cast.prim.bind  # type: ignore[attr-defined]

ANY, FLOAT, REAL_FLOAT, FLOATING, REAL, NUMBER, WHOLE = "....", "ff..", "ff.x", "xx.x", "...x", "x...", "..xx"
_KIND = ("boolean", "integer", "floating", "complex")


def number_dtype(op: str, x: Any) -> Number:
    """The dtype that a Python number stands for when it decides; raises TypeError for what is no number."""
    if isinstance(x, (bool, np.bool_)):
        return bool_
    if isinstance(x, (int, np.integer)):
        return int64
    if isinstance(x, (float, np.floating)):
        return float32
    if isinstance(x, (complex, np.complexfloating)):
        return complex64
    raise TypeError(f"{op}: wanted a Tensor or a number, got {type(x).__name__}")


def result_dtype(op: str, *operands: Any) -> Number:
    """The dtype in which an operation on these tensors and numbers takes place.

    A number beside tensors counts only if its kind is above theirs.
    """
    tensors: Number | None = None
    numbers: Number | None = None
    for x in operands:
        if isinstance(x, Value):
            d = FROM_NUMPY[dtype_of(x)]
            tensors = d if tensors is None else promote_types(tensors, d)
        else:
            d = number_dtype(op, x)
            numbers = d if numbers is None or d.category > numbers.category else numbers
    if tensors is None or numbers is None:
        found = numbers if tensors is None else tensors
        assert found is not None, "promotion of no operands"
        return found
    return numbers if numbers.category > tensors.category else tensors


def to_dtype(x: Any, d: Number) -> Any:
    """A tensor or number in a dtype: a tensor is cast (recorded), a number becomes a 0-d array."""
    if isinstance(x, Value):
        return x if dtype_of(x) == d.np else converted(x, d)
    return constant(x.item() if isinstance(x, np.generic) else x, d.np)


def converted(x: Value, d: Number) -> Any:
    """A tensor cast to another dtype. As in MindSpore, the gradient passes a conversion to integers (or booleans)."""
    if d.category < 2 and x._node is not None:
        return carry(x, dtype=d.np, came=False)[0]
    return _cast(x, dtype=d.np)


def refuse_kind(op: str, d: Number, kinds: str) -> NoReturn:
    """Raise TypeError for operands of a kind that an operation does not take."""
    taken = ", ".join(kind for kind, rule in zip(_KIND, kinds) if rule != "x")
    raise TypeError(f"{op}: takes {taken} tensors, got {d}; convert with astype()")


def settle(op: str, d: Number, kinds: str | None) -> Number:
    """The dtype in which an operation computes for operands of dtype `d`; raises TypeError for a kind it does not take."""
    rule = "." if kinds is None else kinds[d.category]
    if rule == "x":
        refuse_kind(op, d, kinds or ANY)
    return {".": d, "f": float32, "i": int64}[rule]


tensor_argument = tensor_check(TypeError, "use Tensor(...)", "input")


def single(op: str, x: Any, kinds: str | None = None) -> Value:
    """A tensor in the dtype in which an operation computes."""
    d = settle(op, FROM_NUMPY[dtype_of(tensor_argument(op, x))], kinds)
    result: Value = _taken(x, d) if op in ("sqrt", "reciprocal") else to_dtype(x, d)
    return result


def _taken(x: Any, d: Number) -> Any:
    """An integer operand of an operation that has floating results of integers itself: its gradient is not cast back."""
    if isinstance(x, Value) and x._node is not None and FROM_NUMPY[dtype_of(x)].category < 2:
        return carry(x, dtype=d.np, came=True)[0]
    return to_dtype(x, d)


SCALING = frozenset(("mul", "div"))
"""The operations in which a tensor without axes does not widen one of its kind that has axes."""


def _scaled(x: Value, y: Value) -> Any:
    """`x` in the dtype of `y` if it is a factor without axes for a tensor of its kind."""
    if ndim_of(x) or not ndim_of(y) or dtype_of(x) == dtype_of(y):
        return x
    d = FROM_NUMPY[dtype_of(y)]
    return converted(x, d) if FROM_NUMPY[dtype_of(x)].category == d.category else x


def pair(op: str, x: Any, y: Any, kinds: str | None = None) -> tuple[Any, Any]:
    """Two operands in the dtype in which an operation on them computes; of two numbers the first becomes a tensor."""
    if op in SCALING and isinstance(x, Value) and isinstance(y, Value):
        x, y = _scaled(x, y), _scaled(y, x)
    d = settle(op, result_dtype(op, x, y), kinds)
    if not isinstance(x, Value) and not isinstance(y, Value):
        return make(REGISTRY.tensor_class, to_dtype(x, d)), to_dtype(y, d)
    if op == "div" and not (isinstance(x, Value) and isinstance(y, Value)):
        return _taken(x, d), _taken(y, d)
    return to_dtype(x, d), to_dtype(y, d)


def same_dtype(op: str, *tensors: Any) -> None:
    """Raise TypeError for tensors of different dtypes, where an operation does not promote."""
    if any(dtype_of(x) != dtype_of(tensors[0]) for x in tensors):
        found = ", ".join(str(FROM_NUMPY[dtype_of(x)]) for x in tensors)
        raise TypeError(f"{op}: the tensors must have one dtype, got {found}; convert with astype()")


BUILD = Builders(single=single, pair=pair, check_cast=check_cast, parameters=("input", "other"))
"""The builders of functions whose operands are called `input` and `other`, as most functions of `ops` are."""
