"""`paddle.distributed`: what programs ask of it that run in one process, and `recompute`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import nn as _nn
from .._api import missing as _missing
from .._api import submodule as _submodule


def get_rank(group: Any = None) -> int:
    """0: this process is the only one."""
    return 0


def get_world_size(group: Any = None) -> int:
    """1: this process is the only one."""
    return 1


def is_initialized() -> bool:
    """False: nothing connects this process to others."""
    return False


def init_parallel_env() -> ParallelEnv:
    """What is known of this process, which works alone."""
    return ParallelEnv()


class ParallelEnv:
    """What is known of this process among others: it is the only one."""

    rank = local_rank = dev_id = device_id = 0
    world_size = nranks = 1


class DataParallel(_nn.Layer):
    """A layer of which every process would have a copy, in the one process that there is: as the layer itself."""

    def __init__(
        self, layers: Any, strategy: Any = None, comm_buffer_size: int = 25, last_comm_buffer_size: int = 1,
        find_unused_parameters: bool = False, group: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(layers, _nn.Layer):
            raise TypeError(f"DataParallel: wanted a Layer, got {type(layers).__name__}")
        self._layers = layers

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """What the layer computes."""
        return self._layers(*inputs, **options)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in which gradients would stay with their process."""
        yield

    def scale_loss(self, loss: Any) -> Any:
        """The loss over the number of processes: itself."""
        return loss

    def apply_collective_grads(self) -> None:
        """Sum the gradients of all processes, of which there is one."""

    def state_dict(self, *args: Any, **options: Any) -> Any:
        """The state of the layer."""
        return self._layers.state_dict(*args, **options)

    def set_state_dict(self, state_dict: Any, use_structured_name: bool = True) -> Any:
        """Take over the state of a layer."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict


__all__ = ["DataParallel", "ParallelEnv", "get_rank", "get_world_size", "init_parallel_env", "is_initialized"]


def __getattr__(name: str) -> Any:
    if name == "fleet":
        return _submodule(__name__, name)
    raise _missing("paddle.distributed", name, __all__)
