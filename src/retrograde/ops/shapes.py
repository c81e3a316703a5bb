"""What shape rules check, with one wording: they refuse the operands that kernels refuse, without computing anything."""

from __future__ import annotations

from typing import Any

import numpy as np

Shape = tuple[int, ...]


def demand(holds: bool, text: str) -> None:
    """Raise ValueError with what is wrong, unless it holds."""
    if not holds:
        raise ValueError(text)


def matching(what: str, shape: Shape, wanted: Shape) -> None:
    """Check that an operand has a shape."""
    demand(tuple(shape) == tuple(wanted), f"{what}: wanted the shape {tuple(wanted)}, got {tuple(shape)}")


def at_least(rank: int, *avals: Any) -> None:
    """Check that operands have so many axes."""
    for a in avals:
        demand(len(a.shape) >= rank, f"an operand with at least {rank} axes is wanted, got the shape {tuple(a.shape)}")


def length_of_slice(k: slice, n: int) -> int:
    """How many of n elements a slice takes, of which any may be sizes of a trace."""
    step = 1 if k.step is None else k.step

    def within(bound: Any, missing: int, low: int, high: int) -> int:
        if bound is None:
            return missing
        at = bound + n if bound < 0 else bound
        return low if at < low else high if at > high else at

    if step > 0:
        start, stop = within(k.start, 0, 0, n), within(k.stop, n, 0, n)
    else:
        start, stop = within(k.start, n - 1, -1, n - 1), within(k.stop, -1, -1, n - 1)
    if (start >= stop) if step > 0 else (start <= stop):
        return 0
    span = stop - start
    return span if step == 1 else -(-span // step)


def square(*avals: Any) -> None:
    """Check that operands are square matrices, or batches of them."""
    at_least(2, *avals)
    for a in avals:
        demand(a.shape[-1] == a.shape[-2], f"square matrices are wanted, got the shape {tuple(a.shape)}")


def leading(*avals_and_cores: tuple[Any, int]) -> Shape:
    """The shape of the axes before the last `core` ones of each operand, broadcast; checks that they have those."""
    for a, core in avals_and_cores:
        at_least(core, a)
    return np.broadcast_shapes(*(a.shape[: len(a.shape) - core] for a, core in avals_and_cores))


def meeting(left: Any, right: Any, k: int, m: int) -> None:
    """Check that axis k of one operand is as long as axis m of the other, as a product of them needs."""
    demand(
        left.shape[k] == right.shape[m],
        f"the shapes {tuple(left.shape)} and {tuple(right.shape)} do not fit a product: {left.shape[k]} and "
        f"{right.shape[m]} elements meet",
    )
