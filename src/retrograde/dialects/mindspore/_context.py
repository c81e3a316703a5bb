"""Global settings: `set_context`, `set_device`, the execution modes, the global seed.

In GRAPH_MODE cells that are called are compiled, which changes nothing that a program computes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend import launch
from .._shared.checks import check
from ._api import near

GRAPH_MODE, PYNATIVE_MODE = 0, 1
IN_GRAPHS: list[bool] = []
"""Not empty in GRAPH_MODE."""
STRICT, COMPATIBLE, LAX = 0, 1, 2
"""The levels of `jit_syntax_level`: how much of Python compiled code may use."""

_DEVICES = ("CPU", "GPU", "Ascend")

_settings: dict[str, Any] = {
    "mode": PYNATIVE_MODE, "device_target": "CPU", "device_id": 0, "save_graphs": 0, "save_graphs_path": ".",
    "deterministic": "OFF", "max_call_depth": 1000, "enable_graph_kernel": False, "graph_kernel_flags": "",
    "reserve_class_name_in_scope": True, "pynative_synchronize": False, "jit_syntax_level": 2, "max_device_memory": 1024.0,
    "mempool_block_size": 1.0, "memory_optimize_level": 0, "memory_offload": "OFF", "ascend_config": {},
    "gpu_config": {}, "check_bprop": False, "enable_compile_cache": None, "compile_cache_path": "",
    "runtime_num_threads": os.cpu_count() or 1, "inter_op_parallel_num": 0, "support_binary": False,
    "print_file_path": "", "env_config_path": "", "variable_memory_max_size": "0", "aoe_tune_mode": "", "aoe_config": {},
    "jit_config": {}, "exec_order": "bfs", "debug_level": 0, "disable_format_transform": False, "jit_level": "",
    "jit_enable_inplace_ops": True, "precompile_only": False, "op_timeout": 900, "infer_boost": "off",
}  # fmt: skip

_CHOICES: dict[str, tuple[Any, ...]] = {
    "mode": (GRAPH_MODE, PYNATIVE_MODE), "device_target": _DEVICES, "deterministic": ("ON", "OFF"),
    "memory_offload": ("ON", "OFF"), "jit_syntax_level": (STRICT, COMPATIBLE, LAX),
    "exec_order": ("bfs", "dfs", "gpto"), "memory_optimize_level": ("O0", "O1"), "save_graphs": (0, 1, 2, 3),
}  # fmt: skip


_RANGES = {"max_call_depth": (1, None), "device_id": (0, 4095)}
"""The least and the greatest values of numeric options that have others than 0 and none."""
_GIGABYTES = ("max_device_memory", "mempool_block_size")


def _checked(key: str, value: Any) -> Any:
    """The value of an option that has no list of choices: of the default's type, and no number below the least."""
    if key in _GIGABYTES:
        try:
            return float(value.removesuffix("GB"))
        except (AttributeError, ValueError):
            raise TypeError(f"set_context: {key} must be a text such as '2.5GB', got {value!r}") from None
    default = _settings[key]
    kind = bool if default is None else type(default)
    if not isinstance(value, kind):
        raise TypeError(f"set_context: {key} must be {kind.__name__}, got {value!r}")
    if kind is int:
        least, greatest = _RANGES.get(key, (0, None))
        if value < least or (greatest is not None and value > greatest):
            most = "" if greatest is None else f", at most {greatest}"
            raise ValueError(f"set_context: {key} must be {least} or more{most}, got {value}")
        return int(value)
    if key == "jit_config" and value not in [{"jit_level": level} for level in ("O0", "O1", "O2")]:
        raise ValueError(f"set_context: jit_config must be a dict such as {{'jit_level': 'O1'}}, got {value!r}")
    return value


