"""What programs ask of the machine and the installation: devices, threads, autocast, determinism."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

from ..._version import __version__ as retrograde_version
from ...backend.devices import accelerator as accelerator_of
from ...backend.jit import threads
from .._shared.registry import defined, submodule
from ._api import api
from ._elementwise import tensor_argument
from ._size import CPU, check_device, default_device, device, place_named, set_default
from ._size import device as torch_device
from ._tensor import Tensor

_matmul_precision = "highest"


@api(method=False)
def set_num_threads(n: int) -> None:
    """How many threads take part in an operation from now on; NumPy's BLAS keeps its own setting."""
    if not isinstance(n, int) or n < 1:
        raise RuntimeError(f"set_num_threads: wanted a positive int, got {n!r}")
    threads.set_count(n)


@api(method=False)
def get_num_threads() -> int:
    """How many threads take part in an operation."""
    return threads.count()


@api(method=False)
def set_num_interop_threads(n: int) -> None:
    """Nothing: operations run one after another."""


@api(method=False)
def get_num_interop_threads() -> int:
    """One: operations run one after another."""
    return 1


_deterministic = _warn_only = False


@api(method=False)
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remember the wish; every operation here is deterministic."""
    global _deterministic, _warn_only
    _deterministic, _warn_only = bool(mode), bool(warn_only)


@api(method=False)
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was told to warn only."""
    return _warn_only


@api(method=False)
def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told."""
    return _deterministic


@api(method=False)
def set_float32_matmul_precision(precision: str) -> None:
    """Remember a precision; matrix products always keep that of their dtype."""
    global _matmul_precision
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"set_float32_matmul_precision: wanted highest, high or medium, got {precision!r}")
    _matmul_precision = precision


@api(method=False)
def get_float32_matmul_precision() -> str:
    """The precision that was asked for."""
    return _matmul_precision


@api(method=False)
def set_default_device(device: Any) -> None:
    """Where tensors are made for which no device is named, in this thread; the CPU for None."""
    check_device("set_default_device", device)
    set_default(CPU if device is None else torch_device(*place_named(device)) if str(device) != "cpu" else CPU)


@api(method=False)
def get_default_device() -> torch_device:
    """Where tensors are made for which no device is named."""
    found = default_device()
    return found if found.type == "cpu" or found.index is not None else torch_device(*place_named(found))


def _module(name: str, doc: str, **members: Any) -> types.ModuleType:
    module = types.ModuleType(f"{__package__}.{name}", doc)
    module.__dict__.update(members)
    sys.modules[module.__name__] = module  # so that `import torch.cuda` finds it
    return module


def _refusal(module: str, error: type[Exception]) -> Any:
    """A function that raises as those do that need a device, which there is none of."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise error(
            f"retrograde's torch dialect computes on the CPU; guard calls of torch.{module} with torch.{module}.is_available()"
        )

    return refuse


def _asking(module: str, names: str, error: type[Exception]) -> dict[str, Any]:
    """Functions by name that refuse."""
    return dict.fromkeys(names.split(), _refusal(module, error))


def _no_device(*args: Any, **kwargs: Any) -> int:
    return 0


def _cpu_scaler(*args: Any, **kwargs: Any) -> Any:
    from .amp import GradScaler

    return GradScaler("cpu", *args, **kwargs)


