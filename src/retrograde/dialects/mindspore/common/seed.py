"""`mindspore.common.seed`: an older path of `set_seed` and `get_seed`."""

from __future__ import annotations

from .._context import get_seed, set_seed

__all__ = ["get_seed", "set_seed"]
