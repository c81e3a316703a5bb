"""`torch.profiler`: how often and how long operations ran, regions by name; the engine measures (tape/profiling.py)."""

from __future__ import annotations

import enum as _enum
import os as _os
import platform as _platform
import time as _time
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from typing import Any as _Any

from ...tape import profiling as _profiling
from ._api import attributes as _attributes
from ._profile_events import Profiled as _Profiled
from ._profile_events import note_unrecorded as _note_unrecorded
from .autograd.profiler import EventList as _EventList
from .autograd.profiler import Recording as _Recording
from .autograd.profiler import record_function as record_function


class ProfilerActivity(_enum.Enum):
    """What a profile observes; here the CPU is all there is."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(_enum.Enum):
    """What a profile does during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be observed."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> _Callable[[int], ProfilerAction]:
    """Cycles of steps: `wait` without profile, `warmup` to get ready, `active` recorded, `repeat` times (0: for ever).

    Raises AssertionError for counts out of range.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"schedule: wait, warmup, repeat and skip_first must be at least 0 and active at least 1; got wait={wait}, "
            f"warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}"
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if skip_first_wait:
            step += wait
        if step < 0 or (repeat and step >= repeat * length):
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> _Callable[[_Any], None]:
    """A function that writes a profile's trace into a folder."""
    if use_gzip:
        raise NotImplementedError("tensorboard_trace_handler: traces are not compressed here; leave use_gzip out")

    def write(profile: _Any) -> None:
        _os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{_platform.node()}_{_os.getpid()}"
        profile.export_chrome_trace(_os.path.join(dir_name, f"{name}.{_time.time_ns()}.pt.trace.json"))

    return write


class profile(_Profiled):
    """A context in which operations are counted and timed; `key_averages().table()` shows them.

    Only the CPU can be observed; stacks, modules and floating-point operations are not recorded, and asking for them warns.
    The events are the engine's operations, by PyTorch's names, not the many smaller ones that PyTorch splits them into.

    Examples
    --------
    >>> import retrograde.dialects.torch as torch
    >>> from retrograde.dialects.torch.profiler import profile, record_function
    >>> x = torch.ones(3)
    >>> with profile() as prof:
    ...     with record_function("double"):
    ...         y = x * 2
    >>> [(e.key, e.count) for e in prof.key_averages()]
    [('double', 1), ('aten::mul', 1)]
    """

    def __init__(
        self, *, activities: _Iterable[ProfilerActivity] | None = None, schedule: _Callable[[int], ProfilerAction] |
        None = None, on_trace_ready: _Callable[..., _Any] | None = None, record_shapes: bool = False, profile_memory:
        bool = False, with_stack: bool = False, with_flops: bool = False, with_modules: bool = False,
        experimental_config: _Any = None, execution_trace_observer: _Any = None, acc_events: bool = False, use_cuda:
        bool | None = None, custom_trace_id_callback: _Any = None, post_processing_timeout_s: float | None = None,
    ) -> None:  # fmt: skip
        _note_unrecorded("profiler.profile", with_stack=with_stack, with_flops=with_flops, with_modules=with_modules)
        if execution_trace_observer is not None:
            raise NotImplementedError("profiler.profile: execution traces are not written; use export_chrome_trace()")
        self.activities = set(activities) if activities is not None else supported_activities()
        self.schedule, self.on_trace_ready = schedule, on_trace_ready
        self.record_shapes, self.profile_memory, self.acc_events = record_shapes, profile_memory, acc_events
        self.step_num = 0
        self.current_action = ProfilerAction.RECORD_AND_SAVE if schedule is None else schedule(0)
        self._recording: _Recording | None = None
        self._step: _Any = None
        self._found: _EventList | None = None

    def start(self) -> None:
        """Begin; raises AssertionError where there is nothing to observe."""
        if ProfilerActivity.CPU not in self.activities:
            raise AssertionError("profiler.profile: activities names nothing that can be observed; it needs the CPU")
        self._follow(ProfilerAction.NONE)

    def stop(self) -> None:
        """End; what was recorded goes to `on_trace_ready`."""
        if self._recording is not None:
            self._save()

    def step(self) -> None:
        """The end of a step of the program, by which a schedule counts."""
        before = self.current_action
        self.step_num += 1
        if self.schedule is not None:
            self.current_action = self.schedule(self.step_num)
        self._follow(before)

    def _follow(self, before: ProfilerAction) -> None:
        """Do what the schedule says now."""
        self._end_step()
        if before is ProfilerAction.RECORD_AND_SAVE and self.schedule is not None:
            self._save()
        if self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE) and self._recording is None:
            self._recording = _Recording()
        if self._recording is not None and self.schedule is not None:
            self._step = _profiling.Region(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _save(self) -> None:
        self._end_step()
        recording, self._recording = self._recording, None
        if recording is None:
            return
        found = recording.stop(self.record_shapes, self.profile_memory)
        if self.acc_events and self._found is not None:
            found[:0] = self._found
        self._found = found
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def events(self) -> _EventList:
        """All events; raises AssertionError before anything has been recorded."""
        if self._found is None:
            raise AssertionError("profiler.profile: nothing has been recorded yet; use it as a context, then ask")
        return self._found

    _events = events

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Raises AssertionError: stacks are not recorded."""
        raise AssertionError("profiler.export_stacks: stacks are not recorded here")


def kineto_available() -> bool:
    """Whether PyTorch's library for profiles is there: it is not, and is not needed."""
    return False


__getattr__ = _attributes(globals())
