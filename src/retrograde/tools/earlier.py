"""What earlier runs of a program have shown, kept on disk: where it is worth the time to compile (compile/programs/regions.py).

It says where to look and nothing else: what is found there is traced, guarded and confirmed as in a first run. A program is
known by its file, its source and its arguments, for some days.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
import time
from collections.abc import Mapping, Sequence

from .._version import __version__
from ..backend.jit import cache

DAYS = 7
"""How long an entry counts: what a program reads (its data, another module) may have changed, so that it takes other time."""

_NAME = "earlier"

Known = Mapping[int, Sequence[tuple[int, int, bool]]]
"""As in compile/programs/regions.py, which is imported only where something is to be compiled."""


def read(source: bytes, file: str) -> Known | None:
    """What is known of one of the program's files; None where it has not run so before, and nothing in it where there is nothing
    to gain."""
    data = cache.read(_NAME, _key(source, file))
    if data is None:
        return None
    written, known = marshal.loads(data)
    return known if 0 <= time.time() - written < DAYS * 86400 else None


def write(source: bytes, file: str, known: Known) -> None:
    """Keep what a run has shown."""
    said = {number: [tuple(region) for region in regions] for number, regions in known.items()}
    cache.write(_NAME, _key(source, file), marshal.dumps((time.time(), said)))


def _key(source: bytes, file: str) -> str:
    said = __version__, sys.version, file, sys.argv[1:], source
    return hashlib.sha256(marshal.dumps(said, 2)).hexdigest()
