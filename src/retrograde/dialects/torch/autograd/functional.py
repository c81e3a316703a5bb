"""`torch.autograd.functional`: jacobian, hessian and products with them, on the everyday tape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...._state import grad_mode, is_grad_enabled, state
from ....core.dual import DualArray
from ....core.value import content, dtype_of, make, shape_of
from ....tape.autograd import leaf
from .._tensor import Tensor, beside, refuse_in_transforms
from ._entry import grad


def _tuple(op: str, what: str, given: Any) -> tuple[tuple[Any, ...], bool]:
    single = not isinstance(given, tuple)
    found = (given,) if single else given
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            raise TypeError(f"{op}: {what} must be tensors; number {i} is {type(x).__name__}")
    return found, single


def _as_tuple(inp: Any, arg_name: str = "inputs", fn_name: str = "functional") -> tuple[bool, tuple[Any, ...]]:
    """Whether tensors came as a tuple, and the tuple; for packages that differentiate outputs they already have."""
    found, single = _tuple(fn_name, arg_name, inp)
    return not single, found


def _tuple_postprocess(res: tuple[Any, ...], to_unpack: Any) -> Any:
    """Results in the form that outputs and inputs came in, where `to_unpack` says of either whether it was a tuple."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    if not inner:
        res = tuple(row[0] for row in res)
    return res if outer else res[0]


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Tensors, or tuples of them, without their history, unless a graph is wanted."""
    if create_graph:
        return inputs
    return tuple(x.detach() if isinstance(x, Tensor) else _grad_postprocess(x, create_graph) for x in inputs)


def _construct_standard_basis_for(tensors: Any, tensor_numels: Any) -> tuple[Any, ...]:
    """The unit vectors of all elements of some tensors, flat: for each tensor, the columns that are its own."""
    ends = np.cumsum([0, *tensor_numels])
    unit = np.eye(ends[-1])
    return tuple(
        beside(unit[:, a:b].astype(dtype_of(x)), x) for x, a, b in zip(tensors, ends, ends[1:])
    )  # fmt: skip


def _inputs(op: str, inputs: Any, create_graph: bool) -> tuple[tuple[Tensor, ...], bool]:
    """The inputs as tensors whose gradient is wanted: connected to the originals when a graph is wanted."""
    found, single = _tuple(op, "inputs", inputs)
    if not create_graph:
        for x in found:  # its derivative, which a transform around would take, would be lost
            if x._level:
                refuse_in_transforms(op, x._levels())
    return tuple([_leaf(x, create_graph) for x in found]), single


def _leaf(x: Tensor, connected: bool = False) -> Tensor:
    """A tensor as one whose gradient is wanted on the innermost tape: inside a transform the function may meet what that
    transform follows, and a pass takes place on one tape."""
    if state.tape is not None and x._level < state.tape.id:
        lifted = make(Tensor, content(x if connected else x.detach()), None, state.tape.id)
        leaf(lifted)
        return lifted
    return x.view_as(x) if connected and x.requires_grad else x.detach().requires_grad_()


def _outputs(op: str, outputs: Any) -> tuple[tuple[Tensor, ...], bool]:
    return _tuple(op, "outputs of the function", outputs)


def _check_requires(op: str, what: str, tensors: tuple[Any, ...], strict: bool) -> None:
    if strict:
        for i, y in enumerate(tensors):
            if y is None or not y.requires_grad:
                raise RuntimeError(
                    f"{op}: with strict=True, {what} {i} must depend on the inputs in a differentiable way"
                )


def _vectors(op: str, v: Any, likes: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    if v is None:
        for y in likes:
            if y.numel() != 1:
                raise RuntimeError(f"{op}: v may only be left out where there is a single element, not {list(y.shape)}")
        return tuple(_ones(y) for y in likes)
    found, _ = _tuple(op, "v", v)
    if len(found) != len(likes):
        raise RuntimeError(f"{op}: v has {len(found)} tensors, wanted {len(likes)}")
    for i, (a, b) in enumerate(zip(found, likes)):
        if tuple(shape_of(a)) != tuple(shape_of(b)):
            raise RuntimeError(f"{op}: v[{i}] has shape {list(a.shape)}, wanted {list(b.shape)}")
    return found


def _ones(y: Tensor) -> Tensor:
    return beside(np.ones(shape_of(y), dtype_of(y)), y)


def _zeros(shape: tuple[int, ...], like: Tensor) -> Tensor:
    return beside(np.zeros(shape, dtype_of(like)), like)


def _filled(op: str, grads: Any, likes: tuple[Tensor, ...], strict: bool, what: str) -> tuple[Tensor, ...]:
    """Missing gradients as zeros, or an error when strict."""
    result = []
    for i, (g, x) in enumerate(zip(grads, likes)):
        if g is None:
            if strict:
                raise RuntimeError(f"{op}: with strict=True, {what} must depend on input {i}")
            g = _zeros(tuple(shape_of(x)), x)
        result.append(g)
    return tuple(result)


def _given_back(results: tuple[Any, ...], single: bool, create_graph: bool) -> Any:
    if not create_graph:
        results = tuple(r.detach() for r in results)
    return results[0] if single else results


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of `v` with its Jacobian."""
    with grad_mode(True):
        xs, single_in = _inputs("vjp", inputs, create_graph)
        ys, single_out = _outputs("vjp", func(*xs))
        _check_requires("vjp", "output", ys, strict)
        seeds = _vectors("vjp", v, ys)
    with grad_mode(True if create_graph else is_grad_enabled()):
        found = _pull(ys, xs, seeds, create_graph)
    filled = _filled("vjp", found, xs, strict, "the outputs")
    _check_requires("vjp", "the product for input", filled, strict and create_graph)
    return _given_back(ys, single_out, create_graph), _given_back(filled, single_in, create_graph)


