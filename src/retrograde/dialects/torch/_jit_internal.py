"""`torch._jit_internal`: names of TorchScript as packages import them from inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ._api import attributes
from .futures import Future
from .jit import _overload, _overload_method, export, ignore, is_scripting, unused

__all__ = [
    "Final", "Future", "_overload", "_overload_method", "boolean_dispatch", "export", "ignore", "is_scripting", "unused",
]  # fmt: skip


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Callable[..., Any], if_false: Callable[..., Any], module_name: str,
    func_name: str,
) -> Callable[..., Any]:  # fmt: skip
    """A function that calls one of two by the truth of an argument."""

    def dispatch(*args: Any, **kwargs: Any) -> Any:
        chosen = args[arg_index] if len(args) > arg_index else kwargs.get(arg_name, default)
        return (if_true if chosen else if_false)(*args, **kwargs)

    dispatch.__name__, dispatch.__module__, dispatch.__doc__ = func_name, module_name, if_true.__doc__ or if_false.__doc__
    return dispatch


__getattr__ = attributes(globals())
