"""`paddle.jit`: `to_static` compiles functions and layers (`retrograde.compile`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._tree import flatten
from . import _dtype
from ._api import attributes as _attributes
from ._dtype import get_default_dtype

_enabled = [True]


def to_static(
    function: Any = None, input_spec: Any = None, build_strategy: Any = None, backend: str | None = "CINN", *,
    full_graph: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """The function compiled, or the layer with its `forward` compiled; without one, a decorator that does so.

    Traced once where that is shown to give the same, deferred elsewhere (`retrograde.compile_report()` says which); for sizes
    that vary at once where `input_spec` has one that is not known. Raises UnsupportedError, when it is called, for what cannot
    be traced with `full_graph=True`.
    """
    if function is None:
        return lambda f: to_static(f, input_spec, build_strategy, backend, full_graph=full_graph, **options)
    if getattr(function, "_not_compiled", False):
        return function
    varying = any(-1 in getattr(spec, "shape", ()) for spec in flatten(input_spec)[0])
    dynamic = True if varying else None
    if not hasattr(function, "sublayers"):
        return _compiled(function, whole=full_graph, dynamic=dynamic)
    name = f"{type(function).__qualname__}.forward"
    made = _compiled(function.forward, root=function, whole=full_graph, name=name, dynamic=dynamic)
    object.__setattr__(function, "forward", made)
    return function


def _compiled(f: Callable[..., Any], **options: Any) -> Any:
    from ...compile.compiled import Compiled  # 10 ms, for programs that compile

    if isinstance(f, Compiled):
        return f
    return Compiled(f, ambient=get_default_dtype, plain=_switched_off, steady=_steady, **options)


def _steady() -> Any:
    """Where to look whether both are as they were."""
    return (vars(_dtype), "_default"), (_enabled, 0)


def _switched_off() -> bool:
    return not _enabled[0]


def not_to_static(func: Callable[..., Any] | None = None) -> Any:
    """The function itself, which `to_static` leaves as it is."""
    if func is None:
        return not_to_static
    func._not_compiled = True  # type: ignore[attr-defined]
    return func


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Say whether what `to_static` has made runs compiled."""
    _enabled[0] = bool(enable_to_static_bool)


def ignore_module(modules: list[Any]) -> None:
    """Name modules that a compiler is not to look into; here none is looked into but the program's own."""


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


__getattr__ = _attributes(globals())
