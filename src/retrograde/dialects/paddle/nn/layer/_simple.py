"""Layers without parameters: a function of `nn.functional` with its options kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .layers import Layer

REQUIRED = inspect.Parameter.empty
"""The default of an option that must be given."""


def layer_of(
    name: str, f: Callable[..., Any], text: str, options: dict[str, Any], *, shown: Sequence[str] | None = None,
    check: Callable[..., Any] | None = None, in_training: bool = False, show_name: bool = True,
    changed: Sequence[str] = (),
) -> Any:  # fmt: skip
    """A class of layers that compute `f(*inputs, **options)`.

    options: their names and defaults, in the order of the constructor. shown: those that the text of a layer names (all
    by default); changed: those that it names where they are not the default. check: called with the options when a layer
    is made; a dict that it returns takes their place. in_training: `f` takes `training` too.
    """
    order = [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for key, default in ({**options, "name": None} if show_name else options).items()
    ]
    signature = inspect.Signature(order)
    listed = tuple(options) if shown is None else tuple(shown)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}; it takes {signature}") from None
        bound.apply_defaults()
        if check is not None:
            bound.arguments.update(check(**{key: bound.arguments[key] for key in options}) or {})
        Layer.__init__(self)
        for key, value in bound.arguments.items():
            self.__dict__["_" + key] = value

    def forward(self: Any, *inputs: Any, **extra: Any) -> Any:
        own = self.__dict__
        chosen = {key: own["_" + key] for key in options}
        if in_training:
            chosen["training"] = own["training"]
        return f(*inputs, **chosen, **extra)

    def extra_repr(self: Any) -> str:
        own = self.__dict__
        parts = [f"{key}={own['_' + key]}" for key in listed]
        parts += [f"{key}={own['_' + key]}" for key in changed if own["_" + key] != options[key]]
        if self.__dict__.get("_name"):
            parts.append(f"name={self._name}")
        return ", ".join(parts)

    body = {
        "__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": text, "__signature__": signature,
        "__module__": f.__module__ or __name__,
    }  # fmt: skip
    return type(name, (Layer,), body)


def check_reduction(loss: str) -> Callable[..., None]:
    """A check of the option `reduction`; raises ValueError."""

    def check(reduction: str, **_others: Any) -> None:
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"{loss}: reduction must be 'mean', 'sum' or 'none', got {reduction!r}")

    return check