def _cpu_autocast(enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> Any:
    from .amp import autocast

    return autocast("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


def _switches(*names: str) -> dict[str, Any]:
    """`enable_X` and `X_enabled` for kernels that PyTorch has: they are remembered, and change nothing."""
    flags = dict.fromkeys(names, True)
    made: dict[str, Any] = {}
    for name in names:
        made[f"enable_{name}"] = functools.partial(flags.__setitem__, name)
        made[f"{name}_enabled"] = functools.partial(flags.__getitem__, name)
    return made


@contextlib.contextmanager
def _cudnn_flags(**options: Any) -> Iterator[None]:
    """A context with other settings of a library that is not used."""
    yield


class _AcceleratorIndex:
    """A context in which another device is the current one; None changes nothing."""

    def __init__(self, device: int | None) -> None:
        self._device = _cuda("device_index").device(device)

    def __enter__(self) -> None:
        self._device.__enter__()

    def __exit__(self, *error: object) -> None:
        self._device.__exit__()


def _cuda(name: str) -> Any:
    """`torch.cuda`, for a function of the accelerator; raises RuntimeError where there is none."""
    if accelerator_of("cuda") is None:
        raise RuntimeError(
            f"torch.accelerator.{name}: retrograde's torch dialect computes on the CPU here; guard calls of torch.accelerator "
            "with torch.accelerator.is_available()"
        )
    return submodule(__package__, "cuda")


def _of_cuda(name: str, theirs: str = "") -> Any:
    """A function of the accelerator: that of `torch.cuda`."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(_cuda(name), theirs or name)(*args, **kwargs)

    return defined(name, function, f"`torch.cuda.{theirs or name}`.")


def _synchronize(device: Any = None) -> None:
    """Wait until all work of the accelerator is done; nothing where there is none."""
    if accelerator_of("cuda") is not None:
        _cuda("synchronize").synchronize(device)


def _count() -> int:
    """How many accelerators there are."""
    found = accelerator_of("cuda")
    return 0 if found is None else found.count()


def _current_accelerator(check_available: bool = False) -> Any:
    """The kind of the accelerator, None where there is none."""
    return None if accelerator_of("cuda") is None else device("cuda")


accelerator = _module(
    "accelerator", "`torch.accelerator`: the CUDA devices, where there are any.",
    is_available=lambda: accelerator_of("cuda") is not None, device_count=_count, current_accelerator=_current_accelerator,
    synchronize=_synchronize, device_index=_AcceleratorIndex,
    **{name: _of_cuda(name, theirs) for name, theirs in (
        ("current_device_index", "current_device"), ("current_device_idx", "current_device"),
        ("set_device_index", "set_device"), ("set_device_idx", "set_device"), ("current_stream", ""), ("set_stream", ""),
        ("memory_allocated", ""), ("memory_reserved", ""), ("max_memory_allocated", ""), ("max_memory_reserved", ""),
        ("memory_stats", ""), ("empty_cache", ""), ("reset_peak_memory_stats", ""), ("get_memory_info", "mem_get_info"),
    )},
)  # fmt: skip
cpu = _module(
    "cpu", "`torch.cpu`: the one device there is.", is_available=lambda: True, device_count=lambda: 1,
    current_device=lambda: "cpu", synchronize=lambda device=None: None,
    amp=_module("cpu.amp", "`torch.cpu.amp`: `torch.amp` for the CPU.", autocast=_cpu_autocast,
                GradScaler=_cpu_scaler),
)  # fmt: skip
mps = _module(
    "mps", "`torch.mps`: answers that there is no such device.", is_available=lambda: False, device_count=lambda: 0,
    manual_seed=lambda seed: None,
    **_asking("mps", "synchronize empty_cache get_rng_state set_rng_state seed current_allocated_memory "
              "driver_allocated_memory", RuntimeError),
)  # fmt: skip
xpu = _module(
    "xpu", "`torch.xpu`: answers that there is no such device.", is_available=lambda: False, device_count=lambda: 0,
    is_initialized=lambda: False, manual_seed=lambda seed: None, manual_seed_all=lambda seed: None, empty_cache=lambda: None,
    memory_allocated=_no_device, max_memory_allocated=_no_device, is_bf16_supported=lambda *args, **kwargs: False,
    **_asking("xpu", "current_device get_device_name get_device_properties get_device_capability current_stream "
              "get_rng_state initial_seed mem_get_info init synchronize", AssertionError),
)  # fmt: skip
backends = _module(
    "backends", "`torch.backends`: what is switched on of PyTorch's libraries (nothing).",
    cudnn=_module("backends.cudnn", "", deterministic=False, benchmark=False, enabled=True, allow_tf32=True,
                  is_available=lambda: False, version=lambda: None, flags=_cudnn_flags),
    cuda=_module("backends.cuda", "", is_built=lambda: False,
                 matmul=types.SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                                              allow_bf16_reduced_precision_reduction=True),
                 **_switches("flash_sdp", "math_sdp", "mem_efficient_sdp", "cudnn_sdp")),
    mps=_module("backends.mps", "", is_available=lambda: False, is_built=lambda: False),
    cpu=_module("backends.cpu", "", get_cpu_capability=lambda: "DEFAULT"),  # of the vector units that kernels of uint8 have
    mkl=_module("backends.mkl", "", is_available=lambda: False),
    mkldnn=_module("backends.mkldnn", "", is_available=lambda: False, enabled=True, flags=_cudnn_flags),
    openmp=_module("backends.openmp", "", is_available=lambda: False),
)  # fmt: skip
__config__ = _module(
    "__config__", "`torch.__config__`: how the dialect is built.",
    show=lambda: f"retrograde {retrograde_version}: NumPy computes on the CPU\n", parallel_info=lambda: "one thread\n",
)  # fmt: skip
version = _module("version", "`torch.version`", __version__=f"2.13.0+retrograde.{retrograde_version}", cuda=None, hip=None,
                  git_version="")  # fmt: skip


@api()
def get_device(input: Any) -> int:
    """The number of a tensor's GPU, -1 on the CPU."""
    found = tensor_argument("get_device", input).device
    return -1 if found.type == "cpu" else found.index or 0


_warn_always = False


@api(method=False)
def set_warn_always(b: bool) -> None:
    """Remember whether warnings are wished every time; Python's warning filters decide here."""
    global _warn_always
    _warn_always = bool(b)


@api(method=False)
def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was told."""
    return _warn_always


@api(method=False)
def set_flush_denormal(mode: bool) -> bool:
    """Whether subnormal numbers could be flushed to zero as asked: only their being kept is offered."""
    return not mode


@api(method=False)
def compiled_with_cxx11_abi() -> bool:
    """A property of PyTorch's binaries, True for all current ones."""
    return True


@api(function=False)
def is_distributed(self: Tensor) -> bool:
    """Whether the tensor is spread over processes: never."""
    return False
