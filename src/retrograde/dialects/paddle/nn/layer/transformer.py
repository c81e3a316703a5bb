"""Multi-head attention and the transformer's layers."""

from __future__ import annotations

import copy
from collections import namedtuple
from typing import Any

import numpy as np

from .....core.value import dtype_of, shape_of
from .....learn.layers.attention import merge_heads, split_heads
from .....ops import contraction as ct
from .....ops import elementwise as ew
from .....ops import softmax as sm
from .....ops import structural as st
from .....ops.attention import causal_mask
from ..._api import to_dtype
from ..._tensor import from_array
from .. import functional as F
from ..functional._arguments import constant
from .common import Dropout, Linear
from .container import LayerList
from .layers import Layer
from .norm import LayerNorm


def _attrs(attr: Any, n: int) -> list[Any]:
    """One attr for each of n parts: given one by one, or one for all (names get the number of the part)."""
    if isinstance(attr, (list, tuple)):
        return list(attr) if len(attr) == n else [attr[0]] * (n - len(attr) + 1) + list(attr[1:])
    made = []
    for i in range(n):
        own = copy.copy(attr)
        if getattr(own, "name", None):
            own.name = f"{own.name}_{i}"
        made.append(own)
    return made


def _as_scores(mask: Any, like: Any) -> Any:
    """A mask as what is added to scores: -1e9 where a boolean or integer mask forbids."""
    if mask is None:
        return None
    if dtype_of(mask).kind in "biu":
        allowed = to_dtype(mask, dtype_of(like))
        return ew.multiply(ew.subtract(allowed, constant(1, like)), constant(1e9, like))
    return to_dtype(mask, dtype_of(like))


class MultiHeadAttention(Layer):
    """Attention in several heads, with trained projections of query, key and value."""

    Cache = namedtuple("Cache", ["k", "v"])
    StaticCache = namedtuple("StaticCache", ["k", "v"])

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, kdim: int | None = None, vdim: int | None = None,
        need_weights: bool = False, weight_attr: Any = None, bias_attr: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise AssertionError(
                f"MultiHeadAttention: embed_dim must be a multiple of num_heads, got {embed_dim} and {num_heads}"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.dropout, self.need_weights = dropout, need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Any) -> Any:
        return split_heads(x, self.num_heads)

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """The projected key and value, by heads."""
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key: Any, value: Any = None, type: Any = None) -> Any:
        """A cache of keys and values for decoding step by step: empty, or fixed for `type=StaticCache`."""
        kind = self.Cache if type is None else type
        if kind is self.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return self.Cache(key, value)
        empty = np.zeros((shape_of(key)[0], self.num_heads, 0, self.head_dim), dtype_of(key))
        return self.Cache(from_array(empty), from_array(empty.copy()))

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        """The attended values; with `need_weights` the weights too, with a cache the longer cache too."""
        key = query if key is None else key
        value = query if value is None else value
        q = self._heads(self.q_proj(query))
        if isinstance(cache, self.StaticCache):
            k, v = cache
        else:
            k, v = self.compute_kv(key, value)
            if cache is not None:
                k, v = st.concatenate(cache.k, k, axis=2), st.concatenate(cache.v, v, axis=2)
                cache = self.Cache(k, v)
        scaled = ew.multiply(q, constant(self.head_dim**-0.5, q))
        scores = ct.matmul(scaled, ct.matrix_transpose(k))
        mask = _as_scores(attn_mask, scores)
        weights = sm.softmax(scores if mask is None else ew.add(scores, mask), axis=3)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training)
        out = self.out_proj(merge_heads(ct.matmul(weights, v)))
        extra = ([weights] if self.need_weights else []) + ([cache] if cache is not None else [])
        return (out, *extra) if extra else out


def _activation(name: str) -> Any:
    f = getattr(F, name, None) if isinstance(name, str) else None
    if f is None:
        raise AttributeError(f"activation: {name!r} is no function of paddle.nn.functional")
    return f


class _Block(Layer):
    """What the encoder's and the decoder's layers share: attention, the feed-forward part and residual connections."""

    _crossed = False

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int, dropout: float = 0.1, activation: str = "relu",
        attn_dropout: float | None = None, act_dropout: float | None = None, normalize_before: bool = False,
        weight_attr: Any = None, bias_attr: Any = None, layer_norm_eps: float = 1e-5,
    ) -> None:  # fmt: skip
        config = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        super().__init__()
        self._config = config
        steps = 3 if self._crossed else 2
        w, b = _attrs(weight_attr, steps), _attrs(bias_attr, steps)
        rate = dropout if attn_dropout is None else attn_dropout
        self.self_attn = MultiHeadAttention(d_model, nhead, rate, weight_attr=w[0], bias_attr=b[0])
        if self._crossed:
            self.cross_attn = MultiHeadAttention(d_model, nhead, rate, weight_attr=w[1], bias_attr=b[1])
        self.activation = _activation(activation)
        self.normalize_before = normalize_before
        self.linear1 = Linear(d_model, dim_feedforward, w[-1], b[-1])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, w[-1], b[-1])
        for i in range(1, steps + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps))
        for i in range(1, steps + 1):
            setattr(self, f"dropout{i}", Dropout(dropout, mode="upscale_in_train"))

    def _residual(self, x: Any, i: int, f: Any) -> Any:
        """x + dropout(f(x)), normalised before or after."""
        norm, drop = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        out = ew.add(x, drop(f(norm(x) if self.normalize_before else x)))
        return out if self.normalize_before else norm(out)

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _kept_cache(out: Any, held: list[Any]) -> Any:
    """The attended values, with a cache that came with them put into `held`."""
    if isinstance(out, tuple):
        held.append(out[-1])
        return out[0]
    return out