def _pull(ys: Any, xs: Any, seeds: Any, create_graph: bool, retain: bool | None = None) -> tuple[Any, ...]:
    pairs = [(y, s) for y, s in zip(ys, seeds) if y is not None and _recorded(y)]
    if not pairs:
        return (None,) * len(xs)
    return grad([y for y, _ in pairs], list(xs), [s for _, s in pairs], create_graph=create_graph, allow_unused=True,
                retain_graph=retain)  # fmt: skip


def _recorded(y: Tensor) -> bool:
    """Whether a pass can begin at `y`: a constant of a transform has none there, whatever it says of the tapes below."""
    return y.requires_grad and (y._node is not None or type(y._a) is DualArray)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of its Jacobian with `v` (two backward passes)."""
    with grad_mode(True):
        xs, _ = _inputs("jvp", inputs, create_graph)
        tangents = _vectors("jvp", v, xs)
        ys, single_out = _outputs("jvp", func(*xs))
        _check_requires("jvp", "output", ys, strict)
        dummies = tuple(_leaf(_zeros(tuple(shape_of(y)), y)) for y in ys)
        pulled = _pull(ys, xs, dummies, True)
        _check_requires("jvp", "the gradient of input", tuple(pulled), strict)
        found = _pull(pulled, dummies, tangents, create_graph)
    filled = _filled("jvp", found, ys, strict, "the gradient")
    _check_requires("jvp", "the product for output", filled, strict and create_graph)
    return _given_back(ys, single_out, create_graph), _given_back(filled, single_out, create_graph)


def _check_strategy(op: str, name: str, strategy: str, vectorize: bool) -> None:
    """Raise unless it is a mode, and forward mode only where the columns are computed together."""
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(f"{op}: {name} must be 'reverse-mode' or 'forward-mode', got {strategy!r}")
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(f"{op}: {name}='forward-mode' goes with vectorize=True")


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of `func`: for output i and input j a tensor of their shapes joined, in tuples where they are."""
    _check_strategy("jacobian", "strategy", strategy, vectorize)
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError("jacobian: create_graph=True goes with strategy='reverse-mode'")
    if strict and vectorize:
        raise RuntimeError("jacobian: strict=True does not go with vectorize=True")
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs)
    with grad_mode(True):
        xs, single_in = _inputs("jacobian", inputs, create_graph)
        ys, single_out = _outputs("jacobian", func(*xs))
        _check_requires("jacobian", "output", ys, strict)
        rows = []
        for i, y in enumerate(ys):
            if y.is_complex():
                raise RuntimeError(f"jacobian: output {i} is {y.dtype}; return its real and its imaginary part")
            rows.append(_jacobian_row(y, i, xs, create_graph, strict, vectorize))
    result = tuple(row[0] if single_in else row for row in rows)
    return result[0] if single_out else result


