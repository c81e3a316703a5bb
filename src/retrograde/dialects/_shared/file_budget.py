"""How much memory a file may ask for while it is read.

What is stored in a file as it is needs no more than the file has. Compressed records and pickles can ask for any
multiple of that: they spend from a `Budget`, which is in proportion to the file unless the user gives a number.
"""

from __future__ import annotations

import os
import pickle
from typing import IO

VARIABLE = "RETROGRADE_FILE_MEMORY"

# PyTorch, PaddlePaddle and MindSpore store tensors as they are, and real archives that were compressed afterwards
# shrink to a tenth at most; what is made on purpose reaches 1032 times its size by one compression alone.
_BASE = 2**28
_FACTOR = 32


def stream_size(stream: IO[bytes]) -> int:
    """The length of a stream that can seek, which is left where it was."""
    at = stream.tell()
    end = stream.seek(0, os.SEEK_END)
    stream.seek(at)
    return end


class Budget:
    """What reading one file may take beside the bytes of the file: 256 MiB and 32 times its size.

    The environment variable RETROGRADE_FILE_MEMORY, a number of bytes, stands in the place of that.

    Examples
    --------
    >>> Budget("load", 100).spend(2**40)
    Traceback (most recent call last):
        ...
    _pickle.UnpicklingError: load: the file asks for more than 268438656 bytes of memory, and has 100 itself; ...
    """

    __slots__ = ("_left", "_limit", "_op", "_size")

    def __init__(self, op: str, size: int) -> None:
        given = os.environ.get(VARIABLE)
        if given is not None and not given.isdecimal():
            raise ValueError(f"{op}: the environment variable {VARIABLE} must be a number of bytes, got {given!r}")
        self._op = op
        self._size = size
        self._limit = self._left = int(given) if given is not None else _BASE + _FACTOR * size

    def spend(self, count: int) -> None:
        """Take a number of bytes from it; raises UnpicklingError once more is asked for than there was."""
        self._left -= count
        if self._left < 0:
            raise pickle.UnpicklingError(
                f"{self._op}: the file asks for more than {self._limit} bytes of memory, and has {self._size} itself; "
                f"if you trust it, set the environment variable {VARIABLE} to as many bytes as it may take"
            )
