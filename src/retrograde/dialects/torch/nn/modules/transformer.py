"""The transformer of Vaswani et al. (2017): encoder and decoder layers, their stacks, and both together."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

from ..._creation import full
from ..._elementwise import tensor_argument
from ..._size import check_device
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

Activation = str | Callable[[Tensor], Tensor]


def _get_activation_fn(activation: Activation) -> Any:
    """The function of a name; raises RuntimeError for others than relu and gelu."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation must be 'relu', 'gelu' or a function, got {activation!r}")
    return getattr(F, activation)


def _get_clones(module: Module, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _causal_mask(size: int, dtype: Any = None, device: Any = None) -> Tensor:
    return full((size, size), -math.inf, dtype=dtype, device=device).triu(1)


def _is_causal(mask: Tensor | None, is_causal: bool | None, size: int | None) -> bool:
    """Whether a mask is the causal one; None has it compared."""
    if is_causal is not None or mask is None or size is None:
        return bool(is_causal)
    causal = _causal_mask(size, mask.dtype if mask.is_floating_point() else None, mask.device)
    if tuple(mask.shape) != tuple(causal.shape):
        return False
    return bool((mask == (causal if mask.is_floating_point() else causal != 0)).all())


class _Layer(Module):
    """What both layers share: attention and a feed-forward network, each with a residual connection and a LayerNorm."""

    __constants__ = ["norm_first"]
    norm_first: bool
    activation: Any
    _crossed = False

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **where)
        if self._crossed:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **where)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **where)
        self.norm_first = norm_first
        steps = range(1, 4 if self._crossed else 3)
        for i in steps:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where))
        for i in steps:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("activation", F.relu)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _residual(self, x: Tensor, norm: Any, drop: Any, f: Callable[[Tensor], Tensor]) -> Tensor:
        """x + dropout(f(x)), normalised before or after."""
        return x + drop(f(norm(x))) if self.norm_first else norm(x + drop(f(x)))  # type: ignore[no-any-return]


def _attends(attention: Module, memory: Any, mask: Any, padding: Any, is_causal: bool) -> Callable[[Tensor], Tensor]:
    """Attention to a memory, or to the operand itself where it is None."""
    return lambda x: attention(
        x, x if memory is None else memory, x if memory is None else memory, attn_mask=mask, key_padding_mask=padding,
        need_weights=False, is_causal=is_causal,
    )[0]  # fmt: skip


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual connection and a LayerNorm."""

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Of the shape of `src`."""
        padding = F._attention._canonical(src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask", src)
        mask = F._attention._canonical(src_mask, "src_mask", None, "", src, False)
        x = tensor_argument("TransformerEncoderLayer", src)
        x = self._residual(x, self.norm1, self.dropout1, _attends(self.self_attn, None, mask, padding, is_causal))
        return self._residual(x, self.norm2, self.dropout2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory and a feed-forward network, with residual connections and LayerNorms."""

    _crossed = True

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Of the shape of `tgt`."""
        x = tensor_argument("TransformerDecoderLayer", tgt)
        own = _attends(self.self_attn, None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = _attends(self.multihead_attn, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = self._residual(x, self.norm1, self.dropout1, own)
        x = self._residual(x, self.norm2, self.dropout2, other)
        return self._residual(x, self.norm3, self.dropout3, self._feed_forward)


def _length(layers: Any, x: Tensor) -> int:
    """How long the sequences are that the layers are given."""
    attention = getattr(layers[0], "self_attn", None) if len(layers) else None
    return x.shape[1 if getattr(attention, "batch_first", False) and x.ndim == 3 else 0]  # type: ignore[no-any-return]


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after the other, and a final normalisation."""

    __constants__ = ["norm"]

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        attention = getattr(encoder_layer, "self_attn", None)
        # As PyTorch warns: a hint on its speed, which programs that capture warnings see.
        if enable_nested_tensor and attention is not None and not attention.batch_first:
            warnings.warn("enable_nested_tensor has no effect unless the layers have batch_first=True", stacklevel=2)
            self.use_nested_tensor = False

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """Of the shape of `src`."""
        padding = F._attention._canonical(src_key_padding_mask, "src_key_padding_mask", mask, "mask", src)
        mask = F._attention._canonical(mask, "mask", None, "", src, False)
        causal = _is_causal(mask, is_causal, _length(self.layers, src))
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        return out if self.norm is None else self.norm(out)


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after the other, and a final normalisation."""

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Of the shape of `tgt`."""
        out = tgt
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(self.layers, tgt))
        for layer in self.layers:
            out = layer(
                out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder of a source and a decoder that makes a target from it: (S, N, E) and (T, N, E) to (T, N, E)."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = F.relu, custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            layer: Module = TransformerEncoderLayer(*options, **where)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*options, **where)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Of the shape of `tgt`; raises RuntimeError where batches or features do not fit."""
        batched = src.dim() == 3
        axis = 0 if self.batch_first else 1
        if batched and src.shape[axis] != tgt.shape[axis]:
            raise RuntimeError(
                f"Transformer: src has a batch of {src.shape[axis]}, tgt one of {tgt.shape[axis]}"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                f"Transformer: src and tgt must have {self.d_model} features, got {src.shape[-1]} and {tgt.shape[-1]}"
            )
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The causal mask (sz, sz): -inf above the diagonal, 0 elsewhere."""
        check_device("generate_square_subsequent_mask", device)
        return _causal_mask(sz, dtype, device)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)


__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip
