"""`mindspore.ops.function`: an older path of the functions."""

from __future__ import annotations

from .functional import __getattr__ as __getattr__
