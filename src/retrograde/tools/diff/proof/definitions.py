"""All operations that are defined in the terms of algebra.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .layers import LAYERS
from .meaning import BASIC, Meaning, Tensor, Unknown
from .pieces import PIECES

DEFINITIONS: dict[str, Callable[..., Any]] = {**BASIC, **PIECES, **LAYERS}
"""Operations by name: `f(meaning, *operands, **params)`."""

SEVERAL = frozenset(("split", "unstack", "normalize_stats", "lstm_layer", "gru_layer", "lstm_states", "lstm_pointwise"))
"""Those that have definitions for all of their results."""

SHAPED = SEVERAL | {
    "getitem",
    "advanced_index",
    "convolve",
    "convolve_transpose",
    "im2col",
    "sliding_windows",
    "avg_pool",
    "max_pool",
}
"""Those that are told the shape of their result."""


def meaning_of(
    m: Meaning,
    name: str,
    params: Mapping[str, Any],
    operands: Sequence[Tensor | None],
    shape: tuple[int, ...],
    output: int,
) -> Tensor:
    """One result of an operation; raises Unknown where there is no definition."""
    define = DEFINITIONS.get(name)
    if define is None or (output and name not in SEVERAL):
        raise Unknown
    given = {"output": output, "out_shape": shape} if name in SHAPED else {}
    found = define(m, *operands, **params, **given)
    term = found.term if isinstance(found, Tensor) else int(found)
    if isinstance(found, Tensor) and tuple(found.shape) != tuple(shape):
        term = m.broadcast(found, shape)
    return Tensor(tuple(shape), term)
