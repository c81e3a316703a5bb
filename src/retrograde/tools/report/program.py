"""`retrograde run --report FILE`: a program is watched while it runs, and at the end a page says how it went."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from ..pages import page
from .model import modelled
from .watch import Reporting


@contextlib.contextmanager
def reporting(path: str) -> Iterator[None]:
    """Watch what is computed within, and write the page at the end, however the program ends."""
    output, watch = os.path.abspath(path), Reporting()
    try:
        with watch:
            yield
    finally:
        watch.name_parameters()
        content = page("report.html", modelled(watch, os.path.basename(sys.argv[0]))).encode()
        with open(output, "wb") as file:
            file.write(content)
        steps = watch.steps()
        told = f"{steps} step{'s' * (steps != 1)} of {len(watch.parameters)} parameters"
        print(f"retrograde: {path}: {told}; {len(content) / 1e6:.2f} MB", file=sys.stderr)
