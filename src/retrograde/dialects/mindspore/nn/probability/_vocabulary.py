"""MindSpore's functions as the vocabulary of formulas (`retrograde.learn.distributions`)."""

from __future__ import annotations

from types import SimpleNamespace

from .....ops.special import xlog1py, xlogy
from ..._api import FUNCTIONS

F = SimpleNamespace(
    **{name: FUNCTIONS[name] for name in (
        "abs", "atan", "clamp", "cos", "digamma", "erf", "erfc", "erfinv", "exp", "expm1", "floor", "full_like", "lgamma",
        "log", "log1p", "reciprocal", "relu", "sigmoid", "sign", "softplus", "sqrt", "tan", "tanh", "where",
    )},
    gammainc=FUNCTIONS["igamma"], log_sigmoid=FUNCTIONS["logsigmoid"], xlog1py=xlog1py, xlogy=xlogy,
    sum=lambda x, keep=False: x.sum(-1, keepdims=keep), times_log=lambda a, x: a * FUNCTIONS["log"](x),
    times_log1p=lambda a, x: a * FUNCTIONS["log1p"](x),
)  # fmt: skip
