"""`torch.overrides`: questions about types that stand in for tensors."""

from __future__ import annotations

from typing import Any as _Any

from ._api import missing as _missing
from ._tensor import Tensor as _Tensor


def is_tensor_like(inp: _Any) -> bool:
    """Whether an object is a tensor, or of a type that defines `__torch_function__`."""
    return isinstance(inp, _Tensor) or hasattr(type(inp), "__torch_function__")


def has_torch_function(relevant_args: _Any) -> bool:
    """Whether one of the arguments is of a type other than Tensor that defines `__torch_function__`."""
    return any(_overrides(x) for x in relevant_args)


def has_torch_function_unary(x: _Any) -> bool:
    """As `has_torch_function((x,))`."""
    return _overrides(x)


def has_torch_function_variadic(*relevant_args: _Any) -> bool:
    """As `has_torch_function(relevant_args)`."""
    return has_torch_function(relevant_args)


def _overrides(x: _Any) -> bool:
    return hasattr(type(x), "__torch_function__")


def handle_torch_function(public_api: _Any, relevant_args: _Any, *args: _Any, **kwargs: _Any) -> _Any:
    """Ask the arguments' `__torch_function__`, subclasses first, for the result; TypeError where all decline."""
    kinds: list[type] = []
    for x in relevant_args:
        kind = type(x)
        if _overrides(x) and kind not in kinds:
            place = next((i for i, other in enumerate(kinds) if issubclass(kind, other)), len(kinds))
            kinds.insert(place, kind)
    for kind in kinds:
        result = kind.__torch_function__(public_api, tuple(kinds), args, kwargs)  # type: ignore[attr-defined]
        if result is not NotImplemented:
            return result
    names = ", ".join(kind.__name__ for kind in kinds)
    raise TypeError(f"{getattr(public_api, '__name__', public_api)}: no __torch_function__ of {names} handles these arguments")


def __getattr__(name: str) -> _Any:
    raise _missing("torch.overrides", name, globals())
