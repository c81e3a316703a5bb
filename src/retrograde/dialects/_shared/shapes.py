"""Shapes that are asked for: sizes of which one is left open, sizes to which a tensor broadcasts; with the dialect's errors."""

from __future__ import annotations

from collections.abc import Sequence


def filled(op: str, sizes: Sequence[int], count: int, error: type[Exception], empty: bool = False) -> tuple[int, ...]:
    """Sizes with -1 replaced by what a number of elements asks for; raises `error` where they do not fit.

    empty: whether -1 beside a size of 0 is 0, not an error, where there are no elements.
    """
    free, known = None, 1
    for i, n in enumerate(sizes):
        if n == -1 and free is None:
            free = i
        elif n < 0:
            raise error(f"{op}: a shape has sizes of at least 0 and one -1 at most, got {list(sizes)}")
        else:
            known *= n
    if free is None:
        if known == count:
            return tuple(sizes)
    elif known and count % known == 0:
        return (*sizes[:free], count // known, *sizes[free + 1 :])
    elif empty and not known and not count:
        return (*sizes[:free], 0, *sizes[free + 1 :])
    elif not known:
        raise error(f"{op}: with a size of 0 beside it, -1 in {list(sizes)} is ambiguous")
    raise error(f"{op}: {count} elements do not fit the shape {list(sizes)}")


def broadcast(op: str, have: Sequence[int], sizes: Sequence[int], error: type[Exception]) -> tuple[int, ...]:
    """The shape to which one broadcasts, where -1 keeps a size; raises `error` where it does not."""
    extra = len(sizes) - len(have)
    if extra < 0:
        raise error(f"{op}: {len(sizes)} sizes were given for a tensor with {len(have)} axes")
    full = tuple(have[i - extra] if n == -1 and i >= extra else n for i, n in enumerate(sizes))
    if any(n < 0 for n in full[:extra]):
        raise error(f"{op}: -1 in {list(sizes)} stands for an axis that the tensor of shape {list(have)} does not have")
    if any(n < 0 or old not in (1, n) for old, n in zip(have, full[extra:])):
        raise error(f"{op}: a tensor of shape {list(have)} does not broadcast to {list(sizes)}")
    return full
