"""`torch.autograd`: grad, backward, custom functions, gradient checks, functional forms, forward mode, graph tools."""

from __future__ import annotations

from .._api import attributes as _attributes
from .._grad_modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import _function_levels, forward_ad, functional, grad_mode, graph
from ._entry import Variable, backward, grad
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .grad_mode import is_multithreading_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad", "functional", "grad",
    "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_multithreading_enabled", "no_grad",
    "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip

__getattr__ = _attributes(globals(), "profiler", "variable")  # few programs need them
