"""PyTorch as an array library: its tensors computed with by the array-API standard, without its autograd."""

from __future__ import annotations

import types
from typing import Any

import ml_dtypes
import numpy as np
import torch

from .._errors import GradError
from .lookup import register_backend
from .standard import StandardBackend

if not hasattr(torch, "_C"):
    raise ImportError("the module 'torch' is retrograde's dialect in this process, and PyTorch itself is not loaded")

import array_api_compat.torch as compat  # only with PyTorch itself

_FURTHER = {
    "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0", "y1": "bessel_y1", "k0": "modified_bessel_k0",
    "k1": "modified_bessel_k1", "k0e": "scaled_modified_bessel_k0", "k1e": "scaled_modified_bessel_k1",
}  # fmt: skip
"""The special functions that go by another name than SciPy's, by which kernels ask for them."""


class Namespace:
    """PyTorch's functions by the standard's names, and its special functions by SciPy's."""

    __name__ = compat.__name__
    special = types.SimpleNamespace(
        **vars(torch.special), **{name: getattr(torch.special, theirs) for name, theirs in _FURTHER.items()}
    )

    def __getattr__(self, name: str) -> Any:
        found = getattr(compat, name)
        setattr(self, name, found)
        return found


class TorchBackend(StandardBackend):
    """Evaluates kernels with PyTorch, which knows neither NumPy's bfloat16 nor its strides below zero."""

    def wrap(self, array: Any) -> Any:
        if not isinstance(array, torch.Tensor):
            return super().wrap(array)
        if array.grad_fn is not None:
            raise GradError(
                "a tensor of PyTorch's that its autograd has recorded became an array of retrograde's, which does not go on "
                "with that record; give it detach()"
            )
        return super().wrap(array.detach())

    def on_host(self, array: Any) -> bool:
        return bool(array.array.device.type == "cpu")

    def to_host(self, array: Any) -> np.ndarray:
        tensor = array.array.resolve_conj().cpu()
        if tensor.dtype is torch.bfloat16:
            return tensor.to(torch.float32).numpy().astype(ml_dtypes.bfloat16)
        return tensor.numpy()

    def moved(self, host: np.ndarray, device: Any) -> Any:
        if host.dtype.name == "bfloat16":
            return torch.from_numpy(host.astype(np.float32)).to(device, torch.bfloat16)
        if not host.flags.writeable or any(s < 0 for s in host.strides):
            host = host.copy()
        return torch.from_numpy(host).to(device)


register_backend(torch.Tensor, TorchBackend(Namespace(), "torch"))
