"""MindSpore's functions as the vocabulary of formulas (`retrograde.learn.distributions`)."""

from __future__ import annotations

from types import SimpleNamespace

from .....ops.special import xlog1py, xlogy
from ... import _activations, _arithmetic, _binary, _creation, _gather, _unary

F = SimpleNamespace(
    abs=_arithmetic.absolute, atan=_unary.atan, clamp=_binary.clamp, cos=_unary.cos, digamma=_unary.digamma, erf=_unary.erf,
    erfc=_unary.erfc, erfinv=_unary.erfinv, exp=_unary.exp, expm1=_unary.expm1, floor=_unary.floor,
    full_like=_creation.full_like, lgamma=_unary.lgamma, log=_unary.log, log1p=_unary.log1p, reciprocal=_unary.reciprocal,
    relu=_activations.relu, sigmoid=_activations.sigmoid, sign=_unary.sign, softplus=_activations.softplus,
    sqrt=_unary.sqrt, tan=_unary.tan, tanh=_unary.tanh, where=_gather.where,
    gammainc=_binary.igamma, log_sigmoid=_activations.logsigmoid, xlog1py=xlog1py, xlogy=xlogy,
    sum=lambda x, keep=False: x.sum(-1, keepdims=keep), times_log=lambda a, x: a * _unary.log(x),
    times_log1p=lambda a, x: a * _unary.log1p(x),
)  # fmt: skip
