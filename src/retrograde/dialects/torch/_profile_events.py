"""What a profile shows: events, their averages by name, and the table of them; PyTorch's names for operations."""

from __future__ import annotations

import contextlib
import json
import os
import re
import warnings
from collections.abc import Iterable
from typing import Any

from ...tape import profiling
from ._graph_nodes import NAMES, edge_name, node_name

_RENAMED = {
    "to_copy": "_to_copy", "embedding_add": "embedding_dense_backward", "project": "mm", "affine": "addmm",
    "keep_nonzero": "threshold_backward",
}  # fmt: skip
"""Names of operations that derive from no node's name."""


def operation_name(prim: Any, node: Any) -> str:
    """An operation's name, "aten::mul", as its node (if it has one) is shown."""
    name = NAMES.get(prim.name)
    if node is not None:
        # A name may depend on more of a node than there is where nothing was recorded.
        with contextlib.suppress(AttributeError, KeyError, IndexError, TypeError):
            name = node_name(node)
    if not isinstance(name, str):
        return f"aten::{_RENAMED.get(prim.name, prim.name)}"
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"Backward\d*$", "", name)).lower()
    return f"aten::{_RENAMED.get(snake, snake)}"


def derivative_name(node: Any) -> str:
    """A node's name, "MulBackward0"; None stands for the sum into a leaf's gradient."""
    return "torch::autograd::AccumulateGrad" if node is None else edge_name(node)


def pass_name(name: str) -> str:
    """The name of the event around a node's."""
    return f"autograd::engine::evaluate_function: {name}"


# ------------------------------------------------------------------------------------------ numbers as text


def _time(us: float) -> str:
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def _time_in(us: float, unit: str | None) -> str:
    scale = {"s": 1e6, "ms": 1e3, "us": 1.0}
    return _time(us) if unit is None else f"{us / scale[unit]:.3f}{unit}"


def _memory(n: float) -> str:
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(n) >= size:
            return f"{n / size:.2f} {unit}"
    return f"{int(n)} B"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


# ------------------------------------------------------------------------------------------ events


class Interval:
    """When an event began and ended, in microseconds."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


class _Timed:
    """The attributes that events and their averages have in common; times in microseconds."""

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    input_shapes: Any
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    is_user_annotation: bool
    device_time_total = self_device_time_total = device_time = cuda_time = 0.0
    device_memory_usage = self_device_memory_usage = 0
    is_async = is_remote = is_legacy = False
    device_type = "DeviceType.CPU"
    node_id = -1
    flops = 0
    use_device = None
    overload_name = ""

    @property
    def cpu_time(self) -> float:
        """The time of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """The time of one call, with its unit."""
        return _time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """The time of all calls, with its unit."""
        return _time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """The time of all calls without what ran inside, with its unit."""
        return _time(self.self_cpu_time_total)


class FunctionEvent(_Timed):
    """One call: its name, when it ran, what ran inside and around it."""

    count = 1
    cpu_parent: FunctionEvent | None = None

    def __init__(self, id: int, event: profiling.Event, began: int, thread: int) -> None:
        self.id, self.name, self.key, self.thread = id, event.name, event.name, thread
        self.time_range = Interval((event.start - began) / 1e3, (event.end - began) / 1e3)
        self.cpu_time_total = self.time_range.elapsed_us()
        self.input_shapes = list(event.shapes)
        self.self_cpu_memory_usage = event.bytes
        self.is_user_annotation = event.kind == profiling.REGION
        self.cpu_children: list[FunctionEvent] = []

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """The time without what ran inside."""
        return max(self.cpu_time_total - sum(e.cpu_time_total for e in self.cpu_children), 0.0)

    @property
    def cpu_memory_usage(self) -> int:  # type: ignore[override]
        """The bytes of results, those of what ran inside included."""
        return self.self_cpu_memory_usage + sum(e.cpu_memory_usage for e in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} device_type={self.device_type} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[e.id for e in self.cpu_children]} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class FunctionEventAvg(_Timed):
    """The calls of one name together."""

    def __init__(self, key: str = "", input_shapes: Any = "") -> None:
        self.key, self.input_shapes = key, input_shapes
        self.count = self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.is_user_annotation = False

    def add(self, event: Any) -> FunctionEventAvg:
        """Count another call (or the calls of another average); time inside a call of the same name counts once."""
        parent = getattr(event, "cpu_parent", None)
        while parent is not None and parent.key != event.key:
            parent = parent.cpu_parent
        if parent is None:
            self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += event.cpu_memory_usage
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.count += event.count
        self.is_user_annotation = event.is_user_annotation
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f" self_cuda_time=0.000us cuda_time=0.000us input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>"
        )


