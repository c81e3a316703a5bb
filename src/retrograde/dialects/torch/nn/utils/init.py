"""`skip_init`: a module without its initial draws."""

from __future__ import annotations

import inspect
from typing import Any

from ...random import default_generator
from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """A module whose parameters are yet to be set: the generator stays where it was.

    Raises RuntimeError for anything that is no Module class or takes no device.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"skip_init: wanted a Module class, got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(f"skip_init: {module_cls.__name__} takes no device")
    before = default_generator.get_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        default_generator.set_state(before)
