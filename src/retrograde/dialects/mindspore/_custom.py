"""`custom`: operations whose derivative the user wrote as `bprop(*inputs, out, dout)`: cells, `ops.Custom`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._state import grad_mode, is_grad_enabled
from ..._traceback import returned_at
from ..._tree import TreeDef, flatten, unflatten
from ...core.node import Slot
from ...core.value import Value, dtype_of, make, shape_of
from ...ops.structural import cast, sum_to_shape
from ...tape import function
from ._tensor import Tensor

_CONTAINERS = (tuple, list, dict)


def _leaves(tree: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of a container and its structure, with None as a leaf: an input that is None has a gradient too."""
    return flatten(tree, lambda x: x is None)


def custom(name: str, forward: Any, inputs: tuple[Any, ...], bprop: Any) -> Any:
    """What `forward()` gives, unrecorded, with `bprop(*inputs, out, dout)` as its derivative.

    bprop returns a gradient per input (None, or anything, for those that are no tensors); one of a shape that the input
    broadcasts to is summed to the input's.
    """
    leaves = _leaves(inputs)[0]
    positions = [i for i, x in enumerate(leaves) if isinstance(x, Value)]
    recorded = is_grad_enabled() and any(leaves[i]._node is not None for i in positions)
    with grad_mode(False):
        out = forward()
    if not recorded:
        return out
    parts, tree = _leaves(out)
    places = [i for i, y in enumerate(parts) if isinstance(y, Value)]
    level = max(leaves[i]._level for i in positions)
    outputs = []
    for i in places:
        parts[i] = make(Tensor, parts[i]._a, None, parts[i]._level)
        outputs.append(parts[i])
    differentiable = [dtype_of(y).kind != "b" for y in outputs]
    if not any(differentiable):
        return out
    kept = [(y._a, tuple(shape_of(y)), dtype_of(y)) for y in outputs]

    def backward(node: Any, cotangents: Any) -> list[Any]:
        full, douts = list(parts_bare), list(parts_bare)
        for k, (i, (array, shape, np_dtype)) in enumerate(zip(places, kept)):
            edge = node if len(kept) == 1 else Slot(node, k, shape, np_dtype)
            full[i] = make(Tensor, array, edge if differentiable[k] else None, level)
            g = cotangents[k]
            douts[i] = make(Tensor, np.zeros(shape, np_dtype)) if g is None else g
        found = bprop(*inputs, unflatten(tree, full), unflatten(tree, douts))
        gradients = _per_leaf(name, bprop, found, inputs, len(leaves))
        return [
            fitting(f"{name}.bprop", bprop, gradients[i], i, tuple(shape_of(leaves[i])), dtype_of(leaves[i])) for i in positions
        ]

    parts_bare = [None if isinstance(y, Value) else y for y in parts]
    function.attach(name, [leaves[i] for i in positions], outputs, backward,
                    differentiable=differentiable, level=level, cls=Tensor)  # fmt: skip
    return unflatten(tree, parts)


def _per_leaf(name: str, bprop: Any, found: Any, inputs: tuple[Any, ...], count: int) -> list[Any]:
    """What bprop returned as a gradient for each of the `count` leaves of the inputs, which may be containers.

    It returns them one after the other, or as containers like the inputs; what comes after those of the inputs is left alone.
    """
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], tuple) and isinstance(found[1], dict):
        found = found[0]  # with gradients of weights, which gradient functions take from the tape
    if found is None:
        raise TypeError(f"{name}.bprop returned None; it returns the gradients of the inputs{returned_at(bprop)}")
    gradients = list(found) if isinstance(found, (tuple, list)) else [found]
    if len(gradients) >= len(inputs):
        like = [_leaves(g)[0] if isinstance(x, _CONTAINERS) else [g] for g, x in zip(gradients, inputs)]
        if all(len(g) == len(_leaves(x)[0]) for g, x in zip(like, inputs)):
            return [g for part in like for g in part]
    if len(gradients) < count:
        raise RuntimeError(function.count_text(f"{name}.bprop", bprop, len(gradients), count, "the inputs of construct"))
    return gradients


def fitting(name: str, rule: Any, g: Any, i: int, wanted: tuple[int, ...], np_dtype: np.dtype) -> Any:
    """A gradient that the user's function `name` returned for input `i`, in the shape and dtype of the input."""
    if g is None:
        return None
    if isinstance(g, _CONTAINERS):
        raise ValueError(f"{name} returned a {type(g).__name__} as the gradient of input {i}, wanted a Tensor")
    if not isinstance(g, Value):
        g = Tensor(g)
    have = tuple(shape_of(g))
    if have != wanted:
        if not _stretched(wanted, have):
            raise RuntimeError(
                f"{name} returned a gradient of shape {have} for input {i} of shape {wanted}; a gradient has the shape of "
                f"what it is for{returned_at(rule)}"
            )
        g = sum_to_shape(g, wanted)
    return g if dtype_of(g) == np_dtype else cast(g, dtype=np_dtype)


def _stretched(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `to`: a gradient of that shape is then summed over what was stretched."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(to)))
