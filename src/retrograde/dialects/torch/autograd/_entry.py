"""`torch.autograd.grad` and `backward`: PyTorch's arguments for the engine's tape API."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...._state import OPENED, state
from ....core.arrays import zeros_for
from ....core.dual import DualArray
from ....core.node import Slot
from ....core.value import make
from ....tape import autograd as tape
from ....tape.engine import handed_out
from ....tape.hooks import retain_grad
from ..._shared.guard import kind_of
from .._api import api
from .._sparse_tensor import SparseTensor
from .._tensor import Tensor, refuse_in_transforms
from ._passes import ExecutionEngine
from .forward_ad import OPEN, make_dual, unpack_dual


class GradientEdge(NamedTuple):
    """A node and one of its outputs: where a gradient flows."""

    node: Any
    output_nr: int
    ownership_token: Any = None
    """What keeps the node alive elsewhere; here `node` does."""


def _end(edge: GradientEdge) -> Tensor:
    """A tensor at an edge, to stand for the one that gave it; its elements are not looked at."""
    node = edge.node._node
    outs = getattr(node, "outs", None)
    place = node if outs is None else Slot(node, edge.output_nr, *outs[edge.output_nr])
    return make(Tensor, np.broadcast_to(np.zeros((), place.dtype), place.shape), place)


def _tensors(op: str, argument: str, given: Any) -> tuple[Any, ...]:
    """One tensor or a sequence of them as a tuple; raises TypeError for anything else."""
    if isinstance(given, Tensor):
        return (given,)
    if isinstance(given, GradientEdge):
        return (_end(given),)
    if not isinstance(given, Sequence) and not hasattr(given, "__iter__"):
        raise TypeError(f"{op}: {argument} must be a tensor or a sequence of tensors, got {type(given).__name__}")
    found = tuple(_end(x) if isinstance(x, GradientEdge) else x for x in given)
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            raise TypeError(f"{op}: {argument}[{i}] must be a tensor, got {type(x).__name__}")
    return found


def _edges_among(given: Any) -> list[int]:
    """The places of the edges among tensors and edges, or of the only one."""
    return [i for i, x in enumerate((given,) if isinstance(given, (Tensor, GradientEdge)) else given) if type(x) is GradientEdge]


_TENSOR = frozenset([Tensor])


@functools.cache
def _everyday(cls: type) -> bool:
    """Whether the gradients of a class's instances are tensors, and dense ones."""
    return getattr(cls, "_result", None) is Tensor and not issubclass(cls, SparseTensor)


