"""`vmap`: a function of one example as a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._tree import TreeDef, flatten, unflatten
from ..core import value as values
from ..core.batched import BatchedArray
from ..core.level import Level
from ..core.value import Value, make, shape_of
from ..ops.rules import unbatch
from ..ops.structural import concatenate, getitem
from ..tape.inplace import view
from ._values import Function, as_tensor, output_tensor


def _axes(name: str, axes: Any, tree: Any, treedef: TreeDef, count: int) -> list[Any]:
    """One axis (or None) per leaf from a prefix of the container's structure."""
    if axes is None or isinstance(axes, int):
        return [axes] * count
    if isinstance(axes, (list, tuple)) and isinstance(tree, (list, tuple)):
        if len(axes) != len(tree):
            raise ValueError(f"vmap: {name} has {len(axes)} entries for {len(tree)} values")
        parts = list(zip(axes, tree))
    elif isinstance(axes, dict) and isinstance(tree, dict):
        parts = [(axes.get(key), tree[key]) for key in flatten(dict.fromkeys(tree))[1].aux or ()]
    else:
        raise ValueError(f"vmap: {name} = {axes!r} does not match a value of structure {treedef}")
    found: list[Any] = []
    for axis, part in parts:
        leaves, part_def = flatten(part)
        found += _axes(name, axis, part, part_def, len(leaves))
    return found


def vmap(
    f: Function,
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """A function that maps `f` over an axis of its arguments and puts the results along an axis.

    in_axes: for each argument the axis to map over (None: the same for all), or a container of those.
    out_axes: where the mapped axis goes in each result.
    chunk_size: at most so many entries at a time, to bound memory.

    Raises ValueError when nothing is mapped, or the mapped axes differ in length.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.vmap(lambda x, y: x * y, in_axes=(0, None))(rg.asarray([1.0, 2.0]), rg.asarray(3.0))
    Tensor([3., 6.])
    """
    if randomness not in ("error", "different", "same"):
        raise ValueError(f"vmap: randomness must be 'error', 'different' or 'same', got {randomness!r}")

    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"vmap: chunk_size must be None or a positive int, got {chunk_size!r}")

    @functools.wraps(f)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, treedef = flatten(args)
        axes = _axes("in_axes", in_axes, args, treedef, len(leaves))
        lengths: list[int] = []
        positions: list[int | None] = []
        for x, axis in zip(leaves, axes):
            if axis is None or not isinstance(x, (Value, np.ndarray)):
                positions.append(None)
                continue
            shape = tuple(shape_of(x))
            if not -len(shape) <= axis < len(shape):
                raise ValueError(f"vmap: in_axes asks for axis {axis} of an argument of shape {shape}")
            positions.append(axis % len(shape))
            lengths.append(shape[axis])
            if lengths[-1] != lengths[0]:
                raise ValueError(
                    f"vmap: the mapped axes have different lengths, {lengths[0]} and {lengths[-1]}; an argument that is not "
                    "to be mapped has None among the axes, as in (0, None)"
                )
        if not lengths:
            raise ValueError("vmap: no argument is mapped; in_axes must name an axis of at least one array")
        size = lengths[0]

        def run(leaves: list[Any], size: int) -> Any:
            with Level("vmap").open() as level:
                level.batch_size, level.randomness = size, randomness
                batched = [
                    x if axis is None else argument(as_tensor(x), axis, level) for x, axis in zip(leaves, positions)
                ]
                out = f(*unflatten(treedef, batched), **kwargs)
                outputs, out_tree = flatten(out)
                wanted = out_axes
                if isinstance(out_axes, tuple) and len(out_axes) == 1 and isinstance(out, Value):
                    (wanted,) = out_axes
                ends = _axes("out_axes", wanted, out, out_tree, len(outputs))
                return unflatten(out_tree, [unbatched(y, level.id, size, end) for y, end in zip(outputs, ends)])

        if chunk_size is not None and chunk_size < size:
            return _in_chunks(run, leaves, positions, size, chunk_size, out_axes)
        return run(leaves, size)

    return mapped


def batch(x: Value, axis: int, level: int) -> Value:
    """A value whose `axis` is hidden at a vmap level."""
    return make(type(x)._result, BatchedArray(values.content(x), axis, level), None, level)


def argument(x: Value, axis: int, level: Level) -> Value:
    """The same for an argument, whose changes may have to be seen outside."""
    inner = batch(x, axis, level.id)
    if x._policy.changes_arguments:
        size = shape_of(x)[axis]

        def below(changed: Value) -> Any:
            array = changed._a if changed._level == level.id else values.content(changed)
            return unbatch(array, level.id, size, axis)

        inner._outer = x, below, lambda _, content: BatchedArray(content, axis, level.id)
    return inner


def unbatched(y: Any, level: int, size: int, axis: int | None) -> Any:
    if not isinstance(y, Value):
        y = output_tensor("vmap", y)
    cls = type(y)._result
    array = y._a if y._level == level else values.content(y)
    if axis and not -(rank := len(shape_of(y)) + 1) <= axis < rank:
        raise ValueError(f"vmap: out_axes asks for axis {axis} of a result that has {rank} axes with the mapped one")
    if axis is None:
        if type(array) is BatchedArray and array._level == level:
            raise ValueError("vmap: out_axes=None for a result that differs from entry to entry of the batch")
        return values.as_value(cls, array)
    return values.as_value(cls, unbatch(array, level, size, axis))


def _in_chunks(
    run: Callable[..., Any], leaves: list[Any], positions: list[int | None], size: int, chunk: int, out_axes: Any
) -> Any:  # fmt: skip
    pieces = []
    for start in range(0, size, chunk):
        stop = min(start + chunk, size)
        part = [
            x if axis is None else view(getitem, as_tensor(x), index=(slice(None),) * axis + (slice(start, stop),))
            for x, axis in zip(leaves, positions)
        ]
        pieces.append(flatten(run(part, stop - start)))
    out_tree = pieces[0][1]
    first = unflatten(out_tree, pieces[0][0])
    ends = _axes("out_axes", out_axes, first, out_tree, len(pieces[0][0]))
    columns = zip(*(outputs for outputs, _ in pieces))
    return unflatten(out_tree, [
        column[0] if end is None else concatenate(*column, axis=end % len(shape_of(column[0])))
        for column, end in zip(columns, ends)
    ])  # fmt: skip
