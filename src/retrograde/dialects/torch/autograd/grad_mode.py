"""`torch.autograd.grad_mode`: the modes under their old address."""

from .._grad_modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
