"""`paddle.fluid`: the interface of PaddlePaddle before version 2, as far as dynamic programs use it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._api import attributes as _attributes
from .._device import CPUPlace, CUDAPlace, get_device, is_compiled_with_cuda, set_device
from .._flags import get_flags, in_dynamic_mode, set_flags
from .._parameter import ParamAttr, WeightNormParamAttr, unique_name
from .._tensor import Tensor
from ..random import seed as _random_seed
from ..base import core, framework
from . import dygraph
from .dygraph import disable_dygraph, enable_dygraph, load_dygraph, save_dygraph

Variable = VarBase = Tensor


class Program:
    """What stands for a program of the static mode: in dynamic mode only its `random_seed` has a meaning."""

    _seed = 0

    @property
    def random_seed(self) -> int:
        """The seed of random numbers; setting it is `paddle.seed`."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise ValueError(f"random_seed: wanted an int, got {type(seed).__name__}")
        self._seed = seed
        _random_seed(seed)


_main, _startup = Program(), Program()


def default_main_program() -> Program:
    """The program whose `random_seed` old programs set."""
    return _main


def default_startup_program() -> Program:
    """The program whose `random_seed` old programs set before they make parameters."""
    return _startup


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """CPU places, one unless a number of them is given."""
    return [CPUPlace() for _ in range(device_count or 1)]


in_dygraph_mode = in_dynamic_mode
enable_imperative, disable_imperative = enable_dygraph, disable_dygraph


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """A name for what is computed inside; it is shown nowhere."""
    yield


__all__ = [
    "CPUPlace", "CUDAPlace", "ParamAttr", "Program", "Tensor", "VarBase", "Variable", "WeightNormParamAttr", "core",
    "cpu_places", "default_main_program", "default_startup_program", "disable_dygraph", "dygraph", "enable_dygraph",
    "framework", "get_device", "get_flags", "in_dygraph_mode", "is_compiled_with_cuda", "load_dygraph", "name_scope",
    "save_dygraph", "set_device", "set_flags", "unique_name",
]  # fmt: skip

# What needs the layers of paddle.nn is imported when it is asked for.
__getattr__ = _attributes(globals(), "clip", "initializer", "layers", "optimizer", "regularizer", embedding="layers",
                          one_hot="layers")  # fmt: skip
