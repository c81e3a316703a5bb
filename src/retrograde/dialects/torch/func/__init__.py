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
from .. import _dtype
from .._api import attributes as _attributes
from .._printing import below as _below
from .._printing import in_transform as _in_transform
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
        if len({i % len(args) for i in wanted}) != len(wanted):
            raise RuntimeError(f"{name}: argnums={argnums} names an argument twice")
        _check_tensors(name, [args[i] for i in wanted], ValueError)
        return derivative(*args, **kwargs)

    return checked


def _check_tensors(name: str, given: _Any, kind: type[Exception]) -> None:
    """Raise unless what is to be differentiated by holds floating or complex tensors only."""
    for x in given if all(isinstance(x, _Tensor) for x in given) else _flatten(given)[0]:
        if not isinstance(x, _Tensor):
            raise kind(f"{name}: derivatives are taken by tensors, got {type(x).__name__}")
        if x.dtype.category < 2:
            raise (ValueError if name in ("jvp", "jacfwd") else RuntimeError)(
                f"{name}: only floating and complex tensors have derivatives, got {x.dtype}"
            )
        if name == "jacrev" and x.is_complex():
            raise RuntimeError("jacrev: an argument is complex; make it a function of the two parts")


def _is_none(x: _Any) -> bool:
    """Whether a part of a container is None, which counts as a leaf where only tensors may be."""
    return x is None


def _giving_tensors(name: str, func: Callable[..., _Any], has_aux: bool = False) -> Callable[..., _Any]:
    """`func` behind a check of what it returns: tensors in containers, with `has_aux` beside others."""

    @_functools.wraps(func)
    def checked(*args: _Any, **kwargs: _Any) -> _Any:
        out = func(*args, **kwargs)
        if not has_aux and isinstance(out, _Tensor):
            if out.dtype.category >= 2 or not name.startswith(("grad", "vjp", "jac")):
                return out
            if name == "grad":
                return out.to(_dtype.get_default_dtype())  # an integer depends on nothing: its gradient is zero
        if has_aux and not (isinstance(out, tuple) and len(out) == 2):
            raise RuntimeError(
                f"{name}: with has_aux=True the function must return a pair (output, aux); leave has_aux out otherwise"
            )
        leaves = _flatten(out[0] if has_aux else out)[0]
        if not leaves or not all(isinstance(y, _Tensor) for y in leaves):
            kinds = ", ".join(sorted({type(y).__name__ for y in leaves})) or "nothing"
            raise RuntimeError(
                f"{name}: the function must return tensors, got {kinds}; numbers of item(), float() and NumPy have no derivative"
            )
        if has_aux and not all(isinstance(y, _Tensor) for y in _flatten(out[1], _is_none)[0]):
            raise RuntimeError(f"{name}: what the function returns beside its output must be tensors, too")
        if name in ("jacrev", "vjp") and not all(y.dtype.category >= 2 for y in leaves):
            raise RuntimeError(f"{name}: a result of the function is of integers, which have no derivative")
        return out

    return checked


def grad(func: Callable[..., _Any], argnums: _Any = 0, has_aux: bool = False) -> Callable[..., _Any]:
    """A function that gives the gradient of `func` with respect to the arguments `argnums`."""
    return _within("grad", argnums, _reverse.grad(_giving_tensors("grad", func, has_aux), argnums, has_aux))


def grad_and_value(func: Callable[..., _Any], argnums: _Any = 0, has_aux: bool = False) -> Callable[..., _Any]:
    """A function that gives the gradient of `func` and its value (with `has_aux`, the value and aux)."""
    func = _giving_tensors("grad_and_value", func, has_aux)
    derivative = _within("grad_and_value", argnums, _reverse.value_and_grad(func, argnums, has_aux))

    def swapped(*args: _Any, **kwargs: _Any) -> _Any:
        value, gradient = derivative(*args, **kwargs)
        return gradient, value

    return swapped


def vjp(func: Callable[..., _Any], *primals: _Any, has_aux: bool = False) -> _Any:
    """The value of `func` and its pullback, which gives a tuple for several primals and one value for a single one."""
    _check_tensors("vjp", primals, ValueError)
    out, pullback, *aux = _reverse.vjp(_giving_tensors("vjp", func, has_aux), *primals, has_aux=has_aux)
    structure = _flatten(out)[1]

    def pull(cotangents: _Any, retain_graph: bool = True, create_graph: bool | None = None) -> _Any:
        if _flatten(cotangents)[1] != structure:
            raise RuntimeError("vjp: the cotangents must have the structure of the function's result")
        return pullback(cotangents, retain_graph=retain_graph)

    return (out, pull, *aux)


