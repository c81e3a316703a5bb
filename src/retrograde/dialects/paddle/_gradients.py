"""`paddle.grad`, `Tensor.backward`, `paddle.autograd.backward` and the grad modes.

A pass of `paddle.grad` never frees the graph, as in PaddlePaddle, whatever `retain_graph` says. What PaddlePaddle leaves
undone holds here: `only_inputs=False` accumulates into the other leaves, and a gradient of a wrong shape is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core import value as values
from ...core.node import Accumulate, Node, producer
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import structural as st
from ...tape import autograd as tape
from ...tape import engine
from .._shared import grad_modes
from .._shared.grad_modes import is_grad_enabled, set_grad_enabled
from ._api import api
from ._tensor import Tensor

__all__ = ["backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


class no_grad(grad_modes.no_grad):
    """Nothing is recorded inside; as a decorator it is called first: `@no_grad()`."""

    def __new__(cls, *given: Any) -> Any:
        return _without_arguments(super().__new__(cls), given)


class enable_grad(grad_modes.enable_grad):
    """Operations are recorded inside, also within no_grad; as a decorator it is called first: `@enable_grad()`."""

    def __new__(cls, *given: Any) -> Any:
        return _without_arguments(super().__new__(cls), given)


def _without_arguments(mode: Any, given: Sequence[Any]) -> Any:
    if given:
        name = type(mode).__name__
        raise TypeError(f"{name}: takes no arguments, got {given[0]!r}; as a decorator it is written @paddle.{name}()")
    return mode


class BackwardStrategy:
    """How a backward pass of old programs sums: `sort_sum_gradient` asks for the reverse of the recorded order.

    That is the order in which gradients are summed here in any case.
    """

    def __init__(self) -> None:
        self.sort_sum_gradient = False


def _tensors(op: str, argument: str, given: Any, *, empty: bool = False) -> Sequence[Tensor]:
    """An argument that is a tensor or a sequence of them as a sequence; raises AssertionError."""
    if isinstance(given, Tensor):
        return (given,)
    if not isinstance(given, (list, tuple)):
        raise AssertionError(
            f"{op}: {argument} must be a Tensor or a list of Tensors, got {type(given).__name__}{foreign(given)}"
        )
    if not given and not empty:
        raise AssertionError(f"{op}: {argument} is empty; give at least one Tensor")
    for x in given:
        if not isinstance(x, Tensor):
            raise AssertionError(f"{op}: {argument} must hold Tensors only, got {type(x).__name__}{foreign(x)}")
    return given


def foreign(x: Any) -> str:
    """The remedy where a tensor of another dialect is given."""
    if isinstance(x, Value) and not isinstance(x, Tensor):
        return " of another framework; convert it with paddle.to_tensor(x.numpy())"
    return ""


def _seed(op: str, output: Tensor, given: Any, error: type[Exception]) -> Any:
    """The cotangent of an output: ones where none is given, its shape and dtype checked otherwise."""
    if given is None:
        return make(Tensor, tape.ones_like(output))
    shape, have = tuple(shape_of(output)), tuple(shape_of(given))
    if have != shape:
        one = all(n == 1 for n in have) and all(n == 1 for n in shape)
        if error is not ValueError or not one:
            raise error(
                f"{op}: a gradient of shape {list(have)} was given for an output of shape {list(shape)}; "
                "each gradient must have the shape of its output"
            )
        given = st.reshape(given, shape=shape)
    if given.dtype is not output.dtype:
        given = st.cast(given, dtype=output.dtype.np)
    return given


def _given(op: str, argument: str, given: Any, count: int) -> Sequence[Any]:
    """The gradients of the outputs, None for those that have none given; raises AssertionError."""
    if given is None:
        return (None,) * count
    if isinstance(given, Tensor):
        given = (given,)
    elif not isinstance(given, (list, tuple)):
        raise AssertionError(
            f"{op}: {argument} must be None, a Tensor or a list of Tensors and None, "
            f"got {type(given).__name__}{foreign(given)}"
        )
    elif not given:
        return (None,) * count
    for g in given:
        if g is not None and not isinstance(g, Tensor):
            raise AssertionError(f"{op}: {argument} must hold Tensors and None, got {type(g).__name__}{foreign(g)}")
    if len(given) != count:
        raise AssertionError(f"{op}: {len(given)} gradients in {argument} for {count} outputs; give one for each")
    return given


def _no_dump(op: str, path: Any) -> None:
    if path is not None:
        raise NotImplementedError(f"{op}: graphs are not written to files; leave dump_backward_graph_path out")


def _flag(argument: str, value: Any) -> None:
    if value is not True and value is not False:
        raise AssertionError(f"grad: {argument} must be True or False, got {value!r}")


@api(method=False)
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool = False, no_grad_vars: Any = None, *,
    dump_backward_graph_path: str | None = None,
) -> list[Any]:  # fmt: skip
    """The gradients of the sum of `outputs` with respect to `inputs`, as a list; `.grad` is left alone.

    grad_outputs: a gradient for each output (None: ones of its shape). create_graph: whether the gradients can be
    differentiated again. only_inputs: with False, the other leaves accumulate into `.grad` as well. allow_unused: whether
    an input that no output depends on gives None rather than an error. no_grad_vars: tensors taken as constants.

    Raises AssertionError for arguments of the wrong type, ValueError for an unused input and a gradient of a wrong
    shape, RuntimeError where a tensor stands twice in `outputs` or `inputs`.
    """
    _no_dump("grad", dump_backward_graph_path)
    outs, ins = _tensors("grad", "outputs", outputs), _tensors("grad", "inputs", inputs)
    if create_graph and not _DERIVED:
        _DERIVED.append(1)
    if retain_graph is not None:
        _flag("retain_graph", retain_graph)
    if create_graph is not False or only_inputs is not True or allow_unused is not False:
        _flag("create_graph", create_graph)
        _flag("only_inputs", only_inputs)
        _flag("allow_unused", allow_unused)
    for x in ins:
        if x._node is None and x._stopped is not None:
            ins = [_as_recorded(x) for x in ins]
            break
    given = _given("grad", "grad_outputs", grad_outputs, len(outs))
    constants = () if no_grad_vars is None else _constants(no_grad_vars)
    if len(outs) == 1 and len(ins) == 1 and not constants and outs[0]._node is not None and ins[0]._node is not None:
        if grad_outputs is None and not create_graph and only_inputs:
            return _plain_gradient(outs[0], ins[0], allow_unused)
        live, wanted, seeds = outs, ins, [_seed("grad", outs[0], given[0], ValueError)]
    else:
        for argument, tensors in (("outputs", outs), ("inputs", ins)):
            if len({id(x) for x in tensors}) != len(tensors):
                raise RuntimeError(f"grad: a Tensor stands twice in {argument}; give each once")
        stopped = {x._node for x in constants}
        seeds = [_seed("grad", y, g, ValueError) for y, g in zip(outs, given)]
        seeds = [g for y, g in zip(outs, seeds) if y._node is not None and y._node not in stopped]
        live = [y for y in outs if y._node is not None and y._node not in stopped]
        wanted = [x for x in ins if x._node is not None and x._node not in stopped]
    found = iter(
        tape.grad(
            live, wanted, seeds, retain_graph=True, create_graph=create_graph, only_inputs=only_inputs,
            allow_unused=True, no_grad_vars=constants,
        )
        if live and (wanted or not only_inputs) else (None,) * len(wanted)
    )  # fmt: skip
    taken = {id(x) for x in wanted}
    results = [next(found) if id(x) in taken else None for x in ins]
    for i, g in enumerate(results):
        if g is None and id(ins[i]) in taken and _counts(live, ins[i], constants):
            g = results[i] = make(Tensor, np.zeros(shape_of(ins[i]), dtype_of(ins[i])))
        if g is None:
            if not allow_unused:
                raise _unused(i, ins[i])
        elif create_graph and g._node is None:  # a constant gradient says that it was computed, too
            tape.leaf(g)
            results[i] = st.copy(g)
    return results


def _as_recorded(x: Tensor) -> Tensor:
    """A tensor whose `stop_gradient` was set after the graph had been built, as it stands in that graph."""
    return x if x._node is not None or x._stopped is None else make(Tensor, x._a, x._stopped, x._level)


def _plain_gradient(output: Tensor, x: Tensor, allow_unused: bool) -> list[Any]:
    """The gradient of one tensor with respect to another: the everyday call."""
    level = output._level
    g = engine.run(
        (output._node,), (tape.ones_like(output),), cls=Tensor, level=level, inputs=(x._node,), retain_graph=True,
        accumulate=False,
    )[0]  # fmt: skip
    if g is None:
        if _counts([output], x):
            return [make(Tensor, np.zeros(shape_of(x), dtype_of(x)))]
        if not allow_unused:
            raise _unused(0, x)
        return [None]
    return [values.as_value(Tensor, g)]


def _counts(outputs: Sequence[Tensor], x: Tensor, constants: Sequence[Tensor] = ()) -> bool:
    """Whether gradients among what `outputs` were computed from count as depending on `x`, with the derivative 0."""
    return any(edge is x._node for edge in _beside(outputs, constants))


def _beside(outputs: Sequence[Tensor], constants: Sequence[Tensor] = ()) -> Iterator[Any]:
    """The edges on which gradients among what `outputs` were computed from count as depending, with the derivative 0."""
    stopped = {t._node for t in constants}
    seen: set[tuple[Any, bool]] = set()
    stack: list[tuple[Any, bool]] = [(y._node, False) for y in outputs]
    while stack:
        edge, beside = stack.pop()
        if edge is None or edge in stopped:
            continue
        if beside:
            yield edge
        node = producer(edge)
        if (node, beside) not in seen:
            seen.add((node, beside))
            stack.extend((e, beside) for e in node.edges)
            if type(node) is Node:
                stack.extend((e, True) for e in node.beside)


_DERIVED: list[int] = []
"""Non-empty once a gradient that can be differentiated was asked for: only then does a graph hold edges of `_beside`."""
_NOTHING = contextlib.nullcontext()


@contextlib.contextmanager
def _zeros_beside(outputs: Sequence[Tensor]) -> Iterator[None]:
    """Around a pass that fills `.grad`: leaves on which a gradient only counts as depending get zeros, if nothing else."""
    leaves = [edge for edge in _beside(outputs) if type(edge) is Accumulate]
    yield
    for edge in leaves:
        x = edge.leaf()
        if x is not None and x._grad is None and x._node is edge:
            x._grad = make(Tensor, np.zeros(edge.shape, edge.dtype))


def _unused(i: int, x: Tensor) -> ValueError:
    return ValueError(
        f"grad: input {i} (shape {list(x.shape)}) was not used to compute the outputs, or its stop_gradient is True; "
        "pass allow_unused=True to get None for it"
    )


def _constants(given: Any) -> Sequence[Tensor]:
    """`no_grad_vars`: a tensor, or a list, tuple or set of them; raises AssertionError."""
    if isinstance(given, (set, frozenset)):
        given = list(given)
    return [x for x in _tensors("grad", "no_grad_vars", given, empty=True) if x._node is not None]


@api("backward", function=False)
def tensor_backward(
    self: Tensor, grad_tensor: Any = None, retain_graph: bool | None = False, *,
    dump_backward_graph_path: str | None = None,
) -> None:  # fmt: skip
    """Add the gradients of this tensor (of the sum of its elements, where no `grad_tensor` is given) to the leaves' `.grad`.

    Raises AssertionError for a gradient that is no Tensor or of another shape, TypeError for another `retain_graph` than
    True, False and None, SystemError when the graph has been freed by an earlier pass. Without history nothing happens.
    """
    _no_dump("backward", dump_backward_graph_path)
    if retain_graph is not True and retain_graph is not False and retain_graph is not None:
        raise TypeError(f"backward: retain_graph must be True or False, got {retain_graph!r}")
    if isinstance(grad_tensor, BackwardStrategy):  # in old programs, the first argument
        grad_tensor = None
    if grad_tensor is not None:
        if not isinstance(grad_tensor, Tensor):
            raise AssertionError(
                f"backward: grad_tensor must be a Tensor, got {type(grad_tensor).__name__}{foreign(grad_tensor)}"
            )
        if self.shape != grad_tensor.shape:
            raise AssertionError(
                f"backward: grad_tensor has shape {list(grad_tensor.shape)}, the tensor {list(self.shape)}"
            )
    if self._node is None:
        return
    with _zeros_beside([self]) if _DERIVED else _NOTHING:
        if grad_tensor is None:
            engine.run(
                [self._node], [tape.ones_like(self)], cls=type(self)._result, level=self._level,
                retain_graph=bool(retain_graph),
            )  # fmt: skip
        else:
            tape.backward([self], [_seed("backward", self, grad_tensor, AssertionError)], retain_graph=bool(retain_graph))


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool = False, *, dump_backward_graph_path: str | None = None
) -> None:
    """Add the gradients of the sum of `tensors` to the leaves' `.grad`.

    grad_tensors: a gradient for each (None: ones). Raises AssertionError for arguments that do not fit, RuntimeError for
    a gradient of another shape than its tensor's.
    """
    _no_dump("backward", dump_backward_graph_path)
    outs = _tensors("backward", "tensors", tensors)
    if len({id(x) for x in outs}) != len(outs):
        raise AssertionError("backward: a Tensor stands twice in tensors; give each once")
    if retain_graph is not True and retain_graph is not False:
        raise AssertionError(f"backward: retain_graph must be True or False, got {retain_graph!r}")
    given = _given("backward", "grad_tensors", grad_tensors, len(outs))
    seeds = [_seed("backward", y, g, RuntimeError) for y, g in zip(outs, given)]
    live = [(y, g) for y, g in zip(outs, seeds) if y._node is not None]
    if live:
        with _zeros_beside([y for y, _ in live]) if _DERIVED else _NOTHING:
            tape.backward([y for y, _ in live], [g for _, g in live], retain_graph=retain_graph)
