"""`paddle.text`: the best path through a chain of tags (Viterbi). Data sets that PaddlePaddle fetches are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.unwrap import concrete
from ....core.value import dtype_of, shape_of
from .._api import missing as _missing
from .._tensor import from_array
from ..nn import Layer


def viterbi_decode(
    potentials: Any, transition_params: Any, lengths: Any, include_bos_eos_tag: bool = True, name: Any = None
) -> tuple[Any, Any]:
    """The scores (N,) and tags (N, longest) of the best paths through potentials (N, T, tags).

    lengths: how many steps each has. include_bos_eos_tag: whether the last two tags are those of a beginning and an end, whose
    transitions count too. Raises ValueError where the shapes do not go together.
    """
    op = "viterbi_decode"
    scores, between = concrete(op, potentials), concrete(op, transition_params)
    many = concrete(op, lengths).reshape(-1).astype(np.int64)
    if scores.ndim != 3 or between.shape != (scores.shape[2],) * 2 or many.shape != scores.shape[:1]:
        raise ValueError(
            f"{op}: potentials {list(shape_of(potentials))}, transitions {list(shape_of(transition_params))} and lengths "
            f"{list(shape_of(lengths))} do not go together: wanted (N, T, tags), (tags, tags) and (N,)"
        )
    n, steps, tags = scores.shape
    alpha = scores[:, 0].copy()
    if include_bos_eos_tag:
        alpha += between[-1]
        alpha += np.where((many == 1)[:, None], between[-2], 0).astype(alpha.dtype)
    left, came = many - 1, []
    for t in range(1, steps):
        reached = alpha[:, :, None] + between
        best = reached.argmax(1)
        onwards = reached.max(1) + scores[:, t]
        if include_bos_eos_tag:
            onwards += np.where((left == 1)[:, None], between[-2], 0).astype(alpha.dtype)
        alive = (left > 0)[:, None]
        alpha = np.where(alive, onwards, alpha)
        came.append(best)
        left -= 1
    longest = int(many.max(initial=0))
    path = np.zeros((n, longest), np.int64)
    tag = alpha.argmax(1) if tags else np.zeros(n, np.int64)
    for k in range(n):
        at = tag[k]
        for t in range(int(many[k]) - 1, -1, -1):
            path[k, t] = at
            if t:
                at = came[t - 1][k, at]
    return from_array(alpha.max(1).astype(dtype_of(potentials))), from_array(path)


class ViterbiDecoder(Layer):
    """`viterbi_decode` with fixed transitions."""

    def __init__(self, transitions: Any, include_bos_eos_tag: bool = True, name: Any = None) -> None:
        super().__init__()
        self.transitions, self.include_bos_eos_tag, self.name = transitions, include_bos_eos_tag, name

    def forward(self, potentials: Any, lengths: Any) -> tuple[Any, Any]:
        """Scores and tags."""
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag)


_FETCHED = ("Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing", "WMT14", "WMT16")
__all__ = ["ViterbiDecoder", "viterbi_decode"]


def __getattr__(name: str) -> Any:
    if name in _FETCHED:
        raise AttributeError(
            f"paddle.text.{name} fetches its texts, which retrograde does not; read your own files with a Dataset"
        )
    raise _missing("paddle.text", name, __all__)
