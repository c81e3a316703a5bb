"""Event files for TensorBoard, written through the tensorboard package where it is installed."""

from __future__ import annotations

import importlib
import io
import time
from typing import Any

import numpy as np


def tensorboard(module: str) -> Any:
    """A module of the tensorboard package; raises ImportError where it is not installed."""
    try:
        return importlib.import_module(f"tensorboard.{module}")
    except ImportError as error:
        raise ImportError("event files are written by the tensorboard package; pip install tensorboard") from error


def _value() -> Any:
    return tensorboard("compat.proto.summary_pb2").Summary.Value


class FileWriter:
    """Writes summaries into an event file of a folder."""

    def __init__(self, log_dir: str, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        writer = tensorboard("summary.writer.event_file_writer")
        self._events, self._proto = tensorboard("compat.proto.event_pb2"), tensorboard("compat.proto.summary_pb2")
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

    def add(self, value: Any, step: Any, walltime: Any = None) -> None:
        """Write one value of a step."""
        self.add_summary(self._proto.Summary(value=[value]), step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()


def scalar(tag: str, x: np.ndarray) -> Any:
    """A number."""
    return _value()(tag=tag, simple_value=float(x.reshape(())))


def histogram(tag: str, values: np.ndarray, bins: Any = "auto") -> Any:
    """How numbers are distributed; raises ValueError where there are none."""
    x = values.astype(np.float64).reshape(-1)
    if not x.size:
        raise ValueError(f"a histogram of no values, {tag!r}")
    counts, edges = np.histogram(x, bins=bins)
    made = tensorboard("compat.proto.summary_pb2").HistogramProto(
        min=x.min(), max=x.max(), num=len(x), sum=x.sum(), sum_squares=float(x @ x), bucket_limit=edges[1:].tolist(),
        bucket=counts.tolist(),
    )  # fmt: skip
    return _value()(tag=tag, histo=made)


def image(tag: str, x: np.ndarray) -> Any:
    """An image (H, W) or (H, W, C): numbers from 0 to 1, or bytes. Raises ImportError where pillow is not installed."""
    x = x[..., None] if x.ndim == 2 else x
    x = x if x.dtype == np.uint8 else (x * 255).clip(0, 255).astype(np.uint8)
    try:
        pillow = importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ImportError("images are encoded by pillow; pip install pillow") from error
    file = io.BytesIO()
    pillow.fromarray(x[..., 0] if x.shape[2] == 1 else x).save(file, format="PNG")
    made = tensorboard("compat.proto.summary_pb2").Summary.Image(
        height=x.shape[0], width=x.shape[1], colorspace=x.shape[2], encoded_image_string=file.getvalue()
    )
    return _value()(tag=tag, image=made)


def text(tag: str, string: str) -> Any:
    """A text."""
    summaries = tensorboard("compat.proto.summary_pb2")
    tensor = tensorboard("compat.proto.tensor_pb2").TensorProto(dtype="DT_STRING", string_val=[string.encode()])
    shape = tensorboard("compat.proto.tensor_shape_pb2").TensorShapeProto
    tensor.tensor_shape.CopyFrom(shape(dim=[shape.Dim(size=1)]))
    metadata = summaries.SummaryMetadata(plugin_data=summaries.SummaryMetadata.PluginData(plugin_name="text"))
    return _value()(tag=tag, metadata=metadata, tensor=tensor)
