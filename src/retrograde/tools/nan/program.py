"""`retrograde run --nan`: a program is watched while it runs, and at the end it is said where the first nan began."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator

from ..._state import observe
from . import report_of
from .watch import Watch


@contextlib.contextmanager
def watching(as_json: bool) -> Iterator[None]:
    """Watch what is computed within, and say at the end where the first nan began, however the program ends.

    as_json: on standard output, to which nothing else goes: what the program prints goes to standard error.
    """
    watch, out = Watch(), sys.stdout
    try:
        with observe(watch, everywhere=True), contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
            yield
    finally:
        report = report_of(watch.finding())
        if as_json:
            print(json.dumps(report.as_json()), file=out, flush=True)
        else:
            print(f"retrograde: {report}", file=sys.stderr)
