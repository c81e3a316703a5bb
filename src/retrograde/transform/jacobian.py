"""Jacobians, Hessians and Hessian-vector products from the two modes and vmap."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import GradError
from .._tree import flatten, unflatten
from ..core import value as values
from ..core.arrays import bottom, from_host, zeros_for
from ..core.value import Value, dtype_of, make, shape_of
from ..ops.structural import copy, reshape
from ._values import Function, argument_positions, flatten_arguments, replaced, split_aux
from .forward import jvp
from .reverse import grad, vjp
from .vmap import vmap


def _basis(x: Value) -> Value:
    """The standard basis of the space of `x`, one vector per entry of the first axis."""
    shape = tuple(shape_of(x))
    n = int(np.prod(shape, dtype=np.int64))
    return make(type(x)._result, bottom(from_host(np.eye(n, dtype=dtype_of(x)).reshape(n, *shape), x)))


def _refuse_complex(name: str, what: str, x: Value, remedy: str) -> None:
    """Raise where one number per entry would leave out a half of the derivative."""
    if dtype_of(x).kind == "c":
        raise values.error_type(type(x)._result, GradError)(
            f"{name}: {what} is {dtype_of(x)}, and in this mode half of its derivative would be left out; {remedy}"
        )


def jacrev(
    f: Function, argnums: int | Sequence[int] = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The Jacobian by reverse mode: for each output of shape s and argument of shape t, an array of shape s + t.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.jacrev(lambda x: x * x)(rg.asarray([1.0, 2.0]))
    Tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions, single = argument_positions("jacrev", argnums, len(args))
        chosen = [args[i] for i in positions]

        def g(*xs: Any) -> Any:
            found = f(*replaced(args, positions, xs), **kwargs)
            split_aux("jacrev", found, has_aux)  # refuses here, under this name
            return found

        out, pullback, *aux = vjp(g, *chosen, has_aux=has_aux)
        outputs, out_tree = flatten(out)
        for y in outputs:
            _refuse_complex("jacrev", "a result of the function", y, "return its real and its imaginary part")
        rows = []
        for k, y in enumerate(outputs):
            def one(e: Any, k: int = k) -> Any:
                cotangents = [e if i == k else zeros_for(z) for i, z in enumerate(outputs)]
                return pullback(unflatten(out_tree, cotangents))

            found = vmap(one, chunk_size=chunk_size)(_basis(y))
            parts, in_tree = flatten(found)
            shape = tuple(shape_of(y))
            whole = unflatten(in_tree, [reshape(p, shape=shape + tuple(shape_of(p))[1:]) for p in parts])
            rows.append(whole[0] if single else whole)
        result = unflatten(out_tree, rows)
        return (result, aux[0]) if has_aux else result

    return jacobian


def jacfwd(
    f: Function,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The Jacobian by forward mode; the same result as `jacrev`, cheaper when there are more outputs than inputs.

    For each output of shape s and argument of shape t an array of shape s + t. Raises ValueError where `argnums`
    names no array.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.jacfwd(lambda x: x * x)(rg.asarray([1.0, 3.0]))
    Tensor([[2., 0.],
            [0., 6.]])
    """

    @functools.wraps(f)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions, single = argument_positions("jacfwd", argnums, len(args))
        leaves, in_tree = flatten_arguments("jacfwd", [args[i] for i in positions])
        if not leaves:
            raise ValueError("jacfwd: argnums names no array to differentiate with respect to")
        for x in leaves:
            _refuse_complex("jacfwd", "an argument", x, "make it a function of the two parts")

        def g(*xs: Any) -> Any:
            out, aux = split_aux("jacfwd", f(*replaced(args, positions, unflatten(in_tree, xs)), **kwargs), has_aux)
            return (out, aux) if has_aux else out

        columns, out_tree = [], None
        kept = None  # what the function changes in its arguments is changed once
        if any(x._policy.changes_arguments for x in leaves) and (has_aux or len(leaves) > 1):
            kept = [copy(x) for x in leaves]
        for k, x in enumerate(leaves):
            def push(e: Any, k: int = k) -> Any:
                tangents = tuple(e if i == k else zeros_for(z) for i, z in enumerate(leaves))
                points = leaves if kept is None or not k else [copy(x) for x in kept]
                return jvp(g, tuple(points), tangents, has_aux=has_aux)[1]

            found = vmap(push, out_axes=-1, chunk_size=chunk_size, randomness=randomness)(_basis(x))
            parts, out_tree = flatten(found)
            columns.append([reshape(p, shape=tuple(shape_of(p))[:-1] + tuple(shape_of(x))) for p in parts])
        assert out_tree is not None
        rows = [unflatten(in_tree, list(row)) for row in zip(*columns)]
        result = unflatten(out_tree, [row[0] for row in rows] if single else rows)
        return (result, g(*(kept or leaves))[1]) if has_aux else result

    return jacobian


def hessian(f: Function, argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """The Hessian of a function of one real result: forward mode over reverse mode.

    For an argument of shape s it has the shape s + s; for a result of shape t, t + s + s.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.hessian(lambda x: (x * x * x).sum())(rg.asarray([1.0, 2.0]))
    Tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(f, argnums), argnums)


def hvp(f: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The product of the Hessian of `f` at `primals` with `tangents`, without the Hessian.

    The product has the structure and shapes of `primals`, and so must `tangents`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.hvp(lambda x: (x * x * x).sum(), (rg.asarray([1.0, 2.0]),), (rg.asarray([1.0, 1.0]),))
    Tensor([ 6., 12.])
    """
    primals = tuple(primals)
    gradient = grad(f, argnums=0 if len(primals) == 1 else tuple(range(len(primals))))
    return jvp(gradient, primals, tuple(tangents))[1]
