"""`torch.autograd.profiler`: the older profile, and regions by name."""

from __future__ import annotations

import contextlib
from typing import Any

from ....tape import profiling
from .._api import attributes as _attributes
from .._profile_events import (
    EventList,
    FunctionEventAvg,
    Profiled,
    derivative_name,
    function_events,
    note_unrecorded,
    operation_name,
    pass_name,
)  # fmt: skip


class record_function(contextlib.ContextDecorator):
    """A named region: a context, or a decorator of a function; profiles show it by its name."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._regions: list[profiling.Region] = []

    def __enter__(self) -> record_function:
        self._regions.append(profiling.Region(self.name))
        self._regions[-1].__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._regions.pop().__exit__()


class Recording:
    """A profiler that runs, with the steps of optimisers as regions."""

    def __init__(self) -> None:
        from ..optim import optimizer

        self._profiler = profiling.Profiler(operation_name, derivative_name, pass_name)
        self._steps: list[profiling.Event] = []
        self._profiler.start()
        self._hooks = (
            optimizer.register_optimizer_step_pre_hook(self._step_begins),
            optimizer.register_optimizer_step_post_hook(self._step_ends),
        )

    def _step_begins(self, opt: Any, args: Any, kwargs: Any) -> None:
        name = type(opt).__name__
        self._steps.append(self._profiler.begin(profiling.REGION, f"Optimizer.step#{name}.step"))

    def _step_ends(self, opt: Any, args: Any, kwargs: Any) -> None:
        if self._steps:
            self._profiler.finish(self._steps.pop())

    def stop(self, record_shapes: bool, profile_memory: bool) -> EventList:
        """End, and give what was recorded."""
        for hook in self._hooks:
            hook.remove()
        self._profiler.stop()
        return function_events(self._profiler, record_shapes, profile_memory)


class profile(Profiled):
    """A context in which operations are counted and timed; with `enabled=False` it gives None and does nothing.

    Raises RuntimeError where a profile runs already; warns where something is asked for that is not recorded.
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None, record_shapes: bool = False,
        with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False,
        use_kineto: bool = False, use_cpu: bool = True, experimental_config: Any = None, acc_events: bool = False,
        custom_trace_id_callback: Any = None, post_processing_timeout_s: float | None = None, activity_filters: Any = None,
    ) -> None:  # fmt: skip
        note_unrecorded(
            "autograd.profiler.profile", with_stack=with_stack, with_flops=with_flops, with_modules=with_modules,
            use_cuda=use_cuda, use_device=use_device not in (None, "cpu"),
        )  # fmt: skip
        self.enabled, self.record_shapes, self.profile_memory = enabled, record_shapes, profile_memory
        self.entered = False
        self._recording: Recording | None = None
        self._found: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("autograd.profiler.profile: this profile has been used already; make another one")
        self.entered = True
        self._recording = Recording()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._recording is not None:
            self._found = self._recording.stop(self.record_shapes, self.profile_memory)
            self._recording = None

    @property
    def function_events(self) -> EventList:
        """All events; raises RuntimeError before the end of the context."""
        if self._found is None:
            raise RuntimeError("autograd.profiler.profile: nothing has been recorded; the context has not ended yet")
        return self._found

    def _events(self) -> EventList:
        return self.function_events

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as a table; see EventList.table."""
        return self.function_events.table(*args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        """All events as one."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events together, in microseconds."""
        return self.function_events.self_cpu_time_total

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._found is None else repr(self._found)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._found is None else str(self._found)


def _of_a_tool(name: str, tool: str) -> type:
    def refuse(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name}: retrograde's torch dialect marks nothing for {tool}; use torch.profiler.profile")

    return type(name, (), {"__new__": refuse, "__doc__": f"Marks for {tool}; raises NotImplementedError when it is made."})


emit_nvtx, emit_itt = _of_a_tool("emit_nvtx", "NVIDIA's profiler"), _of_a_tool("emit_itt", "Intel's profiler")

__getattr__ = _attributes(globals())

__all__ = ["EventList", "FunctionEventAvg", "profile", "record_function"]
