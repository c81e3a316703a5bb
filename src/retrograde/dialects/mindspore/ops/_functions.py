"""The functions of `ops` that are calls of Primitive classes: which class, the tensors, and its constructor's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._shared.registry import defined
from ._table import find
from .primitive import binder

# name, class, the arguments of a call | those of the constructor
_ROWS = """
ctc_greedy_decoder CTCGreedyDecoder inputs, sequence_length | merge_repeated=True
inplace_index_add InplaceIndexAdd var, indices, updates | axis
log_uniform_candidate_sampler LogUniformCandidateSampler true_classes | \
    num_true=1, num_sampled=5, unique=True, range_max=5, seed=0
multinomial_with_replacement MultinomialWithReplacement x, seed, offset | numsamples, replacement=False
sparse_segment_mean SparseSegmentMean x, indices, segment_ids |
uniform_candidate_sampler UniformCandidateSampler true_classes | \
    num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False
"""
ROWS = dict(line.split(" ", 1) for line in _ROWS.strip().splitlines())


def make(name: str) -> Callable[..., Any]:
    """The function of a row."""
    cls, _, signature = ROWS[name].partition(" ")
    tensors, _, options = (part.strip() for part in signature.partition("|"))
    bind = binder(name, ", ".join(filter(None, (tensors, options))))
    made = find(cls)
    assert made is not None, cls

    def function(*args: Any, **kwargs: Any) -> Any:
        given = bind(*args, **kwargs)
        operands = [given.pop(x.strip()) for x in tensors.split(",")]
        return made(**given)(*operands)

    return defined(name, function, f"`{cls}({options})` of {tensors}.")