class EventList(list[Any]):
    """Events, or averages of them; printed as a table."""

    def __init__(self, events: Iterable[Any] = (), profile_memory: bool = False, by_shape: bool = False) -> None:
        super().__init__(events)
        self._profile_memory, self._by_shape = profile_memory, by_shape

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all together, in microseconds."""
        return float(sum(e.self_cpu_time_total for e in self))

    def total_average(self) -> FunctionEventAvg:
        """All as one, named "Total"."""
        total = FunctionEventAvg("Total")
        for e in self:
            total.add(e)
        return total

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The calls of each name (and of each kind of shapes, if asked for) together, in the order they first ran in."""
        groups: dict[tuple[str, str], FunctionEventAvg] = {}
        for e in self:
            shapes = str(e.input_shapes) if group_by_input_shapes else ""
            average = groups.get((e.key, shapes))
            if average is None:
                average = FunctionEventAvg(e.key, e.input_shapes if group_by_input_shapes else "")
                groups[e.key, shapes] = average
            average.add(e)
        return EventList(groups.values(), self._profile_memory, group_by_input_shapes)

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
        top_level_events_only: bool = False, time_unit: str | None = None,
    ) -> str:  # fmt: skip
        """A table of the events, those with most of `sort_by` ("cpu_time_total", "count", ...) first.

        Raises AttributeError for an order that events do not have.
        """
        rows = list(self)
        if sort_by is not None:
            rows.sort(key=lambda e: getattr(e, sort_by.replace("cuda", "device")), reverse=True)
        if not rows:
            return ""
        width = min(max(len(e.key) for e in rows) + 4, max_name_column_width)
        heads = ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        heads += ["CPU Mem", "Self CPU Mem"] if self._profile_memory else []
        heads.append("# of Calls")
        widths = [width, *[12] * len(heads)]
        if self._by_shape:
            heads.append("Input Shapes")
            widths.append(min(max(len(str(e.input_shapes)) for e in rows) + 4, max_shapes_column_width))
        line = "  ".join("-" * w for w in widths) + "  "
        whole = self.self_cpu_time_total
        lines = ["=" * len(line), header] if header is not None else []
        lines += [line, _row(["Name", *heads], widths), line]
        shown = [e for e in rows if not (top_level_events_only and getattr(e, "cpu_parent", None) is not None)]
        for e in shown if row_limit < 0 else shown[:row_limit]:
            name = e.key if len(e.key) <= max_name_column_width else e.key[: max_name_column_width - 3] + "..."
            cells = [
                name, _share(e.self_cpu_time_total, whole), _time_in(e.self_cpu_time_total, time_unit),
                _share(e.cpu_time_total, whole), _time_in(e.cpu_time_total, time_unit), _time_in(e.cpu_time, time_unit),
            ]  # fmt: skip
            if self._profile_memory:
                cells += [_memory(e.cpu_memory_usage), _memory(e.self_cpu_memory_usage)]
            cells.append(str(e.count))
            if self._by_shape:
                cells.append(str(e.input_shapes)[:max_shapes_column_width])
            lines.append(_row(cells, widths))
        lines += [line, f"Self CPU time total: {_time_in(whole, time_unit)}", ""]
        return "\n".join(lines)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a JSON file that trace viewers read."""
        traced = [
            {
                "ph": "X", "cat": "user_annotation" if e.is_user_annotation else "cpu_op", "name": e.name, "pid": os.getpid(),
                "tid": e.thread, "ts": e.time_range.start, "dur": e.time_range.elapsed_us(),
                "args": {"External id": e.id, "Input Dims": e.input_shapes},
            }
            for e in self
        ]  # fmt: skip
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": traced, "traceName": path}, f)

    def __str__(self) -> str:
        return self.table()


class Profiled:
    """What every profile shows of its events, once there are some."""

    def _events(self) -> EventList:
        raise NotImplementedError

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events of each name together."""
        return self._events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the events as a JSON file that trace viewers read."""
        self._events().export_chrome_trace(path)


def note_unrecorded(op: str, **asked: Any) -> None:
    """Warn of what a profile is asked to record and does not."""
    for name, wanted in asked.items():
        if wanted:
            warnings.warn(f"{op}: {name} has no effect, this is not recorded here", UserWarning, stacklevel=3)


def _row(cells: list[str], widths: list[int]) -> str:
    return "".join(f"{cell:>{w}}  " for cell, w in zip(cells, widths))


def function_events(profiler: profiling.Profiler, record_shapes: bool, profile_memory: bool) -> EventList:
    """The events of a profiler that has stopped, in the order they began in."""
    threads: dict[int, int] = {}
    made = {
        event: FunctionEvent(i + 1, event, profiler.began, threads.setdefault(event.thread, len(threads) + 1))
        for i, event in enumerate(profiler.events)
    }
    for event, shown in made.items():
        if not record_shapes:
            shown.input_shapes = []
        if event.parent is not None and event.parent in made:
            shown.cpu_parent = made[event.parent]
            shown.cpu_parent.cpu_children.append(shown)
    return EventList(made.values(), profile_memory)
