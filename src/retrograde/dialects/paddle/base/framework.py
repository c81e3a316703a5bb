"""`paddle.base.framework` and `paddle.framework`: parameters, modes, and names that programs take from there."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from .. import _creation
from .._api import FUNCTIONS as _F
from .._device import CPU, CPUPlace, CUDAPinnedPlace, CUDAPlace, is_compiled_with_cuda
from .._dtype import as_dtype, get_default_dtype, set_default_dtype
from .._flags import get_flags, in_dynamic_mode, set_flags
from .._gradients import grad, is_grad_enabled, no_grad, set_grad_enabled
from .._parameter import EagerParamBase, ParamAttr, Parameter, create_parameter, unique_name
from .._paths import otherwise as _otherwise
from .._save_load import clear_async_save_task_queue
from .._tensor import Tensor
from . import core

Variable = Tensor
in_dygraph_mode = in_dynamic_or_pir_mode = in_dynamic_mode
use_pir_api = in_dynamic_mode
deprecate_stat_dict = lambda cls: cls  # noqa: E731 - a decorator that changes nothing


def in_pir_mode() -> bool:
    """False: programs run operation by operation."""
    return False


def dygraph_only(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: everything runs in dynamic mode."""
    return f


def _current_expected_place() -> CPUPlace:
    return CPU


def _set_expected_place(place: Any) -> None:
    _creation.to_tensor(0, place=place)


def _dygraph_tracer() -> Any:
    """What records operations: something that is there, as in dynamic mode."""
    return _TRACER


class _Tracer:
    @property
    def _has_grad(self) -> bool:
        return is_grad_enabled()


_TRACER = _Tracer()


@contextlib.contextmanager
def _dygraph_guard(tracer: Any) -> Iterator[None]:
    yield


_test_eager_guard = _dygraph_guard


def _global_flags() -> dict[str, Any]:
    return core.globals()


def convert_np_dtype_to_dtype_(np_dtype: Any) -> Any:
    """PaddlePaddle's dtype for NumPy's."""
    return as_dtype("convert_np_dtype_to_dtype_", np_dtype)


def check_type(input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = "") -> None:
    """Nothing: types are checked where a static program is written, and there is none here."""


check_dtype = check_variable_and_dtype = check_type


def convert_dtype(dtype: Any) -> str:
    """The name of a dtype."""
    return str(as_dtype("convert_dtype", dtype).label)


def signature_safe_contextmanager(f: Callable[..., Any]) -> Callable[..., Any]:
    """`contextlib.contextmanager`."""
    return contextlib.contextmanager(f)


def wrap_decorator(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator whose functions keep the name of those that they stand for."""

    def wrapped(f: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(f)(decorator(f))

    return wrapped


_FUNCTIONS = ("async_save", "get_rng_state", "load", "save", "seed", "set_rng_state")
__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "EagerParamBase", "ParamAttr", "Parameter", "Variable", "check_dtype",
    "check_type", "check_variable_and_dtype", "clear_async_save_task_queue", "convert_dtype", "convert_np_dtype_to_dtype_",
    "core", "create_parameter", "deprecate_stat_dict", "dygraph_only", "get_default_dtype", "get_flags", "grad",
    "in_dygraph_mode", "in_dynamic_mode", "in_dynamic_or_pir_mode", "in_pir_mode", "is_compiled_with_cuda",
    "is_grad_enabled", "no_grad", "set_default_dtype", "set_flags", "set_grad_enabled", "signature_safe_contextmanager",
    "unique_name", "use_pir_api", "wrap_decorator",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return _F[name]
    return _otherwise("paddle.framework", name, globals())
