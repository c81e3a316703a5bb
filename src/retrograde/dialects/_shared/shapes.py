"""Shapes that are asked for: sizes of which one is left open, sizes to which a tensor broadcasts; with the dialect's errors."""

from __future__ import annotations

from collections.abc import Sequence


def filled(op: str, sizes: Sequence[int], count: int, error: type[Exception], empty: bool = False) -> tuple[int, ...]:
    """Sizes with -1 replaced by what a number of elements asks for; raises `error` where they do not fit.

    empty: whether -1 beside a size of 0 is 0, not an error, where there are no elements.
    """
    known, free, at = 1, -1, 0
    for n in sizes:
        if n >= 0:
            known *= n
        elif n == -1 and free < 0:
            free = at
        else:
            raise error(f"{op}: a shape has sizes of at least 0 and one -1 at most, got {list(sizes)}")
        at += 1  # noqa: SIM113 - enumerate() costs a tuple for each size
    if free < 0:
        if known == count:
            return tuple(sizes)
    elif (known and count % known == 0) or (empty and not count):
        full = [*sizes]
        full[free] = count // known if known else 0
        return tuple(full)
    elif not known:
        raise error(f"{op}: with a size of 0 beside it, -1 in {list(sizes)} is ambiguous")
    room = known if free < 0 else count // known * known
    raise error(
        f"{op}: {count} elements do not fit the shape {list(sizes)}, which has room for {room}; one size may be -1 and is "
        "then computed"
    )


def broadcast(op: str, have: Sequence[int], sizes: Sequence[int], error: type[Exception]) -> tuple[int, ...]:
    """The shape to which one broadcasts, where -1 keeps a size; raises `error` where it does not."""
    extra = len(sizes) - len(have)
    if extra < 0:
        raise error(f"{op}: {len(sizes)} sizes were given for a tensor with {len(have)} axes")
    if extra and min(sizes[:extra]) < 0:
        raise error(f"{op}: -1 in {list(sizes)} stands for an axis that the tensor of shape {list(have)} does not have")
    full = [*sizes]
    for old in have:
        n = sizes[extra]
        if n == -1:
            full[extra] = old
        elif n < 0 or (old != n and old != 1):
            raise error(
                f"{op}: a tensor of shape {list(have)} does not broadcast to {list(sizes)}; only axes of size 1 do, tile() or "
                "repeat() copies others"
            )
        extra += 1
    return tuple(full)
