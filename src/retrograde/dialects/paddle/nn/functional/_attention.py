"""Attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....core.value import dtype_of, ndim_of, shape_of
from .....learn.layers import attention as layers
from .....ops import manipulation as mp
from .....ops import structural as st
from ..._api import to_dtype
from ._arguments import floating
from ._dropout import dropout

_SWAP = (0, 2, 1, 3)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    training: bool = True, backend: Any = None, scale: float | None = None, enable_gqa: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """softmax(q kᵀ scale + mask) v for (batch, length, heads, width); a boolean mask says what may be attended to."""
    op = "scaled_dot_product_attention"
    for what, x in (("query", query), ("key", key), ("value", value)):
        if ndim_of(floating(op, x, what)) != 4:
            raise ValueError(f"{op}: {what} must be (batch, length, heads, width), got shape {list(shape_of(x))}")
    q, k, v = (st.transpose(x, axes=_SWAP) for x in (query, key, value))
    heads, groups = shape_of(q)[1], shape_of(k)[1]
    if heads != groups:
        if not enable_gqa or heads % groups:
            raise ValueError(f"{op}: {heads} heads of the query and {groups} of the key do not go together")
        k, v = (mp.repeat_elements(x, repeats=heads // groups, axis=1) for x in (k, v))
    mask = attn_mask
    if is_causal:
        if attn_mask is not None:
            raise ValueError(f"{op}: is_causal=True and attn_mask cannot both be given")
    elif attn_mask is not None and dtype_of(attn_mask) != np.bool_:
        mask = to_dtype(attn_mask, dtype_of(q))

    def drop_weights(weights: Any) -> Any:
        return dropout(weights, dropout_p, training=training)

    drops = drop_weights if dropout_p else None
    out = layers.attended(q, k, v, mask, is_causal=is_causal, scale=scale, drop_weights=drops)
    return st.transpose(out, axes=_SWAP)
