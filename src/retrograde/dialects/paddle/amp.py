"""`paddle.amp`: mixed precision, which PaddlePaddle does on accelerators only. On the CPU regions change no dtype and a
scaler does not scale, here as there."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ._api import attributes

__all__ = [
    "GradScaler", "auto_cast", "autocast", "decorate", "get_autocast_cpu_dtype", "get_autocast_dtype",
    "get_autocast_gpu_dtype", "is_autocast_enabled", "is_bfloat16_supported", "is_float16_supported",
]  # fmt: skip

_LEVELS = ("O0", "OD", "O1", "O2")


def _check_level(op: str, level: str) -> None:
    if level not in _LEVELS:
        raise ValueError(f"{op}: level must be one of {', '.join(_LEVELS)}, got {level!r}")


class auto_cast:
    """A region, or as a decorator a function, that would choose dtypes on an accelerator; on the CPU it changes none.

    Raises ValueError for an unknown level or dtype.
    """

    def __init__(
        self, enable: bool = True, custom_white_list: Any = None, custom_black_list: Any = None, level: str = "O1",
        dtype: str = "float16", use_promote: bool = True,
    ) -> None:  # fmt: skip
        _check_level("auto_cast", level)
        if dtype not in ("float16", "bfloat16"):
            raise ValueError(f"auto_cast: dtype must be 'float16' or 'bfloat16', got {dtype!r}")
        if enable and level != "O0":
            warnings.warn(f"auto_cast: there is no accelerator here; nothing is computed in {dtype}", stacklevel=2)

    def __enter__(self) -> auto_cast:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return inside


autocast = auto_cast


def decorate(
    models: Any, optimizers: Any = None, level: str = "O1", dtype: str = "float16", master_weight: bool | None = None,
    save_dtype: str | None = None, master_grad: bool = False, excluded_layers: Any = None,
) -> Any:  # fmt: skip
    """The models, and the optimizers if given, as they are: there is no accelerator to prepare them for."""
    _check_level("decorate", level)
    return models if optimizers is None else (models, optimizers)


class GradScaler:
    """Would scale losses on an accelerator; on the CPU it is switched off, and its methods pass everything on."""

    def __init__(
        self, enable: bool = True, init_loss_scaling: float = 2.0**16, incr_ratio: float = 2.0,
        decr_ratio: float = 0.5, incr_every_n_steps: int = 2000, decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:  # fmt: skip
        if enable:
            warnings.warn("GradScaler: there is no accelerator here; the scaler is switched off", stacklevel=2)

    def is_enable(self) -> bool:
        """False: nothing is scaled."""
        return False

    def is_use_dynamic_loss_scaling(self) -> bool:
        """False: nothing is scaled."""
        return False

    def scale(self, var: Any) -> Any:
        """The loss as it is."""
        return var

    def unscale_(self, optimizer: Any) -> None:
        """Nothing: gradients are not scaled."""

    def step(self, optimizer: Any) -> None:
        """The optimizer's step."""
        optimizer.step()

    def update(self) -> None:
        """Nothing: there is no scale to adapt."""

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's `minimize`."""
        return optimizer.minimize(*args, **kwargs)

    def state_dict(self) -> dict[str, Any]:
        """Empty: the scaler is switched off."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing: the scaler is switched off."""

    set_state_dict = load_state_dict


def is_float16_supported(device: Any = None) -> bool:
    """False: no accelerator."""
    return False


def is_bfloat16_supported(device: Any = None) -> bool:
    """True: the CPU computes in bfloat16."""
    return True


def is_autocast_enabled(device_type: Any = None) -> bool:
    """False: no region changes dtypes here."""
    return False


def get_autocast_dtype(device_type: Any = None) -> str:
    """The dtype that a region would choose."""
    return "float16"


get_autocast_cpu_dtype = get_autocast_gpu_dtype = get_autocast_dtype

__getattr__ = attributes(globals())
