"""`mindspore.ops.operations`, imported as `P` in older programs: the Primitive classes."""

from __future__ import annotations

from typing import Any

from .._paths import offer_paths


def __getattr__(name: str) -> Any:
    from .. import ops

    return getattr(ops, name)


offer_paths(__name__)
