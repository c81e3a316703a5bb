"""`torch.amp`: mixed precision. Autocast is not offered on the CPU; loss scaling is."""

from __future__ import annotations

import functools as _functools
import warnings as _warnings
from collections.abc import Callable as _Callable
from typing import Any as _Any

from .. import _dtype
from .._api import api as _api
from .._api import missing as _missing
from .._size import device as _device
from .grad_scaler import GradScaler


class autocast:
    """A region, or as a decorator a function, in which operations choose a lower precision: only switched off here.

    `enabled=False` is honoured, and an accelerator that is not there switches the region off with a warning, as in
    PyTorch. Switched on for the CPU it raises NotImplementedError: results in another precision are not silently given.
    """

    def __init__(
        self, device_type: str, dtype: _Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"autocast: device_type must be a string such as 'cpu', got {type(device_type).__name__}")
        _device(device_type)
        if enabled and device_type != "cpu":
            _warnings.warn(f"autocast: there is no device {device_type!r} here; the region is switched off", stacklevel=2)
            enabled = False
        self.device, self._enabled = device_type, enabled
        self.fast_dtype = dtype if dtype is not None else get_autocast_dtype(device_type)

    def __enter__(self) -> autocast:
        if self._enabled:
            raise NotImplementedError(
                "autocast: retrograde's torch dialect computes in the dtype of its operands; use "
                "autocast(..., enabled=False), or convert the model with .to(torch.bfloat16)"
            )
        return self

    def __exit__(self, *exception: _Any) -> None:
        return None

    def __call__(self, func: _Callable[..., _Any]) -> _Callable[..., _Any]:
        @_functools.wraps(func)
        def inside(*args: _Any, **kwargs: _Any) -> _Any:
            with self:
                return func(*args, **kwargs)

        return inside


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast can be switched on for a device: for none here."""
    _device(device_type)
    return False


def custom_fwd(
    fwd: _Callable[..., _Any] | None = None, *, device_type: str, cast_inputs: _Any = None
) -> _Callable[..., _Any]:
    """The `forward` of a custom function itself: outside autocast regions the decorator changes nothing."""
    if fwd is None:
        return _functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    return fwd


def custom_bwd(bwd: _Callable[..., _Any] | None = None, *, device_type: str) -> _Callable[..., _Any]:
    """The `backward` of a custom function itself, as `custom_fwd`."""
    if bwd is None:
        return _functools.partial(custom_bwd, device_type=device_type)
    return bwd


@_api(method=False)
def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether the code runs in an autocast region that is switched on: never."""
    _device(device_type)
    return False


@_api(method=False)
def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is switched on for the CPU: never."""
    return False


@_api(method=False)
def get_autocast_dtype(device_type: str) -> _dtype.dtype:
    """The dtype that autocast would choose: bfloat16 on the CPU, float16 elsewhere."""
    return _dtype.bfloat16 if _device(device_type).type == "cpu" else _dtype.float16


@_api(method=False)
def get_autocast_cpu_dtype() -> _dtype.dtype:
    """The dtype that autocast would choose on the CPU."""
    return _dtype.bfloat16


@_api(method=False)
def get_autocast_gpu_dtype() -> _dtype.dtype:
    """The dtype that autocast would choose on a GPU."""
    return _dtype.float16


@_api(method=False)
def is_autocast_cache_enabled() -> bool:
    """Whether autocast keeps converted weights: nothing is converted."""
    return True


@_api(method=False)
def clear_autocast_cache() -> None:
    """Nothing: autocast keeps no converted weights."""


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def __getattr__(name: str) -> _Any:
    raise _missing("torch.amp", name, globals())
