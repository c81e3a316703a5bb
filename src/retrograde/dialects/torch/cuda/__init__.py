"""`torch.cuda`: the CUDA devices that CuPy finds, their memory and streams.

Where there are none, every answer is that of PyTorch's build for the CPU. Random numbers have one stream, the CPU's, which is
what is seeded here, too.
"""

from __future__ import annotations

import sys as _sys
import types as _types
from collections.abc import Iterable as _Iterable
from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

from ....backend.devices import FOUND as _FOUND
from ....backend.devices import Accelerator as _Accelerator
from ....backend.devices import accelerator as _accelerator
from .. import _legacy_types, random
from .._api import attributes as _attributes
from .._size import check_device as _check_device
from .._size import device as _device
from .._tensor import Tensor as _Tensor

_KIND = "cuda"


def _served(op: str, error: type[Exception] = AssertionError) -> _Accelerator:
    """The devices; raises what PyTorch's build for the CPU raises where there are none."""
    found = _accelerator(_KIND)
    if found is None:
        raise error(
            f"torch.cuda.{op}: CuPy finds no GPU here, and retrograde's torch dialect computes on the CPU; guard calls of "
            "torch.cuda with torch.cuda.is_available()"
        )
    return found


def _index(op: str, where: _Any) -> int:
    """The number of a device that is named in any way; the current one for None. Raises for one that is not there."""
    found = _served(op)
    if where is None:
        return found.current()
    if isinstance(where, str):
        where = _device(where)
    if isinstance(where, _device):
        if where.type != _KIND:
            raise ValueError(f"{op}: wanted a CUDA device, got {str(where)!r}")
        where = found.current() if where.index is None else where.index
    if not isinstance(where, int) or isinstance(where, bool):
        raise ValueError(f"{op}: wanted the number of a device, a string or a torch.device, got {where!r}")
    _check_device(op, f"{_KIND}:{where}")
    return where


# ------------------------------------------------------------------------------------------ which devices there are


def is_available() -> bool:
    """Whether CuPy finds a GPU."""
    return _accelerator(_KIND) is not None


def device_count() -> int:
    """How many GPUs there are."""
    found = _accelerator(_KIND)
    return 0 if found is None else found.count()


def is_initialized() -> bool:
    """Whether the GPUs have been looked for, and are there."""
    return _KIND in _FOUND


def init() -> None:
    """Look for the GPUs."""
    _served("init")


def current_device() -> int:
    """The number of the device that "cuda" stands for."""
    return _served("current_device").current()


def set_device(device: _Any) -> None:
    """Let "cuda" stand for another device, in this thread; a number below 0 changes nothing."""
    found = _served("set_device", RuntimeError)
    if isinstance(device, int) and device < 0:
        return
    found.use(_index("set_device", device))


