"""What every dialect's sparse tensor says in the same words; what is computed with them is in `learn/sparse.py`."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

S = TypeVar("S", bound="Kept")


class Kept:
    """A tensor that keeps only some elements, the values `_v`; a base. `_places` has a row for each sparse axis."""

    _v: Any
    _places: np.ndarray
    _coalesced: bool
    shape: Any

    def with_values(self: S, values: Any) -> S:
        """Other values at the same places."""
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._v.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def sparse_dim(self) -> int:
        """How many axes the places run over."""
        return len(self._places)

    def dense_dim(self) -> int:
        """How many axes each value has."""
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Whether each place is named once, in order."""
        return self._coalesced

    @property
    def is_leaf(self) -> bool:
        """Whether the values were not computed from others that want a gradient."""
        return self._v.is_leaf  # type: ignore[no-any-return]

    @property
    def grad_fn(self) -> Any:
        """The operation that computed the values, None for a leaf."""
        return self._v.grad_fn

    @property
    def grad(self) -> Any:
        """The gradient at the same places, None before the first backward pass."""
        gradient = self._v.grad
        return None if gradient is None else self.with_values(gradient)

    def detach(self: S) -> S:
        """The same without history."""
        return self.with_values(self._v.detach())

    def cpu(self: S) -> S:
        """This tensor, which is on the CPU."""
        return self

    def __len__(self) -> int:
        return self.shape[0]  # type: ignore[no-any-return]

    def __hash__(self) -> int:
        return id(self)
