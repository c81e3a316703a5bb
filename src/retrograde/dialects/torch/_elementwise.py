"""Builders of the dialect's elementwise functions: which dtypes an operation takes, what it makes of numbers.

`kinds` says for each kind of dtype, in the order bool, integer, floating, complex, what an operation does with it:
`.` computes in it, `f` computes in the default floating dtype, `i` in int64, `x` raises NotImplementedError, `r` raises
RuntimeError. The kind is that of the operands' common dtype. Two tensors of one real floating dtype, and such a tensor
with a Python number, take none of these steps.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..._state import is_grad_enabled
from ...core.value import Value, dtype_of
from ...ops.structural import cast, copy, replace
from .._shared.arguments import tensor_check
from .._shared.elementwise import OPERANDS, Builders, Function, operator, reflected
from . import _dtype
from ._api import METHODS, api, check_cast
from ._dtype import FROM_NUMPY, dtype
from ._graph_nodes import show_as
from ._promote import operand, result_dtype, to_dtype

_ndarray = np.ndarray
_cast = cast.prim.bind

ANY = "...."
FLOAT = "ff.."
"""Integers and booleans become floating."""
REAL_FLOAT = "ff.x"
FLOATING = "xx.x"
"""Only floating dtypes, complex ones not among them."""
REAL = "...x"
NUMBER = "x..x"
"""Integers and floating dtypes, but no booleans and no complex numbers."""
WHOLE = "..xx"

_KIND = ("boolean", "integer", "floating", "complex")


def refuse_kind(name: str, d: dtype, kinds: str) -> NoReturn:
    """Raise what PyTorch raises for operands of a kind that an operation does not take."""
    taken = [kind for kind, rule in zip(_KIND, kinds) if rule not in "xr"]
    error = NotImplementedError if kinds[d.category] == "x" else RuntimeError
    raise error(f"{name}: not defined for {_KIND[d.category]} tensors ({d!r}), only for {', '.join(taken)} ones")


def settle(name: str, d: dtype, kinds: str) -> dtype:
    """The dtype in which an operation computes for operands of dtype `d`."""
    rule = kinds[d.category]
    if rule == ".":
        return d
    if rule == "f":
        return _dtype.get_default_dtype()
    if rule == "i":
        return _dtype.int64
    refuse_kind(name, d, kinds)


def _remedy(x: Any) -> str:
    if hasattr(type(x), "__torch_function__"):
        return "a type with __torch_function__ that is no tensor is asked after `import torch.overrides`"
    return "use torch.tensor(...)"


tensor_argument = tensor_check(TypeError, _remedy, "input", "a tensor")


def single(name: str, x: Any, kinds: str) -> Value:
    """A tensor in the dtype in which an operation computes."""
    if isinstance(x, Value) and type(x._a) is _ndarray and x._a.dtype.kind == "f" and kinds[2] == ".":
        return x
    d = FROM_NUMPY[dtype_of(tensor_argument(name, x))]
    wanted = settle(name, d, kinds)
    return x if wanted is d else _cast(x, dtype=wanted.np)


def _at_once(kinds: str) -> str:
    """The NumPy kinds of the dtypes in which an operation computes without further ado."""
    return ("iu" if kinds[1] == "." else "") + ("f" if kinds[2] == "." else "")


def unary(name: str, op: Any, kinds: str = FLOAT, **params: Any) -> Function:
    """The function of one tensor that a primitive computes."""
    return _BUILDERS.unary(name, op, kinds, fast=_at_once(kinds), **params)


OTHER, EITHER, NEVER, BOTH = "other", "either", "never", "both"
"""Which operands of a binary function may be numbers: the second; one of them; none; even both."""


def check_operands(name: str, x: Any, y: Any, numbers: str) -> None:
    """Raise TypeError where a number (or something else) stands for a tensor."""
    if isinstance(x, Value):
        if not isinstance(y, Value) and (numbers == NEVER or not isinstance(y, OPERANDS)):
            raise TypeError(f"{name}: argument 2 (other) must be a tensor, got {type(y).__name__}")
    elif numbers in (NEVER, OTHER) or not isinstance(x, OPERANDS):
        raise TypeError(f"{name}: argument 1 (input) must be a tensor, got {type(x).__name__}; {_remedy(x)}")
    elif not isinstance(y, Value) and (numbers != BOTH or not isinstance(y, OPERANDS)):
        raise TypeError(f"{name}: one argument must be a tensor, got {type(x).__name__} and {type(y).__name__}")


def settled_pair(name: str, x: Any, y: Any, kinds: str = ANY, numbers: str = EITHER) -> tuple[Any, Any]:
    """Two operands in the dtype in which an operation on them computes."""
    check_operands(name, x, y, numbers)
    x, y = operand(name, x), operand(name, y)
    d = settle(name, result_dtype(x, y), kinds)
    x, y = to_dtype(x, d), to_dtype(y, d)
    if not isinstance(x, Value) and not isinstance(y, Value):
        from ._tensor import from_array

        x = from_array(x)
    return x, y


def binary(name: str, op: Any, kinds: str = ANY, numbers: str = OTHER, **params: Any) -> Function:
    """The function of two operands that a primitive computes, in their common dtype."""
    return _BUILDERS.binary(name, op, (kinds, numbers), fast=_at_once(kinds), numbers=numbers != NEVER, **params)


_BUILDERS = Builders(
    single=single, pair=lambda name, x, y, rule: settled_pair(name, x, y, *rule), check_cast=check_cast,
    parameters=("input", "other"),
)  # fmt: skip
in_place_operator = _BUILDERS.in_place_operator


def operators(symbol: str, f: Function, *, reverse: bool = True, in_place: bool = True) -> None:
    """Give tensors the operator `__symbol__`, and its reflected and in-place forms."""
    METHODS[f"__{symbol}__"] = operator(f)
    if reverse:
        METHODS[f"__r{symbol}__"] = reflected(f)
    if in_place:
        METHODS[f"__i{symbol}__"] = in_place_operator(f"__i{symbol}__", f)


def register(names: str, f: Function, *, in_place: bool = True, function: bool = True, method: bool = True) -> Function:
    """Offer `f` under each of the names (one string, with spaces) as a function, a method and an in-place method."""
    return api(*names.split(), function=function, method=method, in_place=in_place, out=True)(f)


def replaced(x: Any, new: Any, name: str) -> Any:
    """What a tensor holds when `new`, of its shape, is written over it: what was there has the derivative 0."""
    fits = dtype_of(new) == dtype_of(x)
    if not fits:
        new = cast(new, dtype=dtype_of(x))
    if x._node is not None and is_grad_enabled():
        new = replace(x, new)
    elif fits and new._node is not None:
        new = copy(new)
    return show_as(new, name)
