"""`torch.utils.model_zoo`: the first names of `torch.hub`."""

from __future__ import annotations

import importlib
from typing import Any

from .._api import attributes
from ..hub import load_state_dict_from_url as load_url

__all__ = ["load_url", "tqdm"]


def tqdm(*args: Any, **kwargs: Any) -> Any:
    """The progress bar of the tqdm package; raises ImportError where that is not installed."""
    return importlib.import_module("tqdm").tqdm(*args, **kwargs)


__getattr__ = attributes(globals())
