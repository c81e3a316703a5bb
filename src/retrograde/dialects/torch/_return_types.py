"""Named tuples of results that print and behave like PyTorch's `torch.return_types`."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, ClassVar

TYPES: dict[str, type[ReturnType]] = {}
"""Every return type by name; the module `torch.return_types` shows them."""


class ReturnType(tuple[Any, ...]):
    """A tuple of results whose entries also have names."""

    __slots__ = ()
    _names: ClassVar[tuple[str, ...]] = ()
    n_fields: ClassVar[int] = 0
    n_sequence_fields: ClassVar[int] = 0
    n_unnamed_fields: ClassVar[int] = 0

    def __new__(cls, values: Iterable[Any]) -> ReturnType:
        self = tuple.__new__(cls, values)
        if len(self) != len(cls._names):
            raise TypeError(f"{cls.__module__}.{cls.__name__} takes {len(cls._names)} values, got {len(self)}")
        return self

    def __repr__(self) -> str:
        fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._names, self))
        return f"{type(self).__module__}.{type(self).__name__}(\n{fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self).__name__, tuple(self))


def _rebuild(name: str, values: tuple[Any, ...]) -> ReturnType:
    return TYPES[name](values)


def return_type(name: str, *fields: str) -> type[ReturnType]:
    """The return type of that name with these fields; made once, found again afterwards.

    >>> pair = return_type("doc_pair", "values", "indices")
    >>> pair((1, 2)).indices
    2
    """
    found = TYPES.get(name)
    if found is not None:
        if found._names != fields:
            raise TypeError(f"return type {name!r} has the fields {found._names}, not {fields}")
        return found
    body: dict[str, Any] = {field: property(itemgetter(i), doc=f"The entry {i}.") for i, field in enumerate(fields)}
    body |= {
        "__slots__": (), "_names": fields, "__match_args__": fields, "__module__": "torch.return_types",
        "n_fields": len(fields), "n_sequence_fields": len(fields), "n_unnamed_fields": 0,
    }  # fmt: skip
    made = TYPES[name] = type(name, (ReturnType,), body)
    return made
