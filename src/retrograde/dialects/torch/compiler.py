"""`torch.compile` and `torch.compiler`: the identity until retrograde's compiler is there."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ._api import api


@functools.cache
def _say_once() -> None:
    warnings.warn(
        "torch.compile does nothing yet in retrograde's torch dialect: the function runs as it is", stacklevel=3
    )


@api(method=False)
def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Any = None,
    disable: bool = False,
) -> Any:
    """The function itself, or a module around the one given; says once that nothing is compiled yet."""
    if model is None:
        return lambda f: compile(f)
    if not disable:
        _say_once()
    if not disable and hasattr(model, "named_modules"):
        from ._optimized_module import OptimizedModule

        return model if isinstance(model, OptimizedModule) else OptimizedModule(model)
    return model


def is_compiling() -> bool:
    """Whether a compilation is running: never."""
    return False


def disable(fn: Any = None, recursive: bool = True, **_: Any) -> Any:
    """The function itself."""
    return fn if fn is not None else lambda f: f


def reset() -> None:
    """Nothing: there are no compiled functions."""
