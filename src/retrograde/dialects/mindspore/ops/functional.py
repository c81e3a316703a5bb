"""`mindspore.ops.functional`, imported as `F` in older programs: the functions."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from .. import ops

    return getattr(ops, name)
