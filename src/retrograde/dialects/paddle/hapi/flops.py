"""`paddle.flops`: how many operations a layer takes for one input, counted by hooks on the layers in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import nn, random

Count = Callable[[Any, Any, Any], float]


def _conv(m: Any, x: Any, y: Any) -> float:
    per_output = math.prod(m.weight.shape[2:]) * (m._in_channels // m._groups)
    return math.prod(y.shape) * (per_output + (m.bias is not None))


def _norm(m: Any, x: Any, y: Any) -> float:
    return 0 if m.training else 2 * math.prod(x[0].shape)


def _adaptive(m: Any, x: Any, y: Any) -> float:
    window = math.prod(a // b for a, b in zip(x[0].shape[2:], y.shape[2:]))
    return (window + 1) * math.prod(y.shape)


def _nothing(m: Any, x: Any, y: Any) -> float:
    return 0


_COUNTS: dict[Any, Count] = {
    **dict.fromkeys((nn.Conv1D, nn.Conv2D, nn.Conv3D, nn.Conv1DTranspose, nn.Conv2DTranspose, nn.Conv3DTranspose), _conv),
    **dict.fromkeys((nn.BatchNorm1D, nn.BatchNorm2D, nn.BatchNorm3D, nn.BatchNorm), _norm),
    **dict.fromkeys((nn.AvgPool1D, nn.AvgPool2D, nn.AvgPool3D), lambda m, x, y: math.prod(y.shape)),
    **dict.fromkeys((nn.AdaptiveAvgPool1D, nn.AdaptiveAvgPool2D, nn.AdaptiveAvgPool3D), _adaptive),
    nn.Linear: lambda m, x, y: m.weight.shape[0] * math.prod(y.shape),
    **dict.fromkeys((nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.Dropout), _nothing),
}  # fmt: skip


def flops(net: Any, input_size: Any, custom_ops: dict[Any, Any] | None = None, print_detail: bool = False) -> int:
    """The operations of a layer for one input of a size, of the layers in it that are counted; prints them and the parameters.

    custom_ops: a function of layer, inputs and output for a class of layers, which sets `layer.total_ops`.
    """
    custom, counted, handles = custom_ops or {}, {}, []
    leaves = [m for m in net.sublayers(include_self=True) if not m.sublayers()]
    said: set[type] = set()
    for m in leaves:
        kind = type(m)
        count = custom.get(kind, _COUNTS.get(kind))
        if kind not in said:
            said.add(kind)
            print(f"Customize Function has been applied to {kind}" if kind in custom
                  else f"{kind}'s flops has been counted" if count is not None
                  else f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs.")  # fmt: skip

        def hook(m: Any, x: Any, y: Any, count: Any = count, own: bool = kind in custom) -> None:
            if own:
                m.total_ops = 0
                count(m, x, y)
                counted[m] = counted.get(m, 0) + int(m.total_ops)
            elif count is not None:
                counted[m] = counted.get(m, 0) + int(count(m, x, y))

        handles.append(m.register_forward_post_hook(hook))
    was_training = net.training
    net.eval()
    try:
        net(random.rand(list(input_size)))
    finally:
        for handle in handles:
            handle.remove()
        if was_training:
            net.train()
    parameters = {m: sum(math.prod(p.shape) for p in m.parameters(include_sublayers=False)) for m in leaves}
    if print_detail:
        for m in leaves:
            print(f"{m.full_name():<30} {parameters[m]:>12} {counted.get(m, 0):>15}")
    total = sum(counted.values())
    print(f"Total Flops: {total}     Total Params: {sum(parameters.values())}")
    return total


__all__ = ["flops"]
