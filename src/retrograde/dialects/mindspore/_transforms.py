"""`vjp`, `jvp`, `jacrev`, `jacfwd`, `vmap`, and derivatives of higher order of one function: `derivative`, `jet`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._tree import flatten, unflatten
from ...core.value import Value
from ...ops.structural import broadcast_to
from ...tensor.manipulation import stack
from ...transform import forward, jacobian
from ...transform.vmap import vmap as _vmap
from ._api import api
from ._gradients import check_flag, check_function, check_positions, differentiated, sens_for, weight_list
from ._recording import Recording, bare, is_recording
from ._tensor import Tensor

Function = Callable[..., Any]


def _check_tensors(op: str, name: str, tensors: Sequence[Any]) -> None:
    for i, x in enumerate(tensors):
        if not isinstance(x, Value):
            raise TypeError(f"{op}: {name} {i} must be a Tensor, got {type(x).__name__}; use Tensor(...)")


@api(method=False)
def vjp(fn: Function, *inputs: Any, weights: Any = None, has_aux: bool = False) -> Any:
    """What `fn` returns, and a function that takes the gradient of that to the gradients of the inputs, as a tuple.

    With `weights`, it gives a pair of the inputs' and the weights' gradients. With `has_aux`, only the first output is
    differentiated, and the others come as further results.

    Raises TypeError for inputs that are no tensors.
    """
    check_function("vjp", fn)
    _check_tensors("vjp", "input", inputs)
    check_flag("vjp", "has_aux", has_aux)
    listed, single = ([], False) if weights is None else weight_list("vjp", weights)
    call = Recording(fn, inputs, {}, None, listed)
    outputs = differentiated("vjp", call.out, has_aux)

    def vjp_fn(*v: Any) -> Any:
        given = v[0] if len(v) == 1 and isinstance(v[0], (tuple, list)) else v
        if given is v:
            _check_tensors("vjp", "the gradient of the output", given)
        found = call.pull(outputs, sens_for("vjp", outputs, given), retain=True)
        gradients = tuple(found[: len(inputs)])
        if weights is None:
            return gradients
        rest = tuple(found[len(inputs) :])
        return gradients, rest[0] if single else rest

    out = call.result()
    if not has_aux:
        return out, vjp_fn
    aux = out[1:]
    return out[0], vjp_fn, aux[0] if len(aux) == 1 else aux


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _filling(t: Any, shape: tuple[int, ...]) -> Any:
    """A tangent in the shape of its input; one element is one for all."""
    return t if t.shape == shape else broadcast_to(t.reshape(()) if t.size == 1 else t, shape=shape)


@api(method=False)
def jvp(fn: Function, inputs: Any, v: Any, has_aux: bool = False) -> Any:
    """What `fn` returns at `inputs`, and its derivative along `v`; both are a Tensor, or a tuple of them, alike.

    With `has_aux`, only the first output is differentiated, and the others come as a third result.

    Raises TypeError for inputs that are no tensors, ValueError where `v` does not fit them or `fn` cannot be called.
    """
    if not callable(fn):
        raise ValueError(f"jvp: fn must be a function or Cell, got {type(fn).__name__}")
    primals = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    tangents = tuple(v) if isinstance(v, (tuple, list)) else (v,)
    _check_tensors("jvp", "input", primals)
    _check_tensors("jvp", "v", tangents)
    if len(primals) != len(tangents):
        raise ValueError(f"jvp: {len(primals)} inputs, but v has {len(tangents)}")
    for i, (x, t) in enumerate(zip(primals, tangents)):
        if t.size != 1 and _broadcast(x.shape, t.shape) != x.shape:
            raise ValueError(f"jvp: v {i} has shape {t.shape}, which does not broadcast to the input's, {x.shape}")
        if x.dtype is not t.dtype:
            raise TypeError(f"jvp: v {i} has dtype {t.dtype}, the input {x.dtype}")
    tangents = tuple(_filling(t, x.shape) for x, t in zip(primals, tangents))
    found = forward.jvp(_with_aux(fn, "jvp") if has_aux else fn, primals, tangents, has_aux=has_aux)
    return found if is_recording() else bare(found)


@api(method=False)
def linearize(fn: Function, inputs: Any) -> tuple[Any, Function]:
    """What `fn` returns at `inputs`, and its derivative there as a function of a direction, which is given like `inputs`."""
    check_function("linearize", fn)
    primals = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    _check_tensors("linearize", "input", primals)
    return fn(*primals), lambda v: jvp(fn, inputs, v)[1]


def _with_aux(fn: Function, op: str) -> Function:
    """A function of several outputs as one of an output and the rest."""

    def pair(*args: Any, **kwargs: Any) -> Any:
        out = fn(*args, **kwargs)
        differentiated(op, out, True)
        rest = tuple(out[1:])
        return out[0], rest[0] if len(rest) == 1 else rest

    return pair


def _jacobian(op: str, transform: Any, fn: Function, grad_position: Any, has_aux: bool) -> Function:
    check_flag(op, "has_aux", has_aux)

    def jacobian_fn(*args: Any, **kwargs: Any) -> Any:
        if not callable(fn):
            raise ValueError(f"{op}: fn must be a function or Cell, got {type(fn).__name__}")
        if grad_position is None:
            raise TypeError(f"{op}: grad_position must be an int or a tuple of ints, got None")
        positions = check_positions(op, grad_position, ())
        argnums = positions[0] if len(positions) == 1 else positions
        for i in positions:
            if i >= len(args):
                raise ValueError(f"{op}: grad_position {grad_position} does not fit a call with {len(args)} arguments")
        _check_tensors(op, "argument", [args[i] for i in positions])
        found = transform(_with_aux(fn, op) if has_aux else fn, argnums, has_aux=has_aux)(*args, **kwargs)
        return found if is_recording() else bare(found)

    return jacobian_fn


@api(method=False)
def jacrev(fn: Function, grad_position: Any = 0, has_aux: bool = False) -> Function:
    """A function that returns the Jacobian of `fn` by reverse mode: for an output of shape s and an input of shape t, s + t.

    grad_position: the argument, or a tuple of arguments. has_aux: only the first output is differentiated.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, jacrev
        >>> print(jacrev(lambda x: x * x)(Tensor([1.0, 3.0])))
        [[2. 0.]
         [0. 6.]]
    """
    return _jacobian("jacrev", jacobian.jacrev, fn, grad_position, has_aux)


@api(method=False)
def jacfwd(fn: Function, grad_position: Any = 0, has_aux: bool = False) -> Function:
    """A function that returns the Jacobian of `fn` by forward mode; the result is that of `jacrev`."""
    return _jacobian("jacfwd", jacobian.jacfwd, fn, grad_position, has_aux)


@api(method=False)
def vmap(fn: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
    """A function that maps `fn` over an axis of its arguments (None: the same for all) and puts results along `out_axes`.

    With a CellList of like cells instead of a function, each computes its own entry: an ensemble.

    Raises RuntimeError, when the result is called, where no argument is mapped, an axis does not exist, lengths differ, or
    `fn` or the axes are of another type.
    """
    cells = _ensemble(fn)
    if cells:
        return _vmapped(_together(cells, in_axes, out_axes), in_axes, out_axes)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(out_axes, list):
        out_axes = tuple(out_axes)

    def one(*args: Any) -> Any:
        if not callable(fn):
            raise RuntimeError(
                f"vmap: fn must be a function, a Cell or an nn.CellList of cells, got {type(fn).__name__}"
            )
        leaves, tree = flatten(fn(*args))
        return unflatten(tree, [Tensor(y) if isinstance(y, (int, float)) else y for y in leaves])

    return _vmapped(_vmap(one, in_axes, out_axes, randomness="different"), in_axes, out_axes)


def _vmapped(mapped: Function, in_axes: Any, out_axes: Any) -> Function:
    """A mapped function whose complaints about its arguments are RuntimeErrors."""

    def vmapped(*args: Any, **kwargs: Any) -> Any:
        _check_axes("in_axes", in_axes)
        _check_axes("out_axes", out_axes)
        if kwargs:
            raise RuntimeError(f"vmap: it takes arguments by position, got {', '.join(kwargs)} by keyword")
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        for i, (x, axis) in enumerate(zip(args, axes)):
            if axis is not None and isinstance(x, (int, float)):
                raise RuntimeError(f"vmap: argument {i} is the number {x!r}, which has no axis; its in_axes must be None")
        try:
            return mapped(*args)
        except ValueError as error:
            if str(error).startswith("vmap:"):  # of the arguments, not of what fn does
                raise RuntimeError(str(error)) from None
            raise

    return vmapped


def _check_axes(name: str, axes: Any) -> None:
    if isinstance(axes, (tuple, list)):
        for axis in axes:
            _check_axes(name, axis)
    elif axes is not None and (isinstance(axes, bool) or not isinstance(axes, int)):
        raise RuntimeError(f"vmap: {name} must be an int, None or a tuple of those, got {type(axes).__name__}")


def _ensemble(fn: Any) -> list[Any]:
    """The cells of a CellList, whose own call computes nothing."""
    from .nn.containers import CellList

    return list(fn) if isinstance(fn, CellList) else []


def _together(cells: list[Any], in_axes: Any, out_axes: Any) -> Function:
    """The cells as one mapped function: the first, called on all their parameters, stacked."""
    own = [dict(cell.parameters_and_names()) for cell in cells]
    for i, parameters in enumerate(own):
        if [(k, p.shape) for k, p in parameters.items()] != [(k, p.shape) for k, p in own[0].items()]:
            raise RuntimeError(f"vmap: cell {i} of the CellList has other parameters than the first; they must be alike")

    def first(parameters: list[Any], *args: Any) -> Any:
        by_identity = {id(p): x for p, x in zip(own[0].values(), parameters)}
        places = [
            (cell._params, name, p)
            for _, cell in cells[0].cells_and_names() for name, p in cell._params.items() if p is not None
        ]  # fmt: skip
        try:
            for table, name, p in places:
                table[name] = by_identity[id(p)]
            return cells[0](*args)
        finally:
            for table, name, p in places:
                table[name] = p

    def mapped(*args: Any) -> Any:
        axes = tuple(in_axes) if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        parameters = [stack([p[name] for p in own]) for name in own[0]]
        return _vmap(first, (0, *axes), out_axes, randomness="different")(parameters, *args)

    return mapped


# ------------------------------------------------------------------------------------------ higher order


_HIGHEST = 10  # derivatives in one direction, each forward mode over the last: x * x takes 4 s at 10


def _taylor(fn: Function, primals: tuple[Any, ...], series: Sequence[Sequence[Any]], order: int) -> list[Any]:
    """The derivatives of t -> fn(x + t s1 + t^2/2 s2 + ...) at 0 up to `order`; series[k-1] holds the s_k."""

    if order > _HIGHEST:
        raise NotImplementedError(
            f"derivative: orders up to {_HIGHEST} are supported, got {order}; each one doubles the work of the last"
        )

    def curve(t: Tensor) -> tuple[Any, ...]:
        return tuple(
            _plus(x, [s * (t**k * (1.0 / math.factorial(k))) for k, s in enumerate(along, 1)])
            for x, along in zip(primals, zip(*series))
        )

    def at(n: int) -> Function:
        if n == 0:
            return lambda t: fn(*curve(t))
        below = at(n - 1)
        return lambda t: forward.jvp(below, (t,), (Tensor(1.0),))[1]

    zero = Tensor(0.0)
    return [at(n)(zero) for n in range(order + 1)]


def _plus(x: Any, terms: list[Any]) -> Any:
    for term in terms:
        x = x + term.astype(x.dtype)
    return x


def _tuple(op: str, name: str, x: Any) -> tuple[tuple[Any, ...], bool]:
    given = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    _check_tensors(op, name, given)
    return given, isinstance(x, (tuple, list))


@api(method=False)
def jet(fn: Function, primals: Any, series: Any) -> tuple[Any, Any]:
    """What `fn` returns at `primals`, and the derivatives of its result along the curve with the derivatives `series`.

    series: for each input a tensor whose first axis numbers the derivatives of the curve, from the first on. The second
    result has such an axis too.
    """
    points, _ = _tuple("jet", "primal", primals)
    along, _ = _tuple("jet", "series", series)
    if len(points) != len(along):
        raise ValueError(f"jet: {len(points)} primals, but {len(along)} series")
    order = along[0].shape[0] if along[0].ndim else 0
    for x, s in zip(points, along):
        if s.shape != (order, *x.shape):
            raise ValueError(f"jet: a series for an input of shape {x.shape} has shape {(order, *x.shape)}, got {s.shape}")
    found = _taylor(fn, points, [[s[k] for s in along] for k in range(order)], order)
    rows = found[1:]
    if isinstance(found[0], (tuple, list)):
        return found[0], tuple(stack([row[i] for row in rows]) for i in range(len(found[0])))
    return found[0], stack(rows)


@api(method=False)
def derivative(fn: Function, primals: Any, order: int) -> tuple[Any, Any]:
    """What `fn` returns at `primals`, and its derivative of that order along ones.

    Raises TypeError for an order that is no int, ValueError for one below 1, NotImplementedError for one above 10.
    """
    if isinstance(order, bool) or not isinstance(order, int):
        raise TypeError(f"derivative: order must be an int, got {type(order).__name__}")
    if order < 1:
        raise ValueError(f"derivative: order must be at least 1, got {order}")
    points, _ = _tuple("derivative", "primal", primals)
    ones = [x * 0 + 1 for x in points]
    zeros = [x * 0 for x in points]
    found = _taylor(fn, points, [ones, *[zeros] * (order - 1)], order)
    return found[0], found[order]


@api(method=False)
def partial(fn: Function, *args: Any, **kwargs: Any) -> Function:
    """A function with its first arguments, and some by keyword, given ahead."""
    check_function("partial", fn)
    return functools.partial(fn, *args, **kwargs)
