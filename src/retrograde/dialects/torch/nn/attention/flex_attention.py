"""`torch.nn.attention.flex_attention`: names that packages import; attention that a function scores is not offered."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...._shared.registry import defined
from ..._api import attributes

_DEFAULT_SPARSE_BLOCK_SIZE = 128


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{name}: retrograde's torch dialect has no attention that a function scores; use scaled_dot_product_attention with "
            "a mask (in transformers attn_implementation='sdpa')"
        )

    return defined(name, refuse)


class BlockMask:
    """Which blocks of scores are computed; no object is one."""

    __new__ = _refusing("BlockMask")


class AuxRequest(NamedTuple):
    """What an attention would give beside its result."""

    lse: bool = False
    max_scores: bool = False


create_block_mask, create_mask, flex_attention = map(_refusing, ("create_block_mask", "create_mask", "flex_attention"))

__getattr__ = attributes(globals())
