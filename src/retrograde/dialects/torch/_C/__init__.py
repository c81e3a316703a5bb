"""`torch._C`: the few names of PyTorch's binary module that packages reach for."""

from __future__ import annotations

import enum
from typing import Any

from ...._state import state
from .._api import attributes
from .._function_protocol import all_disabled as DisableTorchFunction
from .._function_protocol import disabled as DisableTorchFunctionSubclass
from .._function_protocol import state as _protocol
from .._function_protocol import never as _disabled_torch_function_impl
from .._linalg_error import _LinAlgError
from .._tensor import Tensor
from ..autograd._passes import execution_order as _current_graph_task_execution_order
from ..autograd._passes import graph_task_id as _current_graph_task_id
from ..autograd._passes import will_execute as _will_engine_execute_node
from ..random import Generator
from . import _functorch, _nn

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "Generator", "Graph", "Value", "_LinAlgError",
    "_current_graph_task_execution_order", "_current_graph_task_id", "_disabled_torch_function_impl", "_get_tracing_state",
    "_log_api_usage_once", "_will_engine_execute_node",
]  # fmt: skip


def _log_api_usage_once(event: str) -> None:
    """Nothing: no usage is logged."""


def _get_tracing_state() -> None:
    """None: no TorchScript graph is ever being traced."""


def _are_functorch_transforms_active() -> bool:
    """Whether a functional transform (vmap, grad, jvp ...) is open."""
    return bool(state.levels)


def _is_torch_function_mode_enabled() -> bool:
    """Whether a `TorchFunctionMode` answers for functions."""
    return bool(_protocol.modes)


class DispatchKey(enum.Enum):
    """For what a kernel of an operation of a program's own is, as far as there are such kernels here."""

    CPU = 0
    AutocastCPU = 1
    AutocastCUDA = 2
    AutocastXPU = 3


class DispatchKeySet(frozenset[DispatchKey]):
    """Several of them."""

    def __new__(cls, *keys: Any) -> DispatchKeySet:
        return super().__new__(cls, keys)

    def __or__(self, other: Any) -> DispatchKeySet:
        return DispatchKeySet(*self, *other)


class _ExcludeDispatchKeyGuard:
    """A context that a kernel for autocasting enters; it is called with autocasting off already."""

    def __init__(self, keys: DispatchKeySet) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_TensorMeta = type(Tensor)


class Value:
    """A value of a TorchScript graph: there is none here."""


class Graph:
    """A TorchScript graph: there is none here."""


__getattr__ = attributes(globals())
