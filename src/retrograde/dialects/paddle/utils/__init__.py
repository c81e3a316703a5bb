"""`paddle.utils`: counted names, DLPack, nested containers, a check of the installation."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ...._tree import flatten as _flatten
from ...._tree import map_structure as _map
from .._api import attributes as _attributes
from .._parameter import unique_name
from . import dlpack

__all__ = ["deprecated", "dlpack", "flatten", "map_structure", "run_check", "try_import", "unique_name"]


def deprecated(since: str = "", update_to: str = "", reason: str = "", level: int = 0) -> Callable[..., Any]:
    """Decorator of a function whose calls warn that it is deprecated."""

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def function(*args: Any, **kwargs: Any) -> Any:
            hint = f"; use {update_to}" if update_to else ""
            warnings.warn(f"{f.__name__} is deprecated{hint}. {reason}", DeprecationWarning, stacklevel=2)
            return f(*args, **kwargs)

        return function

    return decorate


def run_check() -> None:
    """Compute a gradient and say that it works."""
    from .. import to_tensor

    x = to_tensor([1.0, 2.0], stop_gradient=False)
    (x * x).backward()
    if x.grad.tolist() != [2.0, 4.0]:
        raise RuntimeError("run_check: a gradient came out wrong")
    print("retrograde's paddle dialect works on 1 CPU.")


def try_import(module_name: str, err_msg: str | None = None) -> Any:
    """Import a module; raises ImportError with a message of the caller's."""
    import importlib

    try:
        return importlib.import_module(module_name)
    except ImportError:
        raise ImportError(err_msg or f"{module_name} is not installed") from None


def flatten(nest: Any) -> list[Any]:
    """The leaves of nested containers."""
    return list(_flatten(nest)[0])


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """`func` of the leaves of nested containers, in containers of the same structure."""
    return _map(func, *structure)


__getattr__ = _attributes(globals())
