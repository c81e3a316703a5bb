"""Pooling as layers."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ._simple import REQUIRED, layer_of

_WINDOW = ("kernel_size", "stride", "padding")
_FORMATS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def _max(n: int) -> Any:
    options = {"kernel_size": REQUIRED, "stride": None, "padding": 0, "return_mask": False, "ceil_mode": False}
    if n > 1:
        options["data_format"] = _FORMATS[n]
    return layer_of(f"MaxPool{n}D", getattr(F, f"max_pool{n}d"), "The largest element of each window.", options,
                    shown=_WINDOW)  # fmt: skip


def _avg(n: int) -> Any:
    options: dict[str, Any] = {"kernel_size": REQUIRED, "stride": None, "padding": 0}
    if n == 1:
        options |= {"exclusive": True, "ceil_mode": False}
    else:
        options |= {"ceil_mode": False, "exclusive": True, "divisor_override": None, "data_format": _FORMATS[n]}
    return layer_of(f"AvgPool{n}D", getattr(F, f"avg_pool{n}d"), "The mean of each window.", options, shown=_WINDOW)


def _adaptive(kind: str, n: int) -> Any:
    options: dict[str, Any] = {"output_size": REQUIRED}
    if kind == "max":
        options["return_mask"] = False
    elif n > 1:
        options["data_format"] = _FORMATS[n]
    text = "The largest elements of parts." if kind == "max" else "The means of parts."
    shown = ("output_size", "return_mask") if kind == "max" else ("output_size",)
    return layer_of(
        f"Adaptive{kind.title()}Pool{n}D", getattr(F, f"adaptive_{kind}_pool{n}d"), text, options, shown=shown
    )


def _unpool(n: int) -> Any:
    options = {"kernel_size": REQUIRED, "stride": None, "padding": 0, "data_format": _FORMATS[n], "output_size": None}
    return layer_of(f"MaxUnPool{n}D", getattr(F, f"max_unpool{n}d"), "Maxima back in their places.", options,
                    shown=("output_size",))  # fmt: skip


def _lp(n: int) -> Any:
    options = {"norm_type": REQUIRED, "kernel_size": REQUIRED, "stride": None, "padding": 0, "ceil_mode": False,
               "data_format": _FORMATS[n]}  # fmt: skip

    def completed(norm_type: Any, kernel_size: Any, stride: Any, **_others: Any) -> dict[str, Any]:
        return {"norm_type": float(norm_type), "stride": kernel_size if stride is None and n == 2 else stride}

    return layer_of(f"LPPool{n}D", getattr(F, f"lp_pool{n}d"), "The p-norm of each window.", options,
                    shown=("norm_type", *_WINDOW), check=completed)  # fmt: skip


def _fractional(n: int) -> Any:
    options = {"output_size": REQUIRED, "kernel_size": None, "random_u": None, "return_mask": False}
    return layer_of(f"FractionalMaxPool{n}D", getattr(F, f"fractional_max_pool{n}d"), "Maxima of windows at random distances.",
                    options, shown=("output_size", "return_mask"))  # fmt: skip


FractionalMaxPool2D, FractionalMaxPool3D = _fractional(2), _fractional(3)
MaxPool1D, MaxPool2D, MaxPool3D = (_max(n) for n in (1, 2, 3))
AvgPool1D, AvgPool2D, AvgPool3D = (_avg(n) for n in (1, 2, 3))
AdaptiveAvgPool1D, AdaptiveAvgPool2D, AdaptiveAvgPool3D = (_adaptive("avg", n) for n in (1, 2, 3))
AdaptiveMaxPool1D, AdaptiveMaxPool2D, AdaptiveMaxPool3D = (_adaptive("max", n) for n in (1, 2, 3))
MaxUnPool1D, MaxUnPool2D, MaxUnPool3D = (_unpool(n) for n in (1, 2, 3))
LPPool1D, LPPool2D = _lp(1), _lp(2)
