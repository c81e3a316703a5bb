"""`functorch`: the functional transforms under their first name, and modules as functions of their parameters."""

from __future__ import annotations

import copy as _copy
from collections.abc import Callable as _Callable
from typing import Any as _Any

from .._api import missing as _missing
from ..func import (
    functional_call, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize,
    stack_module_state, vjp, vmap,
)  # fmt: skip
from ..func import _stateless


class FunctionalModuleWithBuffers:
    """`f(params, buffers, *args)` that computes what a module does."""

    def __init__(self, stateless: _Any, names: list[str]) -> None:
        self.stateless_model, self.names = stateless, names

    def __call__(self, params: _Any, buffers: _Any, *args: _Any, **kwargs: _Any) -> _Any:
        return functional_call(self.stateless_model, dict(zip(self.names, [*params, *buffers])), args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """`f(params, *args)` that computes what a module without buffers does."""

    def __call__(self, params: _Any, *args: _Any, **kwargs: _Any) -> _Any:
        return super().__call__(params, (), *args, **kwargs)


def make_functional(model: _Any, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, tuple[_Any, ...]]:
    """`f(params, *args)` that computes what a module does, and its parameters; raises RuntimeError where it has buffers."""
    if any(True for _ in model.buffers()):
        raise RuntimeError("make_functional: the module has buffers; make_functional_with_buffers takes them as well")
    f, params, _ = make_functional_with_buffers(model, disable_autograd_tracking)
    return FunctionalModule(f.stateless_model, f.names), params


def make_functional_with_buffers(
    model: _Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[_Any, ...], tuple[_Any, ...]]:
    """`f(params, buffers, *args)` that computes what a module does, with its parameters and buffers."""
    params, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    f = FunctionalModuleWithBuffers(_copy.deepcopy(model), [*params, *buffers])
    values = tuple(p.detach() if disable_autograd_tracking else p for p in params.values())
    return f, values, tuple(buffers.values())


def combine_state_for_ensemble(models: _Any) -> tuple[_Callable[..., _Any], tuple[_Any, ...], tuple[_Any, ...]]:
    """`f(params, buffers, *args)` of one of several alike modules, with the parameters and buffers of all stacked."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: there are no models")
    params, buffers = _stateless.stack_module_state(models)
    f, _, _ = make_functional_with_buffers(models[0])
    return f, tuple(params.values()), tuple(buffers.values())


__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functional_call", "functionalize", "grad",
    "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "make_functional", "make_functional_with_buffers", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    raise _missing("functorch", name, __all__)
