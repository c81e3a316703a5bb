"""`torch._custom_ops`: the first names of `torch.library`'s functions."""

from __future__ import annotations

from typing import Any, NoReturn

from ._api import missing
from .library import custom_op as custom_op
from .library import impl as impl


def get_ctx() -> NoReturn:
    """Raises RuntimeError: what an operation's output looks like is found by computing it."""
    raise RuntimeError("get_ctx: no output is described here without being computed; ask inside register_fake only")


def __getattr__(name: str) -> Any:
    raise missing("torch._custom_ops", name, globals())