def _gradients(op: str, argument: str, given: Any, count: int) -> list[Any]:
    if given is None:
        return [None] * count
    found = [given] if isinstance(given, Tensor) else list(given)
    for i, g in enumerate(found):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"{op}: {argument}[{i}] must be a tensor or None, got {kind_of(g)}")
    if len(found) != count:
        raise RuntimeError(f"{op}: {argument} has {len(found)} entries for {count} outputs")
    return found


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False, materialize_grads: bool
    = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of the sum of `outputs`, weighted with `grad_outputs`, with respect to `inputs`.

    Raises RuntimeError when an input was not used (unless `allow_unused`), when an output needs a gradient of its own
    shape and has none, or when the graph cannot be run (freed, or values changed in place).

    Examples
    --------
    >>> import retrograde.dialects.torch as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.grad((x * x).sum(), x)
    (tensor([2., 4.]),)
    """
    if not only_inputs:
        warnings.warn(
            "grad: only_inputs=False has no effect; use backward() to accumulate", FutureWarning, stacklevel=2
        )
    plain = grad_outputs is None and type(outputs) is Tensor and not (create_graph or is_grads_batched or materialize_grads)
    if plain and type(inputs) in (list, tuple) and inputs and not OPEN:
        quick = handed_out(outputs, inputs, retain_graph)
        if quick is None and (_TENSOR.issuperset(map(type, inputs)) or all(map(_everyday, map(type, inputs)))):
            quick = tape.grad_of_one(outputs, inputs, bool(retain_graph), bool(allow_unused))
        if quick is not None:
            return quick
    ys, xs = _tensors("grad", "outputs", outputs), _tensors("grad", "inputs", inputs)
    if not xs:
        raise RuntimeError("grad: inputs is empty; name at least one tensor to differentiate with respect to")
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: materialize_grads=True means that unused inputs are allowed; leave allow_unused out")
    gradients = _gradients("grad", "grad_outputs", grad_outputs, len(ys))
    if SparseTensor in map(type, xs):  # the gradient of a sparse tensor is that of its values
        kept = tuple(x._v if type(x) is SparseTensor else x for x in xs)
        found = grad(ys, kept, gradients, retain_graph, create_graph, True, allow_unused, is_grads_batched, materialize_grads)
        return tuple(x.with_values(g) if g is not None and type(x) is SparseTensor else g for x, g in zip(xs, found))
    options: dict[str, Any] = {
        "create_graph": create_graph, "allow_unused": bool(allow_unused), "materialize_grads": materialize_grads,
        "is_grads_batched": is_grads_batched,
    }  # fmt: skip
    if materialize_grads and (edges := _edges_among(inputs)):
        found = grad(ys, xs, gradients, retain_graph, create_graph, True, True, is_grads_batched)
        if any(g is None for g in map(found.__getitem__, edges)):
            raise RuntimeError("grad: materialize_grads=True makes zeros like an input, and an unused edge is like none")
        return tuple(zeros_for(x) if g is None else g for x, g in zip(xs, found))
    if OPEN and any(type(y._a) is DualArray for y in ys):
        return _dual_grad(ys, xs, gradients, retain_graph, options)
    return tape.grad(ys, xs, gradients, retain_graph=retain_graph, **options)


def _dual_grad(
    ys: Sequence[Any], xs: Sequence[Any], gradients: list[Any], retain_graph: bool | None, options: dict[str, Any]
) -> tuple[Any, ...]:
    """The gradients of dual tensors, dual themselves: both parts have a history on the tape below the dual level."""
    if any(g is not None and type(g._a) is DualArray for g in gradients):
        raise NotImplementedError("grad: dual tensors as grad_outputs of dual tensors are not supported")
    parts = [unpack_dual(y) for y in ys]
    below = [unpack_dual(x).primal for x in xs]
    found = tape.grad([p.primal for p in parts], below, gradients, retain_graph=True, **options)
    moving = [(p.tangent, g) for p, g in zip(parts, gradients) if p.tangent is not None and p.tangent.requires_grad]
    if not moving:
        return found
    ends, weights = zip(*moving)
    tangents = tape.grad(ends, below, list(weights), retain_graph=retain_graph, **{**options, "allow_unused": True})
    return tuple(g if g is None or t is None else make_dual(g, t) for g, t in zip(found, tangents))


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradients of `tensors`, weighted with `grad_tensors`, to `.grad` of the leaves (or of `inputs`).

    Raises RuntimeError as `grad` does, and when `inputs` is empty.
    """
    if grad_variables is not None:
        warnings.warn("backward: grad_variables is the old name of grad_tensors", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("backward: give grad_tensors or grad_variables, not both")
        grad_tensors = grad_variables
    if OPENED:
        refuse_in_transforms("backward", state.levels)
    ys = _below_duals(_tensors("backward", "tensors", tensors))
    chosen = None
    if inputs is not None:
        chosen = _tensors("backward", "inputs", inputs)
        if not chosen:
            raise RuntimeError("backward: inputs is empty; leave it out to accumulate into all leaves")
        for x in chosen:
            if x._node is not None:
                retain_grad(x)  # from now on: passes that come later add to its .grad, too
    gradients = _gradients("backward", "grad_tensors", grad_tensors, len(ys))
    if create_graph:
        _warn_of_cycles()
    tape.backward(ys, gradients, retain_graph=retain_graph, create_graph=create_graph, inputs=chosen)


def _below_duals(ys: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors with the primals of dual ones, whose history is on the tape below the dual level."""
    return tuple(unpack_dual(y).primal if type(y._a) is DualArray else y for y in ys)


def _warn_of_cycles() -> None:
    warnings.warn(
        "backward: with create_graph=True the gradients in .grad refer to the graph and the graph to the leaves; use "
        "autograd.grad(), or set .grad to None afterwards", UserWarning, stacklevel=3,
    )  # fmt: skip


@api("backward", function=False)
def tensor_backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Add the gradient of this tensor to `.grad` of the leaves that it was computed from."""
    if inputs is None and (gradient is None or isinstance(gradient, Tensor)):  # the everyday call
        if create_graph:
            _warn_of_cycles()
        if OPENED:
            refuse_in_transforms("backward", state.levels)
            (self,) = _below_duals((self,))
        tape.backward_from(self, gradient, retain_graph, create_graph)
        return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """The old name of a tensor: `Variable(x, requires_grad=True)` is a leaf of its own that holds the memory of `x`."""

    _execution_engine = ExecutionEngine()

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: Any = None) -> Any:
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: wanted a tensor, got {kind_of(data)}")
        x = data.detach()
        return x.requires_grad_() if requires_grad else x
