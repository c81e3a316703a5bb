"""Getting values into and out of a level: what all transforms share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import GradError
from .._tree import TreeDef, flatten, unflatten
from ..backend.canonical import canonical
from ..core import value as values
from ..core.value import Value, dtype_of, make


def is_array(x: Any) -> bool:
    """Whether a leaf of a container is something to differentiate or map over."""
    return isinstance(x, (Value, np.ndarray, np.generic, float, complex))


def as_tensor(x: Any) -> Value:
    """A leaf as a value: arrays and numbers become native tensors."""
    if isinstance(x, Value):
        return x
    return make(values.core_class, canonical(np.asarray(x)))


def output_tensor(name: str, y: Any) -> Value:
    """A leaf of what a function returned, as a value: arrays and numbers are constants. Raises TypeError for others."""
    if not is_array(y) and not isinstance(y, int):
        raise TypeError(f"{name}: the function returned {type(y).__name__}, wanted arrays and numbers only")
    return as_tensor(y)


def leave(x: Any, level: int) -> Any:
    """What is left of a value when its level closes: its content, as a value of its class; others unchanged."""
    if isinstance(x, Value) and x._level == level:
        return values.as_value(type(x)._result, x._a)
    return x


def leave_tree(tree: Any, level: int) -> Any:
    """`leave` on every leaf of a container."""
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [leave(x, level) for x in leaves])


def argument_positions(name: str, argnums: int | Sequence[int], count: int) -> tuple[tuple[int, ...], bool]:
    """`argnums` as non-negative positions, and whether a single one was given; raises ValueError out of range."""
    single = isinstance(argnums, int)
    found = []
    for i in (argnums,) if isinstance(argnums, int) else tuple(argnums):
        if not -count <= i < count:
            raise ValueError(f"{name}: argnums {i} is out of range for {count} positional arguments")
        found.append(i % count)
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: argnums {argnums} names an argument twice")
    return tuple(found), single


def replaced(args: Sequence[Any], positions: Sequence[int], new: Sequence[Any]) -> list[Any]:
    """The arguments with those at `positions` replaced."""
    result = list(args)
    for i, x in zip(positions, new):
        result[i] = x
    return result


def flatten_arguments(name: str, args: Sequence[Any]) -> tuple[list[Value], TreeDef]:
    """The leaves of the arguments to differentiate, as values; raises TypeError for one that has no derivative."""
    leaves, treedef = flatten(tuple(args))
    tensors = []
    for x in leaves:
        if not is_array(x) and not isinstance(x, int):
            raise TypeError(f"{name}: an argument to differentiate holds {type(x).__name__}; only arrays can be")
        t = as_tensor(x)
        if dtype_of(t).kind in "iub":
            raise TypeError(
                f"{name}: an argument to differentiate has dtype {dtype_of(t)}; only floating and complex ones have "
                "derivatives (convert it, or choose others with argnums)"
            )
        tensors.append(t)
    return tensors, treedef


def split_aux(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """The differentiated output and the auxiliary one; raises TypeError when `has_aux` promised a pair."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise TypeError(
            f"{name}: with has_aux=True the function must return a pair (output, aux), got {_kind(result)}; leave has_aux "
            "out where there is nothing beside the output"
        )
    return result


def _kind(y: Any) -> str:
    return f"a tuple of {len(y)}" if isinstance(y, tuple) else "None" if y is None else f"a {type(y).__name__}"


def _left(y: Any) -> str:
    """What helps where a function has returned no tensor."""
    if isinstance(y, tuple):
        return "return the first, or pass has_aux=True to have the others beside the gradient"
    if y is None:
        return "let it end with return"
    return "what is computed outside of the library (math, numpy.asarray, float()) has no derivative"


def scalar_output(name: str, y: Any, cls: type[Value]) -> Value:
    """The output of a function whose gradient is taken; raises for anything but one real number."""
    if not isinstance(y, Value):
        raise values.error_type(cls, GradError)(
            f"{name}: the function returned {_kind(y)}, wanted a tensor with one element; {_left(y)}"
        )
    if values.shape_of(y) != ():
        raise values.error_type(cls, GradError)(
            f"{name}: the function returned shape {tuple(values.shape_of(y))}, wanted a 0-d result; reduce it with sum() or "
            "mean(), or take jacrev() for the derivatives of all elements"
        )
    return y


Function = Callable[..., Any]
