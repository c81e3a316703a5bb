"""`SelectedRows`: the gradient of a table of which only a few rows were looked up, as `sparse=True` asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.scattered import Scattered
from ...core.value import make
from ._device import CPU
from ._dtype import FROM_NUMPY
from ._repr import numbers
from ._size import Size
from ._tensor import Tensor, from_array


class SelectedRows:
    """Rows of a table, `height` high, that are not zero; a row may stand more than once, and is added then.

    Only `isinstance` says that it is a Tensor: what computes takes `to_dense()`.
    """

    __class__ = Tensor  # type: ignore[assignment]
    __array_priority__ = 2000
    _dialect, _level, _node, _base, _views = "paddle", 0, None, None, None
    stop_gradient, is_leaf = False, True
    persistable = False
    place, grad, name = CPU, None, "selected_rows"

    def __init__(self, scattered: Scattered) -> None:
        self._a = scattered

    @property
    def shape(self) -> Size:
        """The shape of the rows that are kept."""
        return Size(self._a.content.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the rows."""
        return FROM_NUMPY[self._a.dtype]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._a.shape)

    def rows(self) -> list[int]:
        """Which rows these are."""
        return [int(n) for n in self._a.places[0]]

    def value(self) -> SelectedRows:
        """This gradient itself."""
        return self

    get_selected_rows = value

    def is_selected_rows(self) -> bool:
        """True."""
        return True

    def is_dense(self) -> bool:
        """False: few rows are kept."""
        return False

    is_sparse = is_sparse_coo = is_sparse_csr = is_dist = is_dense

    def numpy(self) -> np.ndarray:
        """The rows that are kept, in their order, as an array."""
        return self._a.content.copy()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def to_dense(self) -> Any:
        """The gradient of the whole table."""
        return from_array(self._a.dense())

    def clone(self) -> SelectedRows:
        """A copy."""
        return SelectedRows(self._a.copy())

    def detach(self) -> SelectedRows:
        """This gradient, which has no history."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name[:1] != "_" and hasattr(Tensor, name):
            raise RuntimeError(f"{name}: not available for SelectedRows, the gradient of a sparse look-up; use to_dense() first")
        raise AttributeError(f"SelectedRows has no attribute {name!r}; to_dense() gives a tensor with all rows")

    def __repr__(self) -> str:
        return (
            f"Tensor(shape={list(self.shape)}, dtype={self.dtype.label}, place={self.place}, stop_gradient=False, "
            f"rows={self.rows()},\n{' ' * 7}{numbers(self._a.content)})"
        )


def dense(g: Any) -> Any:
    """A gradient with all its elements."""
    return make(Tensor, g._a.dense()) if type(g) is SelectedRows else g
