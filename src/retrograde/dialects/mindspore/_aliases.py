"""Methods that say what a tensor on a CPU is and does where there is nothing to do."""

from __future__ import annotations

from ._api import METHODS

METHODS.update(storage_offset=lambda self: 0, is_init=lambda self: False)
METHODS["is_shared"] = METHODS["is_pinned"] = lambda self: False
METHODS["pin_memory"] = METHODS["set_const_arg"] = METHODS["move_to"] = METHODS["data_sync"] = lambda self, *_, **__: self
