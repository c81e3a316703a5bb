"""`torch.serialization`: saving and loading, and the classes that a program vouches for. The formats are in `_files/`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._api import attributes
from ._files._safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from ._save_load import get_unsafe_globals_in_checkpoint, load, save
from ._size import device

__all__ = [
    "DEFAULT_PROTOCOL", "MAP_LOCATION", "add_safe_globals", "clear_safe_globals", "get_safe_globals",
    "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save",
]  # fmt: skip

DEFAULT_PROTOCOL = 2
"""Of pickles, where `save` is told none."""

MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None
"""What `load` takes as `map_location`; for annotations."""

__getattr__ = attributes(globals())
