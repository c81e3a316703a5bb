"""Lazy modules: layers that learn the size of their input from the first one they see."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._grad_modes import no_grad
from ..._tensor import Tensor, from_array
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .linear import Linear
from .module import Module

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip


class LazyModuleMixin:
    """Turns a module into one whose parameters are made at its first call, after which it is of class `cls_to_become`.

    The module defines `initialize_parameters(*args)`, which materializes them.
    """

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[misc]
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, x in self._parameters.items():
            if x is not None:
                destination[prefix + name] = x if is_lazy(x) or keep_vars else x.detach()
        for name, x in self._buffers.items():
            if x is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = x if is_lazy(x) or keep_vars else x.detach()

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *args: Any) -> None:
        """What comes with its shape materializes what waits for one."""
        for name, x in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if is_lazy(x) and given is not None and not is_lazy(given):
                with no_grad():
                    x.materialize(given.shape)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Materialize the parameters for an input; every lazy module defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no initialize_parameters")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or buffer waits for its shape."""
        return any(is_lazy(x) for x in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"{type(module).__name__}: initialize_parameters left parameters without a shape")
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def reset_parameters(self: Any) -> None:
        """Draw the parameters anew, once they have a shape."""
        if not self.has_uninitialized_params() and self._known_size() != 0:
            super().reset_parameters()  # type: ignore[misc]

    def _known_size(self: Any) -> int:
        raise NotImplementedError


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that learns `in_features` from its first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _known_size(self) -> int:
        return self.in_features

    def initialize_parameters(self, input: Tensor) -> None:
        """Make weight and bias for an input (..., in_features)."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]


class _LazyConv(LazyModuleMixin):
    _axes: int

    def _init_lazily(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _known_size(self: Any) -> int:
        return self.in_channels

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Make weight and bias for an input (N, in_channels, *size) or (in_channels, *size)."""
        if not self.has_uninitialized_params():
            return
        n = self._axes
        if input.ndim not in (n + 1, n + 2):
            raise RuntimeError(f"{type(self).__name__}: wanted {n + 1} or {n + 2} dimensions, got {input.ndim}")
        self.in_channels = input.shape[-n - 1]
        if self.in_channels % self.groups:
            raise ValueError(
                f"{type(self).__name__}: in_channels={self.in_channels} is not divisible by groups={self.groups}"
            )
        pair = (self.in_channels, self.out_channels // self.groups)
        if not self.transposed:
            pair = (self.out_channels, self.in_channels // self.groups)
        with no_grad():
            self.weight.materialize((*pair, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()


def _lazy_conv(base: type[Module]) -> Any:
    def __init__(
        self: Any, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super(cls, self).__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._init_lazily(out_channels, bias, device, dtype)

    cls: Any = _made(base, (_LazyConv, base), __init__)
    return cls


def _lazy_conv_transpose(base: type[Module]) -> Any:
    def __init__(
        self: Any, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super(cls, self).__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode
        )
        self._init_lazily(out_channels, bias, device, dtype)

    cls: Any = _made(base, (_LazyConv, base), __init__)
    return cls


def _made(base: Any, bases: tuple[Any, ...], init: Any) -> Any:
    """The lazy form of a class."""
    doc = f"A {base.__name__} that learns its number of channels from its first input."
    body = {"__init__": init, "cls_to_become": base, "__doc__": doc, "__module__": __name__}
    return type(f"Lazy{base.__name__}", bases, body)


LazyConv1d, LazyConv2d, LazyConv3d = map(_lazy_conv, (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = map(
    _lazy_conv_transpose, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)


class _LazyNorm(LazyModuleMixin):
    def __init__(
        self: Any, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = from_array(np.array(0, np.int64), device=device)

    def _known_size(self: Any) -> int:
        return self.num_features

    def initialize_parameters(self: Any, input: Tensor) -> None:
        """Make parameters and statistics for an input (N, num_features, ...)."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for x in (self.weight, self.bias, self.running_mean, self.running_var):
            if is_lazy(x):
                x.materialize((self.num_features,))
        self.reset_parameters()


def _lazy_norm(base: type[Module]) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super(cls, self).__init__(*args, **kwargs)

    cls: Any = _made(base, (_LazyNorm, base), __init__)
    return cls


LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = map(_lazy_norm, (BatchNorm1d, BatchNorm2d, BatchNorm3d))
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = map(
    _lazy_norm, (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)
