"""Multi-head attention."""

from __future__ import annotations

from typing import Any

from ..._creation import empty
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from ..functional._attention import plain_self_attention
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module


class MultiheadAttention(Module):
    """Attention of several heads between queries (L, N, E), keys and values (S, N, E) (Vaswani et al., 2017).

    With `batch_first` the batch is the first axis; it may be left out. Raises ValueError for sizes that are not
    positive, AssertionError where heads do not divide `embed_dim`.
    """

    __constants__ = ["batch_first"]

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"MultiheadAttention: embed_dim and num_heads must be positive, got {embed_dim} and {num_heads}"
            )
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                f"MultiheadAttention: embed_dim {embed_dim} is not divisible by {num_heads} heads; take a number of heads "
                f"that divides it, such as {next(k for k in range(num_heads, 0, -1) if embed_dim % k == 0)}"
            )
        if not self._qkv_same_embed_dim:
            self.q_proj_weight = Parameter(empty((embed_dim, embed_dim), **where))
            self.k_proj_weight = Parameter(empty((embed_dim, self.kdim), **where))
            self.v_proj_weight = Parameter(empty((embed_dim, self.vdim), **where))
            self.register_parameter("in_proj_weight", None)
        else:
            self.in_proj_weight = Parameter(empty((3 * embed_dim, embed_dim), **where))
            self.register_parameter("q_proj_weight", None)
            self.register_parameter("k_proj_weight", None)
            self.register_parameter("v_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(empty(3 * embed_dim, **where)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **where)
        self.bias_k = Parameter(empty((1, 1, embed_dim), **where)) if add_bias_kv else None
        self.bias_v = Parameter(empty((1, 1, embed_dim), **where)) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            init.xavier_uniform_(self.q_proj_weight)
            init.xavier_uniform_(self.k_proj_weight)
            init.xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """The result in the shape of the query, and the weights (N, L, S) (None unless they are needed)."""
        is_batched = query.ndim == 3
        if (
            query is key is value and is_batched and not need_weights and attn_mask is key_padding_mask is None
            and not is_causal and self._qkv_same_embed_dim and not self.add_zero_attn
            and not (self.training and self.dropout) and self.bias_k is self.bias_v is None
            and query.shape[2] == self.embed_dim
        ):  # fmt: skip
            last = self.out_proj
            out = plain_self_attention(
                query, self.num_heads, self.in_proj_weight, self.in_proj_bias, last.weight, last.bias, self.batch_first
            )
            if out is not None:
                return out, None
        if self.batch_first and is_batched:
            # The same tensor stays the same: one product then serves all three.
            if key is value:
                if query is key:
                    query = key = value = query.transpose(1, 0)
                else:
                    query, key = query.transpose(1, 0), key.transpose(1, 0)
                    value = key
            else:
                query, key, value = (x.transpose(1, 0) for x in (query, key, value))
        common: dict[str, Any] = {
            "training": self.training, "key_padding_mask": key_padding_mask, "need_weights": need_weights,
            "attn_mask": attn_mask, "average_attn_weights": average_attn_weights, "is_causal": is_causal,
        }  # fmt: skip
        if not self._qkv_same_embed_dim:
            common.update(
                use_separate_proj_weight=True, q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight,
                v_proj_weight=self.v_proj_weight,
            )  # fmt: skip
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, **common,
        )  # fmt: skip
        return (out.transpose(1, 0) if self.batch_first and is_batched else out), weights


__all__ = ["MultiheadAttention"]
