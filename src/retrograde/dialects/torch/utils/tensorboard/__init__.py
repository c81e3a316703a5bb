"""`torch.utils.tensorboard`: files for TensorBoard, written through the tensorboard package where it is installed."""

from __future__ import annotations

import importlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...._shared import event_files as events
from ...._shared.event_files import FileWriter
from ..._api import attributes
from ..._tensor import Tensor

__all__ = ["FileWriter", "SummaryWriter"]


def _array(x: Any) -> np.ndarray:
    return x.detach().numpy() if isinstance(x, Tensor) else np.asarray(x)


class SummaryWriter:
    """Notes numbers, histograms, texts, images and hyperparameters for TensorBoard, in a folder.

    Raises ImportError where the tensorboard package is not installed.
    """

    def __init__(
        self, log_dir: str | None = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10,
        flush_secs: int = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        if not log_dir:
            started = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{started}_{socket.gethostname()}{comment}")
        self.log_dir, self._options = str(log_dir), (max_queue, flush_secs, filename_suffix)
        self._writers: dict[str, FileWriter] = {}
        self.file_writer = self._writer(self.log_dir)

    def _writer(self, folder: str) -> FileWriter:
        if folder not in self._writers:
            self._writers[folder] = FileWriter(folder, *self._options)
        return self._writers[folder]

    def _add(self, value: Any, step: Any, walltime: Any, folder: str | None = None) -> None:
        self._writer(folder or self.log_dir).add(value, step, walltime)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: Any = None, new_style: bool = False,
        double_precision: bool = False,
    ) -> None:  # fmt: skip
        """Note a number."""
        self._add(events.scalar(tag, _array(scalar_value)), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: Any = None
    ) -> None:
        """Note several numbers of one figure, each in a folder of its own."""
        for tag, x in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._add(events.scalar(main_tag, _array(x)), global_step, walltime, folder)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "auto", walltime: Any = None, max_bins: Any = None
    ) -> None:
        """Note how numbers are distributed."""
        made = events.histogram(tag, _array(values), "auto" if bins == "tensorflow" else bins)
        self._add(made, global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: Any = None) -> None:
        """Note a text."""
        self._add(events.text(f"{tag}/text_summary", text_string), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None, dataformats: str = "CHW"
    ) -> None:
        """Note an image: numbers from 0 to 1, or bytes."""
        x = _array(img_tensor)
        order = [dataformats.upper().index(c) for c in "HWC" if c in dataformats.upper()]
        self._add(events.image(tag, x.transpose(order)), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None, dataformats: str = "NCHW"
    ) -> None:
        """Note several images, beside each other."""
        x = _array(img_tensor)
        x = x.transpose([dataformats.upper().index(c) for c in "NHWC"])
        self.add_image(tag, np.concatenate(list(x), axis=1), global_step, walltime, "HWC")

    def add_figure(self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: Any = None) -> None:
        """Note a figure of Matplotlib as an image."""
        figure.canvas.draw()
        self.add_image(tag, np.asarray(figure.canvas.buffer_rgba())[..., :3], global_step, walltime, "HWC")
        if close:
            importlib.import_module("matplotlib.pyplot").close(figure)

    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], hparam_domain_discrete: Any = None,
        run_name: str | None = None, global_step: Any = None,
    ) -> None:  # fmt: skip
        """Note hyperparameters and what came of them, in a folder of their own."""
        summary = events.tensorboard("plugins.hparams.summary_v2")
        plain = {k: v.item() if isinstance(v, Tensor) else v for k, v in hparam_dict.items()}
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        self._writer(folder).add_summary(summary.hparams_pb(plain))
        for tag, x in metric_dict.items():
            value = events.scalar(tag, _array(x))
            self._add(value, global_step, None, folder)

    def _refuse(self, name: str, remedy: str) -> Any:
        raise NotImplementedError(f"SummaryWriter.{name}: not written by retrograde's torch dialect; {remedy}")

    def add_graph(self, *args: Any, **kwargs: Any) -> None:
        """Raises NotImplementedError."""
        self._refuse("add_graph", "torch.fx.symbolic_trace(model).print_readable() shows a model's operations")

    def add_embedding(self, *args: Any, **kwargs: Any) -> None:
        """Raises NotImplementedError."""
        self._refuse("add_embedding", "save the vectors with numpy.savetxt for TensorBoard's projector")

    def flush(self) -> None:
        """Write what waits."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files."""
        for writer in self._writers.values():
            writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


__getattr__ = attributes(globals())
