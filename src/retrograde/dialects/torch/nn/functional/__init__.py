"""`torch.nn.functional`: layers as functions. The functions live in topic files, named here one by one."""

from __future__ import annotations

from typing import Any as _Any

from ..._api import missing as _missing
from ._activations import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)


def __getattr__(name: str) -> _Any:
    raise _missing("nn.functional", name, globals())