def _stored(key: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """What is remembered of a choice, where True is a number too."""
    if key == "memory_optimize_level":
        return choices.index(value)
    if key == "save_graphs" and isinstance(value, bool):
        return 2 if value else 0
    return type(choices[0])(value)


def _refuse_device(op: str, device: Any) -> None:
    if device != "CPU":
        raise RuntimeError(f"{op}: retrograde computes on the CPU; {device} is not available")


def set_context(**kwargs: Any) -> None:
    """Set global options, such as `mode=` and `device_target=`.

    Raises:
        ValueError: an option that there is not, or a value outside its choices.
        TypeError: a value of another type. RuntimeError: a device other than the CPU.
    """
    for key, value in kwargs.items():
        if key not in _settings:
            raise ValueError(f"set_context: there is no option {key!r}{near(key, _settings)}")
        if value is None:
            raise ValueError(f"set_context: {key} must have a value, got None")
        choices = _CHOICES.get(key)
        if choices is None:
            kwargs[key] = _checked(key, value)
        else:
            if not isinstance(value, type(choices[0])):
                raise TypeError(f"set_context: {key} must be one of {choices}, got {value!r}")
            if value not in choices:
                raise ValueError(f"set_context: {key} must be one of {choices}, got {value!r}")
            kwargs[key] = _stored(key, value, choices)
        if key == "device_target":
            _refuse_device("set_context", value)
    _settings.update(kwargs)
    if "mode" in kwargs:
        IN_GRAPHS[:] = [True] if kwargs["mode"] == GRAPH_MODE else []


def get_context(attr_key: str) -> Any:
    """The value of a global option; raises ValueError for one that there is not, TypeError for no string."""
    check("get_context", "attr_key: str", locals())
    if attr_key not in _settings:
        raise ValueError(f"get_context: there is no option {attr_key!r}{near(attr_key, _settings)}")
    return _settings[attr_key]


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Choose the device; raises ValueError for one that does not exist, RuntimeError for another than the CPU."""
    for value, kind in ((device_target, str), (device_id, int)):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"set_device: wanted a {kind.__name__}, got {value!r}")
    if device_target not in _DEVICES:
        raise ValueError(f"set_device: device_target must be one of {_DEVICES}, got {device_target!r}")
    _refuse_device("set_device", device_target)


def get_current_device() -> tuple[str, int]:
    """The device's name and number."""
    return "CPU", 0


def set_deterministic(deterministic: bool) -> None:
    """Ask for the same results in every run, which the CPU gives anyway; raises TypeError for no bool."""
    check("set_deterministic", "deterministic: bool", locals())
    _settings["deterministic"] = "ON" if deterministic else "OFF"


class ParallelMode:
    """The names of parallel modes, all the same on one device."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


_PARALLEL: dict[str, Any] = {
    "parallel_mode": ParallelMode.STAND_ALONE, "device_num": 1, "global_rank": 0, "gradients_mean": False,
    "full_batch": False, "gradient_fp32_sync": True, "enable_parallel_optimizer": False, "loss_repeated_mean": True,
    "parameter_broadcast": False, "search_mode": "recursive_programming",
}  # fmt: skip
_parallel = dict(_PARALLEL)


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Keep the settings of a program; processes that were started together train data-parallel, on a device each.

    Raises RuntimeError for another number of processes than there are, NotImplementedError for modes that divide tensors between
    several, ValueError for an option or value that there is not, TypeError for a value of
    another type.
    """
    for key, value in kwargs.items():
        if key not in _parallel:
            raise ValueError(f"set_auto_parallel_context: there is no option {key!r}{near(key, _parallel)}")
        kind = type(_PARALLEL[key])
        if not isinstance(value, kind):
            raise TypeError(f"set_auto_parallel_context: {key} must be {kind.__name__}, got {value!r}")
        if key == "parallel_mode" and value not in ParallelMode.MODE_LIST:
            raise ValueError(f"set_auto_parallel_context: {key} must be one of {ParallelMode.MODE_LIST}, got {value!r}")
        if value in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL) and launch.started()[1] > 1:
            raise NotImplementedError(
                f"set_auto_parallel_context: {value!r} divides tensors between processes; choose data_parallel"
            )
        here = dict(zip(("global_rank", "device_num"), launch.started()))
        if key in here and value != here[key]:
            kind = RuntimeError if value > 0 else ValueError
            raise kind(
                f"set_auto_parallel_context: {key}={value!r}, but this is process {here['global_rank']} of the "
                f"{here['device_num']} that were started (`retrograde run --processes N`)"
            )
    _parallel.update(kwargs)


def get_auto_parallel_context(attr_key: str) -> Any:
    """The value of a parallel option; raises ValueError for one that there is not."""
    if attr_key not in _parallel:
        raise ValueError(f"get_auto_parallel_context: there is no option {attr_key!r}{near(str(attr_key), _parallel)}")
    return _parallel[attr_key]


def reset_auto_parallel_context() -> None:
    """Set the parallel options to what they were at the start."""
    _parallel.update(_PARALLEL)


# ------------------------------------------------------------------------------------------ the global seed

_seed: list[int] = []

SEEDED: list[Callable[[int], None]] = []
"""Functions to call with the seed when `set_seed` is called: the sources of random numbers put theirs here."""


def set_seed(seed: int) -> None:
    """Set the global seed, also that of `numpy.random`; raises TypeError for no int, ValueError for a negative one."""
    check("set_seed", "seed: int >= 0", locals())
    np.random.seed(seed % 2**32)
    _seed[:] = [seed]
    for f in SEEDED:
        f(seed)


def get_seed() -> int | None:
    """The global seed, None if none has been set."""
    return _seed[0] if _seed else None
