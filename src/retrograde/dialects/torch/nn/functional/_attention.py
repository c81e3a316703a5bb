"""Scaled dot-product attention, and the forward of multi-head attention."""

from __future__ import annotations

import math
from typing import Any

from .....core.unwrap import unrecorded
from .....core.value import shape_of
from .....learn.layers import attention as layers
from ... import _joining, _shape
from ..._autocast import state as autocast
from ..._creation import zeros
from ..._elementwise import tensor_argument
from ..._graph_nodes import show_as
from ..._matmul import baddbmm, bmm
from ..._shape import reshaped
from ..._tensor import from_array
from ._dropout import dropout
from ._linear import linear
from ._softmax import softmax

_INF = math.inf


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(q kᵀ scale + mask) v for (..., L, E), (..., S, E) and (..., S, Ev); scale is 1/sqrt(E) unless given.

    A row that is masked entirely gives zeros. Raises RuntimeError where shapes do not fit or both masks are given.
    """
    op = "scaled_dot_product_attention"
    for name, x in (("query", query), ("key", key), ("value", value)):
        if len(shape_of(tensor_argument(op, x, name))) < 2:
            raise RuntimeError(f"{op}: {name} must have 2 dimensions or more, got shape {tuple(shape_of(x))}")
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            f"{op}: query, key and value must have one dtype, got {query.dtype}, {key.dtype}, {value.dtype}"
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError(f"{op}: attn_mask and is_causal exclude each other")
    if attn_mask is not None and attn_mask.dtype.category and attn_mask.dtype is not query.dtype:
        raise RuntimeError(f"{op}: attn_mask must be boolean or of {query.dtype} like the query, got {attn_mask.dtype}")
    q_shape, k_shape = tuple(shape_of(query)), tuple(shape_of(key))
    if enable_gqa and q_shape[-3] != k_shape[-3]:
        times = q_shape[-3] // k_shape[-3]
        key = _shape.repeat_interleave(key, times, -3)
        value = _shape.repeat_interleave(value, times, -3)
    simple = attn_mask is None and not dropout_p and len(q_shape) == 4 and q_shape[-1] == shape_of(value)[-1]
    mask = attn_mask

    def drop_weights(weights: Any) -> Any:
        return dropout(weights, dropout_p)

    drops = drop_weights if dropout_p else None
    out = layers.attended(query, key, value, mask, is_causal=is_causal, scale=scale, drop_weights=drops)
    return show_as(out, "ScaledDotProductFlashAttentionForCpuBackward0" if simple else "UnsafeViewBackward0")


# ------------------------------------------------------------------------------------------ multi-head attention


def _canonical(mask: Any, name: str, other: Any, other_name: str, like: Any, check_other: bool = True) -> Any:
    """A mask as floating numbers to add; a boolean one says which do NOT take part."""
    if mask is None:
        return None
    if mask.dtype.category and not mask.is_floating_point():
        raise AssertionError(f"multi_head_attention_forward: {name} must be boolean or floating, got {mask.dtype}")
    if check_other and other is not None and other.dtype is not mask.dtype:
        import warnings

        warnings.warn(f"{name} and {other_name} should have one dtype", stacklevel=3)
    if mask.is_floating_point():
        return mask
    return zeros(tuple(shape_of(mask)), dtype=like.dtype, device=like.device).masked_fill_(mask, -_INF)


def _projected(query: Any, key: Any, value: Any, weight: Any, bias: Any) -> Any:
    """Query, key and value through the rows of one packed weight (3E, E)."""
    size = shape_of(query)[-1]
    if key is value:
        if query is key:
            packed = linear(query, weight, bias)
            packed = packed.unflatten(-1, (3, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return packed[0], packed[1], packed[2]
        w_q, w_kv = weight.split([size, 2 * size])
        b_q, b_kv = (None, None) if bias is None else bias.split([size, 2 * size])
        packed = linear(key, w_kv, b_kv)
        packed = packed.unflatten(-1, (2, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return linear(query, w_q, b_q), packed[0], packed[1]
    w_q, w_k, w_v = weight.chunk(3)
    b_q, b_k, b_v = (None, None, None) if bias is None else bias.chunk(3)
    return linear(query, w_q, b_q), linear(key, w_k, b_k), linear(value, w_v, b_v)


def _check_masks(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Whether the operands are batched; raises AssertionError or RuntimeError where shapes do not fit."""
    op = "multi_head_attention_forward"
    rank = len(shape_of(query))
    if rank not in (2, 3):
        raise AssertionError(f"{op}: query must have 2 dimensions (no batch) or 3, got {rank}")
    if len(shape_of(key)) != rank or len(shape_of(value)) != rank:
        raise AssertionError(
            f"{op}: query, key and value must have the same number of dimensions, got {rank}, {len(shape_of(key))} and "
            f"{len(shape_of(value))}"
        )
    if key_padding_mask is not None and len(shape_of(key_padding_mask)) != rank - 1:
        raise AssertionError(
            f"{op}: key_padding_mask must have {rank - 1} dimensions, got {len(shape_of(key_padding_mask))}"
        )
    if attn_mask is not None:
        if len(shape_of(attn_mask)) not in (2, 3):
            raise AssertionError(f"{op}: attn_mask must have 2 or 3 dimensions, got {len(shape_of(attn_mask))}")
        if rank == 2 and len(shape_of(attn_mask)) == 3:
            wanted = (num_heads, shape_of(query)[0], shape_of(key)[0])
            if tuple(shape_of(attn_mask)) != wanted:
                raise AssertionError(f"{op}: attn_mask must have the shape {wanted}, got {tuple(shape_of(attn_mask))}")
    return rank == 3


