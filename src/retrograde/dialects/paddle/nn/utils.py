"""`paddle.nn.utils`: clipping in place, parameters as one vector, weight and spectral normalisation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...._state import grad_mode
from ....core.value import Value, ndim_of, shape_of
from ....ops import elementwise as ew
from ....ops import norms as nr
from ....ops import selection as sel
from ....ops import structural as st
from .._api import attributes
from .._tensor import from_array
from .functional._arguments import constant
from .initializer import Assign
from .layer.norm import SpectralNorm

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "remove_weight_norm", "spectral_norm",
    "vector_to_parameters", "weight_norm",
]  # fmt: skip


def _with_gradients(parameters: Any) -> list[Any]:
    given = [parameters] if isinstance(parameters, Value) else list(parameters)
    return [p for p in given if p._grad is not None]


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Scale the gradients in place so that their common norm is at most `max_norm`; returns the norm.

    Raises RuntimeError for a norm that is inf or nan, where asked.
    """
    import numpy as np

    params = _with_gradients(parameters)
    if not params:
        return from_array(np.zeros((), np.float32))
    ord = float(norm_type)
    with grad_mode(False):
        norms = [nr.vector_norm(p._grad, ord=ord, axis=tuple(range(ndim_of(p))), keepdims=False) for p in params]
        total = nr.vector_norm(st.stack(*norms, axis=0), ord=ord, axis=(0,), keepdims=False)
        if error_if_nonfinite and not math.isfinite(float(total.item())):
            raise RuntimeError(f"clip_grad_norm_: the norm is {float(total.item())}; pass error_if_nonfinite=False")
        factor = sel.clip(
            ew.divide(constant(max_norm, total), ew.add(total, constant(1e-6, total))), low=None, high=1.0
        )
        for p in params:
            p._grad = ew.multiply(p._grad, factor)
    return total


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Keep each element of the gradients within [-clip_value, clip_value]."""
    with grad_mode(False):
        for p in _with_gradients(parameters):
            p._grad = sel.clip(p._grad, low=-float(clip_value), high=float(clip_value))


def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Any:
    """The parameters flat and behind one another; raises IndexError where there are none."""
    flat = [st.reshape(p, shape=(int(p.size),)) for p in parameters]
    if not flat:
        raise IndexError("parameters_to_vector: parameters is empty")
    return st.concatenate(*flat, axis=0)


def vector_to_parameters(vec: Any, parameters: Iterable[Any], name: str | None = None) -> None:
    """Write the parts of a vector into the parameters."""
    start = 0
    with grad_mode(False):
        for p in parameters:
            n = int(p.size)
            p.set_value(
                st.reshape(st.getitem(vec.detach(), index=(slice(start, start + n),)), shape=tuple(shape_of(p)))
            )
            start += n


# ------------------------------------------------------------------------------------------ weight normalisation


def _norm_except(v: Any, dim: int) -> Any:
    """The norms of the slices along an axis as a vector, or of the whole for -1 (one element)."""
    axes = tuple(i for i in range(ndim_of(v)) if i != dim)
    norm = nr.vector_norm(v, ord=2.0, axis=axes, keepdims=False)
    return norm if dim != -1 else st.reshape(norm, shape=(1,))


class _WeightNorm:
    """The hook that computes a weight from its direction and its length before each call."""

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def weight(self, layer: Any) -> Any:
        """g v / |v|."""
        v, g = getattr(layer, self.name + "_v"), getattr(layer, self.name + "_g")
        shape = tuple(n if i == self.dim else 1 for i, n in enumerate(shape_of(v)))
        return ew.multiply(v, st.reshape(ew.divide(g, _norm_except(v, self.dim)), shape=shape))

    def __call__(self, layer: Any, inputs: Any) -> None:
        setattr(layer, self.name, self.weight(layer))


def weight_norm(layer: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Split a weight into `name_v` (direction) and `name_g` (length along an axis; None: of the whole); returns the
    layer."""
    for _, hook in layer._forward_pre_hooks.values():
        if isinstance(hook, _WeightNorm) and hook.name == name:
            raise RuntimeError(f"weight_norm: {name} is normalised already")
    weight = layer._parameters[name]
    axis = -1 if dim is None else dim % ndim_of(weight)
    hook = _WeightNorm(name, axis)
    delattr(layer, name)
    for suffix, value in (("_v", weight.detach()), ("_g", _norm_except(weight.detach(), axis))):
        p = layer.create_parameter(list(shape_of(value)), Assign(value), dtype=weight.dtype)
        layer.add_parameter(name + suffix, p)
    setattr(layer, name, hook.weight(layer))
    handle = layer.register_forward_pre_hook(hook)
    hook.handle = handle  # type: ignore[attr-defined]
    return layer


def remove_weight_norm(layer: Any, name: str = "weight") -> Any:
    """Put the weight together again; ValueError where it is not split."""
    for _, hook in list(layer._forward_pre_hooks.values()):
        if isinstance(hook, _WeightNorm) and hook.name == name:
            weight = hook.weight(layer).detach()
            hook.handle.remove()  # type: ignore[attr-defined]
            delattr(layer, name)
            delattr(layer, name + "_g")
            delattr(layer, name + "_v")
            layer.add_parameter(name, layer.create_parameter(list(shape_of(weight)), Assign(weight)))
            return layer
    raise ValueError(f"remove_weight_norm: {name!r} of {type(layer).__name__} is not normalised")


def spectral_norm(
    layer: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by its largest singular value before each call; returns the layer."""
    weight = layer._parameters[name]
    if n_power_iterations <= 0:
        raise ValueError(f"spectral_norm: n_power_iterations must be positive, got {n_power_iterations}")
    if dim is None:
        dim = 1 if type(layer).__name__ in ("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "Linear") else 0
    norm = SpectralNorm(list(shape_of(weight)), dim, n_power_iterations, eps, weight.dtype)
    delattr(layer, name)
    layer.add_parameter(name + "_orig", weight)
    compute = lambda own, inputs: setattr(own, name, norm(getattr(own, name + "_orig")))  # noqa: E731
    compute(layer, ())
    for suffix in ("_u", "_v"):
        layer.register_buffer(name + suffix, getattr(norm, "weight" + suffix))
    layer.register_forward_pre_hook(compute)
    return layer


__getattr__ = attributes(globals())
