"""What packaging is told of a framework whose name a dialect answers: in a process that has activated it, and on the disk.

Apart from `_activate`, which makes the former, because importing `importlib.metadata` takes longer than all of that. The
latter, an installed distribution that satisfies requirements of the framework's name, is written by `retrograde install-shim`.
"""

from __future__ import annotations

import importlib
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

DISTRIBUTIONS = {"paddle": "paddlepaddle"}
"""The names under which frameworks are installed, where those are not the names that programs import."""


INSTALLER = "retrograde"
"""What a distribution's INSTALLER says where `retrograde install-shim` has written it."""


def called(dialect: str) -> str:
    """The name under which a framework is installed."""
    return DISTRIBUTIONS.get(dialect, dialect)


def metadata(dialect: str, version: str) -> str:
    """The METADATA of a distribution that stands for a framework."""
    return (
        f"Metadata-Version: 2.1\nName: {called(dialect)}\nVersion: {version}\n"
        f"Summary: retrograde's {dialect} dialect, which answers `import {dialect}`; not the framework itself\n"
        "Requires-Dist: retrograde\n"
    )


class DialectDistribution(Distribution):
    """An installed distribution as far as its name and version go, so that version checks see what imports see."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    @property
    def name(self) -> str:
        """The framework's name; known without importing the dialect, which whoever lists distributions relies on."""
        return called(self.dialect)

    def read_text(self, filename: str) -> str | None:
        """The metadata file, made up; any other file does not exist."""
        if filename != "METADATA":
            return None
        return metadata(self.dialect, importlib.import_module(self.dialect).__version__)

    def locate_file(self, path: Any) -> Path:
        """Where a file of the distribution would lie: in the dialect's folder."""
        return Path(importlib.import_module(self.dialect).__file__ or "").parent / path
