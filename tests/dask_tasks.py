"""What the tasks of a Dask graph give, seen while they run."""

from typing import Any

import dask.callbacks
import numpy as np


class Longest(dask.callbacks.Callback):  # type: ignore[misc]
    """The longest first axis of an array that a task has given: `rows`."""

    def __init__(self) -> None:
        self.rows = 0

    def _posttask(self, key: Any, result: Any, dsk: Any, state: Any, worker: Any) -> None:
        for part in result if isinstance(result, tuple) else (result,):
            if isinstance(part, np.ndarray) and part.ndim:
                self.rows = max(self.rows, len(part))
