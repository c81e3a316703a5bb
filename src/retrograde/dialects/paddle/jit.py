"""`paddle.jit`: `to_static` gives the function back as it is, run operation by operation; there is no compiler yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._api import missing as _missing


def to_static(
    function: Any = None, input_spec: Any = None, build_strategy: Any = None, backend: str | None = "CINN", **options: Any
) -> Any:
    """The function or layer itself; without one, a decorator that gives it back."""
    if function is None:
        return lambda f: f
    return function


def not_to_static(func: Callable[..., Any] | None = None) -> Any:
    """The function itself."""
    return (lambda f: f) if func is None else func


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Say whether `to_static` compiles; it does not yet, so this changes nothing."""


def ignore_module(modules: list[Any]) -> None:
    """Name modules that `to_static` leaves alone; it leaves all of them alone."""


def save(layer: Any, path: str, input_spec: Any = None, **configs: Any) -> None:
    """Not offered: there is no format for compiled programs; raises NotImplementedError."""
    raise NotImplementedError(
        "paddle.jit.save writes compiled programs, which retrograde does not have; paddle.save(layer.state_dict(), path) "
        "keeps the parameters"
    )


def load(path: str, **configs: Any) -> Any:
    """Not offered: there is no format for compiled programs; raises NotImplementedError."""
    raise NotImplementedError(
        "paddle.jit.load reads compiled programs, which retrograde does not have; build the layer and use "
        "layer.set_state_dict(paddle.load(path))"
    )


def __getattr__(name: str) -> Any:
    raise _missing("paddle.jit", name, globals())