def jvp(
    func: Callable[..., _Any], primals: _Any, tangents: _Any, *, strict: bool = False, has_aux: bool = False
) -> _Any:
    """The value of `func` at `primals` and its derivative along `tangents`."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp: primals and tangents must be tuples, one entry per argument of the function")
    if _flatten(primals)[1] != _flatten(tangents)[1]:
        raise RuntimeError("jvp: the tangents must have the structure of the primals")
    if not _flatten(primals)[0]:
        raise RuntimeError("jvp: there is no primal to take a derivative by")
    _check_tensors("jvp", (*primals, *tangents), RuntimeError)
    func = _giving_tensors("jvp", func, has_aux)
    return _forward.jvp(_depending(func, has_aux) if strict else func, primals, tangents, has_aux=has_aux)


def _depending(func: Callable[..., _Any], has_aux: bool) -> Callable[..., _Any]:
    """`func` behind a check that each result depends on the dual tensors that it is given."""

    @_functools.wraps(func)
    def checked(*args: _Any) -> _Any:
        out, level = func(*args), max(x._level for x in _flatten(args)[0])
        for y in _flatten(out[0] if has_aux else out)[0]:
            if y._level != level:
                raise RuntimeError("jvp: with strict=True every result must depend on the primals")
        return out

    return checked


def jacrev(
    func: Callable[..., _Any], argnums: _Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., _Any]:
    """The Jacobian by reverse mode."""
    func = _giving_tensors("jacrev", func, has_aux)
    return _within("jacrev", argnums, _jacobian.jacrev(func, argnums, has_aux=has_aux, chunk_size=chunk_size))


def jacfwd(
    func: Callable[..., _Any], argnums: _Any = 0, has_aux: bool = False, *, randomness: str = "error",
    chunk_size: int | None = None,
) -> Callable[..., _Any]:  # fmt: skip
    """The Jacobian by forward mode, of a function with real results, as PyTorch wants it."""

    _check_randomness("jacfwd", randomness)
    func = _giving_tensors("jacfwd", func, has_aux)

    @_functools.wraps(func)
    def checked(*args: _Any, **kwargs: _Any) -> _Any:
        out = func(*args, **kwargs)
        for y in _flatten(out[0] if has_aux else out)[0]:
            if y.is_complex():
                raise RuntimeError(f"jacfwd: a result of the function is {y.dtype}; return its real and its imaginary part")
        return out

    derivative = _jacobian.jacfwd(checked, argnums, has_aux, randomness=randomness, chunk_size=chunk_size)
    return _within("jacfwd", argnums, derivative)


def hessian(func: Callable[..., _Any], argnums: _Any = 0) -> Callable[..., _Any]:
    """The Hessian: forward mode over reverse mode."""
    return _within("hessian", argnums, _jacobian.hessian(func, argnums))


def _check_randomness(name: str, randomness: _Any) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"{name}: randomness must be 'error', 'different' or 'same', got {randomness!r}")


def _check_dims(where: str, dims: _Any, given: _Any) -> None:
    """Raise ValueError unless `dims` says for every leaf of `given`, or for containers of some, which dimension is mapped."""
    if dims is None:
        return
    if isinstance(dims, int):
        if not isinstance(given, _Tensor) and not all(isinstance(x, _Tensor) for x in _flatten(given, _is_none)[0]):
            raise ValueError(f"vmap: in_dims={dims} for {where}, which is no tensor; say None for it")
    elif isinstance(dims, (tuple, list, dict)):
        if type(dims) is not type(given) or len(dims) != len(given):
            raise ValueError(f"vmap: in_dims={dims!r} does not have the structure of {where}, a {type(given).__name__}")
        for key in dims if isinstance(dims, dict) else range(len(dims)):
            if isinstance(given, dict) and key not in given:
                raise ValueError(f"vmap: in_dims names {key!r}, which {where} has not")
            _check_dims(f"{where}[{key!r}]", dims[key], given[key])
    else:
        raise ValueError(f"vmap: in_dims holds {type(dims).__name__} for {where}, wanted an int or None")


def vmap(
    func: Callable[..., _Any], in_dims: _Any = 0, out_dims: _Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., _Any]:  # fmt: skip
    """A function that maps `func` over a dimension of its arguments; it must return tensors."""
    _check_randomness("vmap", randomness)
    if chunk_size is not None and (not isinstance(chunk_size, int) or isinstance(chunk_size, bool)):
        raise TypeError(f"vmap: chunk_size must be None or an int, got {type(chunk_size).__name__}")

    @_functools.wraps(func)
    def checked(*args: _Any, **kwargs: _Any) -> _Any:
        out = func(*args, **kwargs)
        for y in (out,) if isinstance(out, _Tensor) else _flatten(out, _is_none)[0]:
            if not isinstance(y, _Tensor):
                raise ValueError(f"vmap: the function returned {type(y).__name__}; it must return tensors")
            if out_dims and isinstance(out_dims, int) and not -y.ndim - 1 <= out_dims <= y.ndim:
                raise IndexError(f"vmap: out_dims={out_dims} is out of range for a result of {y.ndim + 1} dimensions")
        return out

    def begun_again() -> Callable[..., _Any]:
        """The function with the random numbers of its first call in every other one: those of all chunks are the same."""
        from .. import random

        start = random.mark()

        def repeated(*args: _Any, **kwargs: _Any) -> _Any:
            random.back_to(start)
            return checked(*args, **kwargs)

        return repeated

    repeats = chunk_size is not None and randomness == "same"
    mapping = _vmap(checked, in_dims, out_dims, chunk_size=chunk_size, randomness=randomness)

    @_functools.wraps(func)
    def wrapped(*args: _Any, **kwargs: _Any) -> _Any:
        if isinstance(in_dims, tuple):
            if len(in_dims) != len(args):
                raise ValueError(f"vmap: in_dims has {len(in_dims)} entries for {len(args)} arguments")
            for i, (x, dims) in enumerate(zip(args, in_dims)):
                _check_dims(f"argument {i}", dims, x)
        elif not isinstance(in_dims, int):
            raise ValueError(f"vmap: in_dims must be an int or a tuple of one entry per argument, got {in_dims!r}")
        else:
            for i, x in enumerate(args):
                if not isinstance(x, _Tensor):
                    _check_dims(f"argument {i}", in_dims, x)
        if repeats:
            again = _vmap(begun_again(), in_dims, out_dims, chunk_size=chunk_size, randomness=randomness)
            return again(*args, **kwargs)
        return mapping(*args, **kwargs)

    return wrapped


def linearize(func: Callable[..., _Any], *primals: _Any) -> tuple[_Any, Callable[..., _Any]]:
    """The value of `func` at `primals` and its derivative there as a function of tangents."""
    if not primals:
        raise ValueError("linearize: name the point at which the derivative is taken")
    _check_tensors("linearize", primals, AttributeError)
    out, push = _forward.linearize(_giving_tensors("linearize", func), *primals)
    leaves, structure = _flatten(primals)

    def jvp_fn(*tangents: _Any) -> _Any:
        given, found = _flatten(tangents)
        if found != structure:
            raise RuntimeError("linearize: the tangents must have the structure of the primals")
        for x, t in zip(leaves, given):
            if not isinstance(t, _Tensor):
                raise TypeError(f"linearize: a tangent must be a tensor, got {type(t).__name__}")
            if t.shape != x.shape or t.dtype is not x.dtype:
                raise RuntimeError(
                    f"linearize: a tangent of {t.dtype}{list(t.shape)} for a primal of {x.dtype}{list(x.shape)}"
                )
        return push(*tangents)

    return out, jvp_fn


def functionalize(func: Callable[..., _Any], *, remove: str = "mutations") -> Callable[..., _Any]:
    """The function itself: under retrograde's transforms in-place changes are functional already."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize: remove must be 'mutations' or 'mutations_and_views', got {remove!r}")
    return func


def debug_unwrap(tensor: _Tensor, *, recurse: bool = True) -> _Tensor:
    """What is under a value of a transform, one level down or all: to look at in a debugger, not to compute with."""
    if not isinstance(tensor, _Tensor):
        raise TypeError(f"debug_unwrap: wanted a tensor, got {type(tensor).__name__}")
    while _in_transform(tensor):
        tensor = _below(tensor)
        if not recurse:
            break
    return tensor


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
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

__getattr__ = _attributes(globals())
