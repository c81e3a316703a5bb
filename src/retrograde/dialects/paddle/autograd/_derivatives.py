"""Jacobians and Hessians of tensors that have been computed: matrices whose rows are found by backward passes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.value import dtype_of, make, shape_of
from ....ops import structural as st
from ....ops.structural import concatenate, stack
from ....tape import autograd as tape
from .._gradients import grad
from .._tensor import Tensor


def zeros_for(x: Tensor) -> Tensor:
    """A gradient of zeros for an input that is not used, to be differentiated like any other."""
    zero = make(Tensor, np.zeros(shape_of(x), dtype_of(x)))
    tape.leaf(zero)
    return zero


def gradients(ys: Sequence[Tensor], xs: Sequence[Tensor], seeds: Sequence[Tensor] | None = None) -> list[Tensor]:
    """The gradients of `ys` with respect to `xs`, zeros for those not used, to be differentiated again."""
    found = grad(list(ys), list(xs), seeds, create_graph=True, allow_unused=True)
    return [zeros_for(x) if g is None else g for g, x in zip(found, xs)]


def rows(y: Tensor, xs: Sequence[Tensor], batched: bool) -> list[list[Tensor]]:
    """For each element of `y` (of each entry of the batch along the first axis), its gradients with respect to `xs`.

    y: of shape [M], or [B, M] with `batched`.
    """
    return [gradients([y[:, m] if batched else y[m]], xs) for m in range(shape_of(y)[-1])]


class Jacobian:
    """The derivatives of every element of one tensor with respect to every element of another, as a matrix.

    It is computed when it is first asked for an element; from then on it is used like a Tensor.
    """

    def __init__(self, shape: Sequence[int], compute: Callable[[], Tensor]) -> None:
        self._shape = tuple(shape)
        self._compute: Callable[[], Tensor] | None = compute
        self._found: Tensor | None = None

    @property
    def shape(self) -> Any:
        """The shape: that of `ys` followed by that of `xs`, a batch axis in front of both."""
        return list(self._shape)

    def _matrix(self) -> Tensor:
        if self._compute is not None:
            self._found, self._compute = self._compute(), None  # what it was computed from may go
        assert self._found is not None
        return self._found

    def __getitem__(self, key: Any) -> Any:
        if not self._shape:
            raise IndexError(f"{type(self).__name__}: a 0-d one has no axis to index; it is a single number, item()")
        if any(part is ... for part in (key if isinstance(key, tuple) else (key,))):
            raise IndexError(f"{type(self).__name__}: an ellipsis is no index here; name each axis")
        return self._matrix()[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_found", "_compute", "_shape"):
            raise AttributeError(name)
        return getattr(self._matrix(), name)


def _plain(x: Any) -> Any:
    return x._matrix() if isinstance(x, Jacobian) else x


def _install_operators() -> None:
    for name in ("add", "sub", "mul", "truediv", "matmul", "pow", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge"):
        f = getattr(operator, name)

        def method(self: Jacobian, other: Any, _f: Any = f) -> Any:
            return _f(self._matrix(), _plain(other))

        def reflected(self: Jacobian, other: Any, _f: Any = f) -> Any:
            return _f(_plain(other), self._matrix())

        setattr(Jacobian, f"__{name}__", method)
        if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
            setattr(Jacobian, f"__r{name}__", reflected)
    Jacobian.__neg__ = lambda self: -self._matrix()  # type: ignore[attr-defined]
    Jacobian.__hash__ = object.__hash__  # type: ignore[assignment]


_install_operators()


class Hessian(Jacobian):
    """The second derivatives of a number with respect to a tensor, as a matrix."""


def _check_batch(batch_axis: Any) -> bool:
    if batch_axis is not None and batch_axis != 0:
        raise ValueError(f"batch_axis must be None or 0, got {batch_axis!r}")
    return batch_axis is not None


def _check_ranks(y: Tensor, x: Tensor, batched: bool) -> None:
    for label, t in (("ys", y), ("xs", x)):
        if not isinstance(t, Tensor):
            raise TypeError(f"{label} must be a Tensor or a sequence of them, got {type(t).__name__}")
        if not int(batched) <= t.ndim <= 1 + int(batched):
            raise ValueError(
                f"{label} must have {'1 or 2 axes, the first the batch,' if batched else '0 or 1 axes'} "
                f"got shape {list(t.shape)}; reshape it"
            )


def _matrix(cls: type[Jacobian], y: Tensor, x: Tensor, batched: bool) -> Jacobian:
    _check_ranks(y, x, batched)
    own = tuple(shape_of(y)), tuple(shape_of(x))[int(batched) :]

    def compute() -> Tensor:
        flat = y if y.ndim > int(batched) else st.reshape(y, shape=(*own[0], 1))
        found: Any = stack(*(row[0] for row in rows(flat, [x], batched)), axis=int(batched))  # type: ignore[arg-type]
        return st.reshape(found, shape=(*own[0], *own[1]))  # type: ignore[no-any-return]

    return cls((*own[0], *own[1]), compute)


def _each(ys: Any, xs: Any, build: Callable[[Any, Any], Any]) -> Any:
    if isinstance(ys, (tuple, list)):
        return tuple(_each(y, xs, build) for y in ys)
    if isinstance(xs, (tuple, list)):
        return tuple(build(ys, x) for x in xs)
    return build(ys, xs)


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The Jacobian of `ys` with respect to `xs`, each a Tensor of at most one axis (two, the first being the batch, with
    `batch_axis=0`); tuples of Jacobians for tuples of Tensors.

    Raises ValueError for tensors of more axes, and for another batch axis.
    """
    batched = _check_batch(batch_axis)
    return _each(ys, xs, lambda y, x: _matrix(Jacobian, y, x, batched))


def hessian(ys: Tensor, xs: Any, batch_axis: int | None = None) -> Any:
    """The Hessian of the number `ys` (one per entry of the batch, with `batch_axis=0`) with respect to `xs`; a tuple of
    tuples of Hessians for a tuple of Tensors.

    Raises ValueError where `ys` has more than one element.
    """
    batched = _check_batch(batch_axis)
    if not isinstance(ys, Tensor):
        raise TypeError(f"hessian: ys must be a Tensor, got {type(ys).__name__}")
    shape = tuple(shape_of(ys))
    count = math.prod(shape[1:] if batched else shape)
    if count != 1:
        raise ValueError(f"hessian: ys must be one number{' per entry of the batch' if batched else ''}, got {count}")
    number = st.reshape(ys, shape=shape[:1] if batched else ())
    several = isinstance(xs, (tuple, list))
    first = gradients([number], xs if several else [xs])
    found = tuple(
        tuple(_matrix(Hessian, g, x, batched) for x in xs) if several else _matrix(Hessian, g, xs, batched)
        for g in first
    )
    return found if several else found[0]


def joined(parts: Sequence[Tensor], batched: bool) -> Any:
    """Tensors flattened (behind the batch axis) and put one behind the other."""
    shapes = [tuple(shape_of(p)) for p in parts]
    flat = [st.reshape(p, shape=(s[0], math.prod(s[1:])) if batched else (math.prod(s),))
            for p, s in zip(parts, shapes)]  # fmt: skip
    return flat[0] if len(flat) == 1 else concatenate(*flat, axis=int(batched))
