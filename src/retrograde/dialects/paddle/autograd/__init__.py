"""`paddle.autograd`: backward passes, functions with a derivative of their own, Jacobians and Hessians."""

from __future__ import annotations

from ..._shared.custom_functions import saved_tensors_hooks
from .._api import attributes as _attributes
from .._gradients import backward, enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from ._derivatives import Hessian, Jacobian, hessian, jacobian
from .py_layer import Function, PyLayer, PyLayerContext

__all__ = [
    "Function", "Hessian", "Jacobian", "PyLayer", "PyLayerContext", "backward", "enable_grad", "grad", "hessian",
    "is_grad_enabled", "jacobian", "no_grad", "saved_tensors_hooks", "set_grad_enabled",
]  # fmt: skip

__getattr__ = _attributes(globals())
