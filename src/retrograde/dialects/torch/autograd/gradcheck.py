"""`gradcheck` and `gradgradcheck`: derivatives against finite differences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.node import Node, producer
from ....core.unwrap import concrete
from ....core.value import dtype_of, shape_of
from ....tape.function import Custom
from .._tensor import Tensor, beside
from ..random import rand, rand_like, randn_like
from ._entry import grad


class GradcheckError(RuntimeError):
    """A derivative differs from its finite difference."""


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def _checked(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _outputs(result: Any) -> list[Tensor]:
    return [y for y in _as_tuple(result) if isinstance(y, Tensor) and y.requires_grad]


def _array(x: Tensor) -> np.ndarray:
    return concrete("gradcheck", x)


def _numerical(
    f: Callable[..., Any], inputs: tuple[Any, ...], target: Tensor, eps: float, count: int
) -> list[np.ndarray]:
    """The Jacobians of all outputs with respect to `target`, by central differences, one row per input element.

    For a complex input element, row pairs give the derivative along the real and the imaginary direction.
    """
    there = type(target._a) is not np.ndarray
    array = concrete("gradcheck", target) if there else target._a
    flat_index = list(np.ndindex(array.shape))
    directions = [1.0, 1j] if array.dtype.kind == "c" else [1.0]

    def values() -> list[np.ndarray]:
        if there:  # another device's memory is not written element by element
            target._a = beside(array, target)._a
        return [_array(y).copy() for y in _outputs_of(f(*inputs), count)]

    rows: list[list[np.ndarray]] = []
    for index in flat_index:
        for direction in directions:
            kept = array[index].copy()
            array[index] = kept + eps * direction
            plus = values()
            array[index] = kept - eps * direction
            minus = values()
            array[index] = kept
            if [p.shape for p in plus] != [m.shape for m in minus]:
                raise AssertionError("gradcheck: the shape of an output depends on the input's values")
            rows.append([((p - m) / (2 * eps)).ravel() for p, m in zip(plus, minus)])
    if there:
        target._a = beside(array, target)._a
    return [np.array([row[k] for row in rows]) for k in range(count)]


def _outputs_of(result: Any, count: int) -> list[Tensor]:
    found = [y for y in _as_tuple(result) if isinstance(y, Tensor) and dtype_of(y).kind in "fcV"]
    return found[:count]


def _analytical(outputs: list[Tensor], k: int, target: Tensor, others: Sequence[Tensor]) -> np.ndarray:
    """The derivative of output k along each real direction of the input, from one backward pass per output
    direction."""
    y = outputs[k]
    shape, is_complex = tuple(shape_of(y)), dtype_of(y).kind == "c"
    n_in = math.prod(shape_of(target))
    in_complex = dtype_of(target).kind == "c"
    columns = []
    for index in np.ndindex(shape):
        parts = []
        for direction in ([1.0, 1j] if is_complex else [1.0]):
            seed = np.zeros(shape, dtype_of(y))
            seed[index] = direction
            (g,) = grad([y], [target], [beside(seed, y)], retain_graph=True, allow_unused=True)
            array = np.zeros(shape_of(target), dtype_of(target)) if g is None else _array(g)
            if g is not None and tuple(g.shape) != tuple(shape_of(target)):
                raise GradcheckError(f"gradcheck: a gradient of shape {tuple(g.shape)} for {tuple(shape_of(target))}")
            # <seed, dy> for a step in each real direction of the input is the matching part of the gradient.
            flat = array.ravel()
            parts.append(np.stack([flat.real, flat.imag], 1).ravel() if in_complex else flat)
        columns.append(parts[0] + 1j * parts[1] if is_complex else parts[0])
    return np.array(columns).T if columns else np.zeros((n_in * (2 if in_complex else 1), 0))


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool =
    False, check_batched_grad: bool = False, check_batched_forward_grad: bool = False, check_forward_ad: bool = False,
    check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None,
) -> bool:  # fmt: skip
    """Whether the gradients of `func` at `inputs` agree with finite differences.

    Inputs that require grad should be float64 or complex128 and not overlap in memory. Raises GradcheckError with the
    first difference unless `raise_exception` is False; ValueError when no input requires grad.
    """
    if not check_forward_ad and not check_backward_ad:
        raise AssertionError("gradcheck: one of check_forward_ad and check_backward_ad has to be True")
    if (check_batched_grad and not check_backward_ad) or (check_batched_forward_grad and not check_forward_ad):
        raise AssertionError("gradcheck: batched derivatives are checked in a mode that is checked itself")
    tupled = _as_tuple(inputs)
    targets = [x for x in tupled if _checked(x)]
    if not targets:
        raise ValueError("gradcheck: at least one input must require grad")
    for i, x in enumerate(tupled):
        if _checked(x) and x.dtype.name not in ("float64", "complex128"):
            warnings.warn(
                f"gradcheck: input {i} has dtype {x.dtype}; finite differences need double precision", stacklevel=2
            )
    try:
        result = func(*tupled)
        outputs = _outputs(result)
        if not outputs:
            for _ in _outputs_of(result, len(_as_tuple(result))):
                if any(np.any(j) for j in _numerical(func, tupled, targets[0], eps, 1)):
                    raise GradcheckError("gradcheck: the outputs do not require grad, but depend on the inputs")
            return True
        for j, x in enumerate(targets):
            if type(x._a) is np.ndarray and x._a.size and not x._a.flags.writeable:
                raise RuntimeError("gradcheck: an input's memory is shared or read-only; pass a contiguous clone()")
            numerical = _numerical(func, tupled, x, eps, len(outputs))
            if check_backward_ad:
                for k in range(len(outputs)):
                    analytical = _analytical(outputs, k, x, targets)
                    _compare("backward", analytical, numerical[k], j, k, atol, rtol)
                    again = _analytical(outputs, k, x, targets)
                    if np.abs(again - analytical).max(initial=0.0) > nondet_tol:
                        raise GradcheckError(
                            f"gradcheck: two backward passes gave different gradients of output {k} for input {j}; "
                            "allow for it with nondet_tol"
                        )
            if check_forward_ad:
                forward = _forward(func, tupled, x, len(outputs))
                for k in range(len(outputs)):
                    _compare("forward", forward[k], numerical[k], j, k, atol, rtol)
        if check_backward_ad:
            _of_nothing(outputs, targets)
        if check_undefined_grad and check_backward_ad:
            _undefined(outputs)
        if check_batched_grad:
            _batched(outputs, targets, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _compare(mode: str, actual: np.ndarray, expected: np.ndarray, j: int, k: int, atol: float, rtol: float) -> None:
    if not np.allclose(actual, expected, atol=atol, rtol=rtol, equal_nan=True):
        raise GradcheckError(
            f"gradcheck: the {mode}-mode Jacobian of output {k} with respect to input {j} differs from finite "
            "differences by up to "
            f"{np.nanmax(np.abs(actual - expected)):.3g}\nnumerical:\n{expected}\nanalytical:\n{actual}"
        )


def _forward(f: Callable[..., Any], inputs: tuple[Any, ...], target: Tensor, count: int) -> list[np.ndarray]:
    from . import forward_ad

    rows: list[list[np.ndarray]] = []
    for index in np.ndindex(tuple(shape_of(target))):
        for direction in ([1.0, 1j] if dtype_of(target).kind == "c" else [1.0]):
            t = np.zeros(shape_of(target), dtype_of(target))
            t[index] = direction
            with forward_ad.dual_level():
                args = [forward_ad.make_dual(x.detach().requires_grad_(), beside(t, x)) if x is target else x for x in inputs]
                outs = [forward_ad.unpack_dual(y) for y in _outputs_of(f(*args), count)]
                rows.append([
                    np.zeros(shape_of(p), dtype_of(p)).ravel() if d is None else _array(d).ravel() for p, d in outs
                ])  # fmt: skip
    return [np.array([row[k] for row in rows]) for k in range(count)]


def _undefined(outputs: list[Tensor]) -> None:
    """Hooks and custom functions take it that there is no cotangent, and give nothing or zeros for it."""
    for i, y in enumerate(outputs):
        node = producer(y._node)
        try:
            for hook in [h for table in node.hooks.tensor.values() for h in table.values()] if node.hooks is not None else []:
                hook(None)
            if not isinstance(node, Node) or not isinstance(node.prim, Custom):
                continue
            found = node.prim.backward(node, [None] * (len(node.outs) if hasattr(node, "outs") else 1))
        except RuntimeError as error:
            raise GradcheckError(f"gradcheck: output {i} has no gradient, which its backward refuses") from error
        if any(g is not None and np.any(_array(g) != 0) for g in found):
            raise GradcheckError("gradcheck: no cotangent gave a gradient that is not zero")


def _of_nothing(outputs: list[Tensor], targets: list[Tensor]) -> None:
    """A backward pass whose cotangent is zero gives zeros or nothing."""
    zeros = [beside(np.zeros(shape_of(y), dtype_of(y)), y) for y in outputs]
    for g in grad(outputs, targets, zeros, retain_graph=True, allow_unused=True):
        if g is not None and np.any(_array(g) != 0) and np.isfinite(_array(g)).all():
            raise GradcheckError("gradcheck: a zero cotangent gave a gradient that is not zero")


def _batched(outputs: list[Tensor], targets: list[Tensor], atol: float, rtol: float) -> None:
    for y in outputs:
        seeds = [randn_like(y), randn_like(y)]
        together = grad(
            [y], targets, [beside(np.stack([_array(s) for s in seeds]), y)], retain_graph=True, allow_unused=True,
            is_grads_batched=True,
        )  # fmt: skip
        for row, seed in enumerate(seeds):
            alone = grad([y], targets, [seed], retain_graph=True, allow_unused=True)
            for a, b in zip(together, alone):
                if (a is None) != (b is None) or (
                    a is not None and not np.allclose(_array(a)[row], _array(b), atol=atol, rtol=rtol)
                ):
                    raise GradcheckError("gradcheck: a batched backward pass differs from single ones")


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5, rtol:
    float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True, nondet_tol: float = 0.0,
    check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """Whether the second derivatives of `func` at `inputs` agree with finite differences of its gradients."""
    tupled = _as_tuple(inputs)
    targets = [x for x in tupled if _checked(x)]
    outputs = _outputs(func(*tupled))
    if grad_outputs is None:
        seeds = []
        for y in outputs:
            if gen_non_contig_grad_outputs and y.numel() > 1:
                seed = rand(*shape_of(y), 2, dtype=y.dtype, device=y.device)[..., 0]
            else:
                seed = rand_like(y)
            seeds.append(seed.detach().requires_grad_())
    else:
        seeds = list(_as_tuple(grad_outputs))
    count = len(tupled)

    def first(*everything: Any) -> tuple[Tensor, ...]:
        ys = _outputs(func(*everything[:count]))
        used = [x for x in everything[:count] if _checked(x)]
        found = grad(ys, used, list(everything[count:]), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    if not targets:
        raise ValueError("gradgradcheck: at least one input must require grad")
    return gradcheck(
        first, (*tupled, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, check_batched_grad=check_batched_grad,
    )  # fmt: skip


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
