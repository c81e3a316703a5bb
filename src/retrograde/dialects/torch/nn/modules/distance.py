"""Distances between batches of vectors."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ._layer import layer


def _norm(distance: Any) -> None:
    """Call the order of the norm what PyTorch's layer calls it."""
    distance.norm = distance.p
    del distance.p


PairwiseDistance = layer(
    "PairwiseDistance", "p: float = 2.0, eps: float = 1e-6, keepdim: bool = False",
    lambda self, x1, x2: F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim),
    "The p-norm of x1 - x2 + eps along the last axis: (N, D) and (N, D), or without N, to (N,).", then=_norm,
    __constants__=["norm", "eps", "keepdim"],
)  # fmt: skip
CosineSimilarity = layer("CosineSimilarity", "dim: int = 1, eps: float = 1e-8", F.cosine_similarity, inputs="x1, x2")

__all__ = ["CosineSimilarity", "PairwiseDistance"]
