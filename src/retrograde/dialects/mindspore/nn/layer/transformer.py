"""Attention of several heads, and the layers and stacks of the Transformer (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from .....learn.layers import attention
from .....learn.layers.recurrent import linear
from .....ops.structural import concatenate, transpose
from ... import _activations, _dropout
from ..._dtype import float32
from ..._parameter import Parameter
from ..._tensor import Tensor, from_array
from ...common.initializer import initializer
from .._checks import positive_int
from ..cell import Cell
from ..containers import CellList
from .activation import get_activation
from .basic import Dense, Dropout
from .normalization import LayerNorm


def _weight(init: str, shape: tuple[int, ...], name: str, dtype: Any) -> Parameter:
    return Parameter(initializer(init, shape, dtype), name=name)


def _masked(x: Tensor, dtype: Any) -> Any:
    """A mask as what is added to the scores: booleans say what is left out."""
    if x.dtype.category != 0:
        return x.astype(dtype)
    return from_array(np.where(x.asnumpy(), -np.inf, 0).astype(dtype.np))


class MultiheadAttention(Cell):
    """Attention of several heads between (L, N, E), (S, N, E) and (S, N, E), or batch first; gives output and weights.

    add_bias_kv: a learnt key and value behind the others. add_zero_attn: a zero key and value behind those.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, has_bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        positive_int("MultiheadAttention", "embed_dim", embed_dim)
        positive_int("MultiheadAttention", "num_heads", num_heads)
        if embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim {embed_dim} is not divisible by {num_heads} heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._same = self.kdim == embed_dim and self.vdim == embed_dim
        if self._same:
            self.in_proj_weight = _weight("xavier_uniform", (3 * embed_dim, embed_dim), "in_proj_weight", dtype)
        else:
            self.q_proj_weight = _weight("xavier_uniform", (embed_dim, embed_dim), "q_proj_weight", dtype)
            self.k_proj_weight = _weight("xavier_uniform", (embed_dim, self.kdim), "k_proj_weight", dtype)
            self.v_proj_weight = _weight("xavier_uniform", (embed_dim, self.vdim), "v_proj_weight", dtype)
        self.in_proj_bias: Any = _weight("zeros", (3 * embed_dim,), "in_proj_bias", dtype) if has_bias else None
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, bias_init="zeros" if has_bias else None,
                              dtype=dtype)  # fmt: skip
        self.bias_k: Any = None
        self.bias_v: Any = None
        if add_bias_kv:
            self.bias_k = _weight("xavier_normal", (1, 1, embed_dim), "bias_k", dtype)
            self.bias_v = _weight("xavier_normal", (1, 1, embed_dim), "bias_v", dtype)

    def _projections(self) -> tuple[Any, ...]:
        e = self.embed_dim
        if self._same:
            weights: tuple[Any, ...] = tuple(self.in_proj_weight[i * e : (i + 1) * e] for i in range(3))
        else:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        if self.in_proj_bias is None:
            return tuple((w, None) for w in weights)
        return tuple((w, self.in_proj_bias[i * e : (i + 1) * e]) for i, w in enumerate(weights))

    def construct(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True,
    ) -> tuple[Any, ...]:  # fmt: skip
        """The output, and where they are asked for the weights (averaged over the heads), as a tuple.

        key_padding_mask: (N, S), attn_mask: (L, S) or (N * heads, L, S); booleans say what is left out.
        """
        single = query.ndim == 2
        if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
            raise ValueError(
                f"MultiheadAttention: query, key and value must all have 2 or 3 axes, got shapes {query.shape}, "
                f"{key.shape} and {value.shape}"
            )
        if single:
            query, key, value = (x.expand_dims(0) for x in (query, key, value))
        elif not self.batch_first:
            query, key, value = (transpose(x, axes=(1, 0, 2)) for x in (query, key, value))
        if query.shape[2] != self.embed_dim or key.shape[2] != self.kdim or value.shape[2] != self.vdim:
            raise ValueError(
                f"MultiheadAttention: the last axes must have sizes {self.embed_dim}, {self.kdim} and {self.vdim}, got "
                f"{query.shape[2]}, {key.shape[2]} and {value.shape[2]}"
            )
        q, k, v = (linear(x, *own) for x, own in zip((query, key, value), self._projections()))
        mask, extra = self._mask(query, key, key_padding_mask, attn_mask), 0
        if self.bias_k is not None:
            k, v = (concatenate(x, b.broadcast_to((x.shape[0], 1, self.embed_dim)), axis=1)
                    for x, b in ((k, self.bias_k), (v, self.bias_v)))  # fmt: skip
            extra += 1
        if self.add_zero_attn:
            nothing = from_array(np.zeros((k.shape[0], 1, self.embed_dim), k.dtype.np))
            k, v = concatenate(k, nothing, axis=1), concatenate(v, nothing, axis=1)
            extra += 1
        if mask is not None and extra:
            mask = concatenate(mask, from_array(np.zeros((*mask.shape[:-1], extra), mask.dtype.np)), axis=3)
        drop: Callable[[Any], Any] | None = None
        if self.dropout and self.training:
            drop = lambda w: _dropout.dropout(w, self.dropout, True)  # noqa: E731
        out, weights = attention.multi_head(q, k, v, self.num_heads, mask, drop_weights=drop)
        out = self.out_proj(out)
        if single:
            out = out.squeeze(0)
        elif not self.batch_first:
            out = transpose(out, axes=(1, 0, 2))
        if not need_weights:
            return (out,)
        shown = weights.mean(1) if average_attn_weights else weights
        return out, shown.squeeze(0) if single else shown

    def _mask(self, query: Any, key: Any, padding: Any, mask: Any) -> Any:
        n, length, sources = query.shape[0], query.shape[1], key.shape[1]
        total = None
        if mask is not None:
            total = _masked(mask, query.dtype)
            if total.ndim == 2:
                total = total.reshape((1, 1, length, sources))
            else:
                total = total.reshape((n, self.num_heads, length, sources))
        if padding is not None:
            left_out = _masked(padding, query.dtype).reshape((n, 1, 1, sources))
            total = left_out if total is None else total + left_out
        if total is not None and total.shape != (n, self.num_heads, length, sources):
            total = total.broadcast_to((n, self.num_heads, length, sources))
        return total


