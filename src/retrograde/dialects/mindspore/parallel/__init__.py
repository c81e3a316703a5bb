"""`mindspore.parallel`: what programs for several devices ask for; there is one here."""

from __future__ import annotations

from typing import Any

from .._api import missing


def __getattr__(name: str) -> Any:
    raise missing("mindspore.parallel", name, globals())
