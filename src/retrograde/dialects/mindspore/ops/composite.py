"""`mindspore.ops.composite`, imported as `C` in older programs: `GradOperation`, `HyperMap` and the like."""

from __future__ import annotations

from typing import Any

from .._paths import offer_paths


def __getattr__(name: str) -> Any:
    from .. import ops

    return getattr(ops, name)


offer_paths(__name__)
