"""`custom`: operations whose derivative the user wrote as `bprop(*inputs, out, dout)`: cells, `ops.Custom`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._state import grad_mode, is_grad_enabled
from ...core.node import Slot
from ...core.value import Value, dtype_of, make, shape_of
from ...ops.structural import cast
from ...tape import function
from ._tensor import Tensor


def custom(name: str, forward: Any, inputs: tuple[Any, ...], bprop: Any) -> Any:
    """What `forward()` gives, unrecorded, with `bprop(*inputs, out, dout)` as its derivative.

    bprop returns a gradient per input (None, or anything, for those that are no tensors).
    """
    positions = [i for i, x in enumerate(inputs) if isinstance(x, Value)]
    recorded = is_grad_enabled() and any(inputs[i]._node is not None for i in positions)
    with grad_mode(False):
        out = forward()
    if not recorded:
        return out
    several = isinstance(out, (tuple, list))
    parts = list(out) if several else [out]
    places = [i for i, y in enumerate(parts) if isinstance(y, Value)]
    level = max(inputs[i]._level for i in positions)
    outputs = []
    for i in places:
        parts[i] = make(Tensor, parts[i]._a, None, parts[i]._level)
        outputs.append(parts[i])
    differentiable = [dtype_of(y).kind not in "iub" for y in outputs]
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
        out_, dout = (type(out)(full), type(out)(douts)) if several else (full[0], douts[0])
        return _checked(name, bprop(*inputs, out_, dout), inputs, positions)

    parts_bare = [None if isinstance(y, Value) else y for y in parts]
    function.attach(name, [inputs[i] for i in positions], outputs, backward,
                    differentiable=differentiable, level=level, cls=Tensor)  # fmt: skip
    return type(out)(parts) if several else parts[0]


def _checked(name: str, found: Any, inputs: tuple[Any, ...], positions: list[int]) -> list[Any]:
    """The gradients that bprop returned, for the inputs that are tensors."""
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], tuple) and isinstance(found[1], dict):
        found = found[0]  # with gradients of weights, which gradient functions take from the tape
    if found is None:
        raise TypeError(f"{name}.bprop returned None; it returns the gradients of the inputs")
    gradients = list(found) if isinstance(found, (tuple, list)) else [found]
    if len(gradients) < len(inputs):
        raise RuntimeError(f"{name}.bprop returned {len(gradients)} gradients for {len(inputs)} inputs of construct")
    out = []
    for i in positions:  # what comes after the gradients of the inputs is left alone
        g = gradients[i]
        if isinstance(g, (tuple, list)):
            raise ValueError(f"{name}.bprop returned a {type(g).__name__} as the gradient of input {i}, wanted a Tensor")
        if g is None:
            out.append(None)
            continue
        if not isinstance(g, Value):
            g = Tensor(g)
        if tuple(shape_of(g)) != tuple(shape_of(inputs[i])):
            raise RuntimeError(
                f"{name}.bprop returned a gradient of shape {tuple(shape_of(g))} for input {i} of shape "
                f"{tuple(shape_of(inputs[i]))}"
            )
        out.append(g if dtype_of(g) == dtype_of(inputs[i]) else cast(g, dtype=dtype_of(inputs[i])))
    return out
