"""`torch._custom_ops`: the first names of the functions that define operations of a program's own."""

from __future__ import annotations

from typing import Any, NoReturn

from . import library as _functions
from ._api import missing

custom_op, impl = _functions.custom_op, _functions.impl


def get_ctx() -> NoReturn:
    """Raises RuntimeError: what an operation's output looks like is found by computing it."""
    raise RuntimeError("get_ctx: no output is described here without being computed; ask inside register_fake only")


def __getattr__(name: str) -> Any:
    raise missing("torch._custom_ops", name, globals())
