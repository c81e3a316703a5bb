"""Parameters of operations as keys: what a compiled form, a trace or a cache is looked up by.

The rule for parameters: numbers, strings, None, Ellipsis, slices, dtypes, functions and other things that are what they are
by identity, and tuples of these. What holds elements (an array, a tensor) is an operand, a list is a tuple.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .value import LevelArray, Value


def params_key(prim: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    """A hashable key for parameters of a primitive that tells 1, 1.0 and True, 0.0 and -0.0 apart, and takes nan for nan.

    Raises TypeError, with the primitive and the parameter, for a value that is against the rule.
    """
    return tuple([(name, _key(prim, name, params[name])) for name in (sorted(params) if len(params) > 1 else params)])


def _key(prim: Any, name: str, x: Any) -> Any:
    kind = type(x)
    if x is None or x is Ellipsis or kind is str or kind is bytes or isinstance(x, np.dtype):
        return x
    if kind is bool or kind is int:
        return kind, x
    if kind is float:
        return (kind, x) if x < 0 or x > 0 else (kind, x.hex())  # zeros have signs, and nan is not itself
    if kind is complex:
        return kind, x.real.hex(), x.imag.hex()
    if isinstance(x, tuple):
        return kind, *(_key(prim, name, y) for y in x)
    if isinstance(x, slice):
        return slice, *(_key(prim, name, y) for y in (x.start, x.stop, x.step))
    if isinstance(x, np.generic):
        return kind, _key(prim, name, x.item())
    if not isinstance(x, (Value, LevelArray)) and getattr(kind, "__hash__", None) is not None:
        return x
    raise TypeError(
        f"{prim.name}: the parameter {name!r} is a {kind.__name__}, which cannot stand in a key; pass elements as an operand "
        "and sequences as tuples"
    )
