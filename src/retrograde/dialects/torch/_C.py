"""`torch._C`: the few names of PyTorch's binary module that packages reach for."""

from __future__ import annotations

from typing import Any

from ._api import missing
from ._function_protocol import all_disabled as DisableTorchFunction
from ._function_protocol import disabled as DisableTorchFunctionSubclass
from ._function_protocol import never as _disabled_torch_function_impl
from ._linalg_error import _LinAlgError
from .autograd._passes import execution_order as _current_graph_task_execution_order
from .autograd._passes import graph_task_id as _current_graph_task_id
from .autograd._passes import will_execute as _will_engine_execute_node
from .random import Generator

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "Generator", "Value", "_LinAlgError",
    "_current_graph_task_execution_order", "_current_graph_task_id", "_disabled_torch_function_impl", "_get_tracing_state",
    "_log_api_usage_once", "_will_engine_execute_node",
]  # fmt: skip


def _log_api_usage_once(event: str) -> None:
    """Nothing: no usage is logged."""


def _get_tracing_state() -> None:
    """None: no TorchScript graph is ever being traced."""


class Value:
    """A value of a TorchScript graph: there is none here."""


def __getattr__(name: str) -> Any:
    raise missing("torch._C", name, globals())
