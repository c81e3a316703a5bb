"""`torch.func`: the engine's functional transforms under PyTorch's names and arguments."""

from __future__ import annotations

import functools as _functools
from collections.abc import Callable
from typing import Any as _Any

from ...._tree import flatten as _flatten
from ....transform import forward as _forward
from ....transform import jacobian as _jacobian
from ....transform import reverse as _reverse
from ....transform.vmap import vmap as _vmap
from .._api import missing as _missing
from .._tensor import Tensor as _Tensor
from ._stateless import functional_call, stack_module_state


def _within(name: str, argnums: _Any, derivative: Callable[..., _Any]) -> Callable[..., _Any]:
    """The derivative behind a check, as PyTorch's users expect it, that the arguments it is taken by are there."""
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    if not wanted or not all(isinstance(i, int) for i in wanted):
        raise RuntimeError(f"{name}: argnums must be an int or a tuple of some, got {argnums!r}")

    @_functools.wraps(derivative)
    def checked(*args: _Any, **kwargs: _Any) -> _Any:
        for i in wanted:
            if not -len(args) <= i < len(args):
                raise RuntimeError(f"{name}: argnums={argnums} is out of range for {len(args)} positional arguments")
        return derivative(*args, **kwargs)

    return checked


def grad(func: Callable[..., _Any], argnums: _Any = 0, has_aux: bool = False) -> Callable[..., _Any]:
    """A function that gives the gradient of `func` with respect to the arguments `argnums`."""
    return _within("grad", argnums, _reverse.grad(func, argnums, has_aux))


def grad_and_value(func: Callable[..., _Any], argnums: _Any = 0, has_aux: bool = False) -> Callable[..., _Any]:
    """A function that gives the gradient of `func` and its value (with `has_aux`, the value and aux)."""
    derivative = _within("grad_and_value", argnums, _reverse.value_and_grad(func, argnums, has_aux))

    def swapped(*args: _Any, **kwargs: _Any) -> _Any:
        value, gradient = derivative(*args, **kwargs)
        return gradient, value

    return swapped


def vjp(func: Callable[..., _Any], *primals: _Any, has_aux: bool = False) -> _Any:
    """The value of `func` and its pullback, which gives a tuple for several primals and one value for a single one."""
    out, pullback, *aux = _reverse.vjp(func, *primals, has_aux=has_aux)

    def pull(*cotangents: _Any, retain_graph: bool = True, create_graph: bool | None = None) -> _Any:
        return pullback(*cotangents, retain_graph=retain_graph)

    return (out, pull, *aux)


def jvp(
    func: Callable[..., _Any], primals: _Any, tangents: _Any, *, strict: bool = False, has_aux: bool = False
) -> _Any:
    """The value of `func` at `primals` and its derivative along `tangents`."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp: primals and tangents must be tuples, one entry per argument of the function")
    if _flatten(primals)[1] != _flatten(tangents)[1]:
        raise RuntimeError("jvp: the tangents must have the structure of the primals")
    return _forward.jvp(func, primals, tangents, has_aux=has_aux)


def jacrev(
    func: Callable[..., _Any], argnums: _Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., _Any]:
    """The Jacobian by reverse mode."""
    return _within("jacrev", argnums, _jacobian.jacrev(func, argnums, has_aux=has_aux, chunk_size=chunk_size))


def jacfwd(
    func: Callable[..., _Any], argnums: _Any = 0, has_aux: bool = False, *, randomness: str = "error",
    chunk_size: int | None = None,
) -> Callable[..., _Any]:  # fmt: skip
    """The Jacobian by forward mode, of a function with real results, as PyTorch wants it."""

    @_functools.wraps(func)
    def checked(*args: _Any, **kwargs: _Any) -> _Any:
        out = func(*args, **kwargs)
        for y in _flatten(out[0] if has_aux and isinstance(out, tuple) else out)[0]:
            if isinstance(y, _Tensor) and y.is_complex():
                raise RuntimeError(f"jacfwd: a result of the function is {y.dtype}; return its real and its imaginary part")
        return out

    derivative = _jacobian.jacfwd(checked, argnums, has_aux, randomness=randomness, chunk_size=chunk_size)
    return _within("jacfwd", argnums, derivative)


def hessian(func: Callable[..., _Any], argnums: _Any = 0) -> Callable[..., _Any]:
    """The Hessian: forward mode over reverse mode."""
    return _within("hessian", argnums, _jacobian.hessian(func, argnums))


def vmap(
    func: Callable[..., _Any], in_dims: _Any = 0, out_dims: _Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., _Any]:  # fmt: skip
    """A function that maps `func` over a dimension of its arguments; it must return tensors."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"vmap: randomness must be 'error', 'different' or 'same', got {randomness!r}")

    @_functools.wraps(func)
    def checked(*args: _Any, **kwargs: _Any) -> _Any:
        out = func(*args, **kwargs)
        for y in _flatten(out)[0]:
            if not isinstance(y, _Tensor):
                raise ValueError(f"vmap: the function returned {type(y).__name__}; it must return tensors")
            if isinstance(out_dims, int) and not -y.ndim - 1 <= out_dims <= y.ndim:
                raise IndexError(f"vmap: out_dims={out_dims} is out of range for a result of {y.ndim + 1} dimensions")
        return out

    return _vmap(checked, in_dims, out_dims, chunk_size=chunk_size, randomness=randomness)


def linearize(func: Callable[..., _Any], *primals: _Any) -> tuple[_Any, Callable[..., _Any]]:
    """The value of `func` at `primals` and its derivative there as a function of tangents."""
    return _forward.linearize(func, *primals)


def functionalize(func: Callable[..., _Any], *, remove: str = "mutations") -> Callable[..., _Any]:
    """The function itself: under retrograde's transforms in-place changes are functional already."""
    return func


def replace_all_batch_norm_modules_(root: _Any) -> _Any:
    """Let all batch normalisations in a module forget their running statistics, in place, so that vmap can map it."""
    from ..nn.modules.batchnorm import _BatchNorm
    from ..nn.modules.module import Module

    if not isinstance(root, Module):
        raise TypeError(f"replace_all_batch_norm_modules_: root must be a torch.nn.Module, got {type(root).__name__}")
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    raise _missing("torch.func", name, globals())
