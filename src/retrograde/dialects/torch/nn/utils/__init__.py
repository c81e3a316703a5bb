"""`torch.nn.utils`: helpers around parameters and modules."""

from __future__ import annotations

from typing import Any as _Any

from ..._api import missing as _missing
from . import clip_grad, rnn
from .clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)


def __getattr__(name: str) -> _Any:
    raise _missing("torch.nn.utils", name, globals())
