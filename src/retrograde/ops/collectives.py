"""Operations between processes, with derivatives: each process differentiates the sum of what all of them compute.

All are linear, and each one's transpose is one of them, so that all orders follow; all processes of the group have to come to an
operation, and to its backward pass, in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import ShapeError, UnsupportedError
from ..backend.processes import Group
from ..core.aval import Aval
from .rules import linear, move_batch
from .samples import normal, sample

ALONE = Group(None, (0,))
"""The group of one process."""


def _refused(name: str, x: Any) -> Any:
    raise UnsupportedError(f"{name}: processes exchange arrays of NumPy's, got {type(x).__name__}; move it to the host first")


def _behind(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """Batching of what puts an axis in front."""
    return op(arrays[0], **params), dims[0] + 1


def _in_front(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """Batching of what exchanges along the first axis, or takes it away."""
    last = arrays[0].ndim - 1
    found = op(move_batch(arrays[0], dims[0], last), **params)
    return found, found.ndim - 1


def _same(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    return op(arrays[0], **params), dims[0]


def _parts(avals: Any, params: dict[str, Any]) -> Aval:
    """An array whose first axis has an entry for each process."""
    count = params["group"].size
    if avals[0].shape[:1] != (count,):
        raise ShapeError(f"wanted an array whose first axis has an entry for each of {count} processes, got {avals[0].shape}")
    return avals[0]


def _part(avals: Any, params: dict[str, Any]) -> Aval:
    """One entry along the first axis."""
    whole = _parts(avals, params)
    return Aval(whole.shape[1:], whole.dtype)


def _alike(avals: Any, params: dict[str, Any]) -> Aval:
    return avals[0]


all_reduce = linear(
    "all_reduce", kernel=lambda xp, x, *, group, how: _refused("all_reduce", x),
    numpy=lambda x, *, group, how: group.all_reduce(x, how).wait(),
    transpose=lambda g, x_, *, group, how: all_reduce(g, group=group, how=how), batch=_same, infer=_alike,
    samples=lambda: [sample(normal(2, 3), group=ALONE, how="sum"), sample(normal(), group=ALONE, how="mean")],
)  # fmt: skip
"""The sum of all processes' arrays, or the mean."""


def _to_root(x: Any, *, group: Group, root: int) -> Any:
    found = group.reduce(x, root).wait()
    return np.zeros_like(x) if found is None else found


reduce = linear(
    "reduce_to_process", kernel=lambda xp, x, *, group, root: _refused("reduce", x), numpy=_to_root,
    transpose=lambda g, x_, *, group, root: broadcast(g, group=group, root=root), batch=_same, infer=_alike,
    samples=lambda: [sample(normal(2, 3), group=ALONE, root=0)],
)  # fmt: skip
"""The sum of all processes' arrays in the process at place `root`, zeros in the others."""

broadcast = linear(
    "broadcast_process", kernel=lambda xp, x, *, group, root: _refused("broadcast", x),
    numpy=lambda x, *, group, root: group.broadcast(x, root).wait(),
    transpose=lambda g, x_, *, group, root: reduce(g, group=group, root=root), batch=_same, infer=_alike,
    samples=lambda: [sample(normal(2, 3), group=ALONE, root=0)],
)  # fmt: skip
"""The array of the process at place `root`."""

all_gather = linear(
    "all_gather", kernel=lambda xp, x, *, group: _refused("all_gather", x),
    numpy=lambda x, *, group: np.stack(group.all_gather(x).wait()),
    transpose=lambda g, x_, *, group: reduce_scatter(g, group=group), batch=_behind,
    infer=lambda avals, p: Aval((p["group"].size, *avals[0].shape), avals[0].dtype),
    samples=lambda: [sample(normal(2, 3), group=ALONE)],
)  # fmt: skip
"""The arrays of all processes, one behind the other along a new first axis."""

reduce_scatter = linear(
    "reduce_scatter", kernel=lambda xp, x, *, group: _refused("reduce_scatter", x),
    numpy=lambda x, *, group: group.reduce_scatter(list(x)).wait(),
    transpose=lambda g, x_, *, group: all_gather(g, group=group), batch=_in_front,
    infer=_part,
    samples=lambda: [sample(normal(1, 2, 3), group=ALONE)],
)  # fmt: skip
"""The sum of all processes' arrays, and of it the entry along the first axis at this process's place."""

all_to_all = linear(
    "all_to_all", kernel=lambda xp, x, *, group: _refused("all_to_all", x),
    numpy=lambda x, *, group: np.stack(group.all_to_all(list(x), [x.shape[1:]] * group.size).wait()),
    transpose=lambda g, x_, *, group: all_to_all(g, group=group), batch=_in_front, infer=_parts,
    samples=lambda: [sample(normal(1, 2, 3), group=ALONE)],
)  # fmt: skip
"""Entry i along the first axis goes to the process at place i, and becomes its entry at this process's place."""


def _gathered(x: Any, *, group: Group, root: int) -> Any:
    found = group.gather(x, root).wait()
    return np.zeros((group.size, *x.shape), x.dtype) if found is None else np.stack(found)


gather = linear(
    "gather_to_process", kernel=lambda xp, x, *, group, root: _refused("gather", x), numpy=_gathered,
    transpose=lambda g, x_, *, group, root: scatter(g, group=group, root=root), batch=_behind,
    infer=lambda avals, p: Aval((p["group"].size, *avals[0].shape), avals[0].dtype),
    samples=lambda: [sample(normal(2, 3), group=ALONE, root=0)],
)  # fmt: skip
"""`all_gather` for the process at place `root`, zeros in the others."""

scatter = linear(
    "scatter_from_process", kernel=lambda xp, x, *, group, root: _refused("scatter", x),
    numpy=lambda x, *, group, root: group.scatter(list(x) if group.rank == root else None, x[0], root).wait(),
    transpose=lambda g, x_, *, group, root: gather(g, group=group, root=root), batch=_in_front,
    infer=_part,
    samples=lambda: [sample(normal(1, 2, 3), group=ALONE, root=0)],
)  # fmt: skip
"""Of the array of the process at place `root` the entry along the first axis at this process's place."""
