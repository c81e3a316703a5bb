"""`torch.utils.tensorboard`: files for TensorBoard, written through the tensorboard package where it is installed."""

from __future__ import annotations

import importlib
import io
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._api import missing
from ..._tensor import Tensor

__all__ = ["FileWriter", "SummaryWriter"]


def _tensorboard(module: str) -> Any:
    try:
        return importlib.import_module(f"tensorboard.{module}")
    except ImportError as error:
        raise ImportError("SummaryWriter: the tensorboard package writes the files; pip install tensorboard") from error


def _array(x: Any) -> np.ndarray:
    return x.detach().numpy() if isinstance(x, Tensor) else np.asarray(x)


class FileWriter:
    """Writes summaries into an event file of a folder."""

    def __init__(self, log_dir: str, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        writer = _tensorboard("summary.writer.event_file_writer")
        self._events = _tensorboard("compat.proto.event_pb2")
        self.event_writer = writer.EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a summary."""
        event = self._events.Event(summary=summary, wall_time=time.time() if walltime is None else walltime)
        if global_step is not None:
            event.step = int(global_step)
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()


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
        self._proto = _tensorboard("compat.proto.summary_pb2")
        self._writers: dict[str, FileWriter] = {}
        self.file_writer = self._writer(self.log_dir)

    def _writer(self, folder: str) -> FileWriter:
        if folder not in self._writers:
            self._writers[folder] = FileWriter(folder, *self._options)
        return self._writers[folder]

    def _add(self, value: Any, step: Any, walltime: Any, folder: str | None = None) -> None:
        self._writer(folder or self.log_dir).add_summary(self._proto.Summary(value=[value]), step, walltime)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: Any = None, new_style: bool = False,
        double_precision: bool = False,
    ) -> None:  # fmt: skip
        """Note a number."""
        number = float(_array(scalar_value).reshape(()))
        self._add(self._proto.Summary.Value(tag=tag, simple_value=number), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: Any = None
    ) -> None:
        """Note several numbers of one figure, each in a folder of its own."""
        for tag, x in tag_scalar_dict.items():
            value = self._proto.Summary.Value(tag=main_tag, simple_value=float(_array(x).reshape(())))
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._add(value, global_step, walltime, folder)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "auto", walltime: Any = None, max_bins: Any = None
    ) -> None:
        """Note how numbers are distributed."""
        x = _array(values).astype(np.float64).reshape(-1)
        if not x.size:
            raise ValueError("add_histogram: there are no values")
        counts, edges = np.histogram(x, bins="auto" if bins == "tensorflow" else bins)
        made = self._proto.HistogramProto(
            min=x.min(), max=x.max(), num=len(x), sum=x.sum(), sum_squares=float(x @ x), bucket_limit=edges[1:].tolist(),
            bucket=counts.tolist(),
        )  # fmt: skip
        self._add(self._proto.Summary.Value(tag=tag, histo=made), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: Any = None) -> None:
        """Note a text."""
        plugin = self._proto.SummaryMetadata.PluginData(plugin_name="text")
        tensor = _tensorboard("compat.proto.tensor_pb2").TensorProto(dtype="DT_STRING", string_val=[text_string.encode()])
        shape = _tensorboard("compat.proto.tensor_shape_pb2").TensorShapeProto
        tensor.tensor_shape.CopyFrom(shape(dim=[shape.Dim(size=1)]))
        metadata = self._proto.SummaryMetadata(plugin_data=plugin)
        self._add(self._proto.Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=tensor), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None, dataformats: str = "CHW"
    ) -> None:
        """Note an image: numbers from 0 to 1, or bytes."""
        x = _array(img_tensor)
        order = [dataformats.upper().index(c) for c in "HWC" if c in dataformats.upper()]
        x = x.transpose(order)
        x = x[..., None] if x.ndim == 2 else x
        x = x if x.dtype == np.uint8 else (x * 255).clip(0, 255).astype(np.uint8)
        try:
            image = importlib.import_module("PIL.Image")
        except ImportError as error:
            raise ImportError("add_image: pillow encodes the image; pip install pillow") from error
        file = io.BytesIO()
        image.fromarray(x[..., 0] if x.shape[2] == 1 else x).save(file, format="PNG")
        made = self._proto.Summary.Image(
            height=x.shape[0], width=x.shape[1], colorspace=x.shape[2], encoded_image_string=file.getvalue()
        )
        self._add(self._proto.Summary.Value(tag=tag, image=made), global_step, walltime)

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
        summary = _tensorboard("plugins.hparams.summary_v2")
        plain = {k: v.item() if isinstance(v, Tensor) else v for k, v in hparam_dict.items()}
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        self._writer(folder).add_summary(summary.hparams_pb(plain))
        for tag, x in metric_dict.items():
            value = self._proto.Summary.Value(tag=tag, simple_value=float(_array(x).reshape(())))
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


def __getattr__(name: str) -> Any:
    raise missing("torch.utils.tensorboard", name, __all__)
