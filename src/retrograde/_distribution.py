"""What `importlib.metadata` is told of a framework whose name a dialect has taken over: its version, nothing else.

Apart from `_activate`, which makes these, because importing `importlib.metadata` takes longer than all of that.
"""

from __future__ import annotations

import importlib
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

DISTRIBUTIONS = {"paddle": "paddlepaddle"}
"""The names under which frameworks are installed, where those are not the names that programs import."""


class DialectDistribution(Distribution):
    """An installed distribution as far as its name and version go, so that version checks see what imports see."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    @property
    def name(self) -> str:
        """The framework's name; known without importing the dialect, which whoever lists distributions relies on."""
        return DISTRIBUTIONS.get(self.dialect, self.dialect)

    def read_text(self, filename: str) -> str | None:
        """The metadata file, made up; any other file does not exist."""
        if filename != "METADATA":
            return None
        version = importlib.import_module(self.dialect).__version__
        return f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {version}\nSummary: retrograde's dialect\n"

    def locate_file(self, path: Any) -> Path:
        """Where a file of the distribution would lie: in the dialect's folder."""
        return Path(importlib.import_module(self.dialect).__file__ or "").parent / path
