"""`rg.autograd`: gradients on the tape, and the switches of recording."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._errors import GradError
from .._state import grad_mode, is_grad_enabled
from ..core.value import Value
from ..tape import autograd as tape
from ..tape.anomaly import detect_anomaly
from .conversion import asarray

__all__ = ["backward", "detect_anomaly", "enable_grad", "grad", "is_grad_enabled", "no_grad"]


class _Switch(grad_mode):
    """A context manager, and decorator, that records or does not and restores what was before."""

    enabled: bool

    def __init__(self) -> None:
        super().__init__(self.enabled)

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def switched(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return f(*args, **kwargs)

        return switched


class no_grad(_Switch):
    """Nothing is recorded inside: `with no_grad(): ...`, or `@no_grad()` above a function.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray(1.0, requires_grad=True)
    >>> with rg.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    enabled = False


class enable_grad(_Switch):
    """Operations are recorded inside, also within `no_grad`.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray(1.0, requires_grad=True)
    >>> with rg.no_grad(), rg.enable_grad():
    ...     (x * 2).requires_grad
    True
    """

    enabled = True


def _values(op: str, argument: str, given: Any) -> tuple[Value, ...]:
    """A tensor or a sequence of them as a tuple; raises TypeError for anything else."""
    if isinstance(given, Value):
        return (given,)
    if not isinstance(given, Sequence):
        raise TypeError(f"{op}: {argument} must be a tensor or a sequence of tensors, got {type(given).__name__}")
    for i, x in enumerate(given):
        if not isinstance(x, Value):
            raise TypeError(f"{op}: {argument}[{i}] must be a tensor, got {type(x).__name__}")
    return tuple(given)


def _cotangents(op: str, argument: str, given: Any, count: int) -> list[Any]:
    """One cotangent, as a value, or None for each output."""
    if given is None:
        return [None] * count
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(found) != count:
        raise GradError(f"{op}: {argument} has {len(found)} entries for {count} outputs")
    return [None if g is None else g if isinstance(g, Value) else asarray(g) for g in found]


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    materialize_grads: bool = False,
    is_grads_batched: bool = False,
    no_grad_vars: Any = (),
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs`, weighted with `grad_outputs`, with respect to each of `inputs`.

    grad_outputs: one cotangent of the output's shape per output; None for the implicit one of a single number.
    retain_graph: keep what the graph saved for a further pass (as `create_graph` does unless told otherwise).
    create_graph: record the gradients too, for higher derivatives.
    only_inputs: if False, every other leaf adds its gradient to `.grad` as well.
    allow_unused: None for an input that was not used, instead of an error; materialize_grads: zeros.
    is_grads_batched: the first axis of each cotangent numbers independent passes, done in one.
    no_grad_vars: tensors to be treated as constants.

    Raises GradError where there is no history, an input was not used, or a cotangent is missing or does not fit;
    FreedGraphError and MutationError where the graph cannot be used any more.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> rg.autograd.grad((x * x).sum(), x)
    (Tensor([2., 4.]),)
    """
    ys, xs = _values("grad", "outputs", outputs), _values("grad", "inputs", inputs)
    return tape.grad(
        ys, xs, _cotangents("grad", "grad_outputs", grad_outputs, len(ys)), retain_graph=retain_graph,
        create_graph=create_graph, only_inputs=only_inputs, allow_unused=allow_unused,
        materialize_grads=materialize_grads, is_grads_batched=is_grads_batched,
        no_grad_vars=() if no_grad_vars is None else _values("grad", "no_grad_vars", no_grad_vars),
    )  # fmt: skip


def backward(
    outputs: Any,
    gradients: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of `outputs`, weighted with `gradients`, to `.grad` of the leaves below (or of `inputs` only).

    Raises as `grad` does; then nothing has been changed.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray(3.0, requires_grad=True)
    >>> rg.autograd.backward([x * x, x * 2])
    >>> x.grad
    Tensor(8.)
    """
    ys = _values("backward", "outputs", outputs)
    chosen = None
    if inputs is not None:
        chosen = _values("backward", "inputs", inputs)
        if not chosen:
            raise GradError("backward: inputs is empty; leave it out to accumulate into all leaves")
    tape.backward(
        ys, _cotangents("backward", "gradients", gradients, len(ys)), retain_graph=retain_graph,
        create_graph=create_graph, inputs=chosen,
    )  # fmt: skip
