"""`torch.hub`: models from the network are not offered; the folder for downloads is known."""

from __future__ import annotations

import os as _os
import re as _re
from typing import Any as _Any
from urllib.parse import urlparse as urlparse

from .._shared.registry import defined as _defined
from ._api import attributes as _attributes

_folder: str | None = None


HASH_REGEX = _re.compile(r"-([a-f0-9]*)\.")
"""The beginning of a file's SHA-256 in its name."""


def _get_torch_home() -> str:
    """The folder in which all caches are: `$TORCH_HOME`, by default `~/.cache/torch`."""
    cache = _os.getenv("XDG_CACHE_HOME", "~/.cache")
    return _os.path.expanduser(_os.getenv("TORCH_HOME", _os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder for downloads: what `set_dir` said, or `hub` in `_get_torch_home()`."""
    return _os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def set_dir(d: str | _os.PathLike[str]) -> None:
    """Set the folder for downloads."""
    global _folder
    _folder = _os.path.expanduser(d)


def _refuse(name: str) -> _Any:
    def function(*args: _Any, **kwargs: _Any) -> _Any:
        raise NotImplementedError(
            f"torch.hub.{name}: retrograde's torch dialect downloads nothing; fetch the weights yourself and load them "
            "with torch.load or safetensors"
        )

    return _defined(name, function)


load, list, help, load_state_dict_from_url, download_url_to_file = map(
    _refuse, ("load", "list", "help", "load_state_dict_from_url", "download_url_to_file")
)

__getattr__ = _attributes(globals())