def plain_self_attention(
    x: Any, num_heads: int, weight: Any, bias: Any, out_weight: Any, out_bias: Any, batch_first: bool = False
) -> Any:
    """`multi_head_attention_forward` of (L, N, E), or (N, L, E), with itself, without weights, masks and dropout, on arrays:
    80 µs instead of 200 for one sequence. None where there is something to record or to look at, or operands do not fit."""
    arrays = unrecorded((x, weight, bias, out_weight, out_bias))
    if arrays is None or autocast.enabled:
        return None
    a, w, b, out_w, out_b = arrays
    embed, dtype = a.shape[-1], a.dtype
    if (
        (dtype.char != "f" and dtype.char != "d") or not dtype.isnative or not a.size or w.shape != (3 * embed, embed)
        or out_w.shape != (embed, embed) or any(v is not None and v.dtype is not dtype for v in arrays)
    ):  # fmt: skip
        return None
    if batch_first:
        return from_array(layers.self_attention(a.swapaxes(0, 1), num_heads, w, b, out_w, out_b).swapaxes(0, 1))
    return from_array(layers.self_attention(a, num_heads, w, b, out_w, out_b))


def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any,
    bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any, training:
    bool = True, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any =
    None, static_k: Any = None, static_v: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Attention of several heads between (L, N, E), (S, N, Ek) and (S, N, Ev), also without N (Vaswani et al., 2017).

    Returns the result (L, N, E) and, with `need_weights`, the weights (N, L, S), averaged over heads or (N, H, L, S).
    """
    op = "multi_head_attention_forward"
    is_batched = _check_masks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        same_kv, same_qk = key is value, query is key
        query = query.unsqueeze(1)
        key = query if same_qk else key.unsqueeze(1)
        value = key if same_kv else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    target, batch, embed = shape_of(query)
    source = shape_of(key)[0]
    key_padding_mask = _canonical(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query)
    if is_causal and attn_mask is None:
        raise RuntimeError(f"{op}: is_causal is a hint that needs attn_mask as well")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical(attn_mask, "attn_mask", None, "", query, False)
        if key_padding_mask is not None:
            is_causal = False
    if embed != embed_dim_to_check:
        raise AssertionError(f"{op}: the embedding dimension must be {embed_dim_to_check}, got {embed}")
    head = embed // num_heads
    if head * num_heads != embed:
        raise AssertionError(f"{op}: the embedding dimension {embed} is not divisible by {num_heads} heads")
    if (
        query is key is value and is_batched and not need_weights and attn_mask is key_padding_mask is None and not is_causal
        and bias_k is bias_v is static_k is static_v is None and not use_separate_proj_weight and not add_zero_attn
        and not (training and dropout_p)
    ):  # fmt: skip
        out = plain_self_attention(query, num_heads, in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias)
        if out is not None:
            return out, None
    if use_separate_proj_weight:
        if tuple(shape_of(key))[:2] != tuple(shape_of(value))[:2]:
            raise AssertionError(
                f"{op}: key {tuple(shape_of(key))} and value {tuple(shape_of(value))} differ in length or batch"
            )
        b_q, b_k, b_v = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        q = linear(query, q_proj_weight, b_q)
        k, v = linear(key, k_proj_weight, b_k), linear(value, v_proj_weight, b_v)
    else:
        if tuple(shape_of(key)) != tuple(shape_of(value)):
            raise AssertionError(
                f"{op}: key {tuple(shape_of(key))} and value {tuple(shape_of(value))} must have one shape"
            )
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None:
        if len(shape_of(attn_mask)) == 2:
            wanted: tuple[int, ...] = (target, source)
            if tuple(shape_of(attn_mask)) != wanted:
                raise RuntimeError(f"{op}: attn_mask must have the shape {wanted}, got {tuple(shape_of(attn_mask))}")
            attn_mask = attn_mask.unsqueeze(0)
        else:
            wanted = (batch * num_heads, target, source)
            if tuple(shape_of(attn_mask)) != wanted:
                raise RuntimeError(f"{op}: attn_mask must have the shape {wanted}, got {tuple(shape_of(attn_mask))}")
    if bias_k is not None and bias_v is not None:
        k = _joined(k, bias_k.repeat(1, batch, 1), 0)
        v = _joined(v, bias_v.repeat(1, batch, 1), 0)
        attn_mask, key_padding_mask = _widened(attn_mask), _widened(key_padding_mask)
    q = q.view(target, batch * num_heads, head).transpose(0, 1)
    k = k.view(shape_of(k)[0], batch * num_heads, head).transpose(0, 1) if static_k is None else static_k
    v = v.view(shape_of(v)[0], batch * num_heads, head).transpose(0, 1) if static_v is None else static_v
    if add_zero_attn:
        blank = (batch * num_heads, 1, head)
        k = _joined(k, zeros(blank, dtype=k.dtype, device=k.device), 1)
        v = _joined(v, zeros(blank, dtype=v.dtype, device=v.device), 1)
        attn_mask, key_padding_mask = _widened(attn_mask), _widened(key_padding_mask)
    source = shape_of(k)[1]
    if key_padding_mask is not None:
        if tuple(shape_of(key_padding_mask)) != (batch, source):
            raise AssertionError(
                f"{op}: key_padding_mask must have the shape {(batch, source)}, got {tuple(shape_of(key_padding_mask))}"
            )
        spread = key_padding_mask.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1)
        spread = spread.reshape(batch * num_heads, 1, source)
        attn_mask = spread if attn_mask is None else attn_mask + spread
    rate = dropout_p if training else 0.0
    if need_weights:
        q = q * math.sqrt(1.0 / float(head))
        if attn_mask is not None:
            scores = baddbmm(attn_mask, q, k.transpose(-2, -1))
        else:
            scores = bmm(q, k.transpose(-2, -1))
        weights = softmax(scores, -1)
        if rate > 0.0:
            weights = dropout(weights, rate)
        out = bmm(weights, v).transpose(0, 1).contiguous().view(target * batch, embed)
        out = linear(out, out_proj_weight, out_proj_bias)
        out = reshaped(out, (target, batch, shape_of(out)[1]), "ViewBackward0")
        weights = weights.view(batch, num_heads, target, source)
        if average_attn_weights:
            weights = weights.mean(1)
        if not is_batched:
            out, weights = out.squeeze(1), weights.squeeze(0)
        return out, weights
    if attn_mask is not None:
        if shape_of(attn_mask)[0] == 1 and len(shape_of(attn_mask)) == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(batch, num_heads, -1, source)
    out = scaled_dot_product_attention(
        q.view(batch, num_heads, target, head), k.view(batch, num_heads, source, head),
        v.view(batch, num_heads, source, head), attn_mask, rate, is_causal,
    )  # fmt: skip
    out = out.permute(2, 0, 1, 3).contiguous().view(batch * target, embed)
    out = linear(out, out_proj_weight, out_proj_bias)
    out = reshaped(out, (target, batch, shape_of(out)[1]), "ViewBackward0")
    return (out if is_batched else out.squeeze(1)), None


def _joined(x: Any, y: Any, dim: int) -> Any:
    return _joining.cat([x, y], dim)


def _widened(mask: Any) -> Any:
    """A mask with one more source, which takes part."""
    if mask is None:
        return None
    from . import pad

    return pad(mask, (0, 1))
