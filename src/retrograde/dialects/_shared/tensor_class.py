"""The metaclass of the dialects' tensors, and what they answer for names that they lack.

No tensor class has `__getattr__`: with it every attribute of every tensor is looked up the slow way (a chain of 100
multiplications, forward and backward, takes 8 % longer). Names that the framework's tensors have and a dialect's have not
stand on the class as `Absent` instead and raise the registry's error; a name that neither has gets Python's own error, to
which `note_missing` adds who answers when nobody has caught it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from ...core.value import Value
from .registry import Registry, named, near


class Absent:
    """A name that a tensor of the framework has and the dialect's has not: reading it raises AttributeError."""

    def __init__(self, registry: Registry, name: str) -> None:
        self.registry, self.name = registry, name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise self.registry.missing(owner.__name__, self.name, lambda: dir(owner))


class TensorClass(type):
    """The metaclass of a dialect's tensor: the class's own attribute errors say what is near."""

    _registry: Registry

    def __getattr__(cls, name: str) -> Any:
        if name == "_registry":  # asked for before `install`
            raise AttributeError(name)
        raise cls._registry.missing(cls.__name__, name, lambda: dir(cls))

    def __dir__(cls) -> list[str]:
        return offered(cls, super().__dir__())


def offered(cls: type, names: Iterable[str]) -> list[str]:
    """The names without those that are absent."""
    absent = {name for base in cls.__mro__ for name, x in vars(base).items() if type(x) is Absent}
    return [name for name in names if name not in absent]


def install(cls: Any, registry: Registry, lacking: str) -> None:
    """Put the registered methods on a tensor class, and `lacking` (names, with spaces) as absent.

    Called once, when every topic file of the dialect has been imported. Raises ValueError where a name is both.
    """
    cls._registry = registry
    for name, f in registry.methods.items():
        if name not in cls.__dict__:
            setattr(cls, name, named(f, name))
    for name in lacking.split():
        if any(name in vars(base) for base in cls.__mro__):
            raise ValueError(f"{cls.__name__}.{name} is listed as absent and is there: take it off the list")
        setattr(cls, name, Absent(registry, name))
    cls.__dir__ = lambda self: offered(type(self), object.__dir__(self))


def note_missing(error: BaseException) -> None:
    """Add to Python's error for a name that a dialect's tensor has not who answers and what is near."""
    obj, name = getattr(error, "obj", None), getattr(error, "name", None)
    if not isinstance(error, AttributeError) or not isinstance(obj, Value) or name is None:
        return
    registry = getattr(type(obj), "_registry", None)
    if registry is not None and str(error).startswith(("'", '"')):  # Python's own words, not the registry's
        error.add_note(
            f"(this is retrograde's {registry.dialect} dialect answering, not {registry.framework}"
            f"{near(name, dir(type(obj)))})"
        )
