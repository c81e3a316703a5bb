"""`torch.utils.checkpoint`: compute again in the backward pass instead of keeping saved tensors."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ....transform.checkpoint import checkpoint as _checkpoint
from .. import _autocast
from ..amp import autocast
from ..random import back_to, mark


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


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Any] | None = None,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, whose saved tensors are computed again in the backward pass.

    Both values of `use_reentrant` give the same here: gradients of any order, also through `torch.autograd.grad`, and of
    functions that take gradients themselves.
    """
    if use_reentrant is None:
        warnings.warn(
            "checkpoint: say use_reentrant=False (both values give the same here)", UserWarning, stacklevel=2
        )
    if _forced:
        early_stop = _forced[-1]
    state, region = mark() if preserve_rng_state else None, _autocast_now()
    forward_context, recompute = context_fn() if context_fn is not None else (contextlib.nullcontext(),) * 2
    with forward_context:
        return _checkpoint(
            function, recompute_context=lambda: _restored(state, region, recompute), early_stop=early_stop
        )(*args, **kwargs)


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
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, preserve_rng_state: bool = True
) -> Any:
    """A sequence of modules run in `segments` parts, each but the last checkpointed."""
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments

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


__all__ = ["checkpoint", "checkpoint_sequential", "set_checkpoint_early_stop"]
