"""Reductions of rows that share a number, in the array-API standard: what scatters, counts and segments come down to.

Rows are sorted by their numbers and reduced by a segmented scan, in as many steps as the number of rows has bits: nothing is
written into an array, nothing depends on the order in which a device works, and sums are added pairwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend.dtypes import astype


def reduce_by_number(
    xp: Any, f: Callable[[Any, Any], Any], rows: Any, numbers: Any, count: int, nothing: Any
) -> Any:
    """For each number below `count` the rows (N, ...) that have it in `numbers` (N,), reduced by the associative function
    f(earlier, later); `nothing` where there is none. Rows with other numbers are left out."""
    n, rest = rows.shape[0], tuple(rows.shape[1:])
    empty = xp.full((count, *rest), nothing, dtype=rows.dtype, device=rows.device)
    if not n or not count:
        return empty
    numbers = astype(xp, numbers, xp.int64)
    order = xp.argsort(numbers, stable=True)
    numbers, rows = xp.take(numbers, order), xp.take(rows, order, axis=0)
    ones = (1,) * len(rest)
    step = 1
    while step < n:
        same = xp.reshape(numbers[step:] == numbers[: n - step], (n - step, *ones))
        joined = xp.where(same, f(rows[: n - step, ...], rows[step:, ...]), rows[step:, ...])
        rows = xp.concat([rows[:step, ...], joined], axis=0)
        step *= 2
    wanted = xp.arange(count, dtype=xp.int64, device=rows.device)
    last = xp.searchsorted(numbers, wanted, side="right") - 1  # the row that has gathered all of its number
    last = xp.where(last < 0, 0, last)
    found = xp.reshape(xp.take(numbers, last) == wanted, (count, *ones))
    return xp.where(found, xp.take(rows, last, axis=0), empty)


def add(x: Any, y: Any) -> Any:
    """For sums."""
    return x + y


def multiply(x: Any, y: Any) -> Any:
    """For products."""
    return x * y


def latest(x: Any, y: Any) -> Any:
    """For the last row of each number."""
    return y


def count_numbers(xp: Any, numbers: Any, count: int) -> Any:
    """How often each number below `count` occurs in a vector."""
    ordered = xp.sort(astype(xp, numbers, xp.int64))
    wanted = xp.arange(count, dtype=xp.int64, device=numbers.device)
    return xp.searchsorted(ordered, wanted, side="right") - xp.searchsorted(ordered, wanted, side="left")


def flat_positions(xp: Any, shape: tuple[int, ...], positions: Any, axis: int) -> Any:
    """Positions along an axis of an array of a shape, for all its other places, as positions in the array flattened.

    `positions` has the axes of the array; along the others it may be shorter, as for a scatter.
    """
    flat = astype(xp, positions, xp.int64)
    weight = 1
    total = None
    for i in range(len(shape) - 1, -1, -1):
        if i == axis:
            part = flat * weight
        else:
            size = positions.shape[i]
            line = xp.arange(size, dtype=xp.int64, device=positions.device) * weight
            part = xp.reshape(line, (size, *(1,) * (len(shape) - i - 1)))
        total = part if total is None else total + part
        weight *= shape[i]
    return total if total is not None else flat