class TransformerEncoderLayer(_Block):
    """Self-attention and a feed-forward part, each with a residual connection (Vaswani et al. 2017)."""

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """The encoded sequence (batch, length, d_model); with a cache the longer cache too."""
        held: list[Any] = []
        out = self._residual(
            src, 1, lambda x: _kept_cache(self.self_attn(x, x, x, src_mask, *([] if cache is None else [cache])), held)
        )
        out = self._residual(out, 2, self._feed_forward)
        return out if cache is None else (out, held[0])

    def gen_cache(self, src: Any) -> Any:
        """An empty cache of the self-attention."""
        return self.self_attn.gen_cache(src, type=self.self_attn.Cache)


def _copies(layer: Layer, n: int) -> LayerList:
    """The layer, and n - 1 layers made like it, with initial values of their own."""
    return LayerList([layer, *(_made_anew(layer) for _ in range(n - 1))])


def _made_anew(layer: Any) -> Any:
    config = getattr(layer, "_config", None)
    return copy.deepcopy(layer) if config is None else type(layer)(**config)


class TransformerDecoderLayer(_Block):
    """Self-attention, attention to the encoder's output and a feed-forward part (Vaswani et al. 2017)."""

    _crossed = True

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        """The decoded sequence (batch, length, d_model); with a cache the longer cache too."""
        growing, fixed = (None, None) if cache is None else cache
        held: list[Any] = []
        out = self._residual(tgt, 1, lambda x: _kept_cache(self.self_attn(x, x, x, tgt_mask, growing), held))
        out = self._residual(
            out, 2, lambda x: _kept_cache(self.cross_attn(x, memory, memory, memory_mask, fixed), held)
        )
        out = self._residual(out, 3, self._feed_forward)
        return out if cache is None else (out, (held[0], held[1]))

    def gen_cache(self, memory: Any) -> Any:
        """An empty cache of the self-attention, and the fixed one of the attention to `memory`."""
        own = self.self_attn.gen_cache(memory, type=self.self_attn.Cache)
        return own, self.cross_attn.gen_cache(memory, memory, type=self.cross_attn.StaticCache)


class _Stack(Layer):
    """Layers on top of each other, and a normalisation at the end."""

    def __init__(self, layer: Layer, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def _through(self, x: Any, cache: Any, *others: Any) -> Any:
        """What the layers make of x; with a list of caches the longer caches too."""
        caches = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                x = layer(x, *others)
            else:
                x, grown = layer(x, *others, cache[i])
                caches.append(grown)
        if self.norm is not None:
            x = self.norm(x)
        return x if cache is None else (x, caches)


class TransformerEncoder(_Stack):
    """Encoder layers on top of each other."""

    def __init__(self, encoder_layer: Layer, num_layers: int, norm: Any = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """The encoded sequence; with a list of caches the longer caches too."""
        return self._through(src, cache, src_mask)

    def gen_cache(self, src: Any) -> list[Any]:
        """The caches of the layers."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(_Stack):
    """Decoder layers on top of each other."""

    def __init__(self, decoder_layer: Layer, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        """The decoded sequence; with a list of caches the longer caches too."""
        return self._through(tgt, cache, memory, tgt_mask, memory_mask)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """The caches of the layers; with `do_zip` by kind instead of by layer."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches)) if do_zip else caches


class Transformer(Layer):
    """Encoder and decoder."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: str = "relu",
        attn_dropout: float | None = None, act_dropout: float | None = None, normalize_before: bool = False,
        weight_attr: Any = None, bias_attr: Any = None, custom_encoder: Any = None, custom_decoder: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        w, b = _attrs(weight_attr, 3), _attrs(bias_attr, 3)
        common: dict[str, Any] = {
            "dropout": dropout, "activation": activation, "attn_dropout": attn_dropout, "act_dropout": act_dropout,
            "normalize_before": normalize_before,
        }  # fmt: skip
        if custom_encoder is None:
            layer: Layer = TransformerEncoderLayer(
                d_model, nhead, dim_feedforward, weight_attr=w[:2], bias_attr=b[:2], **common
            )
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is None:
            layer = TransformerDecoderLayer(d_model, nhead, dim_feedforward, weight_attr=w, bias_attr=b, **common)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, LayerNorm(d_model))
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self.d_model, self.nhead = d_model, nhead

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None
    ) -> Any:  # fmt: skip
        """The decoded sequence."""
        return self.decoder(tgt, self.encoder(src, src_mask), tgt_mask, memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Any:
        """A mask that hides what comes later: 0 on and below the diagonal, -inf above."""
        return from_array(causal_mask(length, length, np.dtype(np.float32)).copy())
