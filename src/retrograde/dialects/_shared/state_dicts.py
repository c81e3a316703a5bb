"""State dicts as the frameworks that have them alike make them: modules collect their own state, with hooks around it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple


class _IncompatibleKeys(NamedTuple):
    """The paths that a state dict lacks, and those of it that fit nothing."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


def new_destination() -> Any:
    """An empty state dict, which notes something about each module beside its entries."""
    destination: Any = OrderedDict()
    destination._metadata = OrderedDict()
    return destination


def collected(
    module: Any, destination: Any, prefix: str, keep_vars: bool, note: dict[str, Any], children: dict[str, Any],
    before: Iterable[Any], after: Iterable[Any],
) -> Any:  # fmt: skip
    """What `state_dict` returns: the state of a module, by its `_save_to_state_dict`, and of its children in `destination`.

    before, after: hooks `(module, prefix, keep_vars)` and `(module, state_dict, prefix, note)`; what one of the latter
    returns, if anything, takes the place of the state dict.
    """
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = note
    for hook in before:
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in children.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in after:
        result = hook(module, destination, prefix, note)
        if result is not None:
            destination = result
    return destination
