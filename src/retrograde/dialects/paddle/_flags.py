"""`paddle.get_flags` and `set_flags`: switches of PaddlePaddle's runtime, of which one means something here."""

from __future__ import annotations

from typing import Any

from ..._state import refresh, state
from ._api import api

_flags: dict[str, Any] = {
    "FLAGS_check_nan_inf": False, "FLAGS_cudnn_deterministic": False, "FLAGS_use_mkldnn": False,
    "FLAGS_sort_sum_gradient": False, "FLAGS_retain_grad_for_all_tensor": False, "FLAGS_benchmark": False,
    "FLAGS_eager_delete_tensor_gb": 0.0, "FLAGS_allocator_strategy": "auto_growth",
    "FLAGS_fraction_of_gpu_memory_to_use": 0.92,
}  # fmt: skip


def _key(name: Any) -> str:
    if not isinstance(name, str) or name not in _flags:
        raise ValueError(f"there is no flag {name!r}; there are {', '.join(_flags)}")
    return name


@api(method=False)
def get_flags(flags: Any) -> dict[str, Any]:
    """The values of flags, by name; raises ValueError for one that there is not, TypeError for what is no name."""
    if not isinstance(flags, (str, list, tuple)):
        raise TypeError(f"get_flags: wanted a name or a list of names, got {type(flags).__name__}")
    return {_key(name): _flags[name] for name in ([flags] if isinstance(flags, str) else flags)}


@api(method=False)
def set_flags(flags: dict[str, Any]) -> None:
    """Set flags by name. FLAGS_check_nan_inf makes backward passes raise where a derivative is nan; the order in which
    gradients are summed (FLAGS_sort_sum_gradient) is always the reverse of the recorded one.

    Raises ValueError for a flag that there is not, TypeError for anything but a dict.
    """
    if not isinstance(flags, dict):
        raise TypeError(f"set_flags: wanted a dict of names and values, got {type(flags).__name__}")
    for name, value in flags.items():
        before = _flags[_key(name)]
        _flags[name] = bool(value) if isinstance(before, bool) else value
    state.anomaly = _flags["FLAGS_check_nan_inf"]
    refresh()


@api(method=False)
def in_dynamic_mode() -> bool:
    """True: programs run operation by operation."""
    return True


@api(method=False)
def disable_static(place: Any = None) -> None:
    """Switch to dynamic mode, the only one."""


@api(method=False)
def enable_static() -> None:
    """Not offered: there is no static mode; raises NotImplementedError."""
    raise NotImplementedError(
        "enable_static: there are no static programs in retrograde's paddle dialect; programs run in dynamic mode, and "
        "paddle.jit.to_static compiles their functions"
    )


@api(method=False)
def disable_signal_handler() -> None:
    """Nothing is to be done: there are no signal handlers."""
