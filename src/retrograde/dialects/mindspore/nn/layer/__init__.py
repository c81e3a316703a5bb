"""`mindspore.nn.layer`: an older path of the layers that `mindspore.nn` offers."""

from __future__ import annotations

import sys
from typing import Any

from ..._paths import offer_paths


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name.endswith("Ext"):  # what mint offers without these letters
        from ...mint import nn as mint_nn

        return getattr(mint_nn, name[:-3])
    return getattr(sys.modules[__name__.rpartition(".")[0]], name)


offer_paths(__name__)
