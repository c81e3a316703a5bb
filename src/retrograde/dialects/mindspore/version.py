"""`mindspore.version`: the version of MindSpore that this dialect follows."""

from __future__ import annotations

from . import __version__

__all__ = ["__version__"]
