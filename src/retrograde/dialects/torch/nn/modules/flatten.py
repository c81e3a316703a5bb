"""Flatten and Unflatten."""

from __future__ import annotations

from typing import Any

from ._layer import layer


def _check_sizes(unflatten: Any) -> None:
    dim, sizes = unflatten.dim, unflatten.unflattened_size
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise TypeError(f"Unflatten: dim must be an int (named axes are not offered), got {type(dim).__name__}")
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(f"Unflatten: unflattened_size must be a tuple of ints, got {type(sizes).__name__}")
    for i, n in enumerate(sizes):
        if not isinstance(n, int):
            raise TypeError(f"Unflatten: unflattened_size must hold ints, got {type(n).__name__} at position {i}")


Flatten = layer(
    "Flatten", "start_dim: int = 1, end_dim: int = -1", lambda self, input: input.flatten(self.start_dim, self.end_dim),
    "The axes from `start_dim` to `end_dim` made one: (N, a, b, ...) to (N, a·b·...) by default.", shows=True,
)  # fmt: skip
Unflatten = layer(
    "Unflatten", "dim: int | str, unflattened_size: Any",
    lambda self, input: input.unflatten(self.dim, self.unflattened_size), "One axis made several.", shows=True,
    then=_check_sizes,
)  # fmt: skip

__all__ = ["Flatten", "Unflatten"]
