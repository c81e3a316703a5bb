"""Embeddings: tables whose rows are read by number."""

from __future__ import annotations

from typing import Any

from ...._shared.layers import shown
from ..._creation import empty
from ..._grad_modes import no_grad
from ..._tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


class _Table(Module):
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    weight: Tensor

    def _set_padding(self, padding_idx: int | None) -> None:
        """The row that stands for nothing, counted from the front; raises AssertionError out of range."""
        n = self.num_embeddings
        if padding_idx is not None:
            if not -n <= padding_idx < n:
                raise AssertionError(f"{type(self).__name__}: padding_idx {padding_idx} is out of range for {n} rows")
            padding_idx %= n
        self.padding_idx = padding_idx

    def _make_weight(self, given: Tensor | None, freeze: bool, device: Any, dtype: Any) -> None:
        if given is None:
            self.weight = Parameter(
                empty(self.num_embeddings, self.embedding_dim, device=device, dtype=dtype), requires_grad=not freeze
            )
            self.reset_parameters()
            return
        if list(given.shape) != [self.num_embeddings, self.embedding_dim]:
            raise AssertionError(
                f"{type(self).__name__}: a table of shape {[self.num_embeddings, self.embedding_dim]} was announced, "
                f"_weight has shape {list(given.shape)}"
            )
        self.weight = Parameter(given, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the rows anew from the standard normal distribution; zeros in the padding row."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """A table (num_embeddings, embedding_dim) whose rows are read by number."""

    __constants__ = [
        "num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse",
    ]  # fmt: skip

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self._set_padding(padding_idx)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(_weight, _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """Numbers of any shape to rows: (..., embedding_dim)."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    extra_repr = shown(
        "=num_embeddings, =embedding_dim, padding_idx?None, max_norm?None, norm_type?2, scale_grad_by_freq?, sparse?"
    )

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """An Embedding with the given table (n, d), which is not trained if `freeze`."""
        if embeddings.dim() != 2:
            raise AssertionError(f"Embedding.from_pretrained: wanted a matrix, got {embeddings.dim()} dimensions")
        rows, columns = embeddings.shape
        return cls(
            num_embeddings=rows, embedding_dim=columns, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx,
            max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse,
        )  # fmt: skip


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows of a table."""

    __constants__ = [
        "num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
        "include_last_offset", "padding_idx",
    ]  # fmt: skip

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self._set_padding(padding_idx)
        self._make_weight(_weight, False, device, dtype)
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Bags (B, n), or numbers (N,) with offsets (B,) where bags begin, to (B, embedding_dim)."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
            self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    extra_repr = shown(
        "=num_embeddings, =embedding_dim, max_norm?None, norm_type?2, scale_grad_by_freq?, mode%, padding_idx?None"
    )

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:  # fmt: skip
        """An EmbeddingBag with the given table (n, d), which is not trained if `freeze`."""
        if embeddings.dim() != 2:
            raise AssertionError(f"EmbeddingBag.from_pretrained: wanted a matrix, got {embeddings.dim()} dimensions")
        rows, columns = embeddings.shape
        bag = cls(
            num_embeddings=rows, embedding_dim=columns, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse, include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )  # fmt: skip
        bag.weight.requires_grad_(not freeze)
        return bag


__all__ = ["Embedding", "EmbeddingBag"]