def _jacobian_row(
    y: Tensor, i: int, xs: tuple[Tensor, ...], create_graph: bool, strict: bool, vectorize: bool
) -> tuple[Tensor, ...]:
    shape = tuple(shape_of(y))
    n = math.prod(shape)
    basis = np.eye(n, dtype=dtype_of(y)).reshape(n, *shape)
    if vectorize and _recorded(y) and n:
        found = grad([y], list(xs), [beside(basis, y)], retain_graph=True, create_graph=create_graph,
                     allow_unused=True, is_grads_batched=True)  # fmt: skip
        return tuple(
            _zeros(shape + tuple(shape_of(x)), x) if g is None else g.reshape(shape + tuple(shape_of(x)))
            for g, x in zip(found, xs)
        )
    columns: list[list[Tensor]] = [[] for _ in xs]
    for k in range(n):
        found = _pull((y,), xs, (beside(basis[k], y),), create_graph, True)
        for j, (g, x) in enumerate(zip(found, xs)):
            if g is None:
                if strict:
                    raise RuntimeError(f"jacobian: with strict=True, output {i} must depend on input {j}")
                g = _zeros(tuple(shape_of(x)), x)
            elif strict and create_graph and not g.requires_grad:
                raise RuntimeError(f"jacobian: with strict=True, the Jacobian of output {i} must depend on input {j}")
            columns[j].append(g if create_graph else g.detach())
    from ....ops.structural import reshape, stack

    results = []
    for x, parts in zip(xs, columns):
        full = shape + tuple(shape_of(x))
        results.append(reshape(stack(*parts, axis=0), shape=full) if parts else _zeros(full, x))
    return tuple(results)


def _forward_jacobian(func: Callable[..., Any], inputs: Any) -> Any:
    from ....transform.jacobian import jacfwd

    xs, single_in = _tuple("jacobian", "inputs", inputs)
    return jacfwd(func, 0 if single_in else tuple(range(len(xs))))(*xs)


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a function of one real result: for inputs i and j a tensor of their shapes joined."""
    _check_strategy("hessian", "outer_jacobian_strategy", outer_jacobian_strategy, vectorize)
    xs, single_in = _tuple("hessian", "inputs", inputs)

    def gradient(*points: Any) -> Any:
        y = _single("hessian", func(*points), strict).reshape(())
        found = _pull((y,), points, (_ones(y),), True)
        filled = _filled("hessian", found, points, strict, "the output")
        _check_requires("hessian", "the gradient of input", filled, strict)
        return filled

    if outer_jacobian_strategy == "forward-mode":
        from ....transform.jacobian import hessian as transformed

        return transformed(func, 0 if single_in else tuple(range(len(xs))))(*xs)
    result = jacobian(gradient, tuple(xs), create_graph=create_graph, strict=strict, vectorize=vectorize)
    return result[0][0] if single_in else result


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of `func`, and the product of `v` with its Hessian."""
    return _with_hessian("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of `func`, and the product of its Hessian with `v`."""
    return _with_hessian("hvp", func, inputs, v, create_graph, strict)


def _with_hessian(
    op: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    with grad_mode(True):
        xs, single_in = _inputs(op, inputs, create_graph)
        vectors = _vectors(op, v, xs)
        y = _single(op, func(*xs), strict)
        first = _filled(op, _pull((y,), xs, (_ones(y),), True), xs, strict, "the output")
        _check_requires(op, "the gradient of input", first, strict)
        if op == "vhp":
            found = _pull(first, xs, vectors, create_graph)
        else:  # the derivative of a pullback, which is linear, by what it pulls back
            dummies = tuple(_leaf(_zeros(tuple(shape_of(g)), g)) for g in first)
            second = _filled(op, _pull(first, xs, dummies, True), xs, strict, "the gradient")
            found = _pull(second, dummies, vectors, create_graph)
    filled = _filled(op, found, xs, strict, "the gradient")
    return _given_back((y,), True, create_graph), _given_back(filled, single_in, create_graph)


def _single(op: str, result: Any, strict: bool) -> Tensor:
    ys, single = _outputs(op, result)
    if not single:
        raise RuntimeError(f"{op}: the function must return one tensor, not a tuple")
    if ys[0].numel() != 1:
        raise RuntimeError(f"{op}: the function must return a single element, not shape {list(ys[0].shape)}")
    _check_requires(op, "output", ys, strict)
    return ys[0]


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