def _activation(given: Any) -> Any:
    if isinstance(given, str):
        try:
            return {"relu": _activations.relu, "gelu": _activations.gelu}.get(given) or get_activation(given)
        except KeyError as error:
            raise ValueError(f"there is no activation {given!r}") from error
    if not callable(given):
        raise ValueError(f"the activation must be a name, a cell or a function, got {type(given).__name__}")
    return given


class _TransformerLayer(Cell):
    """What encoder and decoder layers share: self-attention, two dense layers, their normalisation and dropout."""

    _crossed = False

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu",
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        if self._crossed:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        count = 3 if self._crossed else 2
        for i in range(1, count + 1):
            setattr(self, f"norm{i}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for i in range(1, count + 1):
            setattr(self, f"dropout{i}", Dropout(p=dropout))
        self.activation1 = _activation(activation)

    def _around(self, i: int, x: Any, block: Callable[[Any], Any]) -> Any:
        """x plus what the block makes of it, normalised before the block or after the sum."""
        norm, drop = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        if self.norm_first:
            return x + drop(block(norm(x)))
        return norm(x + drop(block(x)))

    def _forward(self, x: Any) -> Any:
        return self.dense2(self.dropout(self.activation1(self.dense1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention and two dense layers, each with a residual connection and layer normalisation."""

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        def attend(x: Any) -> Any:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0]

        return self._around(2, self._around(1, src, attend), self._forward)


class TransformerDecoderLayer(_TransformerLayer):
    """Self-attention, attention to the encoder's output, and two dense layers."""

    _crossed = True

    def construct(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:  # fmt: skip
        def attend(x: Any) -> Any:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0]

        def cross(x: Any) -> Any:
            return self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask)[0]

        return self._around(3, self._around(2, self._around(1, tgt, attend), cross), self._forward)


class _Layers(Cell):
    def _copies(self, layer: Cell, num_layers: int, norm: Any) -> None:
        # Copies begin with the layer's values, as the names of their parameters are given by where they stand.
        count = positive_int(type(self).__name__, "num_layers", num_layers)
        self.layers = CellList([copy.deepcopy(layer) for _ in range(count)])
        self.num_layers, self.norm = num_layers, norm


class TransformerEncoder(_Layers):
    """Copies of an encoder layer on top of each other, normalised at the end if `norm` is given."""

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self._copies(encoder_layer, num_layers, norm)

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        x = src
        for layer in self.layers:
            x = layer(x, src_mask, src_key_padding_mask)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(_Layers):
    """Copies of a decoder layer on top of each other, normalised at the end if `norm` is given."""

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self._copies(decoder_layer, num_layers, norm)

    def construct(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:  # fmt: skip
        x = tgt
        for layer in self.layers:
            x = layer(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return x if self.norm is None else self.norm(x)


class Transformer(Cell):
    """An encoder and a decoder."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu", custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        dtype: Any = float32,
    ) -> None:  # fmt: skip
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
    ) -> Any:  # fmt: skip
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise ValueError(f"Transformer: src and tgt must have one batch size, got shapes {src.shape} and {tgt.shape}")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(f"Transformer: the last axes must have size {self.d_model}")
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
