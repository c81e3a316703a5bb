"""What parameters are to begin with, as one process tells another: where in a record's file of values that lies (`--start-from`).

The values themselves are read one by one when a program has come to them: a copy for each process would be as large as its
parameters.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .record import VALUES, Kept, dtype_named


class Start(NamedTuple):
    """A value of a record that another begins with."""

    kept: Kept
    turned: bool = False
    """Whether its transpose is meant."""


class Given(Mapping[int, np.ndarray]):
    """The number of a value -> what it is to be."""

    def __init__(self, path: Path) -> None:
        with open(path, "rb") as file:
            folder, self._starts = pickle.load(file)  # noqa: S301 - what a process of ours has written a moment ago
        self._content = Path(folder) / VALUES

    def __getitem__(self, number: int) -> np.ndarray:
        kept, turned = self._starts[number]
        found = np.fromfile(self._content, dtype_named(kept.dtype), math.prod(kept.shape), offset=kept.offset).reshape(kept.shape)
        return found.T if turned else found

    def __iter__(self) -> Iterator[int]:
        return iter(self._starts)

    def __len__(self) -> int:
        return len(self._starts)


def give(path: Path, folder: Path, starts: Mapping[int, Start]) -> None:
    """Write down what values are to be: these of the record in a folder."""
    path.write_bytes(pickle.dumps((str(folder), dict(starts))))
