"""`torch.fx.experimental.symbolic_shapes`: questions about sizes, which are always known here."""

from __future__ import annotations

from typing import Any

from ..._api import attributes


class GuardOnDataDependentSymNode(RuntimeError):
    """A size would have to be known and is not; never raised here."""


def guard_or_false(a: Any) -> bool:
    """The truth of a condition on sizes."""
    return bool(a)


guard_or_true = statically_known_true = guard_size_oblivious = guard_or_false


def free_symbols(val: Any) -> set[Any]:
    """The sizes that are not known: none."""
    return set()


free_unbacked_symbols = free_symbols

__getattr__ = attributes(globals())
