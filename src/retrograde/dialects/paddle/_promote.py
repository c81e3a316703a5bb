"""PaddlePaddle's type promotion: floating tensors meet in the wider dtype, complex ones with anything; mixed integers,
and integers beside floating tensors, are refused unless one side is a number or a 0-d tensor.

`pair` is what binary functions call when their operands are not two tensors of one dtype already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, make, shape_of
from ...ops.structural import cast
from .._shared.arguments import operand_check, tensor_check
from .._shared.dtypes import number_kind
from .._shared.elementwise import constant
from . import _dtype, _kernels
from ._api import REGISTRY
from ._dtype import FROM_NUMPY, complex_of, dtype, float32, int64, promoted

_cast = cast.prim.bind  # type: ignore[attr-defined]

FLOATED, STRICT, ALIKE, ANY = "floated", "strict", "alike", None
"""Rules for `pair`: integers become float32 (division); a 0-d tensor counts as any other; tensors have one dtype; none."""
TENSORS, TENSORS_FLOATED, TENSORS_STRICT, TENSORS_ALIKE = "tensors", "tensors floated", "tensors strict", "tensors alike"
"""The same for functions that take tensors only: in PaddlePaddle, numbers are for the operators."""
OF_TENSORS = {TENSORS: ANY, TENSORS_FLOATED: FLOATED, TENSORS_STRICT: STRICT, TENSORS_ALIKE: ALIKE}
_NO_NUMBER = {"hypot": TypeError, "atan2": AttributeError, "gcd": AttributeError, "lcm": AttributeError}


def scalar_dtype(x: Any) -> dtype:
    """The dtype that a Python number stands for when it decides: in PaddlePaddle, the default dtype has no say in it."""
    return (_dtype.bool_, int64, float32, _dtype.complex64)[number_kind(x)]


def beside(d: dtype, lower: dtype) -> dtype:
    """The dtype of a tensor of dtype `d` beside a 0-d tensor or number of dtype `lower`, which decides by kind only."""
    if lower.category <= d.category:
        if d.category == 3 and lower is _dtype.float64:
            return _dtype.complex128
        return d
    if lower.category == 3 and d.category == 2:
        return complex_of(d) if lower is _dtype.complex64 else lower
    return lower


def refuse(name: str, a: dtype, b: dtype) -> TypeError:
    """The error for two dtypes that do not meet."""
    return TypeError(
        f"{name}: tensors of dtype {a} and {b} are not promoted to one dtype; "
        "convert one of them with astype() first"
    )


def result_dtype(name: str, x: Any, y: Any, *, strict: bool = False) -> dtype:
    """The dtype in which two tensors, or a tensor and a number, meet; raises TypeError where they do not."""
    if not isinstance(x, Value):
        return beside(FROM_NUMPY[dtype_of(y)], scalar_dtype(x)) if isinstance(y, Value) else scalar_dtype(x)
    a = FROM_NUMPY[dtype_of(x)]
    if not isinstance(y, Value):
        return beside(a, scalar_dtype(y))
    b = FROM_NUMPY[dtype_of(y)]
    if a is b:
        return a
    if not strict:
        flat, other = not shape_of(x), not shape_of(y)
        if flat and not other:
            return beside(b, a)
        if other and not flat:
            return beside(a, b)
    met = promoted(a, b)
    if met is None:
        if not strict and not shape_of(x) and not shape_of(y):
            return _two_numbers(a, b)
        raise refuse(name, a, b)
    return met


def _two_numbers(a: dtype, b: dtype) -> dtype:
    """Two 0-d tensors: as PaddlePaddle, the higher kind, and within one the wider."""
    if a.category != b.category:
        return a if a.category > b.category else b
    return a if a.itemsize >= b.itemsize else b


def to_dtype(x: Any, d: dtype) -> Any:
    """A tensor or number in a dtype: a tensor is cast (recorded), a number becomes a 0-d array."""
    if isinstance(x, Value):
        return x if dtype_of(x) == d.np else _cast(x, dtype=d.np)
    return constant(x.item() if isinstance(x, np.generic) else x, d.np)


operand = operand_check(REGISTRY, ValueError, "a Tensor", _dtype.from_numpy_dtype)
tensor_argument = tensor_check(ValueError, "use paddle.to_tensor(...)", "x")


def tensors_only(name: str, *operands: Any) -> None:
    """Raise, in most functions ValueError, unless all operands are tensors."""
    for x in operands:
        if not isinstance(x, Value):
            raise _NO_NUMBER.get(name, ValueError)(
                f"{name}: wanted two Tensors, got {type(x).__name__}; use an operator, or paddle.to_tensor(...)"
            )


def pair(name: str, x: Any, y: Any, rule: Any = None) -> tuple[Any, Any]:
    """Two operands in the dtype in which an operation on them takes place (`rule`: see FLOATED and TENSORS).

    Raises TypeError for operands whose dtypes do not meet, or that are neither tensors nor numbers.
    """
    if rule in OF_TENSORS:
        tensors_only(name, x, y)
        rule = OF_TENSORS[rule]
    x, y = operand(name, x), operand(name, y)
    if rule == ALIKE and isinstance(x, Value) and isinstance(y, Value) and dtype_of(x) != dtype_of(y):
        raise (ValueError if dtype_of(y).kind in "biu" else RuntimeError)(
            f"{name}: the tensors have dtypes {x.dtype} and {y.dtype}; convert one of them with astype()"
        )
    d = result_dtype(name, x, y, strict=rule == STRICT)
    if rule == FLOATED and d.category < 2:
        d = float32
    _kernels.check(name, d.np)
    x, y = to_dtype(x, d), to_dtype(y, d)
    if not isinstance(x, Value) and not isinstance(y, Value):
        x = make(REGISTRY.tensor_class, x)
    return x, y


def single(name: str, x: Any, rule: Any = None) -> Any:
    """A tensor in the dtype in which a function of one operand computes (FLOATED: integers become floating)."""
    if not isinstance(x, Value):
        tensor_argument(name, x, "argument 1")
    kept = dtype_of(x)
    _kernels.check(name, kept)
    d = FROM_NUMPY[kept]
    if rule == FLOATED and d.category < 2:
        return _cast(x.detach() if x._node is not None else x, dtype=float32.np)
    return x
