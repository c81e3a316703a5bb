"""`torch.profiler`: regions may be named, a profile is not taken."""

from __future__ import annotations

import contextlib as _contextlib
import enum as _enum
from typing import Any as _Any

from ._api import missing as _missing


class ProfilerActivity(_enum.Enum):
    """What a profile observes."""

    CPU = 0
    CUDA = 2


class record_function(_contextlib.ContextDecorator):
    """A named region; the name serves a profiler, and none runs here."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *exception: _Any) -> None:
        return None


class profile:
    """Raises NotImplementedError: operations are Python and NumPy calls, which Python's own profilers show."""

    def __init__(self, *args: _Any, **kwargs: _Any) -> None:
        raise NotImplementedError(
            "profiler.profile: retrograde's torch dialect has no profiler of its own; run the program under cProfile "
            "(python -m cProfile -m retrograde run SCRIPT), or time it with torch.utils.benchmark.Timer"
        )


def __getattr__(name: str) -> _Any:
    raise _missing("torch.profiler", name, globals())
