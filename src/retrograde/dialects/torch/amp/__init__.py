"""`torch.amp`: mixed precision, on the CPU in bfloat16 or float16, and loss scaling."""

from __future__ import annotations

import collections.abc as _abc
import functools as _functools
import sys as _sys
import types as _types
import warnings as _warnings
from collections.abc import Callable as _Callable
from typing import Any as _Any

import numpy as _np

from ....backend.devices import accelerator as _accelerator
from .. import _autocast, _dtype
from .._api import api as _api
from .._api import attributes as _attributes
from .._autocast import state as _state
from .._conversion import converted as _converted
from .._size import device as _device
from .._tensor import Tensor as _Tensor
from .grad_scaler import GradScaler

_LOWER = (_dtype.bfloat16, _dtype.float16)


class autocast:
    """A region, or as a decorator a function, in which products and convolutions are computed in a lower precision.

    Losses, linear algebra and spectra are computed in float32 there, on CUDA devices sums, powers, softmax and normalisation,
    too; what is on neither list takes its operands as they are. The gradients of float32 leaves are float32. A device that is
    not there, or another dtype than bfloat16 and float16, switches the region off with a warning, as in PyTorch; so does
    bfloat16 on CUDA devices, which CuPy's arrays know nothing of.
    """

    def __init__(
        self, device_type: str, dtype: _Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"autocast: device_type must be a string such as 'cpu', got {type(device_type).__name__}")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"autocast: {device_type!r} is no device that autocast knows; use 'cpu'")
        if dtype is not None and not isinstance(dtype, _dtype.dtype):
            raise ValueError(f"autocast: dtype must be a torch.dtype, got {type(dtype).__name__}")
        self.device = device_type
        self.fast_dtype = dtype if dtype is not None else get_autocast_dtype(device_type)
        self._cache_enabled = _state.cache_enabled if cache_enabled is None else cache_enabled
        if enabled and _served(device_type) == "":
            _warnings.warn(f"autocast: there is no device {device_type!r} here; the region is switched off", stacklevel=2)
            enabled = False
        elif enabled and device_type == "cuda" and self.fast_dtype is not _dtype.float16:
            _warnings.warn(
                f"autocast: regions on CUDA devices are in float16, since CuPy's arrays know no {self.fast_dtype}; it is "
                "switched off", stacklevel=2,
            )  # fmt: skip
            enabled = False
        elif enabled and self.fast_dtype not in _LOWER:
            _warnings.warn(
                f"autocast: regions are in bfloat16 or float16 on the CPU, not {self.fast_dtype}; it is switched off",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled

    def __enter__(self) -> autocast:
        if self._enabled:
            _autocast.install(_sys._getframe(1))
        self._before = (_state.enabled, _state.dtype, _state.cache_enabled, _state.cuda, _state.cuda_dtype)
        autocast_increment_nesting()
        kind = _served(self.device)
        if kind == "cpu":
            _autocast.switch(self._enabled)
            _state.dtype = self.fast_dtype
        elif kind == "cuda":
            _autocast.switch(self._enabled, kind)
            _state.cuda_dtype = self.fast_dtype
        _state.cache_enabled = self._cache_enabled
        return self

    def __exit__(self, *exception: _Any) -> None:
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        before, _state.dtype, _state.cache_enabled, before_on_cuda, _state.cuda_dtype = self._before
        _autocast.switch(before)
        _autocast.switch(before_on_cuda, "cuda")

    def _again(self) -> autocast:
        """Another region like this one."""
        return type(self)(self.device, self.fast_dtype, self._enabled, self._cache_enabled)

    def __call__(self, func: _Callable[..., _Any]) -> _Callable[..., _Any]:
        @_functools.wraps(func)
        def inside(*args: _Any, **kwargs: _Any) -> _Any:
            with self._again():
                return func(*args, **kwargs)

        return inside


autocast_mode = _types.ModuleType(__name__ + ".autocast_mode", "`torch.amp.autocast_mode`: where `autocast` is defined.")
_sys.modules[autocast_mode.__name__] = autocast_mode


def _served(device_type: str) -> str:
    """The kind of a device if regions may be for it: "cpu", and "cuda" where there is a GPU; "" elsewhere."""
    kind: str = _device(device_type).type
    return kind if kind == "cpu" or (kind == "cuda" and _accelerator(kind) is not None) else ""


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows a device."""
    return _device(device_type).type in ("cpu", "cuda", "xpu", "hpu", "mps", "mtia", "maia", "ipu", "xla")


def _cast(x: _Any, d: _Any) -> _Any:
    """Arguments with all floating tensors but those of float64 in the dtype `d`."""
    if isinstance(x, _Tensor):
        return _converted(x, d) if x.is_floating_point() and x.dtype is not _dtype.float64 else x
    if isinstance(x, (str, _np.ndarray)):
        return x
    if isinstance(x, _abc.Mapping):
        return {_cast(key, d): _cast(value, d) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(_cast(value, d) for value in x)
    return x


def custom_fwd(
    fwd: _Callable[..., _Any] | None = None, *, device_type: str, cast_inputs: _Any = None
) -> _Callable[..., _Any]:
    """Decorator of the `forward` of a custom function: notes whether it is in a region, for `custom_bwd`.

    With `cast_inputs` its floating arguments are cast in a region, and the region is left for it.
    """
    if fwd is None:
        return _functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @_functools.wraps(fwd)
    def forward(ctx: _Any, *args: _Any, **kwargs: _Any) -> _Any:
        inside = is_autocast_enabled(device_type)
        ctx._dtype, ctx._fwd_used_autocast = get_autocast_dtype(device_type), inside and cast_inputs is None
        if cast_inputs is None or not inside:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: _Callable[..., _Any] | None = None, *, device_type: str) -> _Callable[..., _Any]:
    """Decorator of the `backward` of a custom function: it runs in a region where its `forward` did."""
    if bwd is None:
        return _functools.partial(custom_bwd, device_type=device_type)

    @_functools.wraps(bwd)
    def backward(ctx: _Any, *args: _Any, **kwargs: _Any) -> _Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return backward


@_api(method=False)
def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether the code runs in an autocast region for a device that is switched on."""
    kind = _device(device_type).type
    return _state.enabled if kind == "cpu" else _state.cuda if kind == "cuda" else False


@_api(method=False)
def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is switched on for the CPU."""
    return _state.enabled


@_api(method=False)
def set_autocast_enabled(device_type: str, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a device, outside a `with` statement."""
    if enabled is None:
        device_type, enabled = "cuda", bool(device_type)
    kind = _served(device_type)
    if not kind:
        if enabled:
            raise RuntimeError(f"set_autocast_enabled: there is no device {device_type!r} here")
        return
    if enabled:
        _autocast.install(_sys._getframe(1))
    _autocast.switch(enabled, kind)


@_api(method=False)
def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Switch autocast on or off for the CPU, outside a `with` statement."""
    set_autocast_enabled("cpu", enabled)


@_api(method=False)
def get_autocast_dtype(device_type: str) -> _dtype.dtype:
    """The dtype that autocast chooses: bfloat16 on the CPU unless a region says otherwise, float16 elsewhere."""
    kind = _device(device_type).type
    return _state.dtype if kind == "cpu" else _state.cuda_dtype if kind == "cuda" else _dtype.float16


@_api(method=False)
def set_autocast_dtype(device_type: str, dtype: _dtype.dtype) -> None:
    """Set the dtype that autocast chooses on the CPU or on CUDA devices; for another device nothing changes."""
    kind = _device(device_type).type
    if kind == "cpu":
        _state.dtype = dtype
    elif kind == "cuda":
        _state.cuda_dtype = dtype


@_api(method=False)
def get_autocast_cpu_dtype() -> _dtype.dtype:
    """The dtype that autocast chooses on the CPU."""
    return _state.dtype


@_api(method=False)
def set_autocast_cpu_dtype(dtype: _dtype.dtype) -> None:
    """Set the dtype that autocast chooses on the CPU."""
    _state.dtype = dtype


@_api(method=False)
def get_autocast_gpu_dtype() -> _dtype.dtype:
    """The dtype that autocast chooses on a GPU."""
    return _state.cuda_dtype


@_api(method=False)
def set_autocast_gpu_dtype(dtype: _dtype.dtype) -> None:
    """Set the dtype that autocast chooses on a GPU."""
    _state.cuda_dtype = dtype


@_api(method=False)
def is_autocast_cache_enabled() -> bool:
    """Whether a region keeps the weights that it has cast."""
    return _state.cache_enabled


@_api(method=False)
def set_autocast_cache_enabled(enabled: bool) -> None:
    """Whether a region keeps the weights that it has cast."""
    _state.cache_enabled = enabled


@_api(method=False)
def clear_autocast_cache() -> None:
    """Forget the weights that regions have cast."""
    _state.cast.clear()


@_api(method=False)
def autocast_increment_nesting() -> int:
    """Note that a region is entered; returns how many there are."""
    _state.nesting += 1
    return _state.nesting


@_api(method=False)
def autocast_decrement_nesting() -> int:
    """Note that a region is left; returns how many there are."""
    _state.nesting -= 1
    return _state.nesting


vars(autocast_mode).update(autocast=autocast, custom_bwd=custom_bwd, custom_fwd=custom_fwd,
                           is_autocast_available=is_autocast_available)  # fmt: skip

__all__ = ["GradScaler", "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "is_autocast_available"]

__getattr__ = _attributes(globals())
