"""`torch.cuda.Stream` and `Event`: CuPy's queues of work and points in them, by PyTorch's names."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .._size import device as torch_device
from . import _index, _served, device


class Stream:
    """A queue of a device's work. Operations within `with torch.cuda.stream(s)` go there.

    Raises RuntimeError where there is no GPU.
    """

    def __init__(self, device: Any = None, priority: int = 0, *, own: Any = None) -> None:
        """own: CuPy's stream that it stands for; a new one if not given."""
        served = _served("Stream", RuntimeError)
        self._index = _index("Stream", device)
        with _on(self._index):
            self._own = served.streams.Stream(non_blocking=True, priority=priority) if own is None else own

    @property
    def device(self) -> torch_device:
        """Whose work it is."""
        return torch_device("cuda", self._index)

    @property
    def cuda_stream(self) -> int:
        """The address of CUDA's own."""
        return int(self._own.ptr)

    def synchronize(self) -> None:
        """Wait until the work is done."""
        self._own.synchronize()

    def query(self) -> bool:
        """Whether the work is done."""
        return bool(self._own.done)

    def record_event(self, event: Event | None = None) -> Event:
        """An event behind the work that is in the queue now."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let the work that comes wait for an event."""
        self._own.wait_event(event._own)

    def wait_stream(self, stream: Stream) -> None:
        """Let the work that comes wait for what another stream has now."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self._index, self.cuda_stream) == (other._index, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self._index, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device=cuda:{self._index} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A point in a stream. Raises RuntimeError where there is no GPU."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        streams = _served("Event", RuntimeError).streams
        self._timed = enable_timing
        self._own = streams.Event(block=blocking, disable_timing=not enable_timing, interprocess=interprocess)

    def record(self, stream: Stream | None = None) -> None:
        """Put it behind the work of a stream, the current one if none is given."""
        self._own.record((current_stream() if stream is None else stream)._own)

    def wait(self, stream: Stream | None = None) -> None:
        """Let the work of a stream that comes wait for it."""
        (current_stream() if stream is None else stream).wait_event(self)

    def query(self) -> bool:
        """Whether it has been reached."""
        return bool(self._own.done)

    def synchronize(self) -> None:
        """Wait until it is reached."""
        self._own.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds to another event; raises RuntimeError where one of them was made without `enable_timing`."""
        if not self._timed or not end_event._timed:
            raise RuntimeError("elapsed_time: both events have to be made with enable_timing=True")
        return float(_served("Event").streams.get_elapsed_time(self._own, end_event._own))


def _on(index: int) -> device:
    return device(index)


class StreamContext:
    """A context in which work goes to a stream, and its device is the current one; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        _served("stream", RuntimeError)
        self.stream, self._device = stream, device(None if stream is None else stream._index)

    def __enter__(self) -> None:
        self._device.__enter__()
        if self.stream is not None:
            self.stream._own.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.stream is not None:
            self.stream._own.__exit__(kind, error, trace)
        self._device.__exit__()


def stream(stream: Stream | None) -> StreamContext:
    """A context in which work goes to a stream."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Let work go to a stream from now on."""
    if stream is not None:
        stream._own.use()


def current_stream(device: Any = None) -> Stream:
    """The stream that work on a device goes to."""
    served, index = _served("current_stream"), _index("current_stream", device)
    with _on(index):
        return Stream(index, own=served.streams.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """The stream that work goes to unless another is chosen."""
    return Stream(_index("default_stream", device), own=_served("default_stream").streams.Stream.null)
