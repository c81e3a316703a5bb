"""`torch.overrides`: questions about types that stand in for tensors, and modes (see _function_protocol.py).

Importing it lets functions ask all types with `__torch_function__`, also those that are no tensors.
"""

from __future__ import annotations

import functools as _functools
from types import FunctionType as _FunctionType
from typing import Any as _Any

from . import _function_protocol as _protocol
from ._api import attributes as _attributes
from ._function_protocol import TorchFunctionMode as TorchFunctionMode
from ._tensor import Tensor as _Tensor

_protocol.install()


def is_tensor_like(inp: _Any) -> bool:
    """Whether an object is a tensor, or of a type that defines `__torch_function__`."""
    return isinstance(inp, _Tensor) or hasattr(type(inp), "__torch_function__")


def has_torch_function(relevant_args: _Any) -> bool:
    """Whether one of the arguments is of a type with a `__torch_function__` of its own."""
    return any(_protocol.asks(x) for x in relevant_args)


def has_torch_function_unary(x: _Any) -> bool:
    """As `has_torch_function((x,))`."""
    return _protocol.asks(x)


def has_torch_function_variadic(*relevant_args: _Any) -> bool:
    """As `has_torch_function(relevant_args)`."""
    return has_torch_function(relevant_args)


def handle_torch_function(public_api: _Any, relevant_args: _Any, *args: _Any, **kwargs: _Any) -> _Any:
    """Ask the arguments' `__torch_function__`, subclasses first, for the result; TypeError where all decline."""
    return _protocol.ask(public_api, _protocol.answering_types(relevant_args), args, kwargs)


def resolve_name(f: _Any) -> str | None:
    """The name under which a function, method or property's `__get__` is offered, None for anything else."""
    from .. import torch

    owner = getattr(f, "__self__", None)
    for name, x in vars(torch.Tensor).items():
        if x is f or (x is owner and isinstance(x, property)):
            return f"torch.Tensor.{name}" + (f".{f.__name__}" if x is owner else "")
    for path in ("", *_protocol._NAMESPACES):
        module = torch
        for part in path.split(".") if path else ():
            module = getattr(module, part)
        for name, x in vars(module).items():
            if x is f:
                return ".".join(filter(None, ("torch", path, name)))
    return None


def is_tensor_method_or_property(func: _Any) -> bool:
    """Whether a function is a method of Tensor, or the `__get__` or `__set__` of a property of it."""
    return (resolve_name(func) or "").startswith("torch.Tensor.")


def wrap_torch_function(dispatcher: _Any) -> _Any:
    """Decorator of a function of the user's own: the types of what `dispatcher(*args)` gives are asked for its result first."""

    def decorator(function: _Any) -> _Any:
        @_functools.wraps(function)
        def asked(*args: _Any, **kwargs: _Any) -> _Any:
            relevant = dispatcher(*args, **kwargs)
            if not _protocol.state.disabled and has_torch_function(relevant):
                return handle_torch_function(asked, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asked

    return decorator


def get_overridable_functions() -> dict[_Any, list[_Any]]:
    """The functions that ask the types of their arguments, by the module or class that offers them."""
    from .. import torch

    found: dict[_Any, list[_Any]] = {}
    for path in ("", *_protocol._NAMESPACES):
        module = torch
        for part in path.split(".") if path else ():
            module = getattr(module, part)
        found[module] = [
            f for name, f in vars(module).items()
            if isinstance(f, _FunctionType) and not name.startswith("_") and name not in _protocol._NOT_ASKED
        ]  # fmt: skip
    found[_Tensor] = [
        f for name, f in vars(_Tensor).items() if isinstance(f, _FunctionType) and name not in _protocol._NOT_ASKED
    ]
    return found


def get_testing_overrides() -> dict[_Any, _Any]:
    """For each function that asks, one that takes anything and gives -1."""

    def any_of(*args: _Any, **kwargs: _Any) -> int:
        return -1

    return {f: any_of for functions in get_overridable_functions().values() for f in functions}


def get_default_nowrap_functions() -> set[_Any]:
    """What gives tensors that are not put into the subclass."""
    return {p.__get__ for p in _protocol._UNCONVERTED}


__getattr__ = _attributes(globals())