class device:
    """A context in which another device is the current one; None, or a number below 0, changes nothing."""

    def __init__(self, device: _Any) -> None:
        self._served = _served("device", RuntimeError)
        nothing = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if nothing else _index("device", device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = self._served.current()
        if self.idx >= 0:
            self._served.use(self.idx)

    def __exit__(self, *error: object) -> None:
        self._served.use(self.prev_idx)


class device_of(device):
    """A context in which the device of a tensor is the current one; a tensor on the CPU changes nothing."""

    def __init__(self, obj: _Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class _Properties(_NamedTuple):
    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def get_device_properties(device: _Any = None) -> _Properties:
    """Name, compute capability, memory and number of multiprocessors of a device."""
    index = _index("get_device_properties", device)
    found = _served("get_device_properties").properties(index)
    return _Properties(
        found["name"], found["major"], found["minor"], found["totalGlobalMem"], found["multiProcessorCount"]
    )


def get_device_name(device: _Any = None) -> str:
    """The name of a device."""
    return get_device_properties(device).name


def get_device_capability(device: _Any = None) -> tuple[int, int]:
    """The compute capability of a device, major and minor."""
    found = get_device_properties(device)
    return found.major, found.minor


def get_arch_list() -> list[str]:
    """None: CuPy compiles its kernels for the device that is there."""
    return []


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: CuPy's arrays know no bfloat16."""
    return False


def synchronize(device: _Any = None) -> None:
    """Wait until all work of a device is done."""
    if _accelerator(_KIND) is not None:
        _served("synchronize").synchronize(_index("synchronize", device))


def is_current_stream_capturing() -> bool:
    """False: graphs are not captured."""
    return False


# ------------------------------------------------------------------------------------------ memory


def _allocated(device: _Any) -> tuple[int, int]:
    found = _accelerator(_KIND)
    return (0, 0) if found is None else found.allocated(_index("memory_allocated", device))


def memory_allocated(device: _Any = None) -> int:
    """The bytes that CuPy's pool has given out for arrays on a device."""
    return _allocated(device)[0]


def memory_reserved(device: _Any = None) -> int:
    """The bytes that CuPy's pool holds on a device."""
    return _allocated(device)[1]


def max_memory_allocated(device: _Any = None) -> int:
    """The bytes that CuPy's pool holds on a device, which it gets when they are needed and keeps: since it counts no peaks, they
    stand for the most that was in use since `empty_cache` or `reset_peak_memory_stats`."""
    return _allocated(device)[1]


max_memory_reserved = max_memory_allocated


def memory_stats(device: _Any = None) -> dict[str, int]:
    """What the pool counts, by PyTorch's names."""
    used, held = _allocated(device)
    return {
        "allocated_bytes.all.current": used, "allocated_bytes.all.peak": held, "reserved_bytes.all.current": held,
        "reserved_bytes.all.peak": held,
    }  # fmt: skip


def memory_summary(device: _Any = None, abbreviated: bool = False) -> str:
    """What the pool counts, as text."""
    used, held = _allocated(device)
    return f"CuPy's memory pool: {used} bytes in use, {held} bytes held"


def mem_get_info(device: _Any = None) -> tuple[int, int]:
    """The bytes of a device's memory that are free, and all."""
    return _served("mem_get_info").free_and_total(_index("mem_get_info", device))


def empty_cache() -> None:
    """Give back what CuPy's pool holds and no array needs."""
    found = _accelerator(_KIND)
    if found is not None:
        found.release()


def reset_peak_memory_stats(device: _Any = None) -> None:
    """As `empty_cache`, since what the pool holds stands for the peak."""
    empty_cache()


def ipc_collect() -> None:
    """Nothing: memory is not shared with other processes."""


# ------------------------------------------------------------------------------------------ random numbers


def manual_seed(seed: int) -> None:
    """Seed the default generator, the CPU's, which numbers for a GPU are drawn from, too; nothing where there is none."""
    if is_available():
        random.manual_seed(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Seed the default generator from the system; nothing where there is no GPU."""
    if is_available():
        random.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed of the default generator."""
    _served("initial_seed")
    return random.initial_seed()


def get_rng_state(device: _Any = _KIND) -> _Tensor:
    """The state of the default generator."""
    _served("get_rng_state")
    return random.get_rng_state()


def set_rng_state(new_state: _Tensor, device: _Any = _KIND) -> None:
    """Put the default generator into a state."""
    _served("set_rng_state")
    random.set_rng_state(new_state)


def get_rng_state_all() -> list[_Tensor]:
    """The state of the default generator, for each device."""
    return [random.get_rng_state() for _ in range(device_count())]


def set_rng_state_all(new_states: _Iterable[_Tensor]) -> None:
    """Put the default generator into the first of several states."""
    for state in list(new_states)[:1]:
        random.set_rng_state(state)


# ------------------------------------------------------------------------------------------ streams and what there is not


def _refusal(name: str) -> _Any:
    def refuse(*args: _Any, **kwargs: _Any) -> _Any:
        _served(name, RuntimeError)
        raise NotImplementedError(f"torch.cuda.{name}: launches of CuPy's kernels are not recorded; run the step as it is")

    return refuse


graph = make_graphed_callables = _refusal("graph")
CUDAGraph = type("CUDAGraph", (), {"__new__": _refusal("CUDAGraph"), "__doc__": "A recording of kernels: not offered."})

for _name, _d in _legacy_types.NAMES.items():
    globals()[_name] = _types.new_class(
        _name, (), {"metaclass": _legacy_types.LegacyType},
        lambda space, d=_d, name=_name: space.update(
            dtype=d, place="torch.cuda", where=_KIND, __doc__=f"Tensors of dtype {d.name} on a CUDA device."
        ),
    )  # fmt: skip

from .. import OutOfMemoryError  # noqa: E402
from . import amp, nvtx  # noqa: E402
from .streams import (  # noqa: E402
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

memory = _sys.modules[__name__]  # `torch.cuda.memory` has the same functions


_own = _attributes(globals())


def __getattr__(name: str) -> _Any:
    return (random.default_generator,) * device_count() if name == "default_generators" else _own(name)


__all__ = [
    "CUDAGraph", "Event", "OutOfMemoryError", "Stream", "StreamContext", "amp", "current_device", "current_stream",
    "default_stream", "device", "device_count", "device_of", "empty_cache", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "graph", "init", "initial_seed",
    "ipc_collect", "is_available", "is_bf16_supported", "is_current_stream_capturing", "is_initialized",
    "make_graphed_callables", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_reserved", "memory_stats", "memory_summary", "nvtx", "reset_peak_memory_stats", "seed",
    "seed_all", "set_device", "set_rng_state", "set_rng_state_all", "set_stream", "stream", "synchronize",
]  # fmt: skip
