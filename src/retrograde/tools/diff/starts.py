"""`--start-from A`: what B's parameters would hold if they began as A's do, in B's layout; and when to offer that."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from .align import Alignment
from .given import Start
from .history import is_computed
from .leaves import LeafPairs
from .record import Record
from .results import leaf_name
from .side import Side
from .values import Values


def starting_values(
    a: Record, b: Record, mapping: Sequence[tuple[str, str]] = ()
) -> tuple[dict[int, Start], dict[int, Start]]:  # fmt: skip
    """What B's leaves are to hold when they are first seen, by the numbers of the values that they hold there; before that,
    what A's hold.

    Leaves pair by the mapping, by name, by order; of a weight that lies the other way round in B, the transpose is taken.
    Only what differs is given.

    Raises ValueError where the mapping names a parameter that the program does not have, a pair has different shapes, or A's
    values were too large to be kept.
    """
    pairs = LeafPairs(a, b, mapping)
    if pairs.unknown:
        raise ValueError(f"--map: {'; '.join(pairs.unknown)}")
    of_a, of_b = Values(a), Values(b)
    held: dict[int, Start] = {}
    found: dict[int, Start] = {}
    for i, j in pairs.pairs:
        va, vb = a.leaves[i].value, b.leaves[j].value
        x, shape = of_a.array(va), of_b.shape(vb)
        name = f"{a.leaves[i].name or f'#{i + 1}'} / {b.leaves[j].name or f'#{j + 1}'}"
        if x is None:
            raise ValueError(f"--start-from: the values of {name} were not kept whole; --memory sets how much is")
        held[va] = Start(a.values[va])
        turned = False
        there = of_b.array(vb)
        if there is not None and np.array_equal(x, there, equal_nan=x.dtype.kind in "fc"):
            continue
        if x.shape != shape:
            if x.ndim < 2 or x.shape[::-1] != shape:
                raise ValueError(f"--start-from: {name} is {list(x.shape)} in A and {list(shape)} in B; --map pairs others")
            turned = True
        elif x.ndim == 2 and x.shape[0] == x.shape[1] and _lies_across(a, b, pairs):
            turned = True
        found[vb] = Start(a.values[va], turned)
    return held, found


def _lies_across(a: Record, b: Record, pairs: LeafPairs) -> bool:
    """Whether the weights that are not square lie the other way round in B, so that square ones do, too."""
    shapes = [(tuple(a.values[a.leaves[i].value].shape), tuple(b.values[b.leaves[j].value].shape)) for i, j in pairs.pairs]
    return any(p != q and len(p) == 2 and p[::-1] == q for p, q in shapes)


def offer(alignment: Alignment, file_b: str) -> str:
    """What to say where parameters that belong together do not start alike; "" where all do."""
    a, b = alignment.sides
    starts = [(j, a.record.leaves[i].value, b.record.leaves[j].value) for i, j in alignment.leaves.pairs]
    apart = [j for j, p, q in starts if not is_computed(a, p) and not is_computed(b, q) and not alignment.agree(p, q)]
    if not apart:
        return ""
    line = _constructed(b, apart[0], file_b)
    where = f", which it makes at line {line}" if line else ""
    more = f" and {len(apart) - 1} more" if len(apart) > 1 else ""
    return (
        f"B starts from other values than A in {leaf_name(b, apart[0])}{more}{where}; --start-from A gives it A's, paired by "
        "--map, by name, else by order"
    )


def _constructed(side: Side, leaf: int, file: str) -> int:
    """The line at which a program makes what holds a leaf: where the variable that its name begins with is assigned first."""
    root = side.record.leaves[leaf].name.partition(".")[0].partition("[")[0]
    try:
        with open(file, encoding="utf-8") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return 0
    return next((
        node.lineno for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if root in (name.id for name in ast.walk(target) if isinstance(name, ast.Name))
    ), 0)  # fmt: skip
