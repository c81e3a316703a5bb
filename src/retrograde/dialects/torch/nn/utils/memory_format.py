"""Weights of convolutions with their channels last in memory."""

from __future__ import annotations

from typing import Any

from ..modules.module import Module


def _convert(op: str, module: Module, dimensions: int, memory_format: Any) -> Module:
    if not isinstance(module, Module):
        raise TypeError(f"{op}: wanted a module, got {type(module).__name__}")
    from ..modules import conv

    kinds = (getattr(conv, f"Conv{dimensions}d"), getattr(conv, f"ConvTranspose{dimensions}d"))
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Let the weights of all 2-d convolutions in a module lie in memory as a format says; returns the module."""
    return _convert("convert_conv2d_weight_memory_format", module, 2, memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """The same for 3-d convolutions."""
    return _convert("convert_conv3d_weight_memory_format", module, 3, memory_format)
