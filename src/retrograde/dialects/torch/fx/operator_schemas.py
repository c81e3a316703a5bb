"""`torch.fx.operator_schemas`: the arguments of a call by the names of the parameters that they fill."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from .._api import attributes
from .._function_protocol import form


class ArgsKwargsPair(NamedTuple):
    """Arguments by place and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _normalized(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], by_name: bool) -> ArgsKwargsPair | None:
    try:
        signature = inspect.signature(f)
        bound = signature.bind(*args, **(kwargs or {}))
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for place, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind is parameter.VAR_POSITIONAL:
            if bound.arguments[name]:
                return None  # they have no names
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(bound.arguments[name])
        elif by_name or place >= len(args):
            named[name] = bound.arguments[name]
        else:
            positional.append(bound.arguments[name])
    return ArgsKwargsPair(tuple(positional), named)


def normalize_function(
    target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, arg_types: Any = None,
    kwarg_types: Any = None, normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:  # fmt: skip
    """The arguments of a function with its defaults filled in; None where its signature does not say."""
    return _normalized(form(target, False), args, kwargs or {}, normalize_to_only_use_kwargs)


def normalize_module(
    root: Any, target: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:  # fmt: skip
    """The same for a submodule's forward; raises RuntimeError where there is no such module."""
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(f"normalize_module: the module has no {target!r}") from error
    return _normalized(module.forward, args, kwargs or {}, normalize_to_only_use_kwargs)


__getattr__ = attributes(globals())
