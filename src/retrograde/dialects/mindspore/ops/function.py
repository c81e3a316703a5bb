"""`mindspore.ops.function`: an older path of the functions, those among them that are else methods of tensors."""

from __future__ import annotations

from typing import Any

from .._api import METHODS
from .._paths import offer_paths
from .functional import __getattr__ as _of_ops


def __getattr__(name: str) -> Any:
    try:
        return _of_ops(name)
    except AttributeError:
        if name in METHODS:
            return METHODS[name]
        raise


offer_paths(__name__)
