"""`SummaryRecord`: numbers, images, tensors and histograms of a training for TensorBoard, through its package."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._shared import event_files as events
from .._tensor import Tensor
from ..nn import Cell

_REFUSED = ("graph", "train_lineage", "eval_lineage", "dataset_graph", "custom_lineage_data", "LANDSCAPE")


def _image(name: str, x: np.ndarray) -> Any:
    """The first of several images (N, C, H, W)."""
    if x.ndim != 4 or x.shape[1] not in (1, 3):
        raise ValueError(f"SummaryRecord: images are (N, 1 or 3, H, W), got shape {x.shape}")
    picture = x[0].transpose(1, 2, 0).astype(np.float64)
    low, high = picture.min(initial=0), picture.max(initial=1)
    return events.image(name, ((picture - low) / (high - low) * 255).astype(np.uint8))


def _scalar(name: str, x: np.ndarray) -> Any:
    if x.size != 1:
        raise ValueError(f"SummaryRecord: a scalar has one element, {name!r} has shape {x.shape}")
    return events.scalar(name, x)


def _histogram(name: str, x: np.ndarray) -> Any:
    return events.histogram(name, x)


_KINDS: dict[str, Callable[[str, np.ndarray], Any]] = {
    "scalar": _scalar, "image": _image, "histogram": _histogram, "tensor": _histogram,
}  # fmt: skip


class SummaryRecord:
    """Notes values, and writes those of a step into an event file of a folder, which TensorBoard reads (MindInsight does not).

    A tensor is written as the histogram of its elements. Graphs and lineages are refused by name; the options that say how
    MindSpore's own files are made (num_process, max_file_size, export_options) do not count.
    Raises ImportError where the tensorboard package is not installed.
    """

    def __init__(
        self, log_dir: str, file_prefix: str = "events", file_suffix: str = "_MS", num_process: int = 32, network: Any = None,
        max_file_size: int | None = None, raise_exception: bool = False, export_options: Any = None,
    ) -> None:  # fmt: skip
        for what, given in (("log_dir", log_dir), ("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(given, (str, os.PathLike)):
                raise TypeError(f"SummaryRecord: {what} must be a str, got {type(given).__name__}")
        if network is not None and not isinstance(network, Cell):
            raise TypeError(f"SummaryRecord: network must be a Cell, got {type(network).__name__}")
        self._dir, self._mode = os.path.realpath(log_dir), "train"
        os.makedirs(self._dir, exist_ok=True)
        self._file: events.FileWriter | None = events.FileWriter(self._dir, filename_suffix=f".{file_prefix}{file_suffix}")
        self._noted: dict[tuple[str, str], np.ndarray] = {}

    def __enter__(self) -> SummaryRecord:
        if self._file is None:
            raise ValueError("SummaryRecord: it is closed; make another")
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    @property
    def log_dir(self) -> str:
        """The folder."""
        return self._dir

    def set_mode(self, mode: str) -> None:
        """Say which part of a training follows: "train" or "eval"; raises ValueError for another word."""
        if mode not in ("train", "eval"):
            raise ValueError(f"SummaryRecord.set_mode: wanted 'train' or 'eval', got {mode!r}")
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Note a tensor as a "scalar", an "image", a "tensor" or a "histogram", to be written by `record`; of two with one
        name the newest. Raises ValueError for another kind and for a tensor that is none of it, TypeError for no tensor."""
        if plugin in _REFUSED:
            raise NotImplementedError(f"SummaryRecord.add_value: {plugin!r} is of MindInsight's files, which are not written")
        if plugin not in _KINDS:
            raise ValueError(f"SummaryRecord.add_value: plugin must be one of {', '.join(_KINDS)}, got {plugin!r}")
        if not isinstance(name, str) or not name:
            raise ValueError(f"SummaryRecord.add_value: a value has a name, got {name!r}")
        if not isinstance(value, Tensor):
            raise TypeError(f"SummaryRecord.add_value: value must be a Tensor, got {type(value).__name__}")
        array = value.asnumpy()
        if plugin == "scalar":
            _scalar(name, array)
        self._noted[plugin, name] = np.array(array)

    def record(self, step: int, train_network: Any = None, plugin_filter: Callable[[str], bool] | None = None) -> bool:
        """Write what was noted, as of a step, or the kinds for which `plugin_filter` says so; False once it is closed."""
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(f"SummaryRecord.record: step must be an int, got {type(step).__name__}")
        if self._file is None:
            return False
        noted, self._noted = self._noted, {}
        for (plugin, name), array in noted.items():
            if plugin_filter is None or plugin_filter(plugin):
                self._file.add(_KINDS[plugin](name, array), step)
        return True

    def flush(self) -> None:
        """Write what waits."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
