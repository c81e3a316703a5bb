"""`torch.utils.checkpoint`: compute again in the backward pass instead of keeping saved tensors."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ....tape.engine import current_run
from ....transform.checkpoint import checkpoint as _checkpoint
from .. import _autocast
from .._grad_modes import enable_grad
from .._policy import CheckpointError
from .._tensor import Tensor
from ..amp import autocast
from ..autograd import Function, backward
from ..random import back_to, mark
from ._selective import CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts


def _autocast_now() -> Callable[[], autocast]:
    """What makes a region like the autocast region that holds in this thread."""
    here = _autocast.state
    return functools.partial(autocast, "cpu", here.dtype, here.enabled, here.cache_enabled)


@contextlib.contextmanager
def _restored(state: Any, region: Callable[[], autocast], inner: Any) -> Iterator[None]:
    """The random state and the autocast region of the first call, for as long as the second runs."""
    before = None if state is None else mark()
    if state is not None:
        back_to(state)
    try:
        with region(), inner:
            yield
    finally:
        if state is not None:
            back_to(before)


class CheckpointFunction(Function):
    """A function that is computed without history, and again, with one, in a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.function, ctx.state, ctx.region = function, mark() if preserve_rng_state else None, _autocast_now()
        ctx.args = [None if isinstance(x, Tensor) else x for x in args]
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if current_run().wanted is not None:
            raise RuntimeError(
                "checkpoint: use_reentrant=True adds gradients to leaves and goes with backward() of all of them only; pass "
                "use_reentrant=False for autograd.grad() and backward(inputs=...)"
            )
        args = list(ctx.args)
        for i, x in zip(ctx.places, ctx.saved_tensors):
            args[i] = x
        inputs = detach_variable(tuple(args))
        with _restored(ctx.state, ctx.region, contextlib.nullcontext()), enable_grad():
            out = ctx.function(*inputs)
        outs = (out,) if isinstance(out, Tensor) else out
        pairs = [(y, g) for y, g in zip(outs, gradients) if isinstance(y, Tensor) and y.requires_grad]
        if not pairs:
            raise RuntimeError("checkpoint: none of the results requires grad, so there is nothing to compute again")
        backward([y for y, _ in pairs], [g for _, g in pairs])
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs)


def _defined(op: str, use_reentrant: bool | None) -> bool:
    """Which way holds; where the caller has not said, with a warning to him."""
    if use_reentrant is None:
        text = f"{op}: say use_reentrant=False, which can do more, or True, which holds now"
        warnings.warn(text, UserWarning, stacklevel=3)
    return use_reentrant is not False


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None, context_fn: Callable[[], Any] | None =
    None, determinism_check: str = "default", debug: bool = False, early_stop: bool = True, preserve_rng_state: bool =
    True, **kwargs: Any,
) -> Any:  # fmt: skip
    """`function(*args, **kwargs)`, whose saved tensors are computed again in the backward pass.

    With `use_reentrant` (which holds where nothing is said) the function is one node whose backward begins a pass of its own:
    no second derivatives, no `torch.autograd.grad`. Without it gradients are of any order, also of functions that take some.
    """
    use_reentrant = _defined("checkpoint", use_reentrant)
    if use_reentrant and (kwargs or context_fn is not None or debug):
        given = ", ".join([*kwargs, *(["context_fn"] if context_fn is not None else []), *(["debug"] if debug else [])])
        raise ValueError(f"checkpoint: use_reentrant=True does not go with keyword arguments: {given}")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"checkpoint: determinism_check must be 'default' or 'none', got {determinism_check!r}")
    if _forced:
        early_stop = _forced[-1]
    if use_reentrant:
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    state, region = mark() if preserve_rng_state else None, _autocast_now()
    forward_context, recompute = context_fn() if context_fn is not None else (contextlib.nullcontext(),) * 2
    with forward_context:
        return _checkpoint(
            function, recompute_context=lambda: _restored(state, region, recompute), early_stop=early_stop,
            check_looks=determinism_check != "none",
        )(*args, **kwargs)  # fmt: skip


_forced: list[bool] = []
"""What `set_checkpoint_early_stop` says, innermost last."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Inside, checkpoints stop early in the backward pass, or compute everything again."""
    _forced.append(enable)
    try:
        yield
    finally:
        _forced.pop()


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, *, preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """A sequence of modules run in `segments` parts, each but the last checkpointed."""
    use_reentrant = _defined("checkpoint_sequential", use_reentrant)
    if kwargs:
        raise ValueError(f"checkpoint_sequential: unknown arguments {', '.join(kwargs)}")
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments
    if segments > 0 and not size:
        raise ValueError(f"checkpoint_sequential: {len(steps)} modules cannot be run in {segments} parts")

    def part(start: int, stop: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in steps[start:stop]:
                x = step(x)
            return x

        return run

    start = 0
    for _ in range(segments - 1):
        input = checkpoint(
            part(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
        start += size
    return part(start, len(steps))(input)


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Nothing: what differs when a function is computed again is always said."""
    yield


def noop_context_fn() -> tuple[Any, Any]:
    """Contexts for both calls of a checkpointed function that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs with their tensors detached, which want a gradient where they did."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"detach_variable: wanted a tuple, got {type(inputs).__name__}")
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Any) -> None:
    """Warn where no input wants a gradient."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn("checkpoint: no input requires grad, so there will be no gradients", UserWarning, stacklevel=2)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The devices of the arguments and their random states: beside the CPU's there are none."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Put back what `get_device_states` gave: nothing."""
    if devices:
        raise RuntimeError("set_device_states: the dialect computes on the CPU, whose random state is no part of these")


__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "SelectiveCheckpointContext", "check_backward_validity",
    "checkpoint", "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip
